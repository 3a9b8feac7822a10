"""The regions of a Venn diagram as exact outlines.

Each ellipse is cut at the crossings with all others. Every arc between two crossings borders exactly two regions, on
either side; the arcs of a region, joined end to end, are the outline of the region.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import cos, degrees, hypot, pi, radians, sin

import numpy as np
from numpy.typing import NDArray

from provenn.display.markup import format_number

__all__ = ["ARRANGEMENTS", "Arrangement", "Ellipse", "find_anchors", "trace_outlines"]

RegionIndex = tuple[int, ...]
"""For each ellipse, whether the region is inside (1) or outside (0)."""


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse, its longer axis `rx` turned by `tilt` radians, clockwise on the page."""

    x: float
    y: float
    rx: float
    ry: float
    tilt: float = 0.0

    def point_at(self, angle: float) -> tuple[float, float]:
        """Return the point at an angle of the parametric form."""
        along, across = self.rx * cos(angle), self.ry * sin(angle)
        return (
            self.x + along * cos(self.tilt) - across * sin(self.tilt),
            self.y + along * sin(self.tilt) + across * cos(self.tilt),
        )

    def measure_depth(self, x: NDArray[np.float64] | float, y: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return numbers that are positive inside, negative outside, and about the distance to the border."""
        dx, dy = x - self.x, y - self.y
        along = (dx * cos(self.tilt) + dy * sin(self.tilt)) / self.rx
        across = (dy * cos(self.tilt) - dx * sin(self.tilt)) / self.ry
        return np.asarray((1 - np.hypot(along, across)) * self.ry)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Ellipses in a frame, and the position of the name beside each."""

    width: float
    height: float
    ellipses: tuple[Ellipse, ...] = ()
    names: tuple[tuple[float, float], ...] = ()


ARRANGEMENTS = {
    0: Arrangement(150, 90),
    1: Arrangement(184, 156, (Ellipse(92, 78, 58, 58),), ((40, 30),)),
    2: Arrangement(254, 172, (Ellipse(90, 86, 62, 62), Ellipse(164, 86, 62, 62)), ((35, 34), (219, 34))),
    3: Arrangement(
        254,
        238,
        (Ellipse(90, 86, 62, 62), Ellipse(164, 86, 62, 62), Ellipse(127, 150, 62, 62)),
        ((35, 34), (219, 34), (185, 196)),
    ),
    4: Arrangement(
        320,
        274,
        tuple(
            Ellipse(160 + x, 140 + y, 110, 68, radians(tilt))
            for x, y, tilt in [(-40, 18, 50), (0, -18, 50), (0, -18, -50), (40, 18, -50)]
        ),
        ((34, 70), (80, 26), (240, 26), (286, 70)),
    ),
}
"""The available diagrams, by the number of sets. Every region is in one piece."""


@dataclass(frozen=True, slots=True)
class _Arc:
    """A part of an ellipse between two angles."""

    ellipse: Ellipse
    start: float
    stop: float

    def reverse(self) -> "_Arc":
        """Return the same arc in the opposite direction."""
        return _Arc(self.ellipse, self.stop, self.start)

    def end_points(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the first and the last point."""
        return self.ellipse.point_at(self.start), self.ellipse.point_at(self.stop)

    def svg_command(self) -> str:
        """Return the command of an SVG path that draws the arc from its first point."""
        ellipse, (x, y) = self.ellipse, self.end_points()[1]
        is_large, is_clockwise = abs(self.stop - self.start) > pi, self.stop > self.start
        numbers = (ellipse.rx, ellipse.ry, degrees(ellipse.tilt), is_large, is_clockwise, x, y)
        return "A" + " ".join(format_number(float(value)) for value in numbers)


def trace_outlines(ellipses: Sequence[Ellipse]) -> dict[RegionIndex, str]:
    """Return the outline of every region inside at least one ellipse, as the data of an SVG path.

    The key ``(0, …, 0)`` has the outline of all ellipses together: the inner border of the outside region.
    """
    borders: dict[RegionIndex, list[_Arc]] = {}
    for i, ellipse in enumerate(ellipses):
        for arc in _cut_ellipse(ellipse, [other for j, other in enumerate(ellipses) if j != i]):
            x, y = ellipse.point_at((arc.start + arc.stop) / 2)
            sides = [int(other.measure_depth(x, y) > 0) for other in ellipses]
            # clockwise along an ellipse, its inside is on the right; so is the region along its own outline
            sides[i] = 1
            borders.setdefault(tuple(sides), []).append(arc)
            sides[i] = 0
            borders.setdefault(tuple(sides), []).append(arc.reverse())
    return {region: "".join(_join_arcs(arcs)) for region, arcs in borders.items()}


def _cut_ellipse(ellipse: Ellipse, others: Sequence[Ellipse]) -> Iterator[_Arc]:
    """Yield the arcs of an ellipse between its crossings with others."""
    cuts = sorted(angle for other in others for angle in _find_crossings(ellipse, other))
    if not cuts:
        cuts = [0.0, pi]  # an SVG arc cannot be a whole ellipse
    for start, stop in pairwise([*cuts, cuts[0] + 2 * pi]):
        yield _Arc(ellipse, start, stop)


def _find_crossings(ellipse: Ellipse, other: Ellipse) -> Iterator[float]:
    """Yield the angles of an ellipse where it crosses another, to high precision."""

    def is_inside(angle: float) -> bool:
        return bool(other.measure_depth(*ellipse.point_at(angle)) > 0)

    for low, high in pairwise(np.linspace(0.0, 2 * pi, 181).tolist()):
        if is_inside(low) != is_inside(high):
            start, stop = low, high
            for _ in range(50):
                middle = (start + stop) / 2
                start, stop = (start, middle) if is_inside(low) != is_inside(middle) else (middle, stop)
            yield start


def _join_arcs(arcs: list[_Arc]) -> Iterator[str]:
    """Yield the closed loops that the arcs form, as data of an SVG path."""
    remaining = list(arcs)
    while remaining:
        loop = [remaining.pop(0)]
        first = loop[0].end_points()[0]
        while not _are_near(loop[-1].end_points()[1], first):
            end = loop[-1].end_points()[1]
            loop.append(
                remaining.pop(next(i for i, arc in enumerate(remaining) if _are_near(arc.end_points()[0], end)))
            )
        yield f"M{format_number(first[0])} {format_number(first[1])}" + "".join(arc.svg_command() for arc in loop) + "Z"


def _are_near(point: tuple[float, float], other_point: tuple[float, float]) -> bool:
    """Return whether two points coincide, but for rounding."""
    return hypot(point[0] - other_point[0], point[1] - other_point[1]) < 1e-6


def find_anchors(arrangement: Arrangement) -> dict[RegionIndex, tuple[float, float]]:
    """Return for each region the grid point that is farthest from borders and names, as the place of a mark."""
    width, height = arrangement.width, arrangement.height
    xs, ys = (grid.ravel() for grid in np.meshgrid(np.arange(2.0, width, 2.0), np.arange(2.0, height, 2.0)))
    depths = [ellipse.measure_depth(xs, ys) for ellipse in arrangement.ellipses]
    names = [np.hypot(xs - x, ys - y) - 12 for x, y in arrangement.names]
    room = np.min([xs, ys, width - xs, height - ys, *names, *map(np.abs, depths)], axis=0)
    best = {}
    for region in product((0, 1), repeat=len(depths)):
        conditions = [(depth > 0) == bool(side) for depth, side in zip(depths, region, strict=True)]
        i = np.argmax(np.where(np.logical_and.reduce([np.full(xs.shape, True), *conditions]), room, -np.inf))
        best[region] = (float(xs[i]), float(ys[i]))
    return best
