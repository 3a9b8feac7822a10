"""Polygons: what lies within arcs of great circles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from provenn.errors import RegionError
from provenn.sky.angles import declination, position_names, right_ascension
from provenn.sky.cells import Cells
from provenn.sky.points import MARGIN, Cap, Flags, Numbers, Points, arc_distance, separation
from provenn.sky.region import Sides, sides

__all__ = ["Plane", "Polygon", "polygon"]

_LARGEST = 80
_MOST = 1000

Vertices = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Polygon:
    """The positions within arcs of great circles, convex or not, on the side that has the smaller area.

    Made by `polygon`; the vertices are in degrees, in an order that depends on the polygon alone.
    """

    vertices: Vertices
    on: tuple[str, str] | None = None

    function: ClassVar[str] = "in_polygon"

    @property
    def constants(self) -> tuple[float, ...]:
        """The vertices, one after the other."""
        return tuple(number for vertex in self.vertices for number in vertex)

    @property
    def plane(self) -> Plane:
        """The plane in which its sides are straight."""
        return _plane(self.vertices)

    @property
    def cap(self) -> Cap:
        """A cap about the middle, through the farthest vertex."""
        plane = self.plane
        return Cap(plane.axes[2], plane.reach + MARGIN)

    def holds(self, points: Points) -> Flags:
        """Return which points are inside: a line from there crosses the border an odd number of times."""
        plane = self.plane
        x, y, ahead = plane.shown(points.vectors)
        inside = np.zeros(len(x), bool)
        for low, high, at, slope in plane.crossings:
            inside ^= (y >= low) & (y < high) & (x < at + (y - low) * slope)
        return inside & ahead

    def from_border(self, points: Points) -> Numbers:
        """Return the distance of points from the sides."""
        corners = self.plane.vectors
        return arc_distance(points.vectors, corners, np.roll(corners, -1, axis=0))

    def sides(self, cells: Cells) -> Sides:
        """Return on which side of the border cells are."""
        return sides(self, cells)


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The plane that touches the sphere in the middle of a polygon, seen from its centre: great circles are lines.

    Parameters
    ----------
    ra, dec
        Where the plane touches, in degrees.
    axes
        The unit vectors to the east, to the north, and to the middle.
    vectors
        The vertices as unit vectors.
    reach
        How far the farthest vertex is from the middle.
    crossings
        Of each side that is not level: the y of its lower and of its upper end, x at the lower one, and how x changes
        with y.
    """

    ra: float
    dec: float
    axes: Numbers
    vectors: Numbers
    reach: float
    crossings: tuple[tuple[float, float, float, float], ...]

    def shown(self, vectors: Numbers) -> tuple[Numbers, Numbers, Flags]:
        """Return where in the plane points are, and which are ahead at all."""
        east, north, ahead = self.axes @ vectors.T
        depth = np.where(ahead > 0, ahead, 1)
        return east / depth, north / depth, ahead > 0


@lru_cache(maxsize=1000)
def _plane(vertices: Vertices) -> Plane:
    ra, dec = map(np.array, zip(*vertices, strict=True))
    vectors = Points.at(ra, dec).vectors
    following = np.roll(vectors, -1, axis=0)
    # The middle of the border, so that it does not matter how many vertices there are on a side.
    weights = np.linalg.norm(vectors - following, axis=1)
    middle = (weights[:, None] * (vectors + following)).sum(axis=0)
    if np.linalg.norm(middle) < 1e-6 * weights.sum():
        raise _too_large()
    x, y, z = middle
    lon, lat = math.atan2(y, x), math.atan2(z, math.hypot(x, y))
    east = [-math.sin(lon), math.cos(lon), 0]
    north = [-math.sin(lat) * math.cos(lon), -math.sin(lat) * math.sin(lon), math.cos(lat)]
    centre = [math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)]
    axes = np.array([east, north, centre])
    reach = float(separation(vectors, axes[2]).max())
    if reach > _LARGEST:
        raise _too_large()
    across, up, _ = axes @ vectors.T
    shown = np.stack([across, up], axis=1) / (vectors @ axes[2])[:, None]
    _check_simple(shown)
    crossings = []
    for one, other in zip(shown, np.roll(shown, -1, axis=0), strict=True):
        (x1, y1), (x2, y2) = sorted([one.tolist(), other.tolist()], key=lambda point: point[1])
        if y1 < y2:
            crossings.append((y1, y2, x1, (x2 - x1) / (y2 - y1)))
    return Plane(math.degrees(lon) % 360, math.degrees(lat), axes, vectors, reach, tuple(crossings))


def _too_large() -> RegionError:
    return RegionError(
        f"the polygon reaches farther than {_LARGEST} degrees from its middle",
        hint="join smaller ones by OR, or use a MOC",
    )


def _check_simple(shown: Numbers) -> None:
    """Refuse a polygon whose sides cross or touch, or that has no area."""
    start, end = shown, np.roll(shown, -1, axis=0)

    def turn(point: Numbers) -> Numbers:
        """Tell on which side of each side of the polygon (rows) points (columns) are."""
        along, away = (end - start)[:, None, :], point[None, :, :] - start[:, None, :]
        across = along[..., 0] * away[..., 1] - along[..., 1] * away[..., 0]
        rounding = 1e-12 * np.linalg.norm(along, axis=-1) * np.linalg.norm(away, axis=-1)
        return np.where(np.abs(across) <= rounding, 0, np.sign(across))

    to_start, to_end = turn(start), turn(end)
    low, high = np.minimum(start, end), np.maximum(start, end)
    near = ((low[:, None] <= high[None]) & (high[:, None] >= low[None])).all(axis=2)
    crossing = near & (to_start * to_end <= 0) & (to_start * to_end <= 0).T
    count = len(shown)
    number = np.arange(count)
    apart = (number[:, None] - number[None, :]) % count
    crossing &= (apart != 0) & (apart != 1) & (apart != count - 1)
    doubled = (to_end[number, (number + 1) % count] == 0) & (
        ((end - start) * np.roll(end - start, -1, axis=0)).sum(axis=1) < 0
    )
    x, y = shown.T
    area = abs(float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()))
    if crossing.any() or doubled.any() or area == 0:
        raise RegionError(
            "the sides of the polygon cross or touch each other", hint="give the vertices in their order around it"
        )


def polygon(vertices: Iterable[Any], on: Sequence[str] | None = None) -> Polygon:
    """Return the polygon that has some vertices.

    Its sides are the shorter arcs of great circles from one vertex to the next, and from the last to the first. It
    may be concave. It must fit within 80 degrees around the middle of its border, which also says what is inside.

    Parameters
    ----------
    vertices
        At least three pairs of right ascension and declination, in degrees or as quantities of astropy; or a SkyCoord
        of them. In either direction; the first may be repeated at the end.
    on
        The attributes that hold the position of a source; found by UCD or by name if they are not given.

    Raises
    ------
    RegionError
        If a number is out of range, there are fewer than three vertices, sides cross, or it is too large.

    Examples
    --------
    >>> polygon([(10, 0), (20, 0), (15, 8)]).vertices
    ((10.0, 0.0), (15.0, 8.0), (20.0, 0.0))
    """
    names = position_names(on)
    corners: list[tuple[float, float]] = []
    for number, given in enumerate(_pairs(vertices), start=1):
        ra, dec = _pair(given, number)
        where = (0.0 if abs(dec) == 90 else ra % 360, dec)
        if not corners or corners[-1] != where:
            corners.append(where)
    if len(corners) > 1 and corners[0] == corners[-1]:
        corners.pop()
    if not 3 <= len(corners) <= _MOST:
        raise RegionError(
            f"a polygon has from 3 to {_MOST} different vertices, not {len(corners)}",
            hint="give pairs: polygon([(10, 0), (20, 0), (15, 8)])" if len(corners) < 3 else "use a MOC",
        )
    first = corners.index(min(corners))
    turned = corners[first:] + corners[:first]
    if turned[-1] < turned[1]:
        turned[1:] = turned[:0:-1]
    made = Polygon(tuple(turned), names)
    _plane(made.vertices)  # refuses what is no polygon
    return made


def _pairs(vertices: Any) -> Iterable[Any]:  # noqa: ANN401 - pairs, or a SkyCoord
    if hasattr(vertices, "ra") and hasattr(vertices, "dec"):
        return zip(vertices.ra, vertices.dec, strict=True)
    try:
        return list(vertices)
    except TypeError:
        raise RegionError(f"{vertices!r} has no vertices", hint="give pairs of degrees") from None


def _pair(given: Any, number: int) -> tuple[float, float]:  # noqa: ANN401 - as above
    if hasattr(given, "ra") and hasattr(given, "dec"):
        given = (given.ra, given.dec)
    try:
        ra, dec = given
    except (TypeError, ValueError):
        raise RegionError(f"vertex {number} is {given!r}, not a pair", hint="give pairs of degrees") from None
    what = f"of vertex {number}"
    return right_ascension(ra, f"the right ascension {what}"), declination(dec, f"the declination {what}")
