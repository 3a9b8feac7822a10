"""Points on the sphere, many at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["MARGIN", "Cap", "Flags", "Numbers", "Points", "measure_arc_distance", "measure_separation"]

Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]

MARGIN = 1e-9
"""The rounding margin in degrees: a point nearer to a border than this may lie on either side of it."""

_MOST_PAIRS = 100_000


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Points on the sphere, as coordinates in degrees and as unit vectors."""

    ra: Numbers
    dec: Numbers
    vectors: Numbers

    @classmethod
    def at(cls, ra: Any, dec: Any) -> Points:  # noqa: ANN401 - numbers or arrays of them
        """Return the points at coordinates in degrees."""
        longitude, latitude = np.atleast_1d(np.asarray(ra, float)), np.atleast_1d(np.asarray(dec, float))
        lon, lat = np.radians(longitude), np.radians(latitude)
        vectors = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)
        return cls(longitude, latitude, vectors)


@dataclass(frozen=True, slots=True, eq=False)
class Cap:
    """All points within a distance, in degrees, of a unit vector."""

    centre: Numbers
    radius: float


def measure_separation(vector: Numbers, other: Numbers) -> Numbers:
    """Return the angle between unit vectors in degrees, exact for small and for large angles."""
    return np.asarray(
        2 * np.degrees(np.arctan2(np.linalg.norm(vector - other, axis=-1), np.linalg.norm(vector + other, axis=-1)))
    )


def measure_arc_distance(vectors: Numbers, starts: Numbers, ends: Numbers) -> Numbers:
    """Return the distance in degrees of each unit vector from the nearest arc of a great circle.

    Each arc is shorter than half a circle.
    """
    nearest = np.full(len(vectors), np.inf)
    batch_size = max(1, _MOST_PAIRS // max(1, len(vectors)))
    for first in range(0, len(starts), batch_size):
        arcs = _measure_arc_distances(vectors, starts[first : first + batch_size], ends[first : first + batch_size])
        nearest = np.minimum(nearest, arcs.min(axis=1))
    return nearest


def _measure_arc_distances(vectors: Numbers, starts: Numbers, ends: Numbers) -> Numbers:
    """Return the distances of all vectors (rows) from all arcs (columns)."""
    corners = np.minimum(measure_separation(vectors[:, None], starts), measure_separation(vectors[:, None], ends))
    normals = np.cross(starts, ends)
    lengths = np.linalg.norm(normals, axis=1)
    normals = normals / np.where(lengths, lengths, 1)[:, None]
    # A vector is above the arc if it lies on the inner side of both planes that bound the arc at its ends.
    above = (vectors @ np.cross(normals, starts).T >= 0) & (vectors @ np.cross(ends, normals).T >= 0) & (lengths > 0)
    return np.where(above, np.degrees(np.arcsin(np.minimum(np.abs(vectors @ normals.T), 1))), corners)
