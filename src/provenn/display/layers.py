"""A layered layout: boxes in rows, every edge from a box to a lower one, few crossings, long edges straight.

The method of Sugiyama, Tagawa and Toda (1981): boxes are put in rows, long edges get a bend in every row on the way,
the rows are sorted to avoid crossings, and then boxes and bends move sideways towards their neighbours. All edges from
a box share bends, and so edges to many boxes are drawn as a trunk with branches.

Boxes of different kinds can stand in lanes beside each other: rows are common to all lanes, columns belong to one.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import groupby, pairwise
from math import inf

from provenn import deadline
from provenn.errors import PictureError

__all__ = ["Layout", "Point", "arrange_boxes"]

Point = tuple[float, float]

_LANE = 14.0
"""The distance that an edge keeps from its neighbours."""

_LEAST_SHARE = 0.3
"""The smallest part of the width that the boxes of a lane may take."""

_WORK = 20_000
"""How many boxes and bends all rounds of improvement together may visit."""

_PATIENCE = 2
"""After this many rounds without a better order, sorting stops."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of boxes and edges.

    Parameters
    ----------
    width, height
        The size of the whole; its top left corner is (0, 0).
    corners
        The top left corner of each box.
    routes
        The points that each edge passes: from the middle of the bottom of a box to the middle of the top of another.
        No line between two of these points touches another box.
    lanes
        The left and right end of each lane; a single lane has all boxes.
    """

    width: float
    height: float
    corners: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]
    lanes: tuple[tuple[float, float], ...] = ()


def arrange_boxes(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    *,
    gap: float = 24.0,
    drop: float = 40.0,
    widest: float = inf,
    lanes: Sequence[int] = (),
    lane_gap: float = 48.0,
) -> Layout:
    """Arrange boxes in rows, each box below all boxes that lead to it; equal input gives an equal layout.

    Parameters
    ----------
    sizes
        Width and height of each box.
    edges
        Pairs of box numbers: from which box to which.
    gap, drop
        The minimal distance of boxes, beside and above each other.
    widest
        The maximal total width of the boxes in a row; more boxes take several rows. Each lane has its share.
    lanes
        The lane of each box, counted from 0 at the left; without lanes, all boxes are in one.
    lane_gap
        The distance between lanes.

    Raises
    ------
    PictureError
        If boxes lead to themselves.
    """
    graph = _Graph(sizes, edges, gap, _divide_width(sizes, widest, lanes), lanes or [0] * len(sizes))
    _sort_rows(graph)
    graph.x = _compute_columns(graph) if len(set(graph.lanes)) < 2 else _compute_lanes(graph, lane_gap)
    left = min((graph.x[node] - box_width / 2 for node, (box_width, _) in enumerate(sizes)), default=0.0)
    left = min([left, *graph.x])
    graph.x = [x - left for x in graph.x]
    tops, heights = _compute_tops(graph, sizes, drop)
    corners = tuple((graph.x[node] - box_width / 2, tops[graph.row[node]]) for node, (box_width, _) in enumerate(sizes))
    width = max(
        [*graph.x, *(x + box_width for (x, _), (box_width, _) in zip(corners, sizes, strict=True))], default=0.0
    )
    routes = tuple(_trace_route(graph, sizes, tops, heights, edge) for edge in edges)
    height = tops[-1] + heights[-1] if tops else 0.0
    return Layout(width, height, corners, routes, _measure_lanes(graph))


def _divide_width(sizes: Sequence[tuple[float, float]], widest: float, lanes: Sequence[int]) -> dict[int, float]:
    """Return the maximal total width of the boxes in a row, by lane: more for lanes with more boxes."""
    if not lanes:
        return {0: widest}
    whole = sum(width for width, _ in sizes)
    shares: dict[int, float] = {}
    for lane, (width, _) in zip(lanes, sizes, strict=True):
        shares[lane] = shares.get(lane, 0.0) + width / whole
    return {lane: widest * max(share, _LEAST_SHARE) for lane, share in shares.items()}


@dataclass(slots=True)
class _Graph:
    """Nodes (boxes and bends) by number, boxes first, in rows, with their neighbours in the adjacent rows."""

    sizes: Sequence[tuple[float, float]]
    edges: Sequence[tuple[int, int]]
    gap: float
    widest: dict[int, float]  # by lane: the maximal total width of the boxes in a row
    lanes: Sequence[int]
    row: list[int] = field(init=False)
    rows: list[list[int]] = field(init=False)
    upper: list[list[int]] = field(init=False)
    lower: list[list[int]] = field(init=False)
    trunks: dict[int, list[int]] = field(init=False)  # the bends of each box's edges, from top to bottom
    lane: list[int] = field(init=False)  # bends are in the lane of the box that their edges come from
    x: list[float] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        count = len(self.sizes)
        uppers, lowers = [set[int]() for _ in range(count)], [set[int]() for _ in range(count)]
        for start, end in self.edges:
            lowers[start].add(end)
            uppers[end].add(start)
        self.row = _assign_rows(self.sizes, uppers, lowers, self.widest, self.lanes)
        self.upper, self.lower = [[] for _ in range(count)], [[] for _ in range(count)]
        self.trunks = {node: [] for node in range(count)}
        for node in range(count):
            deadline.check()
            for other in sorted(lowers[node]):
                above = self._find_bend(node, self.row[other] - 1)
                self.lower[above].append(other)
                self.upper[other].append(above)
        self.lane = [*self.lanes, *([0] * (len(self.row) - count))]
        for box, trunk in self.trunks.items():
            for bend in trunk:
                self.lane[bend] = self.lane[box]
        self.rows = [[] for _ in range(max(self.row, default=-1) + 1)]
        for node in sorted(range(len(self.row)), key=self.lane.__getitem__):
            self.rows[self.row[node]].append(node)

    def _find_bend(self, box: int, row: int) -> int:
        """Return the bend of a box's edges in a row below the box; missing bends are added down to that row."""
        trunk = self.trunks[box]
        while self.row[box] + len(trunk) < row:
            above, new = trunk[-1] if trunk else box, len(self.row)
            self.row.append(self.row[above] + 1)
            self.upper.append([above])
            self.lower.append([])
            self.lower[above].append(new)
            trunk.append(new)
        return trunk[row - self.row[box] - 1] if row > self.row[box] else box

    def is_bend(self, node: int) -> bool:
        """Return whether a node is a bend, and not a box."""
        return node >= len(self.sizes)

    def width_of(self, node: int) -> float:
        """Return the width of a node; a bend has none."""
        return 0.0 if self.is_bend(node) else self.sizes[node][0]

    def minimal_distance(self, left: int, right: int) -> float:
        """Return the minimal distance between the middles of two neighbours in a row."""
        room = _LANE if self.is_bend(left) or self.is_bend(right) else self.gap
        return (self.width_of(left) + self.width_of(right)) / 2 + room

    def limit_rounds(self, most: int) -> int:
        """Return the number of rounds over all nodes that the work limit allows, at most `most`."""
        return max(1, min(most, _WORK // max(1, len(self.row))))


# -- rows ----------------------------------------------------------------------------------------------------------


def _assign_rows(
    sizes: Sequence[tuple[float, float]],
    uppers: Sequence[set[int]],
    lowers: Sequence[set[int]],
    widest: dict[int, float],
    lanes: Sequence[int],
) -> list[int]:
    """Return the row of each box: as high as possible or, where that makes edges shorter, as low as possible."""
    try:
        order = list(TopologicalSorter({node: sorted(above) for node, above in enumerate(uppers)}).static_order())
    except CycleError as error:
        raise PictureError(
            f"boxes in a cycle cannot be put in layers: {' -> '.join(map(str, error.args[1]))}",
            hint="remove one of these edges",
        ) from error
    row = [0] * len(sizes)
    taken: dict[tuple[int, int], float] = {}  # by row and lane: the width of the boxes there
    first_free: dict[tuple[int, int, float], int] = {}  # by first row, lane and width of a search: where it ended

    def has_room(target: int, node: int) -> bool:
        width = taken.get((target, lanes[node]))
        return not width or width + sizes[node][0] <= widest[lanes[node]]

    def put_in_row(node: int, target: int) -> None:
        row[node] = target
        taken[target, lanes[node]] = taken.get((target, lanes[node]), 0.0) + sizes[node][0]

    for node in order:
        start = target = max((row[upper] + 1 for upper in uppers[node]), default=0)
        search = start, lanes[node], sizes[node][0]
        target = max(target, first_free.get(search, 0))
        deadline.check()
        while not has_room(target, node):
            target += 1
        first_free[search] = target
        put_in_row(node, target)
    for node in reversed(order):
        if len(lowers[node]) > len(uppers[node]):
            lowest = min(row[lower] for lower in lowers[node]) - 1
            target = next((target for target in range(lowest, row[node], -1) if has_room(target, node)), row[node])
            if target != row[node]:
                taken[row[node], lanes[node]] -= sizes[node][0]
                put_in_row(node, target)
    number_by_row = {target: number for number, target in enumerate(sorted(set(row)))}
    return [number_by_row[target] for target in row]


# -- the order in a row --------------------------------------------------------------------------------------------


def _sort_rows(graph: _Graph) -> None:
    """Sort every row: of all orders tried, the given order included, keep the order with the fewest crossings."""
    best, fewest = graph.rows, _count_crossings(graph, graph.rows)
    for links in (graph.lower, graph.upper):
        rows, stale = [sorted(row, key=graph.lane.__getitem__) for row in _follow_edges(graph, links)], 0
        for step in range(graph.limit_rounds(8)):
            crossings = _count_crossings(graph, rows)
            stale = 0 if crossings < fewest else stale + 1
            if crossings < fewest:
                best, fewest = [[*row] for row in rows], crossings
            if fewest == 0 or stale > _PATIENCE:
                break
            _sweep_rows(graph, rows, down=step % 2 == 0)
            _swap_neighbours(graph, rows)
    centred_rows = [sorted(_centre_trunks(graph, row), key=graph.lane.__getitem__) for row in best]
    graph.rows = centred_rows if _count_crossings(graph, centred_rows) <= fewest else best


def _centre_trunks(graph: _Graph, row: Sequence[int]) -> list[int]:
    """Return a row with each trunk in the middle of its branches, where the branches are adjacent."""
    runs = [[*run] for _, run in groupby(row, key=lambda node: graph.upper[node] or [~node])]
    for run in runs:
        bends = [node for node in run if graph.is_bend(node)]
        boxes = [node for node in run if not graph.is_bend(node)]
        run[:] = [*boxes[: len(boxes) // 2], *bends, *boxes[len(boxes) // 2 :]]
    return [node for run in runs for node in run]


def _follow_edges(graph: _Graph, links: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the rows in the order in which a depth-first search along the edges reaches the nodes."""
    rows: list[list[int]] = [[] for _ in graph.rows]
    seen: set[int] = set()
    starts = graph.rows if links is graph.lower else reversed(graph.rows)
    stack = [node for row in starts for node in row][::-1]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            rows[graph.row[node]].append(node)
            stack.extend(reversed(links[node]))
    return rows


def _sweep_rows(graph: _Graph, rows: list[list[int]], *, down: bool) -> None:
    """Sort each row, from one end to the other, by the average position of the neighbours in the row before."""
    links = graph.upper if down else graph.lower
    place = {node: (i + 0.5) / len(row) for row in rows for i, node in enumerate(row)}
    for row in rows if down else reversed(rows):
        deadline.check()
        middle = {
            node: sum(place[neighbour] for neighbour in links[node]) / len(links[node]) if links[node] else place[node]
            for node in row
        }
        row.sort(key=lambda node: (graph.lane[node], middle[node]))
        place.update((node, (i + 0.5) / len(row)) for i, node in enumerate(row))


def _swap_neighbours(graph: _Graph, rows: list[list[int]]) -> None:
    """Exchange neighbours in a row where that leaves fewer crossings."""
    place = {node: i for row in rows for i, node in enumerate(row)}
    for row in rows:
        deadline.check()
        places = {
            node: [sorted(place[neighbour] for neighbour in links[node]) for links in (graph.upper, graph.lower)]
            for node in row
        }
        for i in range(len(row) - 1):
            if graph.lane[row[i]] != graph.lane[row[i + 1]]:
                continue
            left, right = places[row[i]], places[row[i + 1]]
            crossings = sum(_count_inversions(a, b) for a, b in zip(left, right, strict=True))
            if crossings and sum(_count_inversions(b, a) for a, b in zip(left, right, strict=True)) < crossings:
                row[i], row[i + 1] = row[i + 1], row[i]
        place.update((node, i) for i, node in enumerate(row))


def _count_inversions(left: Sequence[int], right: Sequence[int]) -> int:
    """Return the number of pairs whose left member is greater; both sequences are sorted."""
    count = place = 0
    for left_place in left:
        while place < len(right) and right[place] < left_place:
            place += 1
        count += place
    return count


def _count_crossings(graph: _Graph, rows: Iterable[Sequence[int]]) -> int:
    """Return the number of crossings of edges, between all rows."""
    count = 0
    for above, below in pairwise(rows):
        deadline.check()
        place = {node: i for i, node in enumerate(below)}
        passed_ends: list[int] = []
        for node in above:
            ends = sorted(place[neighbour] for neighbour in graph.lower[node])
            count += sum(len(passed_ends) - bisect_right(passed_ends, end) for end in ends)
            for end in ends:
                insort(passed_ends, end)
    return count


# -- where in a row ------------------------------------------------------------------------------------------------


def _compute_columns(graph: _Graph) -> list[float]:
    """Return the middle of every node: in order, apart, and as near to its neighbours as that allows."""
    x = [0.0] * len(graph.row)
    offsets = []
    for row in graph.rows:
        steps = [0.0]
        for left, right in pairwise(row):
            steps.append(steps[-1] + graph.minimal_distance(left, right))
        offsets.append(steps[: len(row)])  # a row of a lane may be empty
        for node, offset in zip(row, steps, strict=False):
            x[node] = offset - steps[-1] / 2
    rounds = graph.limit_rounds(14)
    for step in range(rounds):
        last = step >= rounds - 2
        links = [graph.upper, graph.lower] if last else [graph.upper if step % 2 == 0 else graph.lower]
        down = step % 2 == 0
        for number in range(len(graph.rows)) if down else reversed(range(len(graph.rows))):
            _spread_row(graph, graph.rows[number], offsets[number], links, x)
    _straighten_trunks(graph, x)
    return x


def _compute_lanes(graph: _Graph, gap: float) -> list[float]:
    """Return the middle of every node, with the lanes beside each other: each lane is arranged for itself."""
    assigned = graph.lane
    x = [0.0] * len(graph.row)
    right = -gap
    for lane in sorted(set(assigned)):
        part = copy(graph)
        part.rows = [[node for node in row if assigned[node] == lane] for row in graph.rows]
        part.upper, part.lower = (
            [[other for other in others if assigned[other] == assigned[node]] for node, others in enumerate(links)]
            for links in (graph.upper, graph.lower)
        )
        part.trunks = {box: trunk for box, trunk in graph.trunks.items() if assigned[box] == lane}
        columns = _compute_columns(part)
        nodes = [node for row in part.rows for node in row]
        shift = right + gap - min(columns[node] - graph.width_of(node) / 2 for node in nodes)
        for node in nodes:
            x[node] = columns[node] + shift
        right = max(x[node] + graph.width_of(node) / 2 for node in nodes)
    return x


def _measure_lanes(graph: _Graph) -> tuple[tuple[float, float], ...]:
    """Return the left and right end of each lane."""
    ends: dict[int, tuple[float, float]] = {}
    for node, lane in enumerate(graph.lane):
        half = graph.width_of(node) / 2
        left, right = ends.get(lane, (inf, -inf))
        ends[lane] = min(left, graph.x[node] - half), max(right, graph.x[node] + half)
    return tuple(ends[lane] for lane in sorted(ends))


def _spread_row(
    graph: _Graph,
    row: Sequence[int],
    offsets: Sequence[float],
    links: Sequence[Sequence[Sequence[int]]],
    x: list[float],
) -> None:
    """Move the nodes of a row towards their neighbours, by least squares, kept in order and apart.

    Without the distances between nodes, the problem is isotonic regression: neighbours that would overlap are pooled.
    """
    deadline.check()
    pools: list[tuple[float, float, int]] = []  # weight, weighted sum, number of boxes and bends
    for node, offset in zip(row, offsets, strict=True):
        weight, total = 0.05, 0.05 * x[node]
        for side in links:
            for neighbour in side[node]:
                # A bend that makes a long edge crooked weighs most.
                pull = (1000.0 if graph.is_bend(node) and graph.is_bend(neighbour) else 1.0) / len(side[node])
                weight, total = weight + pull, total + pull * x[neighbour]
        total -= weight * offset
        count = 1
        while pools and pools[-1][1] * weight >= total * pools[-1][0]:
            pool = pools.pop()
            weight, total, count = weight + pool[0], total + pool[1], count + pool[2]
        pools.append((weight, total, count))
    place = 0
    for weight, total, count in pools:
        for i in range(place, place + count):
            x[row[i]] = total / weight + offsets[i]
        place += count


def _straighten_trunks(graph: _Graph, x: list[float]) -> None:
    """Put the bends of each trunk on a vertical line, below the box of the trunk if possible, if there is room."""
    place = {node: i for row in graph.rows for i, node in enumerate(row)}

    def find_space(node: int) -> tuple[float, float]:
        row, i = graph.rows[graph.row[node]], place[node]
        low = x[row[i - 1]] + graph.minimal_distance(row[i - 1], node) if i else -inf
        high = x[row[i + 1]] - graph.minimal_distance(node, row[i + 1]) if i + 1 < len(row) else inf
        return low, high

    for box, trunk in graph.trunks.items():
        if not trunk:
            continue
        spaces = [find_space(node) for node in trunk]
        low, high = max(left for left, _ in spaces), min(right for _, right in spaces)
        if low <= high:
            below = [x[neighbour] for neighbour in graph.lower[trunk[-1]]]
            target = next(
                (position for position in (x[box], *below) if low <= position <= high),
                sum(x[node] for node in trunk) / len(trunk),
            )
            for node in trunk:
                x[node] = min(max(target, low), high)
    for row in graph.rows:
        for node in row:
            # Make an almost straight chain of boxes straight.
            upper_positions = [x[neighbour] for neighbour in graph.upper[node]]
            low, high = find_space(node)
            if (
                len(upper_positions) == 1
                and low <= upper_positions[0] <= high
                and (abs(upper_positions[0] - x[node]) < 8 or len(graph.lower[node]) == 0)
            ):
                x[node] = upper_positions[0]


# -- lines ---------------------------------------------------------------------------------------------------------


def _compute_tops(graph: _Graph, sizes: Sequence[tuple[float, float]], drop: float) -> tuple[list[float], list[float]]:
    """Return the top and the height of each row; rows are further apart where edges go far to the side."""
    heights = [max((sizes[node][1] for node in row if not graph.is_bend(node)), default=0.0) for row in graph.rows]
    tops, y = [], 0.0
    for row, height in zip(graph.rows, heights, strict=True):
        tops.append(y)
        far = max(
            (abs(graph.x[node] - graph.x[neighbour]) for node in row for neighbour in graph.lower[node]), default=0.0
        )
        y += height + drop + min(far / 12, drop)
    return tops, heights


def _trace_route(
    graph: _Graph,
    sizes: Sequence[tuple[float, float]],
    tops: Sequence[float],
    heights: Sequence[float],
    edge: tuple[int, int],
) -> tuple[Point, ...]:
    """Return the points of an edge: straight down within a row, to the side between rows."""
    start, end = edge
    x, row = graph.x, graph.row[start]
    points = [(x[start], tops[row] + sizes[start][1]), (x[start], tops[row] + heights[row])]
    for node in graph.trunks[start][: graph.row[end] - row - 1]:
        top = tops[graph.row[node]]
        points += [(x[node], top), (x[node], top + heights[graph.row[node]])]
    points.append((x[end], tops[graph.row[end]]))
    return tuple(point for i, point in enumerate(points) if i == 0 or point != points[i - 1])
