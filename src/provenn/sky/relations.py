"""Which regions lie in others, and which have no position in common: never claimed unless it is sure.

Cells that cover both regions are divided until all are decided: a region lies in another if every cell that it
reaches is inside the other; two have nothing in common if no cell is reached by both. What is nearer to a border than
`MARGIN` counts as on it. A cell that refutes the claim ends the search, and so do too many cells: then nothing is
claimed, as for regions that touch.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from provenn.sky.boxes import Box
from provenn.sky.cells import DEEPEST, all_sky
from provenn.sky.cones import Cone
from provenn.sky.points import MARGIN, Flags, separation
from provenn.sky.region import INSIDE, OUTSIDE, Region, Sides

__all__ = ["apart", "within"]

_MOST_CELLS = 4096

_Judge = Callable[[Sides, Sides], Flags]


@lru_cache(maxsize=10_000)
def apart(one: Region, other: Region) -> bool:
    """Tell whether two regions are sure to have no position in common."""
    between = float(separation(one.cap.centre, other.cap.centre))
    if between > one.cap.radius + other.cap.radius + MARGIN:
        return True
    if isinstance(one, Cone) and isinstance(other, Cone):
        return False
    if isinstance(one, Box) and isinstance(other, Box):
        return _boxes_apart(one, other)
    return _decided(
        one,
        other,
        fine=lambda a, b: (a == OUTSIDE) | (b == OUTSIDE),
        wrong=lambda a, b: (a == INSIDE) & (b == INSIDE),
    )


@lru_cache(maxsize=10_000)
def within(one: Region, other: Region) -> bool:
    """Tell whether one region is sure to lie in another."""
    if one == other:
        return True
    if isinstance(other, Cone):
        if other.radius == 180:
            return True
        between = float(separation(one.cap.centre, other.cap.centre))
        if between + one.cap.radius < other.radius - MARGIN:
            return True
        if isinstance(one, Cone):
            return False
    if isinstance(one, Box) and isinstance(other, Box):
        return _box_within(one, other)
    return _decided(
        one,
        other,
        fine=lambda a, b: (a == OUTSIDE) | (b == INSIDE),
        wrong=lambda a, b: (a == INSIDE) & (b == OUTSIDE),
    )


def _decided(one: Region, other: Region, *, fine: _Judge, wrong: _Judge) -> bool:
    cells = all_sky()
    while True:
        both = one.sides(cells), other.sides(cells)
        if wrong(*both).any():
            return False
        cells = cells.kept(~fine(*both))
        if not len(cells):
            return True
        if len(cells) > _MOST_CELLS or cells.order == DEEPEST:
            return False
        cells = cells.divided()


def _boxes_apart(one: Box, other: Box) -> bool:
    """Compare the numbers themselves: of boxes they alone decide, and without rounding."""
    if one.dec_to < other.dec_from or other.dec_to < one.dec_from:
        return True
    if one.around or other.around:
        return False
    return not (_in_range(one.ra_from, other) or _in_range(other.ra_from, one))


def _box_within(one: Box, other: Box) -> bool:
    if one.dec_from < other.dec_from or one.dec_to > other.dec_to:
        return False
    if other.around or one.around:
        return other.around
    ends = [(ra < other.ra_from, ra) for ra in (one.ra_from, one.ra_to)]  # in the order in which `other` meets them
    return _in_range(one.ra_from, other) and _in_range(one.ra_to, other) and ends[0] < ends[1]


def _in_range(ra: float, box: Box) -> bool:
    if box.ra_from < box.ra_to:
        return box.ra_from <= ra <= box.ra_to
    return ra >= box.ra_from or ra <= box.ra_to
