"""Regions of the sky in conditions: which rows of Arrow tables have a position inside.

Spark decides with an accuracy of some 1e-12 degrees, and so do the regions themselves (`provenn.sky`), by other
formulas. Both agree about every position that is farther than `MARGIN` from the border; a table with a nearer position
is left to Spark. Only boxes are exact: they compare coordinates with numbers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from provenn.criteria.nodes import Call, Constant
from provenn.criteria.writing import read_region_constant
from provenn.look.refusal import NeedsSpark
from provenn.sky.boxes import Box
from provenn.sky.calls import region_of
from provenn.sky.points import MARGIN, Points

if TYPE_CHECKING:
    from provenn.sky.cones import Cone
    from provenn.sky.points import Flags, Numbers
    from provenn.sky.polygons import Polygon

__all__ = ["find_inside_rows", "reduce_to_circle"]

_MOST_DISTANCES: Final = 10_000_000
"""The most distances of positions from sides that are measured for a table."""


def find_inside_rows(call: Call, ra: Numbers, dec: Numbers) -> Flags:
    """Return which positions lie in the region of a call, as Spark finds it.

    Parameters
    ----------
    call
        The call, for which `provenn.look.suitability.check_condition` raises nothing.
    ra, dec
        The coordinates in degrees; any numbers, also NaN and infinities, which are in no region.

    Raises
    ------
    NeedsSpark
        If a position is so near to the border that rounding decides, or a polygon has very many sides.
    """
    constants = [read_region_constant(node) for node in call.arguments[2:] if isinstance(node, Constant)]
    region: Any = region_of(call.operator, constants)
    low, high = (region.dec_from, region.dec_to) if isinstance(region, Box) else _bound_declinations(region)
    inside = (dec >= low) & (dec <= high) & np.isfinite(ra)
    (places,) = np.nonzero(inside)
    points = Points.at(reduce_to_circle(ra[places]), dec[places])
    if len(places) * len(constants) > _MOST_DISTANCES:
        raise NeedsSpark("very many positions are compared with a region of many sides")
    if not isinstance(region, Box) and (region.from_border(points) <= MARGIN).any():
        raise NeedsSpark("a source lies on the border of a region")
    inside[places] = region.holds(points)
    return inside


def _bound_declinations(region: Cone | Polygon) -> tuple[float, float]:
    """Return a range of declinations that holds a region; beyond 90 degrees, there are no positions."""
    x, y, z = region.cap.centre.tolist()
    centre, reach = math.degrees(math.atan2(z, math.hypot(x, y))), region.cap.radius + 2 * MARGIN
    return max(-90.0, centre - reach), min(90.0, centre + reach)


def reduce_to_circle(ra: Numbers) -> Numbers:
    """Return right ascensions modulo 360, to the last bit as ``pmod`` of Spark: remainders have no rounding."""
    remainder = np.fmod(ra, 360.0)
    return np.where(remainder < 0, np.fmod(remainder + 360.0, 360.0), remainder)
