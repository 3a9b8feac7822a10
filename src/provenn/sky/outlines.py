"""The outlines of regions, as closed lines on the sphere, for pictures."""

from __future__ import annotations

import numpy as np

from provenn.sky.boxes import Box
from provenn.sky.cell_numbers import trace_cells
from provenn.sky.cells import Integers
from provenn.sky.cones import Cone
from provenn.sky.mocs import Moc
from provenn.sky.points import Numbers, Points
from provenn.sky.polygons import Polygon
from provenn.sky.region import Region

__all__ = ["trace_region"]

_PIECES = 72
_MOST_CELLS = 3000
"""The most cells of a MOC that are drawn one by one."""


def trace_region(region: Region) -> list[Points]:
    """Return closed lines around a region; for a MOC, around each of its largest cells."""
    match region:
        case Cone(radius=radius):
            return [] if radius >= 180 else [_trace_circle(region.cap.centre, radius)]
        case Box():
            return _trace_box(region)
        case Polygon():
            return [_trace_polygon(region.plane.vectors)]
        case Moc():
            return _trace_moc(region.cells)
    return [_trace_circle(region.cap.centre, region.cap.radius)]


def _trace_circle(centre: Numbers, radius: float) -> Points:
    """Return a circle about a unit vector."""
    across = np.cross(centre, [0.0, 0.0, 1.0] if abs(centre[2]) < 0.9 else [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    angles = np.linspace(0, 2 * np.pi, _PIECES, endpoint=False)[:, None]
    ring = np.cos(angles) * across + np.sin(angles) * np.cross(centre, across)
    return _make_points(np.cos(np.radians(radius)) * centre + np.sin(np.radians(radius)) * ring)


def _trace_box(box: Box) -> list[Points]:
    """Return the sides of a box; a box all around the sky has two circles."""
    ra = box.ra_from + np.linspace(0, box.breadth, _PIECES)
    if box.around:
        heights = [dec for dec in (box.dec_from, box.dec_to) if abs(dec) < 90]
        return [Points.at(np.mod(ra, 360), np.full(_PIECES, dec)) for dec in heights]
    up = np.linspace(box.dec_from, box.dec_to, _PIECES)
    longitudes = np.concatenate([ra, np.full(_PIECES, ra[-1]), ra[::-1], np.full(_PIECES, ra[0])])
    latitudes = np.concatenate([np.full(_PIECES, box.dec_from), up, np.full(_PIECES, box.dec_to), up[::-1]])
    return [Points.at(np.mod(longitudes, 360), latitudes)]


def _trace_polygon(vectors: Numbers) -> Points:
    """Return the arcs between vertices, divided into short pieces."""
    pieces = max(2, 2 * _PIECES // len(vectors))
    shares = np.linspace(0, 1, pieces, endpoint=False)[:, None]
    arcs = [
        start * (1 - shares) + end * shares for start, end in zip(vectors, np.roll(vectors, -1, axis=0), strict=True)
    ]
    points = np.concatenate(arcs)
    return _make_points(points / np.linalg.norm(points, axis=1)[:, None])


def _trace_moc(cells: dict[int, Integers]) -> list[Points]:
    """Return the borders of the largest cells of a MOC."""
    outlines: list[Points] = []
    for order, numbers in sorted(cells.items()):
        pieces = max(1, 8 >> order)
        points = trace_cells(order, numbers[: _MOST_CELLS - len(outlines)], pieces)
        outlines += [
            Points(points.ra[start:end], points.dec[start:end], points.vectors[start:end])
            for start, end in ((at, at + 4 * pieces) for at in range(0, len(points.ra), 4 * pieces))
        ]
    return outlines


def _make_points(vectors: Numbers) -> Points:
    """Return the points of unit vectors."""
    ra = np.degrees(np.arctan2(vectors[:, 1], vectors[:, 0]))
    return Points.at(np.mod(ra, 360), np.degrees(np.arcsin(np.clip(vectors[:, 2], -1, 1))))
