"""The regions of a Venn diagram as exact outlines.

Each ellipse is cut where it crosses the others. Every arc between two crossings lies on the border of exactly two
regions, one on either side; the arcs of a region, joined end to end, are its outline.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import cos, degrees, hypot, pi, radians, sin

import numpy as np
from numpy.typing import NDArray

from provenn.display.markup import number

__all__ = ["ARRANGEMENTS", "Arrangement", "Ellipse", "anchors", "outlines"]

Region = tuple[int, ...]
"""For each ellipse whether the region is inside (1) or outside (0)."""


@dataclass(frozen=True, slots=True)
class Ellipse:
    """An ellipse, its longer axis `rx` turned by `tilt` radians, clockwise on the page."""

    x: float
    y: float
    rx: float
    ry: float
    tilt: float = 0.0

    def point(self, angle: float) -> tuple[float, float]:
        """Return the point at an angle of the parametric form."""
        along, across = self.rx * cos(angle), self.ry * sin(angle)
        return (
            self.x + along * cos(self.tilt) - across * sin(self.tilt),
            self.y + along * sin(self.tilt) + across * cos(self.tilt),
        )

    def depth(self, x: NDArray[np.float64] | float, y: NDArray[np.float64] | float) -> NDArray[np.float64]:
        """Return numbers that are positive inside, negative outside, and about the distance to the border."""
        dx, dy = x - self.x, y - self.y
        along = (dx * cos(self.tilt) + dy * sin(self.tilt)) / self.rx
        across = (dy * cos(self.tilt) - dx * sin(self.tilt)) / self.ry
        return np.asarray((1 - np.hypot(along, across)) * self.ry)


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Ellipses in a frame, and the place beside each where its name goes."""

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
"""The diagrams that can be drawn, by the number of sets. Every region is in one piece."""


@dataclass(frozen=True, slots=True)
class _Arc:
    ellipse: Ellipse
    start: float
    stop: float

    def reversed(self) -> "_Arc":
        return _Arc(self.ellipse, self.stop, self.start)

    def ends(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return self.ellipse.point(self.start), self.ellipse.point(self.stop)

    def command(self) -> str:
        one, (x, y) = self.ellipse, self.ends()[1]
        large, clockwise = abs(self.stop - self.start) > pi, self.stop > self.start
        numbers = (one.rx, one.ry, degrees(one.tilt), large, clockwise, x, y)
        return "A" + " ".join(number(float(value)) for value in numbers)


def outlines(ellipses: Sequence[Ellipse]) -> dict[Region, str]:
    """Return the outline of every region inside at least one ellipse, as the data of an SVG path.

    The remaining region, outside all of them, is bounded by the outline of the key ``(0, …, 0)``, from without.
    """
    borders: dict[Region, list[_Arc]] = {}
    for i, ellipse in enumerate(ellipses):
        for arc in _arcs(ellipse, [other for j, other in enumerate(ellipses) if j != i]):
            x, y = ellipse.point((arc.start + arc.stop) / 2)
            sides = [int(other.depth(x, y) > 0) for other in ellipses]
            # clockwise along an ellipse its inside lies on the right; a region is walked with its inside on the right
            sides[i] = 1
            borders.setdefault(tuple(sides), []).append(arc)
            sides[i] = 0
            borders.setdefault(tuple(sides), []).append(arc.reversed())
    return {region: "".join(_loops(arcs)) for region, arcs in borders.items()}


def _arcs(ellipse: Ellipse, others: Sequence[Ellipse]) -> Iterator[_Arc]:
    cuts = sorted(angle for other in others for angle in _crossings(ellipse, other))
    if not cuts:
        cuts = [0.0, pi]  # an arc of SVG cannot be a whole ellipse
    for start, stop in pairwise([*cuts, cuts[0] + 2 * pi]):
        yield _Arc(ellipse, start, stop)


def _crossings(ellipse: Ellipse, other: Ellipse) -> Iterator[float]:
    def inside(angle: float) -> bool:
        return bool(other.depth(*ellipse.point(angle)) > 0)

    for low, high in pairwise(np.linspace(0.0, 2 * pi, 181).tolist()):
        if inside(low) != inside(high):
            start, stop = low, high
            for _ in range(50):
                middle = (start + stop) / 2
                start, stop = (start, middle) if inside(low) != inside(middle) else (middle, stop)
            yield start


def _loops(arcs: list[_Arc]) -> Iterator[str]:
    left = list(arcs)
    while left:
        loop = [left.pop(0)]
        first = loop[0].ends()[0]
        while not _near(loop[-1].ends()[1], first):
            end = loop[-1].ends()[1]
            loop.append(left.pop(next(i for i, arc in enumerate(left) if _near(arc.ends()[0], end))))
        yield f"M{number(first[0])} {number(first[1])}" + "".join(arc.command() for arc in loop) + "Z"


def _near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return hypot(one[0] - other[0], one[1] - other[1]) < 1e-6


def anchors(arrangement: Arrangement) -> dict[Region, tuple[float, float]]:
    """Return for each region the point of a grid that is farthest from borders and names: where to put a mark."""
    width, height = arrangement.width, arrangement.height
    xs, ys = (grid.ravel() for grid in np.meshgrid(np.arange(2.0, width, 2.0), np.arange(2.0, height, 2.0)))
    depths = [ellipse.depth(xs, ys) for ellipse in arrangement.ellipses]
    names = [np.hypot(xs - x, ys - y) - 12 for x, y in arrangement.names]
    room = np.min([xs, ys, width - xs, height - ys, *names, *map(np.abs, depths)], axis=0)
    best = {}
    for region in product((0, 1), repeat=len(depths)):
        there = [(depth > 0) == bool(side) for depth, side in zip(depths, region, strict=True)]
        i = np.argmax(np.where(np.logical_and.reduce([np.full(xs.shape, True), *there]), room, -np.inf))
        best[region] = (float(xs[i]), float(ys[i]))
    return best
