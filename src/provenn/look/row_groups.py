"""Row groups of Parquet files that have no row in a region, by the ranges of coordinates that their footers state."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from provenn.criteria import AttributeIdentity
from provenn.criteria.nodes import Call, ColumnNode, Condition, Constant, Leaf, Node
from provenn.criteria.writing import read_region_constant
from provenn.look.located_rows import SkyBox, make_box
from provenn.look.suitability import REGIONS
from provenn.sky.boxes import Box
from provenn.sky.calls import region_of

__all__ = ["RegionRows", "find_region_rows"]

_MARGIN = 1e-6
"""Degrees by which boxes are too large: more than the rounding of any decision about a region."""

ReadRange = Callable[[AttributeIdentity], tuple[float, float] | None]
"""Returns the lowest and the highest number of an attribute in a row group; None if it is not known."""


@dataclass(frozen=True, slots=True)
class RegionRows:
    """The rows that a condition on a region may select: those in a box.

    Parameters
    ----------
    ra, dec
        The attributes of the position, in degrees.
    box
        A box around the region.
    """

    ra: AttributeIdentity
    dec: AttributeIdentity
    box: SkyBox

    def may_have(self, read_range: ReadRange) -> bool:
        """Return whether a row group may have such rows.

        Sound: a row without a position is in no region, and the footer states the lowest and the highest of all other
        coordinates. Right ascensions beyond a circle are not compared, because a condition takes them modulo 360.
        """
        return make_box(read_range(self.ra), read_range(self.dec), ("deg", "deg")).meets(self.box)


def find_region_rows(condition: Condition) -> RegionRows | None:
    """Return the rows that a condition may select, if it is TRUE in a region alone; otherwise None."""
    match condition:
        case Leaf(Call(operator, (ra, dec, *others)), where, at_null) if operator in REGIONS:
            ra_name, dec_name = _find_column(ra), _find_column(dec)
            if at_null is True or 1 in where or ra_name is None or dec_name is None:  # the key of FALSE is 1
                return None
            constants = [read_region_constant(node) for node in others if isinstance(node, Constant)]
            return RegionRows(ra_name, dec_name, _find_box(region_of(operator, constants)))
    return None


def _find_column(node: Node) -> AttributeIdentity | None:
    match node:
        case ColumnNode(identity=identity) | Call("coerce" | "cast", (ColumnNode(identity=identity),)):
            return identity
    return None


def _find_box(region: object) -> SkyBox:
    """Return a box around a region."""
    if isinstance(region, Box):
        west, east = region.ra_from, region.ra_from + region.breadth
        if west < 0 or east > 360:
            west, east = 0.0, 360.0
        return SkyBox(west, east, region.dec_from, region.dec_to).widen(_MARGIN)
    x, y, z = region.cap.centre.tolist()  # type: ignore[attr-defined] # a region
    ra, dec = math.degrees(math.atan2(y, x)) % 360, math.degrees(math.atan2(z, math.hypot(x, y)))
    return SkyBox(ra, ra, dec, dec).widen(float(region.cap.radius) + _MARGIN)  # type: ignore[attr-defined] # as above
