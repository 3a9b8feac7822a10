"""A layered layout: boxes in rows, every edge from a box to one further down, few crossings, long edges straight.

The way of Sugiyama, Tagawa and Toda (1981): boxes are put in rows, long edges get a bend in every row they pass, the
rows are sorted to avoid crossings, and then everything is moved sideways to where its neighbours are. All edges from
one box share their bends, so that what many boxes need is drawn as one trunk with branches.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import groupby, pairwise
from math import inf

from provenn.errors import PictureError

__all__ = ["Layout", "Point", "layered"]

Point = tuple[float, float]

_LANE = 14.0
"""How much room an edge needs beside others."""

_WORK = 20_000
"""How many boxes and bends may be looked at, all rounds together, to make a picture better."""

_PATIENCE = 2
"""How many rounds without a better order are enough."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is.

    Parameters
    ----------
    width, height
        The size of the whole; its top left corner is (0, 0).
    corners
        The top left corner of each box.
    routes
        The points that each edge passes: from the middle of the bottom of a box to the middle of the top of another.
        No line between two of them touches another box.
    """

    width: float
    height: float
    corners: tuple[Point, ...]
    routes: tuple[tuple[Point, ...], ...]


def layered(
    sizes: Sequence[tuple[float, float]],
    edges: Sequence[tuple[int, int]],
    *,
    gap: float = 24.0,
    drop: float = 40.0,
    widest: float = inf,
) -> Layout:
    """Lay boxes out, each below all that lead to it. The same boxes and edges give the same layout.

    Parameters
    ----------
    sizes
        Width and height of each box.
    edges
        From which box to which, by number.
    gap, drop
        How far boxes are apart, beside and above each other, at least.
    widest
        How wide the boxes of a row may be together; more boxes than that take several rows.

    Raises
    ------
    PictureError
        If boxes lead to themselves.
    """
    graph = _Graph(sizes, edges, gap, widest)
    _sort(graph)
    graph.x = _columns(graph)
    left = min((graph.x[v] - w / 2 for v, (w, _) in enumerate(sizes)), default=0.0)
    left = min([left, *graph.x])
    graph.x = [x - left for x in graph.x]
    tops, heights = _tops(graph, sizes, drop)
    corners = tuple((graph.x[v] - w / 2, tops[graph.row[v]]) for v, (w, _) in enumerate(sizes))
    width = max([*graph.x, *(x + w for (x, _), (w, _) in zip(corners, sizes, strict=True))], default=0.0)
    routes = tuple(_route(graph, sizes, tops, heights, edge) for edge in edges)
    return Layout(width, tops[-1] + heights[-1] if tops else 0.0, corners, routes)


@dataclass(slots=True)
class _Graph:
    """Boxes and bends, by number (boxes first), in rows, with what they are tied to in the rows next to theirs."""

    sizes: Sequence[tuple[float, float]]
    edges: Sequence[tuple[int, int]]
    gap: float
    widest: float
    row: list[int] = field(init=False)
    rows: list[list[int]] = field(init=False)
    upper: list[list[int]] = field(init=False)
    lower: list[list[int]] = field(init=False)
    trunks: dict[int, list[int]] = field(init=False)  # the bends of each box's edges, from top to bottom
    x: list[float] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        count = len(self.sizes)
        uppers, lowers = [set[int]() for _ in range(count)], [set[int]() for _ in range(count)]
        for one, other in self.edges:
            lowers[one].add(other)
            uppers[other].add(one)
        self.row = _rows(self.sizes, uppers, lowers, self.widest)
        self.upper, self.lower = [[] for _ in range(count)], [[] for _ in range(count)]
        self.trunks = {v: [] for v in range(count)}
        for v in range(count):
            for other in sorted(lowers[v]):
                above = self._bend(v, self.row[other] - 1)
                self.lower[above].append(other)
                self.upper[other].append(above)
        self.rows = [[] for _ in range(max(self.row, default=-1) + 1)]
        for v, row in enumerate(self.row):
            self.rows[row].append(v)

    def _bend(self, box: int, row: int) -> int:
        """Return the bend of a box's edges in a row below it, made with those above if it is not there yet."""
        trunk = self.trunks[box]
        while self.row[box] + len(trunk) < row:
            above, new = trunk[-1] if trunk else box, len(self.row)
            self.row.append(self.row[above] + 1)
            self.upper.append([above])
            self.lower.append([])
            self.lower[above].append(new)
            trunk.append(new)
        return trunk[row - self.row[box] - 1] if row > self.row[box] else box

    def is_bend(self, v: int) -> bool:
        return v >= len(self.sizes)

    def width(self, v: int) -> float:
        return 0.0 if self.is_bend(v) else self.sizes[v][0]

    def between(self, one: int, other: int) -> float:
        """How far the middles of two neighbours in a row are apart, at least."""
        room = _LANE if self.is_bend(one) or self.is_bend(other) else self.gap
        return (self.width(one) + self.width(other)) / 2 + room

    def rounds(self, most: int) -> int:
        """How often everything may be looked at."""
        return max(1, min(most, _WORK // max(1, len(self.row))))


# -- rows ----------------------------------------------------------------------------------------------------------


def _rows(
    sizes: Sequence[tuple[float, float]], uppers: Sequence[set[int]], lowers: Sequence[set[int]], widest: float
) -> list[int]:
    """Return the row of each box: as high as it can be or, where that makes edges shorter, as low."""
    try:
        order = list(TopologicalSorter({v: sorted(above) for v, above in enumerate(uppers)}).static_order())
    except CycleError as error:
        raise PictureError(
            f"boxes that lead to themselves cannot be put in layers: {' -> '.join(map(str, error.args[1]))}",
            hint="leave one of these edges out",
        ) from error
    row = [0] * len(sizes)
    taken: dict[int, float] = {}
    first_free: dict[int, int] = {}  # rows known to be full lead further down

    def room(at: int, v: int) -> bool:
        return not taken.get(at) or taken[at] + sizes[v][0] <= widest

    def put(v: int, at: int) -> None:
        row[v] = at
        taken[at] = taken.get(at, 0.0) + sizes[v][0]

    for v in order:
        start = at = max((row[one] + 1 for one in uppers[v]), default=0)
        at = max(at, first_free.get(start, 0))
        while not room(at, v):
            at += 1
        first_free[start] = at
        put(v, at)
    for v in reversed(order):
        if len(lowers[v]) > len(uppers[v]):
            lowest = min(row[one] for one in lowers[v]) - 1
            at = next((at for at in range(lowest, row[v], -1) if room(at, v)), row[v])
            if at != row[v]:
                taken[row[v]] -= sizes[v][0]
                put(v, at)
    used = {at: place for place, at in enumerate(sorted(set(row)))}
    return [used[at] for at in row]


# -- the order in a row --------------------------------------------------------------------------------------------


def _sort(graph: _Graph) -> None:
    """Sort every row: of all orders that are tried, the one with fewest crossings, the given one among them."""
    best, fewest = graph.rows, _crossings(graph, graph.rows)
    for links in (graph.lower, graph.upper):
        rows, stale = _followed(graph, links), 0
        for step in range(graph.rounds(8)):
            number = _crossings(graph, rows)
            stale = 0 if number < fewest else stale + 1
            if number < fewest:
                best, fewest = [[*row] for row in rows], number
            if fewest == 0 or stale > _PATIENCE:
                break
            _sweep(graph, rows, down=step % 2 == 0)
            _swap(graph, rows)
    centred = [_centred(graph, row) for row in best]
    graph.rows = centred if _crossings(graph, centred) <= fewest else best


def _centred(graph: _Graph, row: Sequence[int]) -> list[int]:
    """Return a row with each trunk amid its branches, where they are next to each other."""
    runs = [[*run] for _, run in groupby(row, key=lambda v: graph.upper[v] or [~v])]
    for run in runs:
        bends = [v for v in run if graph.is_bend(v)]
        boxes = [v for v in run if not graph.is_bend(v)]
        run[:] = [*boxes[: len(boxes) // 2], *bends, *boxes[len(boxes) // 2 :]]
    return [v for run in runs for v in run]


def _followed(graph: _Graph, links: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the rows in the order in which boxes are found when edges are followed."""
    rows: list[list[int]] = [[] for _ in graph.rows]
    seen: set[int] = set()
    starts = graph.rows if links is graph.lower else reversed(graph.rows)
    stack = [v for row in starts for v in row][::-1]
    while stack:
        v = stack.pop()
        if v not in seen:
            seen.add(v)
            rows[graph.row[v]].append(v)
            stack.extend(reversed(links[v]))
    return rows


def _sweep(graph: _Graph, rows: list[list[int]], *, down: bool) -> None:
    """Sort each row, from one end to the other, by where the neighbours in the row before are on average."""
    links = graph.upper if down else graph.lower
    place = {v: (i + 0.5) / len(row) for row in rows for i, v in enumerate(row)}
    for row in rows if down else reversed(rows):
        middle = {v: sum(place[one] for one in links[v]) / len(links[v]) if links[v] else place[v] for v in row}
        row.sort(key=middle.__getitem__)
        place.update((v, (i + 0.5) / len(row)) for i, v in enumerate(row))


def _swap(graph: _Graph, rows: list[list[int]]) -> None:
    """Exchange neighbours where that leaves fewer crossings."""
    place = {v: i for row in rows for i, v in enumerate(row)}
    for row in rows:
        tied = {v: [sorted(place[one] for one in links[v]) for links in (graph.upper, graph.lower)] for v in row}
        for i in range(len(row) - 1):
            one, other = tied[row[i]], tied[row[i + 1]]
            now = sum(_inverted(a, b) for a, b in zip(one, other, strict=True))
            if now and sum(_inverted(b, a) for a, b in zip(one, other, strict=True)) < now:
                row[i], row[i + 1] = row[i + 1], row[i]
        place.update((v, i) for i, v in enumerate(row))


def _inverted(left: Sequence[int], right: Sequence[int]) -> int:
    """Return how many pairs there are in which what is on the left is greater; both are sorted."""
    number = place = 0
    for one in left:
        while place < len(right) and right[place] < one:
            place += 1
        number += place
    return number


def _crossings(graph: _Graph, rows: Iterable[Sequence[int]]) -> int:
    """Return how many edges cross, between all rows."""
    number = 0
    for above, below in pairwise(rows):
        place = {v: i for i, v in enumerate(below)}
        met: list[int] = []
        for v in above:
            ends = sorted(place[one] for one in graph.lower[v])
            number += sum(len(met) - bisect_right(met, end) for end in ends)
            for end in ends:
                insort(met, end)
    return number


# -- where in a row ------------------------------------------------------------------------------------------------


def _columns(graph: _Graph) -> list[float]:
    """Return the middle of every box and bend: in order, apart, and as near to its neighbours as that allows."""
    x = [0.0] * len(graph.row)
    offsets = []
    for row in graph.rows:
        steps = [0.0]
        for one, other in pairwise(row):
            steps.append(steps[-1] + graph.between(one, other))
        offsets.append(steps)
        for v, offset in zip(row, steps, strict=False):
            x[v] = offset - steps[-1] / 2
    rounds = graph.rounds(14)
    for step in range(rounds):
        last = step >= rounds - 2
        links = [graph.upper, graph.lower] if last else [graph.upper if step % 2 == 0 else graph.lower]
        down = step % 2 == 0
        for number in range(len(graph.rows)) if down else reversed(range(len(graph.rows))):
            _spread(graph, graph.rows[number], offsets[number], links, x)
    _straighten(graph, x)
    return x


def _spread(
    graph: _Graph,
    row: Sequence[int],
    offsets: Sequence[float],
    links: Sequence[Sequence[Sequence[int]]],
    x: list[float],
) -> None:
    """Move the boxes of a row to where they would like to be, by least squares, kept in order and apart.

    Without the distances between them that is isotonic regression: neighbours that would overlap are pooled.
    """
    pools: list[tuple[float, float, int]] = []  # weight, weighted sum, how many
    for v, offset in zip(row, offsets, strict=True):
        weight, total = 0.05, 0.05 * x[v]
        for side in links:
            for one in side[v]:
                # What makes a long edge crooked weighs most.
                pull = (1000.0 if graph.is_bend(v) and graph.is_bend(one) else 1.0) / len(side[v])
                weight, total = weight + pull, total + pull * x[one]
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


def _straighten(graph: _Graph, x: list[float]) -> None:
    """Put the bends of each trunk on one vertical line, below the box it comes from if possible, if there is room."""
    place = {v: i for row in graph.rows for i, v in enumerate(row)}

    def free(v: int) -> tuple[float, float]:
        row, i = graph.rows[graph.row[v]], place[v]
        low = x[row[i - 1]] + graph.between(row[i - 1], v) if i else -inf
        high = x[row[i + 1]] - graph.between(v, row[i + 1]) if i + 1 < len(row) else inf
        return low, high

    for box, trunk in graph.trunks.items():
        if not trunk:
            continue
        spaces = [free(v) for v in trunk]
        low, high = max(one for one, _ in spaces), min(other for _, other in spaces)
        if low <= high:
            below = [x[one] for one in graph.lower[trunk[-1]]]
            wanted = next(
                (one for one in (x[box], *below) if low <= one <= high), sum(x[v] for v in trunk) / len(trunk)
            )
            for v in trunk:
                x[v] = min(max(wanted, low), high)
    for row in graph.rows:
        for v in row:
            # A chain of boxes that is almost straight is made so.
            near = [x[one] for one in graph.upper[v]]
            low, high = free(v)
            if len(near) == 1 and low <= near[0] <= high and (abs(near[0] - x[v]) < 8 or len(graph.lower[v]) == 0):
                x[v] = near[0]


# -- lines ---------------------------------------------------------------------------------------------------------


def _tops(graph: _Graph, sizes: Sequence[tuple[float, float]], drop: float) -> tuple[list[float], list[float]]:
    """Return the top and the height of each row; rows are further apart where edges go far to the side."""
    heights = [max((sizes[v][1] for v in row if not graph.is_bend(v)), default=0.0) for row in graph.rows]
    tops, y = [], 0.0
    for row, height in zip(graph.rows, heights, strict=True):
        tops.append(y)
        far = max((abs(graph.x[v] - graph.x[one]) for v in row for one in graph.lower[v]), default=0.0)
        y += height + drop + min(far / 12, drop)
    return tops, heights


def _route(
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
    for v in graph.trunks[start][: graph.row[end] - row - 1]:
        top = tops[graph.row[v]]
        points += [(x[v], top), (x[v], top + heights[graph.row[v]])]
    points.append((x[end], tops[graph.row[end]]))
    return tuple(point for i, point in enumerate(points) if i == 0 or point != points[i - 1])
