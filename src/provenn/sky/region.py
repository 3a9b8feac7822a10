"""What a region of the sky is: a set of positions, with a call by which criteria name it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from provenn.sky.cells import Cells
from provenn.sky.points import MARGIN, Cap, Flags, Numbers, Points

__all__ = ["INSIDE", "OUTSIDE", "Region", "Sides", "Solid", "sides"]

Sides = NDArray[np.int8]
"""Of cells: `INSIDE` a region with all they hold, `OUTSIDE` of it with all they hold, or 0 for neither, or not sure."""
INSIDE = 1
OUTSIDE = -1


class Region(Protocol):
    """A region of the sky, in ICRS coordinates taken as they are."""

    def __hash__(self) -> int: ...

    @property
    def on(self) -> tuple[str, str] | None:
        """The attributes that hold the position; None if they are to be found."""

    @property
    def function(self) -> str:
        """The function that criteria call."""

    @property
    def constants(self) -> tuple[float, ...] | tuple[str]:
        """What that function is given behind the two coordinates: degrees, or a text."""

    @property
    def cap(self) -> Cap:
        """A cap that all of it lies in."""

    def sides(self, cells: Cells) -> Sides:
        """Return on which side of the border cells are, for sure."""


class Solid(Protocol):
    """A region with a border that distances are measured from."""

    def holds(self, points: Points) -> Flags:
        """Return which points are inside; near the border, that is not sure."""

    def from_border(self, points: Points) -> Numbers:
        """Return the distance of points from the border in degrees."""


def sides(region: Solid, cells: Cells) -> Sides:
    """Return on which side of the border cells are: undecided if it is nearer to the centre than the cell is large."""
    clear = region.from_border(cells.centres) > cells.radius + MARGIN
    return np.where(clear, np.where(region.holds(cells.centres), INSIDE, OUTSIDE), 0).astype(np.int8)
