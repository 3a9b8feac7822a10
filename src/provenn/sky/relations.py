"""Prove that a region lies in another, or that regions are disjoint; a claim is made only if it is sure.

The search divides cells that cover both regions until every cell is decided. Region A lies in region B if every cell
reached by A is inside B; A and B are disjoint if no cell is reached by both. A point nearer to a border than `MARGIN`
counts as on the border. A cell that refutes the claim ends the search, and so do too many cells: then nothing is
claimed, as for touching regions.

A MOC is made of cells, so the search begins with these: a MOC lies in a region if all cells of the MOC do; a region
lies in a MOC if all cells not covered by the MOC are outside the region. The search divides only cells on the border of
the region, so the number of cells of a MOC does not limit the proofs about the MOC.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from provenn.sky.boxes import Box
from provenn.sky.cells import DEEPEST, Integers, build_base_cells, build_cells
from provenn.sky.cones import Cone
from provenn.sky.mocs import Moc
from provenn.sky.points import MARGIN, Points, measure_separation
from provenn.sky.polygons import Polygon
from provenn.sky.region import INSIDE, OUTSIDE, Region

__all__ = ["RegionRelation", "apart", "is_divided", "is_far", "is_inside", "relation", "within"]

_MOST_CELLS = 4096
_MOST_PAIRS = 1_000_000
_SAMPLES = 5
_SURE = 1e-6


@dataclass(frozen=True, slots=True)
class RegionRelation:
    """The sure claims about two regions: disjoint, the first inside the second, the second inside the first."""

    apart: bool = False
    within: bool = False
    around: bool = False


def apart(region: Region, other: Region) -> bool:
    """Tell whether two regions surely have no position in common."""
    return relation(region, other).apart


def within(region: Region, other: Region) -> bool:
    """Tell whether a region surely lies in another."""
    return relation(region, other).within


@lru_cache(maxsize=10_000)
def is_far(pixels: Moc, region: Region) -> bool:
    """Tell whether a region surely has no position in some pixels, nor nearer to them than `MARGIN`.

    For two MOCs, `relation` compares numbers of cells, which says nothing of positions at the edge of a cell. Here the
    circles around their cells must have a gap.
    """
    if not isinstance(region, Moc):
        between = float(measure_separation(pixels.cap.centre, region.cap.centre))
        if between > pixels.cap.radius + region.cap.radius + MARGIN:
            return True
        return _check_sides(pixels.cells, region, (OUTSIDE,))[0]
    groups, others = (
        [build_cells(order, numbers) for order, numbers in coverage.cells.items()] for coverage in (pixels, region)
    )
    if sum(map(len, groups)) * sum(map(len, others)) > _MOST_PAIRS:
        return False
    return all(
        bool((measure_separation(cells.centres.vectors[:, None], near.centres.vectors[None]) > gap).all())
        for cells in groups
        for near in others
        if (gap := cells.radius + near.radius + MARGIN)
    )


@lru_cache(maxsize=10_000)
def is_divided(box: Box, region: Region) -> bool:
    """Tell whether a few positions of a box show that a region holds some of the box and not all of it.

    False says nothing: the positions decide quickly about most boxes that `relation` would search in vain.
    """
    if not isinstance(region, Cone | Polygon):
        return False
    ra = np.linspace(box.ra_from, box.ra_from + box.breadth, _SAMPLES) % 360
    dec = np.linspace(box.dec_from, box.dec_to, _SAMPLES)
    points = Points.at(np.tile(ra, _SAMPLES), np.repeat(dec, _SAMPLES))
    inside, sure = region.holds(points), region.from_border(points) > MARGIN
    return bool((inside & sure).any() and (~inside & sure).any())


@lru_cache(maxsize=100_000)
def relation(region: Region, other: Region) -> RegionRelation:
    """Return the sure claims about two regions."""
    if region == other:
        return RegionRelation(within=True, around=True)
    between = float(measure_separation(region.cap.centre, other.cap.centre))
    if between > region.cap.radius + other.cap.radius + MARGIN:
        return RegionRelation(apart=True)
    match region, other:
        case Cone(), Cone():
            gap = other.radius - region.radius
            whole = max(region.radius, other.radius) == 180
            inside = between + MARGIN < abs(gap) or whole
            return RegionRelation(within=inside and gap >= 0, around=inside and gap <= 0)
        case Box(), Box():
            return RegionRelation(
                _are_boxes_apart(region, other), _is_box_within(region, other), _is_box_within(other, region)
            )
        case Moc(), Moc():
            first, second = other.sides_of(*region.ranges.T), region.sides_of(*other.ranges.T)
            return RegionRelation(
                bool((first == OUTSIDE).all()), bool((first == INSIDE).all()), bool((second == INSIDE).all())
            )
        case Moc(), _:
            return _relate_moc(region, other)
        case _, Moc():
            claims = _relate_moc(other, region)
            return RegionRelation(claims.apart, claims.around, claims.within)
    return _search_claims(region, other)


def _relate_moc(moc: Moc, region: Region) -> RegionRelation:
    """Return the sure claims about a MOC and a region of another kind."""
    apart, within = _check_sides(moc.cells, region, (OUTSIDE, INSIDE))
    (around,) = _check_sides(moc.missing_cells, region, (OUTSIDE,))
    return RegionRelation(apart, within, around)


def _check_sides(numbers_by_order: Mapping[int, Integers], region: Region, sides: Sequence[int]) -> list[bool]:
    """Return for each wanted side of a region whether all cells, given as numbers by order, surely lie on it."""
    most_cells = max(_MOST_CELLS, sum(map(len, numbers_by_order.values())))
    claims = [True] * len(sides)
    doubtful = build_cells(0, np.array([], np.int64))
    for order in range(DEEPEST + 1):
        if order:
            doubtful = doubtful.subdivide()
        cells = (
            doubtful.concatenate(build_cells(order, numbers_by_order[order])) if order in numbers_by_order else doubtful
        )
        if not len(cells):
            doubtful = cells
            continue
        cell_sides = region.sides(cells)
        claims = [claim and not (cell_sides == -side).any() for claim, side in zip(claims, sides, strict=True)]
        doubtful = cells.select_cells(cell_sides == 0)
        if not any(claims) or len(doubtful) > most_cells:
            return [False] * len(sides)
    return [claim and not len(doubtful) for claim in claims]


def _search_claims(region: Region, other: Region) -> RegionRelation:
    """Return the claims that a search through cells proves; a single cell can refute a claim."""
    cells = build_base_cells()
    claims = {"apart": True, "within": True, "around": True}
    while any(claims.values()):
        first, second = region.sides(cells), other.sides(cells)
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
        claims = {name: claim and not refuted[name].any() for name, claim in claims.items()}
        doubtful = np.zeros(len(cells), bool)
        for name, claim in claims.items():
            if claim:
                doubtful |= ~agreed[name]
        if not doubtful.any():
            return RegionRelation(**claims)
        # The dropped cells agree with every remaining claim.
        if doubtful.sum() > _MOST_CELLS or cells.order == DEEPEST:
            return RegionRelation(**{name: claim and bool(agreed[name].all()) for name, claim in claims.items()})
        cells = cells.select_cells(doubtful).subdivide()
    return RegionRelation()


def _are_boxes_apart(box: Box, other: Box) -> bool:
    """Tell whether two boxes are apart, by comparing their numbers without rounding."""
    if box.dec_to < other.dec_from or other.dec_to < box.dec_from:
        return True
    if box.around or other.around:
        return False
    return not (_is_in_right_ascensions(box.ra_from, other) or _is_in_right_ascensions(other.ra_from, box))


def _is_box_within(box: Box, other: Box) -> bool:
    if box.dec_from < other.dec_from or box.dec_to > other.dec_to:
        return False
    if other.around or box.around:
        return other.around
    ends = [
        (ra < other.ra_from, ra) for ra in (box.ra_from, box.ra_to)
    ]  # sorted in the order in which `other` reaches them
    return (
        _is_in_right_ascensions(box.ra_from, other) and _is_in_right_ascensions(box.ra_to, other) and ends[0] < ends[1]
    )


def _is_in_right_ascensions(ra: float, box: Box) -> bool:
    if box.ra_from < box.ra_to:
        return box.ra_from <= ra <= box.ra_to
    return ra >= box.ra_from or ra <= box.ra_to


def is_inside(region: Region, ra: float, dec: float) -> bool | None:
    """Tell whether a position lies in a region; None if that is not sure, near the border or for a MOC."""
    points = Points.at(ra % 360, dec)
    if isinstance(region, Box) and 0 <= ra < 360:
        return bool(region.holds(points)[0])
    if not isinstance(region, Cone | Polygon) or region.from_border(points)[0] <= _SURE:
        return None
    return bool(region.holds(points)[0])
