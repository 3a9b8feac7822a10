"""Polygons: the positions within arcs of great circles."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from provenn.errors import RegionError
from provenn.sky.angles import read_declination, read_position_names, read_right_ascension
from provenn.sky.cells import Cells
from provenn.sky.points import MARGIN, Cap, Flags, Numbers, Points, measure_arc_distance, measure_separation
from provenn.sky.region import Sides, classify_cells

__all__ = ["Plane", "Polygon", "polygon"]

_LARGEST_REACH = 80
_MOST_VERTICES = 1000

Vertices = tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class Polygon:
    """The positions within arcs of great circles, convex or not, on the side with the smaller area.

    Build it with `polygon`. The vertices are in degrees; their order depends on the polygon alone.
    """

    vertices: Vertices
    on: tuple[str, str] | None = None

    function: ClassVar[str] = "in_polygon"

    @property
    def constants(self) -> tuple[float, ...]:
        """The coordinates of the vertices, in their order."""
        return tuple(number for vertex in self.vertices for number in vertex)

    @property
    def plane(self) -> Plane:
        """The plane in which the sides are straight."""
        return _build_plane(self.vertices)

    @property
    def cap(self) -> Cap:
        """A cap about the middle, through the farthest vertex."""
        plane = self.plane
        return Cap(plane.axes[2], plane.reach + MARGIN)

    def holds(self, points: Points) -> Flags:
        """Return a flag per point: whether a line from the point crosses the border an odd number of times."""
        plane = self.plane
        x, y, ahead = plane.project_vectors(points.vectors)
        inside = np.zeros(len(x), bool)
        for low, high, at, slope in plane.crossings:
            inside ^= (y >= low) & (y < high) & (x < at + (y - low) * slope)
        return inside & ahead

    def from_border(self, points: Points) -> Numbers:
        """Return the distance in degrees of each point from the sides."""
        corners = self.plane.vectors
        return measure_arc_distance(points.vectors, corners, np.roll(corners, -1, axis=0))

    def sides(self, cells: Cells) -> Sides:
        """Return the side of the border for each cell."""
        return classify_cells(self, cells)


@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """The plane that touches the sphere in a polygon's middle; seen from the sphere's centre, great circles are lines.

    Parameters
    ----------
    ra, dec
        The point where the plane touches the sphere, in degrees.
    axes
        The unit vectors to the east, to the north, and to the middle.
    vectors
        The vertices as unit vectors.
    reach
        The degrees from the middle to the farthest vertex.
    crossings
        For each side that is not level: the y of its lower end, the y of its upper end, the x of its lower end, and the
        change of x with y.
    """

    ra: float
    dec: float
    axes: Numbers
    vectors: Numbers
    reach: float
    crossings: tuple[tuple[float, float, float, float], ...]

    def project_vectors(self, vectors: Numbers) -> tuple[Numbers, Numbers, Flags]:
        """Return the x and y of points in the plane, and a flag per point: whether it lies ahead of the centre."""
        east, north, ahead = self.axes @ vectors.T
        depth = np.where(ahead > 0, ahead, 1)
        return east / depth, north / depth, ahead > 0


@lru_cache(maxsize=1000)
def _build_plane(vertices: Vertices) -> Plane:
    ra, dec = map(np.array, zip(*vertices, strict=True))
    vectors = Points.at(ra, dec).vectors
    following = np.roll(vectors, -1, axis=0)
    # The middle of the border does not depend on the number of vertices along a side.
    weights = np.linalg.norm(vectors - following, axis=1)
    middle = (weights[:, None] * (vectors + following)).sum(axis=0)
    if np.linalg.norm(middle) < 1e-6 * weights.sum():
        raise _too_large_error()
    x, y, z = middle
    lon, lat = math.atan2(y, x), math.atan2(z, math.hypot(x, y))
    east = [-math.sin(lon), math.cos(lon), 0]
    north = [-math.sin(lat) * math.cos(lon), -math.sin(lat) * math.sin(lon), math.cos(lat)]
    centre = [math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)]
    axes = np.array([east, north, centre])
    reach = float(measure_separation(vectors, axes[2]).max())
    if reach > _LARGEST_REACH:
        raise _too_large_error()
    across, up, _ = axes @ vectors.T
    projected = np.stack([across, up], axis=1) / (vectors @ axes[2])[:, None]
    _check_simple(projected)
    crossings = []
    for start, end in zip(projected, np.roll(projected, -1, axis=0), strict=True):
        (x1, y1), (x2, y2) = sorted([start.tolist(), end.tolist()], key=lambda point: point[1])
        if y1 < y2:
            crossings.append((y1, y2, x1, (x2 - x1) / (y2 - y1)))
    return Plane(math.degrees(lon) % 360, math.degrees(lat), axes, vectors, reach, tuple(crossings))


def _too_large_error() -> RegionError:
    return RegionError(
        f"the polygon reaches farther than {_LARGEST_REACH} degrees from its middle",
        hint="join smaller polygons with OR, or use a MOC",
    )


def _check_simple(vertices: Numbers) -> None:
    """Refuse a polygon with crossing or touching sides, or without area."""
    start, end = vertices, np.roll(vertices, -1, axis=0)

    def find_sides(points: Numbers) -> Numbers:
        """Return the sign of the side on which points (columns) lie of each side of the polygon (rows)."""
        along, away = (end - start)[:, None, :], points[None, :, :] - start[:, None, :]
        across = along[..., 0] * away[..., 1] - along[..., 1] * away[..., 0]
        rounding = 1e-12 * np.linalg.norm(along, axis=-1) * np.linalg.norm(away, axis=-1)
        return np.where(np.abs(across) <= rounding, 0, np.sign(across))

    to_start, to_end = find_sides(start), find_sides(end)
    low, high = np.minimum(start, end), np.maximum(start, end)
    may_meet = ((low[:, None] <= high[None]) & (high[:, None] >= low[None])).all(axis=2)
    crossing = may_meet & (to_start * to_end <= 0) & (to_start * to_end <= 0).T
    count = len(vertices)
    number = np.arange(count)
    steps_apart = (number[:, None] - number[None, :]) % count
    crossing &= (steps_apart != 0) & (steps_apart != 1) & (steps_apart != count - 1)
    turns_back = (to_end[number, (number + 1) % count] == 0) & (
        ((end - start) * np.roll(end - start, -1, axis=0)).sum(axis=1) < 0
    )
    x, y = vertices.T
    area = abs(float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()))
    if crossing.any() or turns_back.any() or area == 0:
        raise RegionError(
            "the sides of the polygon cross or touch each other", hint="give the vertices in their order around it"
        )


def polygon(vertices: Iterable[Any], on: Sequence[str] | None = None) -> Polygon:
    """Return the polygon with the given vertices.

    The sides are the shorter arcs of great circles from each vertex to the next, and from the last to the first. The
    polygon may be concave. It must fit within 80 degrees around the middle of its border; the middle also decides which
    side is inside.

    Parameters
    ----------
    vertices
        At least three pairs of right ascension and declination, in degrees or as quantities of astropy; or a SkyCoord
        array. The direction does not matter; the first vertex may be repeated at the end.
    on
        The attributes that hold the position of a source; without them, UCDs or usual names decide.

    Raises
    ------
    RegionError
        If a number is out of range, there are fewer than three vertices, sides cross, or the polygon is too large.

    Examples
    --------
    >>> polygon([(10, 0), (20, 0), (15, 8)]).vertices
    ((10.0, 0.0), (15.0, 8.0), (20.0, 0.0))
    """
    names = read_position_names(on)
    corners: list[tuple[float, float]] = []
    for number, pair in enumerate(_list_pairs(vertices), start=1):
        ra, dec = _read_vertex(pair, number)
        vertex = (0.0 if abs(dec) == 90 else ra % 360, dec)
        if not corners or corners[-1] != vertex:
            corners.append(vertex)
    if len(corners) > 1 and corners[0] == corners[-1]:
        corners.pop()
    if not 3 <= len(corners) <= _MOST_VERTICES:
        raise RegionError(
            f"a polygon has from 3 to {_MOST_VERTICES} different vertices, not {len(corners)}",
            hint="give pairs: polygon([(10, 0), (20, 0), (15, 8)])" if len(corners) < 3 else "use a MOC",
        )
    first = corners.index(min(corners))
    ordered = corners[first:] + corners[:first]
    if ordered[-1] < ordered[1]:
        ordered[1:] = ordered[:0:-1]
    region = Polygon(tuple(ordered), names)
    _build_plane(region.vertices)  # refuses vertices that do not make a polygon
    return region


def _list_pairs(vertices: Any) -> Iterable[Any]:  # noqa: ANN401 - pairs, or a SkyCoord
    if hasattr(vertices, "ra") and hasattr(vertices, "dec"):
        return zip(vertices.ra, vertices.dec, strict=True)
    try:
        return list(vertices)
    except TypeError:
        raise RegionError(f"{vertices!r} has no vertices", hint="give pairs of degrees") from None


def _read_vertex(pair: Any, number: int) -> tuple[float, float]:  # noqa: ANN401 - as above
    if hasattr(pair, "ra") and hasattr(pair, "dec"):
        pair = (pair.ra, pair.dec)
    try:
        ra, dec = pair
    except (TypeError, ValueError):
        raise RegionError(f"vertex {number} is {pair!r}, not a pair", hint="give pairs of degrees") from None
    suffix = f"of vertex {number}"
    return read_right_ascension(ra, f"the right ascension {suffix}"), read_declination(dec, f"the declination {suffix}")
