"""Which regions lie in others, and which have no position in common: never claimed unless it is sure.

Cells that cover both regions are divided until all are decided: a region lies in another if every cell that it
reaches is inside the other; two have nothing in common if no cell is reached by both. What is nearer to a border than
`MARGIN` counts as on it. A cell that refutes the claim ends the search, and so do too many cells: then nothing is
claimed, as for regions that touch.

A MOC is made of cells, so that the search begins with these: it lies in a region if all its cells do, a region lies in
it if all cells that it does not cover are outside the region. Only cells on the border of the region are divided, so
that the number of cells that a MOC has does not limit what is proved of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from provenn.sky.boxes import Box
from provenn.sky.cells import DEEPEST, Integers, all_sky, cells_at
from provenn.sky.cones import Cone
from provenn.sky.mocs import Moc
from provenn.sky.points import MARGIN, separation
from provenn.sky.region import INSIDE, OUTSIDE, Region

__all__ = ["Relation", "apart", "relation", "within"]

_MOST_CELLS = 4096


@dataclass(frozen=True, slots=True)
class Relation:
    """What is sure of two regions: that they have no position in common, that one lies in the other."""

    apart: bool = False
    within: bool = False
    around: bool = False


def apart(one: Region, other: Region) -> bool:
    """Tell whether two regions are sure to have no position in common."""
    return relation(one, other).apart


def within(one: Region, other: Region) -> bool:
    """Tell whether one region is sure to lie in another."""
    return relation(one, other).within


@lru_cache(maxsize=100_000)
def relation(one: Region, other: Region) -> Relation:
    """Return what is sure of two regions."""
    if one == other:
        return Relation(within=True, around=True)
    between = float(separation(one.cap.centre, other.cap.centre))
    if between > one.cap.radius + other.cap.radius + MARGIN:
        return Relation(apart=True)
    match one, other:
        case Cone(), Cone():
            gap = other.radius - one.radius
            whole = max(one.radius, other.radius) == 180
            inside = between + MARGIN < abs(gap) or whole
            return Relation(within=inside and gap >= 0, around=inside and gap <= 0)
        case Box(), Box():
            return Relation(_boxes_apart(one, other), _box_within(one, other), _box_within(other, one))
        case Moc(), Moc():
            first, second = other.sides_of(*one.ranges.T), one.sides_of(*other.ranges.T)
            return Relation(
                bool((first == OUTSIDE).all()), bool((first == INSIDE).all()), bool((second == INSIDE).all())
            )
        case Moc(), _:
            return _of_moc(one, other)
        case _, Moc():
            found = _of_moc(other, one)
            return Relation(found.apart, found.around, found.within)
    return _searched(one, other)


def _of_moc(moc: Moc, region: Region) -> Relation:
    """Return what is sure of a MOC and a region of another kind."""
    apart, within = _all_on_sides(moc.cells, region, (OUTSIDE, INSIDE))
    (around,) = _all_on_sides(moc.missing_cells, region, (OUTSIDE,))
    return Relation(apart, within, around)


def _all_on_sides(by_order: Mapping[int, Integers], region: Region, wanted: Sequence[int]) -> list[bool]:
    """Return for each side of a region whether some cells, given as numbers by order, are all sure to be on it."""
    most = max(_MOST_CELLS, sum(map(len, by_order.values())))
    held = [True] * len(wanted)
    doubtful = cells_at(0, np.array([], np.int64))
    for order in range(DEEPEST + 1):
        if order:
            doubtful = doubtful.divided()
        cells = doubtful.joined(cells_at(order, by_order[order])) if order in by_order else doubtful
        if not len(cells):
            doubtful = cells
            continue
        found = region.sides(cells)
        held = [one and not (found == -side).any() for one, side in zip(held, wanted, strict=True)]
        doubtful = cells.kept(found == 0)
        if not any(held) or len(doubtful) > most:
            return [False] * len(wanted)
    return [one and not len(doubtful) for one in held]


def _searched(one: Region, other: Region) -> Relation:
    """Return what cells tell; a claim is given up at the first cell that refutes it."""
    cells = all_sky()
    claims = {"apart": True, "within": True, "around": True}
    while any(claims.values()):
        first, second = one.sides(cells), other.sides(cells)
        refuted = {
            "apart": (first == INSIDE) & (second == INSIDE),
            "within": (first == INSIDE) & (second == OUTSIDE),
            "around": (first == OUTSIDE) & (second == INSIDE),
        }
        agreed = {
            "apart": (first == OUTSIDE) | (second == OUTSIDE),
            "within": (first == OUTSIDE) | (second == INSIDE),
            "around": (first == INSIDE) | (second == OUTSIDE),
        }
        claims = {name: held and not refuted[name].any() for name, held in claims.items()}
        doubtful = np.zeros(len(cells), bool)
        for name, held in claims.items():
            if held:
                doubtful |= ~agreed[name]
        if not doubtful.any():
            return Relation(**claims)
        # Cells that were dropped agree with every claim that is left.
        if doubtful.sum() > _MOST_CELLS or cells.order == DEEPEST:
            return Relation(**{name: held and bool(agreed[name].all()) for name, held in claims.items()})
        cells = cells.kept(doubtful).divided()
    return Relation()


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
