"""The interface of a region of the sky: a set of positions, and the name of its function in criteria."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from provenn.sky.cells import Cells
from provenn.sky.points import MARGIN, Cap, Flags, Numbers, Points

__all__ = ["INSIDE", "OUTSIDE", "Region", "Sides", "Solid", "classify_cells"]

Sides = NDArray[np.int8]
"""A number per cell: `INSIDE` if all of it is surely in a region, `OUTSIDE` if surely none of it is, otherwise 0."""
INSIDE = 1
OUTSIDE = -1


class Region(Protocol):
    """A region of the sky, in ICRS coordinates taken as they are."""

    def __hash__(self) -> int: ...

    @property
    def on(self) -> tuple[str, str] | None:
        """The attributes that hold the position; None if UCDs or usual names decide."""

    @property
    def function(self) -> str:
        """The function that criteria call."""

    @property
    def constants(self) -> tuple[float, ...] | tuple[str]:
        """The arguments of that function after the two coordinates: degrees, or a text."""

    @property
    def cap(self) -> Cap:
        """A cap around the whole region."""

    def sides(self, cells: Cells) -> Sides:
        """Return the side of the border for each cell, where it is sure."""


class Solid(Protocol):
    """A region with a border that distances are measured from."""

    def holds(self, points: Points) -> Flags:
        """Return a flag per point: whether it lies inside; near the border, the flag is not sure."""

    def from_border(self, points: Points) -> Numbers:
        """Return the distance in degrees of each point from the border."""


def classify_cells(region: Solid, cells: Cells) -> Sides:
    """Return the side of a region's border for each cell.

    A cell is undecided if the border is nearer to the cell's centre than the cell's radius.
    """
    clear = region.from_border(cells.centres) > cells.radius + MARGIN
    return np.where(clear, np.where(region.holds(cells.centres), INSIDE, OUTSIDE), 0).astype(np.int8)
