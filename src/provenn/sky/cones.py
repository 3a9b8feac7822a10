"""Cones: the positions within a radius of a centre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from provenn.sky.angles import declination, position_names, right_ascension, width
from provenn.sky.cells import Cells
from provenn.sky.points import Cap, Flags, Numbers, Points, separation
from provenn.sky.region import Sides, sides

__all__ = ["Cone", "cone"]


@dataclass(frozen=True, slots=True)
class Cone:
    """The positions within a radius of a centre, the circle included; all in degrees. Made by `cone`."""

    ra: float
    dec: float
    radius: float
    on: tuple[str, str] | None = None

    function: ClassVar[str] = "in_cone"

    @property
    def constants(self) -> tuple[float, ...]:
        """Centre and radius."""
        return self.ra, self.dec, self.radius

    @property
    def cap(self) -> Cap:
        """Itself."""
        return Cap(Points.at(self.ra, self.dec).vectors[0], self.radius)

    def holds(self, points: Points) -> Flags:
        """Return which points are inside."""
        return separation(points.vectors, self.cap.centre) <= self.radius

    def from_border(self, points: Points) -> Numbers:
        """Return the distance of points from the circle."""
        if self.radius == 180:
            return np.full(len(points.ra), np.inf)
        return np.abs(separation(points.vectors, self.cap.centre) - self.radius)

    def sides(self, cells: Cells) -> Sides:
        """Return on which side of the circle cells are."""
        return sides(self, cells)


def cone(ra: Any, dec: Any, radius: Any, on: Sequence[str] | None = None) -> Cone:  # noqa: ANN401 - see `degrees`
    """Return the cone of all positions within a radius of a centre.

    Parameters
    ----------
    ra, dec
        The centre, in degrees or as quantities of astropy.
    radius
        The radius, above 0 and up to 180 degrees.
    on
        The attributes that hold the position of a source; found by UCD or by name if they are not given.

    Raises
    ------
    RegionError
        If a number is out of range.

    Examples
    --------
    >>> cone(56.75, 24.12, 1.5)
    Cone(ra=56.75, dec=24.12, radius=1.5, on=None)
    """
    names = position_names(on)
    around, height = right_ascension(ra) % 360, declination(dec)
    reach = width(radius, "the radius")
    if reach == 180:  # all of the sky, whatever the centre
        around, height = 0.0, 0.0
    elif abs(height) == 90:
        around = 0.0
    return Cone(around, height, reach, names)
