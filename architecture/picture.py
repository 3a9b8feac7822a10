"""The picture: floors with rooms beside each other, and the way of a target as a line with numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from architecture.layout import HouseLayout, RoomBox, StopMark, arrange_house
from architecture.rooms import Floor, Room
from architecture.way import Stop
from provenn.display.figure import (
    ACCENT,
    Figure,
    draw_text,
    estimate_text_width,
    render_document,
    stack_horizontally,
    stack_vertically,
)
from provenn.display.layers import Point
from provenn.display.markup import Element, format_number, make_element

__all__ = ["arrange_rooms", "draw_room_text", "house_svg"]

_WIDTH = 900.0
_ROOF = 92.0
_CORNER = 5.0
_PADDING = 11.0
_CEILING, _STRIP = 26.0, 32.0
_BADGE = 9.0
_SMALL = 11.0


def house_svg(rooms: Sequence[Room], floors: Sequence[Floor], way: Sequence[Stop], command: str) -> str:
    """Draw the house as SVG.

    Parameters
    ----------
    rooms
        The rooms.
    floors
        Which rooms are beside each other, from top to bottom.
    way
        The stops of a target.
    command
        The command that goes this way.
    """
    by_name = {room.name: room for room in rooms}
    layout = arrange_rooms(by_name, floors, way)
    figure = stack_vertically([_draw_house(layout, by_name, floors), _draw_legend(way, command)], gap=26, align=0)
    return render_document(
        figure,
        title="The house of provenn, and the way of a target through it",
        description=_describe_house(rooms, floors, way),
    )


def arrange_rooms(rooms: Mapping[str, Room], floors: Sequence[Floor], way: Sequence[Stop]) -> HouseLayout:
    """Return the places of the rooms, as large as their words demand, and of the way."""
    return arrange_house(
        floors,
        way,
        width=_WIDTH,
        top=_ROOF,
        measure_stop=_measure_stop,
        measure_room=lambda name, width: _measure_room(rooms[name], width, any(stop.room == name for stop in way)),
        padding=_PADDING,
        ceiling=_CEILING,
        strip=_STRIP,
    )


def _draw_house(layout: HouseLayout, rooms: Mapping[str, Room], floors: Sequence[Floor]) -> Figure:
    """Return the house as a figure."""
    return Figure(
        _WIDTH,
        layout.ground,
        (
            *_draw_walls(layout, floors),
            *(_draw_room(box, rooms[box.name]) for box in layout.boxes),
            *(element for route in layout.routes for element in _draw_route(route)),
            *(element for box in layout.boxes for mark in box.marks for element in _draw_stop(mark)),
        ),
    )


def _draw_walls(layout: HouseLayout, floors: Sequence[Floor]) -> Iterator[Element]:
    """Yield the roof, the walls, the ceilings and the titles of the floors."""
    ridge, eaves = (_WIDTH / 2, 2.0), [(0.0, _ROOF), (_WIDTH, _ROOF)]
    roof = _join_points([eaves[0], ridge, eaves[1]]) + "Z"
    walls = _join_points([eaves[0], (0.0, layout.ground), (_WIDTH, layout.ground), eaves[1]])
    yield make_element("path", d=roof, fill="currentColor", fill_opacity=0.06)
    yield make_element(
        "path", d=roof + walls, fill="none", stroke="currentColor", stroke_width=1.6, stroke_linejoin="round"
    )
    for text, y, size, weight in (
        ("provenn", 56.0, 22.0, "700"),
        ("imports point down and to the right, never up or to the left", 78.0, 12.0, "400"),
    ):
        yield make_element("text", text, x=_WIDTH / 2, y=y, font_size=size, font_weight=weight, text_anchor="middle")
    for floor, y in zip(floors, layout.ceilings, strict=True):
        line = _join_points([(0.0, y), (_WIDTH, y)])
        yield make_element("path", d=line, stroke="currentColor", stroke_opacity=0.3)
        left = min(box.x for box in layout.boxes if box.name in floor.rooms)
        yield make_element("text", floor.title, x=left, y=y + 18, font_size=12.0, font_weight="600", fill_opacity=0.75)


def _draw_route(route: Sequence[Point]) -> Iterator[Element]:
    """Yield the line from a stop to the next one, with an arrowhead."""
    yield make_element(
        "path", d=_round_corners(route), fill="none", stroke=ACCENT, stroke_width=2.0, stroke_linejoin="round"
    )
    x, y = route[-1]
    yield make_element("path", d=f"M{format_number(x)} {format_number(y + _BADGE)}l-3.5 7h7Z", fill=ACCENT)


def _join_points(points: Sequence[Point]) -> str:
    """Return a line through points, as data of an SVG path."""
    return "M" + "L".join(f"{format_number(x)} {format_number(y)}" for x, y in points)


def _round_corners(points: Sequence[Point]) -> str:
    """Return a line through points with horizontal and vertical pieces and round corners, as data of an SVG path."""
    text = f"M{format_number(points[0][0])} {format_number(points[0][1])}"
    for before, (x, y), after in zip(points, points[1:], points[2:], strict=False):
        (from_x, from_y), (to_x, to_y) = _approach((x, y), before), _approach((x, y), after)
        text += f"L{format_number(from_x)} {format_number(from_y)}"
        text += f"Q{format_number(x)} {format_number(y)} {format_number(to_x)} {format_number(to_y)}"
    return text + f"L{format_number(points[-1][0])} {format_number(points[-1][1])}"


def _approach(corner: Point, other: Point) -> Point:
    """Return the point a little away from a corner, towards another point; at most half the way."""
    distance = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    share = min(_CORNER / distance, 0.5) if distance else 0.0
    return corner[0] + (other[0] - corner[0]) * share, corner[1] + (other[1] - corner[1]) * share


# -- rooms and stops -------------------------------------------------------------------------------------------------


def _draw_room(box: RoomBox, room: Room) -> Element:
    """Return a room: its name, its size and its sentence."""
    on_way = bool(box.marks)
    border = make_element(
        "rect",
        width=box.width,
        height=box.height,
        rx=5.0,
        fill=ACCENT if on_way else "currentColor",
        fill_opacity=0.09 if on_way else 0.03,
        stroke=ACCENT if on_way else "currentColor",
        stroke_opacity=1.0 if on_way else 0.4,
    )
    content = draw_room_text(room, box.width).place_at(_PADDING, _PADDING - 4)
    return Figure(box.width, box.height, (border, content)).place_at(box.x, box.y)


def draw_room_text(room: Room, width: float) -> Figure:
    """Return the words in a room."""
    size = f"{room.size.modules} files, {_format_lines(room.size.lines)}"
    if room.size.modules == 1:
        size = _format_lines(room.size.lines)
    lines = _wrap_text(room.sentence, width - 2 * _PADDING)
    return stack_vertically(
        [
            draw_text(room.path, bold=True, size=14),
            draw_text(size, size=10, faint=True),
            *(draw_text(line, size=_SMALL) for line in lines),
        ],
        gap=1,
        align=0,
    )


def _measure_room(room: Room, width: float, has_stop: bool) -> float:
    """Return the height that a room needs."""
    return draw_room_text(room, width).height + 2 * _PADDING - 6 + (_STRIP - 6 if has_stop else 0)


def _format_lines(lines: int) -> str:
    """Return a number of lines, rounded to two digits.

    >>> _format_lines(8412), _format_lines(97)
    ('8,400 lines', '97 lines')
    """
    digits = len(str(lines)) - 2
    return f"{round(lines, -digits) if digits > 0 else lines:,} lines"


def _wrap_text(text: str, width: float) -> list[str]:
    """Return a text in lines of at most a width, if no single word is wider."""
    lines = [""]
    for word in text.replace("`", "").split():
        line = f"{lines[-1]} {word}".strip()
        if lines[-1] and estimate_text_width(line, _SMALL) > width:
            lines.append(word)
        else:
            lines[-1] = line
    return lines


def _draw_stop(mark: StopMark) -> Iterator[Element]:
    """Yield the number and the word of a stop."""
    yield _draw_number(mark.number).place_at(mark.x - _BADGE, mark.y - _BADGE)
    yield make_element("text", mark.stop.word, x=mark.x + _BADGE + 5, y=mark.y + 4, font_size=_SMALL, font_weight="600")


def _measure_stop(stop: Stop) -> float:
    """Return the width of the number and the word of a stop."""
    return 2 * _BADGE + 6 + estimate_text_width(stop.word, _SMALL) + 10


def _draw_number(number: int) -> Figure:
    """Return the number of a stop in a circle."""
    circle = make_element(
        "circle", class_="paper", cx=_BADGE, cy=_BADGE, r=_BADGE, fill="#ffffff", stroke=ACCENT, stroke_width=2.0
    )
    text = make_element(
        "text", str(number), x=_BADGE, y=_BADGE + 3.6, font_size=10.0, font_weight="700", text_anchor="middle"
    )
    return Figure(2 * _BADGE, 2 * _BADGE, (circle, text))


def _draw_legend(way: Sequence[Stop], command: str) -> Figure:
    """Return the stops of the way in words, in two columns."""
    entries = [
        stack_horizontally(
            [
                _draw_number(number),
                stack_vertically(
                    [draw_text(stop.sentence, size=12), draw_text(stop.function, size=10.5, mono=True, faint=True)],
                    gap=0,
                    align=0,
                ),
            ],
            gap=9,
            align=0.5,
        )
        for number, stop in enumerate(way, start=1)
    ]
    half = (len(entries) + 1) // 2
    columns = [stack_vertically(column, gap=9, align=0) for column in (entries[:half], entries[half:])]
    columns[0] = Figure(_WIDTH / 2, columns[0].height, columns[0].parts)
    title = [draw_text("The way of a target", bold=True, size=15), draw_text(command, size=12, mono=True)]
    return stack_vertically(
        [stack_horizontally(title, gap=14, align=0.7), stack_horizontally(columns, gap=0, align=0)], gap=14, align=0
    )


# -- in words ----------------------------------------------------------------------------------------------------------


def _describe_house(rooms: Sequence[Room], floors: Sequence[Floor], way: Sequence[Stop]) -> str:
    """Return the house as sentences, for screen readers."""
    sentences = {room.name: f"{room.name}: {room.sentence}" for room in rooms}
    return " ".join(
        [
            *(f"{floor.title}: {', '.join(floor.rooms)}." for floor in floors),
            *sentences.values(),
            "The way of a target:",
            *(f"{number}, {stop.room}: {stop.sentence}" for number, stop in enumerate(way, start=1)),
        ]
    )
