"""Files in HATS that cannot matter to a condition, by the numbers of their pixels alone.

The pixels of a file are far from a region if the circles around both are; otherwise the cells inside the pixels are
compared with the region (`provenn.sky.is_far`). No proof is needed for each file: the condition is computed with three
values for all files at once, where a set has no row of a file, all rows, or is not known to have either.

Sound: a region that is far from the pixels of a file holds none of its rows (`provenn.criteria.pixel_facts`), and the
operations on sets keep what is surely empty and surely whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from provenn.criteria import Atom
from provenn.errors import FilesMissingError, RegionError
from provenn.logic.terms import Term
from provenn.sky import is_far, moc, read_call
from provenn.sky.cells import build_cells
from provenn.sky.points import MARGIN, Flags, measure_separation

if TYPE_CHECKING:
    from provenn.sky.region import Region

__all__ = ["find_far_files"]

_PIXEL = re.compile(r"(\d{1,2})/(\d{1,20})")


@dataclass(frozen=True, slots=True)
class _Share:
    """For each file, whether a set surely has all of its rows, and whether it may have any."""

    whole: Flags
    some: Flags

    def __and__(self, other: _Share) -> _Share:
        return _Share(self.whole & other.whole, self.some & other.some)

    def __or__(self, other: _Share) -> _Share:
        return _Share(self.whole | other.whole, self.some | other.some)

    def __xor__(self, other: _Share) -> _Share:
        whole = (self.whole & ~other.some) | (other.whole & ~self.some)
        return _Share(whole, (self.some | other.some) & ~(self.whole & other.whole))


def find_far_files(condition: Term, atoms: Sequence[Atom], files: Sequence[tuple[str, str]]) -> tuple[set[int], bool]:
    """Return the places of files in which a condition is TRUE for no row, and whether the pixels tell all there is.

    Parameters
    ----------
    condition
        The condition, as a set over labels of atoms; other labels are sets of which nothing is known.
    atoms
        The atoms of the condition.
    files
        The position and the pixels of each file; empty texts for files that are not in pixels.

    Returns
    -------
    The places, and whether all parts of the condition are regions at the position of all files.
    """
    number = len(files)
    nothing, everything = (_Share(np.full(number, flag), np.full(number, flag)) for flag in (False, True))
    unknown = _Share(nothing.whole, everything.some)
    regions = _read_regions(atoms)
    shares: dict[str, _Share] = {}
    for label, (position, region) in regions.items():
        near = np.ones(number, dtype=bool)
        places = [place for place, (own, pixels) in enumerate(files) if pixels and own == position]
        near[places] = _find_near([files[place][1] for place in places], region)
        shares[label] = _Share(nothing.whole, near)
    result = condition.evaluate(lambda label: shares.get(label, unknown), nothing, everything)
    positions = {position for position, _ in regions.values()}
    is_all = set(condition.labels) <= set(regions) and all(pixels and positions == {own} for own, pixels in files)
    return set(np.nonzero(~result.some)[0].tolist()), is_all


def _read_regions(atoms: Sequence[Atom]) -> Mapping[str, tuple[str, Region]]:
    """Return the position and the region of atoms that are regions, by label."""
    regions = {}
    for atom in atoms:
        if atom.cut is not None and atom.label == atom.term:
            try:
                call = read_call(atom.term)
            except (FilesMissingError, RegionError):
                continue
            if call is not None:
                regions[atom.label] = call
    return regions


def _find_near(pixels: Sequence[str], region: Region) -> Flags:
    """Return for each text of pixels whether a region may have a position in them."""
    near = np.ones(len(pixels), dtype=bool)
    by_order: dict[int, list[tuple[int, int]]] = {}
    for place, text in enumerate(pixels):
        if (pixel := _PIXEL.fullmatch(text)) and int(pixel[2]) < 12 << (2 * int(pixel[1])) <= 12 << 58:
            by_order.setdefault(int(pixel[1]), []).append((place, int(pixel[2])))
    for order, numbered in by_order.items():
        places, numbers = np.array(numbered, dtype=np.int64).T
        cells = build_cells(order, numbers)
        gaps = measure_separation(cells.centres.vectors, region.cap.centre)
        near[places] = gaps <= cells.radius + region.cap.radius + MARGIN
    for place in np.nonzero(near)[0].tolist():
        try:
            near[place] = not is_far(moc(pixels[place]), region)
        except (FilesMissingError, RegionError):
            continue
    return near
