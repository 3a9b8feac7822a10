"""The ranges of declination and right ascension that contain a region, as Spark decides about the region.

Spark compares rounded numbers. So a range ends at the last number that Spark can accept: a box has the ends that are
written in its SQL; for a cone, the rounding errors of the haversine formula are bounded; other regions get a margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from provenn.sky.boxes import Box
from provenn.sky.cells import Cells, Integers, build_cells
from provenn.sky.cones import Cone
from provenn.sky.mocs import Moc
from provenn.sky.points import MARGIN, Numbers, Points
from provenn.sky.polygons import Polygon
from provenn.sky.region import Region

__all__ = ["Arc", "Extremes", "find_extremes"]

Arc = tuple[float, float]
"""The ends of a range of right ascension, from 0 to 360; if the first is above the second, the arc goes across 0."""

_WIDENING = 2 * MARGIN
_MOST_ARCS = 8
_POLAR = 89.0
"""The declination beyond which right ascensions are not bounded."""
_SHORT = 1e-5
"""The length of a side of a polygon, as a chord, below which the direction of its plane is not computed."""
_ROUNDING = Fraction(40, 2**53)
"""A bound of the relative error between the two sides of the haversine test, see `_bound_cone_height`."""


@dataclass(frozen=True, slots=True)
class Extremes:
    """The ranges that contain all positions of a region.

    Parameters
    ----------
    low, high
        The least and the greatest declination, in degrees.
    arcs
        The ranges of right ascension, taken modulo 360; None if nothing is known.
    """

    low: float
    high: float
    arcs: tuple[Arc, ...] | None


@lru_cache(maxsize=100_000)
def find_extremes(region: Region) -> Extremes:
    """Return the ranges of declination and right ascension that contain a region."""
    match region:
        case Box():
            arcs = None if region.around else ((region.ra_from, region.ra_to),)
            return Extremes(region.dec_from, region.dec_to, arcs)
        case Cone():
            return _find_cone_extremes(region)
        case Polygon():
            return _find_polygon_extremes(region)
        case Moc():
            return _find_moc_extremes(region)
    return Extremes(-90.0, 90.0, None)


def _find_cone_extremes(cone: Cone) -> Extremes:
    height = _bound_cone_height(cone.radius)
    low, high = -_round_down(height - Fraction(cone.dec)), _round_down(height + Fraction(cone.dec))
    arcs = None
    reach = cone.radius + _WIDENING
    if abs(cone.dec) + reach < _POLAR:
        half_width = _measure_half_widths(np.array([cone.dec]), reach)[0]
        arcs = _join_arcs(np.array([cone.ra]), np.array([half_width]))
    return Extremes(max(-90.0, low), min(90.0, high), arcs)


def _bound_cone_height(radius: float) -> Fraction:
    """Return a bound of the difference in declination between the centre and a position that Spark accepts.

    Spark accepts a position only if ``power(sin(radians(d / 2)), 2)``, to which it adds a number that is not negative,
    is at most the limit that Python computed as ``sin(radians(radius / 2)) ** 2``. With u = 2**-53, the difference d
    has a relative error of u, its conversion to radians 3 u, the sine 2 u and the power 2 u. Together the left side is
    at least ``sin(d/2)**2 * (1 - 14 u)``, because the squared sine magnifies a relative error by at most 2. The limit
    is at most ``sin(radius/2)**2 * (1 + 12 u)``. Taking 40 u for both, d exceeds the radius by at most
    ``40 u * tan(radius/2)`` radians, up to terms in u**2, for which a hundredth is added.

    Cones of more than 90 degrees are bounded by their caps, and very small radii, whose squares Spark cannot represent,
    get the margin.
    """
    if not 1e-100 < radius <= 90:
        return Fraction(radius) + 2 * Fraction(_WIDENING)
    excess = _ROUNDING * Fraction(math.degrees(math.tan(math.radians(radius / 2)))) * Fraction(101, 100)
    return Fraction(radius) + excess


def _round_down(value: Fraction) -> float:
    """Return the greatest double that is not above a number."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def _find_polygon_extremes(polygon: Polygon) -> Extremes:
    starts = polygon.plane.vectors
    ends = np.roll(starts, -1, axis=0)
    low, high = -_find_highest(-starts, -ends), _find_highest(starts, ends)
    poles = Points.at([0.0, 0.0], [-90.0, 90.0])
    holds, distances = polygon.holds(poles), polygon.from_border(poles)
    if (distances <= 90 - _POLAR).any() or holds.any():
        reached = holds | (distances <= _WIDENING)
        return Extremes(-90.0 if reached[0] else low, 90.0 if reached[1] else high, None)
    # No side passes a pole, so that the right ascension changes by less than 180 degrees along a side.
    ra = np.array([vertex[0] for vertex in polygon.vertices])
    steps = (np.roll(ra, -1) - ra + 180) % 360 - 180
    passed = np.concatenate([[0.0], np.cumsum(steps)[:-1]])
    margin = float(_measure_half_widths(np.array([max(abs(low), abs(high))]), _WIDENING)[0])
    first, last = float(passed.min()) - margin, float(passed.max()) + margin
    return Extremes(low, high, _join_arcs(ra[:1] + (first + last) / 2, np.array([(last - first) / 2])))


def _find_highest(starts: Numbers, ends: Numbers) -> float:
    """Return the greatest declination of arcs of great circles, and a margin; at most 90."""
    corners = np.degrees(np.arctan2(starts[:, 2], np.hypot(starts[:, 0], starts[:, 1])))
    highest = float(corners.max())
    chords = np.linalg.norm(starts - ends, axis=1)
    short = chords < _SHORT
    if short.any():
        # An arc is nowhere farther than half its length from its nearer end.
        highest = max(highest, float((corners + np.degrees(chords))[short].max()))
    normals = np.cross(starts, ends)[~short]
    if len(normals):
        normals /= np.linalg.norm(normals, axis=1)[:, None]
        tops = np.array([0.0, 0.0, 1.0]) - normals * normals[:, 2:]
        after = np.einsum("ij,ij->i", np.cross(normals, starts[~short]), tops) >= -1e-12
        before = np.einsum("ij,ij->i", np.cross(ends[~short], normals), tops) >= -1e-12
        heights = np.degrees(np.arctan2(np.linalg.norm(normals[:, :2], axis=1), np.abs(normals[:, 2])))
        if (after & before).any():
            highest = max(highest, float(heights[after & before].max()))
    return min(90.0, highest + _WIDENING)


def _find_moc_extremes(moc: Moc) -> Extremes:
    groups = [build_cells(order, numbers) for order, numbers in moc.cells.items()]
    low = -max(_find_highest_cell(-(cells.i - cells.j), cells.order) for cells in groups)
    high = max(_find_highest_cell(cells.i - cells.j, cells.order) for cells in groups)
    if max(map(_find_outermost, groups)) >= _POLAR:
        return Extremes(low, high, None)
    half_widths = [_measure_half_widths(cells.centres.dec, cells.radius + _WIDENING) for cells in groups]
    return Extremes(
        low, high, _join_arcs(np.concatenate([cells.centres.ra for cells in groups]), np.concatenate(half_widths))
    )


def _find_highest_cell(places: Integers, order: int) -> float:
    """Return the declination of the upper corner of the highest cell, and a margin; see `_compute_centres`."""
    height = (int(places.max()) + 1) / (2 << order)
    if abs(height) <= 0.5:
        declination = math.degrees(math.asin(4 / 3 * height))
    else:
        from_pole = 2 * math.degrees(math.asin(min(1.0, 2 * (1 - abs(height)) / math.sqrt(6))))
        declination = math.copysign(90 - from_pole, height)
    return min(90.0, declination + _WIDENING)


def _find_outermost(cells: Cells) -> float:
    """Return a bound of the absolute declinations in cells."""
    return float(np.abs(cells.centres.dec).max()) + cells.radius + _WIDENING


def _measure_half_widths(declinations: Numbers, radius: float) -> Numbers:
    """Return how far caps reach in right ascension, in degrees; no cap reaches a pole."""
    ratios = math.sin(math.radians(radius)) / np.cos(np.radians(declinations))
    return np.asarray(np.degrees(np.arcsin(np.minimum(1, ratios))) + _WIDENING)


def _join_arcs(middles: Numbers, half_widths: Numbers) -> tuple[Arc, ...] | None:
    """Return a few arcs that contain ranges of right ascension; None if no gap remains."""
    starts = np.mod(middles - half_widths, 360)
    order = np.argsort(starts, kind="stable")
    starts, ends = starts[order], (starts + 2 * half_widths)[order]
    # The ranges before each range, those across 0 included, end here.
    passed = np.maximum.accumulate(np.concatenate([[ends.max() - 360], ends[:-1]]))
    gaps = sorted(zip((starts - passed).tolist(), passed.tolist(), starts.tolist(), strict=True), reverse=True)
    kept = sorted((begin, end) for width, begin, end in gaps[:_MOST_ARCS] if width > _WIDENING)
    if not kept:
        return None
    following = [*kept[1:], (kept[0][0] + 360, 0.0)]
    return tuple((end % 360, begin % 360) for (_, end), (begin, _) in zip(kept, following, strict=True))
