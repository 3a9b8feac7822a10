"""The part of the sky near some positions, as a grid of half degrees: it leaves out most rows that are near none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from provenn.look.near_pairs import Flags, Places, SkyRows, compute_reach

__all__ = ["SkyGrid"]

_STEP: Final = 0.5
_ROWS, _COLUMNS = round(180 / _STEP), round(360 / _STEP)
_LARGEST_RADIUS: Final = 2.0
"""The largest radius in degrees for which a grid is worth its while."""


@dataclass(frozen=True, slots=True)
class SkyGrid:
    """The cells of a grid that circles around some positions may touch.

    Parameters
    ----------
    cells
        A flag for each row of declinations and column of right ascensions.
    """

    cells: Flags

    @classmethod
    def around(cls, sky: SkyRows, radius: float) -> SkyGrid | None:
        """Return the cells near positions, for a radius in degrees; None if the radius is large.

        Sound: a position within the radius of another is at most as many rows from it as the radius has steps, and
        one, and at most as many columns as the circle reaches in right ascension, and one.
        """
        if radius > _LARGEST_RADIUS:
            return None
        cells = np.zeros((_ROWS, _COLUMNS), dtype=bool)
        cells.reshape(-1)[_find_cells(sky)] = True
        for row in np.nonzero(cells.any(axis=1))[0].tolist():
            farthest = max(abs(row * _STEP - 90), abs((row + 1) * _STEP - 90))
            reach = float(compute_reach(np.array([farthest]), radius)[0])
            cells[row] = _widen_row(cells[row], math.ceil(reach / _STEP) + 1)
        rows = math.ceil(radius / _STEP) + 1
        padded = np.pad(cells, ((rows, rows), (0, 0)))
        widened = np.logical_or.reduce([padded[shift : shift + _ROWS] for shift in range(2 * rows + 1)])
        return cls(widened)

    def find_near(self, sky: SkyRows) -> Flags:
        """Return which positions lie in the cells."""
        return self.cells.reshape(-1)[_find_cells(sky)]


def _find_cells(sky: SkyRows) -> Places:
    """Return the numbers of the cells of positions."""
    rows = np.minimum(((sky.dec + 90) * (1 / _STEP)).astype(np.int64), _ROWS - 1)
    columns = np.minimum((sky.ra * (1 / _STEP)).astype(np.int64), _COLUMNS - 1)
    return rows * _COLUMNS + columns


def _widen_row(row: Flags, number: int) -> Flags:
    """Return a row of cells around the sky with a number of further cells on both sides of each."""
    if 2 * number + 1 >= _COLUMNS:
        return np.full(_COLUMNS, row.any())
    turns = np.concatenate((row[-number:], row, row[:number])).astype(np.int64)
    sums = np.concatenate(([0], np.cumsum(turns)))
    return sums[2 * number + 1 :] > sums[: -2 * number - 1]
