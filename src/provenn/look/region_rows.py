"""Positions of rows inside and outside of cones and boxes.

The numbers are those of NumPy, and in Spark those of Java: both may differ in the last bits. So a look decides only
about positions that are farther from the border of a region than `provenn.sky.points.MARGIN`, which is many times the
rounding of either. If a position is nearer, Spark decides about all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from provenn.criteria.nodes import Call, Constant
from provenn.criteria.writing import read_region_constant
from provenn.look.refusal import NeedsSpark
from provenn.sky import region_of
from provenn.sky.boxes import Box
from provenn.sky.cones import Cone
from provenn.sky.points import MARGIN, Points, measure_separation

__all__ = ["find_region_rows"]


def find_region_rows(call: Call, ra: Any, dec: Any) -> Any:  # noqa: ANN401 - arrays of NumPy
    """Return which positions lie in the region of a call; the result for NULL does not matter.

    Parameters
    ----------
    call
        The call, which `provenn.look.suitability.is_region_call` accepts.
    ra, dec
        The coordinates in degrees.

    Raises
    ------
    NeedsSpark
        If a position lies on the border, or nearly so.
    """
    constants = [read_region_constant(argument) for argument in call.arguments if isinstance(argument, Constant)]
    region = region_of(call.operator, constants)
    if not isinstance(region, Cone | Box):
        raise NeedsSpark(f"{call.operator}() is a region with many sides")
    cap = region.cap
    height = float(np.degrees(np.arcsin(np.clip(cap.centre[2], -1, 1))))
    reach = cap.radius + 2 * MARGIN
    # Comparisons with NaN are false, and so NaN lies nowhere, as in Spark.
    near = (np.abs(dec) <= 90) & (np.abs(dec - height) <= reach) & (np.abs(ra) < np.inf)
    (rows,) = np.nonzero(near)
    points = Points.at(ra[rows] % 360, dec[rows])
    in_cap = measure_separation(points.vectors, cap.centre) <= reach
    rows, points = rows[in_cap], Points(points.ra[in_cap], points.dec[in_cap], points.vectors[in_cap])
    if np.any(region.from_border(points) <= 2 * MARGIN):
        raise NeedsSpark("a position lies on the border of a region")
    inside = np.zeros(len(ra), dtype=bool)
    inside[rows] = region.holds(points)
    return inside
