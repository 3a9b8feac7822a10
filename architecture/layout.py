"""The places of rooms, numbers and lines in the picture of the house.

Between two stops the line of the way runs below the rooms of a floor and through the gaps between rooms. Every stretch
has a lane that it shares with no other stretch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from architecture.rooms import Floor
from architecture.way import Stop
from provenn.display.layers import Point

__all__ = ["HouseLayout", "RoomBox", "StopMark", "arrange_house"]

_LANE = 8.0
"""The distance between lanes."""

_GAP, _BESIDE = 14.0, 9.0
"""The least width of a gap, and the distance of lanes from rooms."""

_SHIFT = 3.5
"""How far to the left of a number the line arrives, and to the right leaves."""


@dataclass(frozen=True, slots=True)
class StopMark:
    """A stop, its number, and the middle of the number."""

    number: int
    stop: Stop
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class RoomBox:
    """The place of a room, and the stops in the room."""

    name: str
    x: float
    y: float
    width: float
    height: float
    marks: tuple[StopMark, ...]


@dataclass(frozen=True, slots=True)
class HouseLayout:
    """All places.

    Parameters
    ----------
    ceilings
        The ceiling of each floor.
    ground
        The lower end of the house.
    boxes
        The rooms.
    routes
        The corners of the line from each stop to the next one.
    """

    ceilings: tuple[float, ...]
    ground: float
    boxes: tuple[RoomBox, ...]
    routes: tuple[tuple[Point, ...], ...]


@dataclass(slots=True)
class _Lanes:
    """The lanes below the rooms of a floor; stretches that would touch get different lanes."""

    taken: list[list[tuple[float, float]]] = field(default_factory=list)

    def take(self, start: float, end: float) -> int:
        """Return the first lane that is free between two places, and take it there."""
        low, high = min(start, end) - _LANE / 2, max(start, end) + _LANE / 2
        for number, stretches in enumerate(self.taken):
            if all(high <= left or right <= low for left, right in stretches):
                stretches.append((low, high))
                return number
        self.taken.append([(low, high)])
        return len(self.taken) - 1


@dataclass(frozen=True, slots=True)
class _FloorPlan:
    """The left side and the width of each room of a floor, and the left side of each gap."""

    rooms: Mapping[str, tuple[float, float]]
    gaps: tuple[float, ...]


Crossing = tuple[int, int]
"""A floor, and the number of a gap of that floor."""


def arrange_house(
    floors: Sequence[Floor],
    way: Sequence[Stop],
    *,
    width: float,
    top: float,
    measure_stop: Callable[[Stop], float],
    measure_room: Callable[[str, float], float],
    padding: float,
    ceiling: float,
    strip: float,
) -> HouseLayout:
    """Return the places of everything in the house.

    Parameters
    ----------
    floors, way
        The rooms, and the stops.
    width, top
        The width of the house, and the ceiling of the highest floor.
    measure_stop, measure_room
        The width of the words of a stop; the height of a room of a width.
    padding
        The distance of words from the border of a room.
    ceiling, strip
        The height between a ceiling and the rooms below it, and of the strip with numbers in a room.
    """
    stop_floors = [next(i for i, floor in enumerate(floors) if stop.room in floor.rooms) for stop in way]
    least = {
        name: sum(measure_stop(stop) for stop in way if stop.room == name) + 2 * padding
        for floor in floors
        for name in floor.rooms
    }
    crossings, lanes = list[list[Crossing]](), dict[Crossing, int]()
    for _ in range(2):  # wider gaps move rooms a little, so that other gaps may be nearer
        plans = [_divide_floor(floor, i, least, lanes, width) for i, floor in enumerate(floors)]
        stops = _place_stops(plans, stop_floors, way, measure_stop, padding)
        crossings = [_choose_gaps(*ends, plans) for ends in pairwise(zip(stops, stop_floors, strict=True))]
        lanes = _count_lanes(crossings)
    plans = [_divide_floor(floor, i, least, lanes, width) for i, floor in enumerate(floors)]
    stops = _place_stops(plans, stop_floors, way, measure_stop, padding)
    corridors = [_Lanes() for _ in floors]
    stretches = _take_lanes(stops, stop_floors, crossings, plans, corridors)
    ceilings, bottoms, y = list[float](), list[float](), top
    for plan, corridor in zip(plans, corridors, strict=True):
        ceilings.append(y)
        bottoms.append(y + ceiling + max(measure_room(name, room[1]) for name, room in plan.rooms.items()))
        y = bottoms[-1] + max(_GAP, 2 * _BESIDE + _LANE * (len(corridor.taken) - 1))
    marks = [
        StopMark(number, stop, x, bottoms[floor] - strip / 2)
        for number, (stop, x, floor) in enumerate(zip(way, stops, stop_floors, strict=True), start=1)
    ]
    boxes = tuple(
        RoomBox(
            name,
            x,
            ceilings[i] + ceiling,
            room_width,
            bottoms[i] - ceilings[i] - ceiling,
            tuple(mark for mark in marks if mark.stop.room == name),
        )
        for i, plan in enumerate(plans)
        for name, (x, room_width) in plan.rooms.items()
    )
    routes = tuple(
        _trace_route(start, end, parts, bottoms) for (start, end), parts in zip(pairwise(marks), stretches, strict=True)
    )
    return HouseLayout(tuple(ceilings), y, boxes, routes)


def _divide_floor(
    floor: Floor, number: int, least: Mapping[str, float], lanes: Mapping[Crossing, int], width: float
) -> _FloorPlan:
    """Return the places of rooms: equal widths, but at least the least; gaps have room for their lanes."""
    gap_widths = [max(_GAP, 2 * _BESIDE + _LANE * (lanes.get((number, i), 0) - 1)) for i in range(len(floor.rooms) + 1)]
    free = width - sum(gap_widths)
    widths = _divide_width(free, {name: least[name] for name in floor.rooms})
    rooms, gaps, x = dict[str, tuple[float, float]](), [0.0], gap_widths[0]
    for name, gap_width in zip(floor.rooms, gap_widths[1:], strict=True):
        rooms[name] = (x, widths[name])
        x += widths[name]
        gaps.append(x)
        x += gap_width
    return _FloorPlan(rooms, tuple(gaps))


def _divide_width(free: float, least: Mapping[str, float]) -> dict[str, float]:
    """Return a width for each room: its least width, or an equal share of what the wider rooms leave.

    >>> _divide_width(300.0, {"a": 160.0, "b": 75.0, "c": 20.0})
    {'a': 160.0, 'b': 75.0, 'c': 65.0}
    """
    wide = dict[str, float]()
    while True:
        share = (free - sum(wide.values())) / max(len(least) - len(wide), 1)
        wider = {name: width for name, width in least.items() if name in wide or width > share}
        if wider == wide:
            return {name: wide.get(name, share) for name in least}
        wide = wider


def _place_stops(
    plans: Sequence[_FloorPlan],
    stop_floors: Sequence[int],
    way: Sequence[Stop],
    measure_stop: Callable[[Stop], float],
    padding: float,
) -> list[float]:
    """Return the middle of the number of each stop; the stops of a room follow each other to the right."""
    places, ends = list[float](), dict[str, float]()
    for stop, floor in zip(way, stop_floors, strict=True):
        x = ends.get(stop.room, plans[floor].rooms[stop.room][0] + padding)
        places.append(x + _BESIDE)
        ends[stop.room] = x + measure_stop(stop)
    return places


def _choose_gaps(start: tuple[float, int], end: tuple[float, int], plans: Sequence[_FloorPlan]) -> list[Crossing]:
    """Return the gaps through which the line passes the floors between two stops, with the least detour."""
    (x, floor), (end_x, end_floor) = start, end
    crossed = range(floor + 1, end_floor + 1) if end_floor > floor else range(floor, end_floor, -1)
    gaps = list[Crossing]()
    for number in crossed:
        places = plans[number].gaps
        gap = min(range(len(places)), key=lambda i: (abs(places[i] - x) + abs(places[i] - end_x), abs(places[i] - x)))
        gaps.append((number, gap))
        x = places[gap]
    return gaps


def _count_lanes(crossings: Sequence[Sequence[Crossing]]) -> dict[Crossing, int]:
    """Return how many lines pass each gap."""
    counts = dict[Crossing, int]()
    for crossing in (crossing for gaps in crossings for crossing in gaps):
        counts[crossing] = counts.get(crossing, 0) + 1
    return counts


Stretch = tuple[int, int, float]
"""A floor, the lane below its rooms, and where the line leaves the lane."""


def _take_lanes(
    stops: Sequence[float],
    stop_floors: Sequence[int],
    crossings: Sequence[Sequence[Crossing]],
    plans: Sequence[_FloorPlan],
    corridors: Sequence[_Lanes],
) -> list[list[Stretch]]:
    """Return the stretches from each stop to the next one."""
    passed = dict[Crossing, int]()
    routes = list[list[Stretch]]()
    for i, gaps in enumerate(crossings):
        is_down = stop_floors[i + 1] > stop_floors[i]
        x, floor, stretches = stops[i] + _SHIFT, stop_floors[i], list[Stretch]()
        for crossing in gaps:
            lane = passed[crossing] = passed.get(crossing, -1) + 1
            gap_x = plans[crossing[0]].gaps[crossing[1]] + _BESIDE + _LANE * lane
            stretches.append((floor, corridors[floor].take(x, gap_x), gap_x))
            x, floor = gap_x, floor + (1 if is_down else -1)
        end_x = stops[i + 1] - _SHIFT
        stretches.append((floor, corridors[floor].take(x, end_x), end_x))
        routes.append(stretches)
    return routes


def _trace_route(
    start: StopMark, end: StopMark, stretches: Sequence[Stretch], bottoms: Sequence[float]
) -> tuple[Point, ...]:
    """Return the corners of the line between two stops."""
    x = start.x + _SHIFT
    points = [(x, start.y)]
    for floor, lane, next_x in stretches:
        y = bottoms[floor] + _BESIDE + _LANE * lane
        points += [(x, y), (next_x, y)]
        x = next_x
    return (*points, (x, end.y))
