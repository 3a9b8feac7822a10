"""Points on the sphere, many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MARGIN", "Cap", "Flags", "Numbers", "Points", "arc_distance", "separation"]

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

MARGIN = 1e-9
"""Degrees that are not relied on: what is nearer to a border may be on either side of it, by rounding."""

_AT_ONCE = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points, by their coordinates in degrees and as unit vectors."""

    ra: Numbers
    dec: Numbers
    vectors: Numbers

    @classmethod
    def at(cls, ra: Any, dec: Any) -> Points:  # noqa: ANN401 - numbers or arrays of them
        """Return the points at some coordinates."""
        longitude, latitude = np.atleast_1d(np.asarray(ra, float)), np.atleast_1d(np.asarray(dec, float))
        lon, lat = np.radians(longitude), np.radians(latitude)
        vectors = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)
        return cls(longitude, latitude, vectors)


@dataclass(frozen=True, slots=True, eq=False)
class Cap:
    """All points within a distance, in degrees, of a unit vector."""

    centre: Numbers
    radius: float


def separation(one: Numbers, other: Numbers) -> Numbers:
    """Return the angle between unit vectors in degrees, exact for small and for large ones."""
    return np.asarray(
        2 * np.degrees(np.arctan2(np.linalg.norm(one - other, axis=-1), np.linalg.norm(one + other, axis=-1)))
    )


def arc_distance(vectors: Numbers, starts: Numbers, ends: Numbers) -> Numbers:
    """Return the distance in degrees of unit vectors from the nearest of some arcs of great circles.

    Each arc is shorter than half a circle.
    """
    nearest = np.full(len(vectors), np.inf)
    some = max(1, _AT_ONCE // max(1, len(vectors)))
    for first in range(0, len(starts), some):
        arcs = _arc_distances(vectors, starts[first : first + some], ends[first : first + some])
        nearest = np.minimum(nearest, arcs.min(axis=1))
    return nearest


def _arc_distances(vectors: Numbers, starts: Numbers, ends: Numbers) -> Numbers:
    """Return the distances of all vectors (rows) from all arcs (columns)."""
    corners = np.minimum(separation(vectors[:, None], starts), separation(vectors[:, None], ends))
    normals = np.cross(starts, ends)
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / np.where(lengths, lengths, 1)[:, None]
    # Above the arc: on the inner side of the two planes that cut it off at its ends.
    above = (vectors @ np.cross(normals, starts).T >= 0) & (vectors @ np.cross(ends, normals).T >= 0) & (lengths > 0)
    return np.where(above, np.degrees(np.arcsin(np.minimum(np.abs(vectors @ normals.T), 1))), corners)
