"""Cells of HEALPix, addressed by their place in its projection.

The projection takes the sphere to squares in a plane; turned by 45 degrees, a cell of order k is the square of side
``2**-k`` at ``(i, j) * 2**-k``. So a cell contains four cells of the next order: ``2i`` or ``2i + 1``, and the same for
j. (Górski et al. 2005, Calabretta & Roukema 2007.)

The formulas stand here, and are not taken from a library such as cdshealpix, because Spark must find the same cells:
`provenn.sky.region_conditions.cell_key_sql` is the same projection in SQL, with keys of i and j, not HEALPix numbers.
NumPy is enough for them, while importing cdshealpix brings astropy and takes ten times as long as this module.
cdshealpix computes a hundred centres as fast, and a million ten times faster (0.4 s instead of 4 s). The tests compare
this module and its SQL with cdshealpix, from the first order to the last.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from provenn.sky.points import Flags, Numbers, Points

__all__ = [
    "DEEPEST",
    "LEAST_POLAR",
    "Cells",
    "bound_cell_radius",
    "build_base_cells",
    "build_cells",
    "locate_plane_points",
    "merge_ranges",
    "number_cells",
    "split_into_cells",
]

DEEPEST = 29
"""The last order, with cells of 0.4 milliarcseconds."""
LEAST_POLAR = math.degrees(math.asin(2 / 3))
"""The declination at which the projection changes."""

Integers = NDArray[np.int64]
_FACES_I = np.array([1, 2, 3, 4, 0, 1, 2, 3, 0, 1, 2, 3])
_FACES_J = np.array([0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 4])


def bound_cell_radius(order: int) -> float:
    """Return an upper bound, with a percent to spare, of the degrees from a cell's centre to its farthest point."""
    side = 1 << order
    low = Points.at(45 / side, LEAST_POLAR).vectors[0]
    height = 1 - (1 - 1 / side) ** 2 / 3
    high = np.array([math.sqrt(1 - height * height), 0.0, height])
    return 1.01 * 2 * math.degrees(math.asin(float(np.linalg.norm(low - high)) / 2))


class Cells:
    """Cells of the same order, with their centres."""

    def __init__(self, order: int, i: Integers, j: Integers) -> None:
        self.order = order
        self.i = i
        self.j = j
        self.centres = _compute_centres(order, i, j)
        self.radius = bound_cell_radius(order)

    def __len__(self) -> int:
        return len(self.i)

    def select_cells(self, flags: Flags) -> Cells:
        """Return the cells with a true flag."""
        return Cells(self.order, self.i[flags], self.j[flags])

    def concatenate(self, other: Cells) -> Cells:
        """Return these cells and other cells of the same order."""
        return Cells(self.order, np.concatenate([self.i, other.i]), np.concatenate([self.j, other.j]))

    def subdivide(self) -> Cells:
        """Return the cells of the next order inside these cells."""
        i = (2 * self.i[:, None] + np.array([0, 0, 1, 1])).ravel()
        j = (2 * self.j[:, None] + np.array([0, 1, 0, 1])).ravel()
        return Cells(self.order + 1, i, j)

    def compute_numbers(self) -> Integers:
        """Return the numbers of the cells in the nested scheme."""
        return number_cells(self.order, self.i, self.j)


def number_cells(order: int, i: Integers, j: Integers) -> Integers:
    """Return the numbers in the nested scheme of the cells at places in the projection."""
    mask = (1 << order) - 1
    above, across = i >> order, j >> order
    face = np.where(above == across, above % 4 + 4, np.where(above > across, across, above + 8))
    return (face << (2 * order)) | _spread_bits(i & mask) | (_spread_bits(mask - (j & mask)) << 1)


def build_base_cells() -> Cells:
    """Return the twelve cells of order 0, which cover the whole sky."""
    return Cells(0, _FACES_I, _FACES_J)


def build_cells(order: int, numbers: Integers) -> Cells:
    """Return the cells that have the given numbers in the nested scheme."""
    side, face = 1 << order, numbers >> (2 * order)
    inside = numbers & (side * side - 1)
    i = _FACES_I[face] * side + _gather_bits(inside)
    j = _FACES_J[face] * side + side - 1 - _gather_bits(inside >> 1)
    return Cells(order, i, j)


def split_into_cells(ranges: Integers) -> dict[int, Integers]:
    """Return the largest cells that make up ranges of cells of the last order: cell numbers by order.

    Each range is a row with the first number and the number after the last; the ranges are sorted and do not touch.
    """
    numbers_by_order: dict[int, Integers] = {}
    remaining = ranges
    for order in range(DEEPEST + 1):
        size = 1 << (2 * (DEEPEST - order))
        first, end = -(-remaining[:, 0] // size), remaining[:, 1] // size
        whole = end > first
        if whole.any():
            numbers_by_order[order] = _expand_ranges(first[whole], end[whole])
        before = np.stack([remaining[:, 0], np.where(whole, first * size, remaining[:, 1])], axis=1)
        after = np.stack([np.where(whole, end * size, remaining[:, 1]), remaining[:, 1]], axis=1)
        remaining = np.concatenate([before, after])
        remaining = remaining[remaining[:, 0] < remaining[:, 1]]
    return numbers_by_order


def merge_ranges(ranges: Integers) -> Integers:
    """Return ranges of cells of the last order sorted, with touching and overlapping ranges merged."""
    if not len(ranges):
        return ranges
    ranges = ranges[np.argsort(ranges[:, 0], kind="stable")]
    ends = np.maximum.accumulate(ranges[:, 1])
    begins = np.concatenate([[True], ranges[1:, 0] > ends[:-1]])
    lasts = np.append(np.flatnonzero(begins)[1:] - 1, len(ranges) - 1)
    return np.stack([ranges[begins, 0], ends[lasts]], axis=1)


def _expand_ranges(first: Integers, end: Integers) -> Integers:
    """Return all numbers in ranges; no range is empty."""
    lengths = end - first
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(int(lengths.sum())) + np.repeat(first - before, lengths), np.int64)


def _compute_centres(order: int, i: Integers, j: Integers) -> Points:
    side = 1 << order
    return locate_plane_points((i + 0.5) / side, (j + 0.5) / side, np.minimum(i, j) >> order)


def locate_plane_points(i: Numbers, j: Numbers, face: Integers) -> Points:
    """Return the positions of points of the turned plane, in which cells of order 0 have the side 1.

    Parameters
    ----------
    i, j
        The coordinates in the plane.
    face
        The lower of the two coordinates of the cell of order 0 that contains each point: its whole part, except on the
        upper borders of a cell.
    """
    x, y = (i + j - 1) / 2, (i - j) / 2
    shrink = 2 * (1 - np.abs(y))  # how much narrower the projection is there than at the edge of the polar cap
    polar = shrink < 1
    safe = np.where(polar, shrink, 1)
    fraction = np.divide(x - face - 0.5, safe, out=np.zeros_like(safe), where=safe > 0) + 0.5
    ra = 90 * np.where(polar, face + fraction, x)
    height = np.degrees(np.arcsin(np.where(polar, 0, 4 / 3 * y)))
    from_pole = 2 * np.degrees(np.arcsin(safe / math.sqrt(6)))
    return Points.at(np.mod(ra, 360), np.where(polar, np.sign(y) * (90 - from_pole), height))


def _spread_bits(bits: Integers) -> Integers:
    """Return numbers with a zero between every two bits."""
    for shift, mask in _STEPS[::-1]:
        bits = (bits | (bits << shift)) & mask
    return bits


def _gather_bits(bits: Integers) -> Integers:
    """Return every second bit of numbers, side by side."""
    bits = bits & _STEPS[0][1]
    for (shift, _), (_, mask) in zip(_STEPS, [*_STEPS[1:], (0, 0xFFFFFFFF)], strict=True):
        bits = (bits | (bits >> shift)) & mask
    return bits


_STEPS = [
    (1, 0x5555555555555555),
    (2, 0x3333333333333333),
    (4, 0x0F0F0F0F0F0F0F0F),
    (8, 0x00FF00FF00FF00FF),
    (16, 0x0000FFFF0000FFFF),
]
