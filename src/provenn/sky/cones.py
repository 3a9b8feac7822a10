"""Cones: the positions within a radius of a centre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from provenn.sky.angles import read_declination, read_position_names, read_right_ascension, read_width
from provenn.sky.cells import Cells
from provenn.sky.points import Cap, Flags, Numbers, Points, measure_separation
from provenn.sky.region import Sides, classify_cells

__all__ = ["Cone", "cone"]


@dataclass(frozen=True, slots=True)
class Cone:
    """The positions within a radius of a centre, the circle included; all in degrees. Build it with `cone`."""

    ra: float
    dec: float
    radius: float
    on: tuple[str, str] | None = None

    function: ClassVar[str] = "in_cone"

    @property
    def constants(self) -> tuple[float, ...]:
        """The centre and the radius."""
        return self.ra, self.dec, self.radius

    @property
    def cap(self) -> Cap:
        """The cone as a cap."""
        return Cap(Points.at(self.ra, self.dec).vectors[0], self.radius)

    def holds(self, points: Points) -> Flags:
        """Return a flag per point: whether it lies inside the cone."""
        return measure_separation(points.vectors, self.cap.centre) <= self.radius

    def from_border(self, points: Points) -> Numbers:
        """Return the distance in degrees of each point from the circle."""
        if self.radius == 180:
            return np.full(len(points.ra), np.inf)
        return np.abs(measure_separation(points.vectors, self.cap.centre) - self.radius)

    def sides(self, cells: Cells) -> Sides:
        """Return the side of the circle for each cell."""
        return classify_cells(self, cells)


def cone(ra: Any, dec: Any, radius: Any, on: Sequence[str] | None = None) -> Cone:  # noqa: ANN401 - see `read_degrees`
    """Return the cone of all positions within a radius of a centre.

    Parameters
    ----------
    ra, dec
        The centre, in degrees or as quantities of astropy.
    radius
        The radius, above 0 and up to 180 degrees.
    on
        The attributes that hold the position of a source; without them, UCDs or usual names decide.

    Raises
    ------
    RegionError
        If a number is out of range.

    Examples
    --------
    >>> cone(56.75, 24.12, 1.5)
    Cone(ra=56.75, dec=24.12, radius=1.5, on=None)
    """
    names = read_position_names(on)
    centre_ra, centre_dec = read_right_ascension(ra) % 360, read_declination(dec)
    degrees = read_width(radius, "the radius")
    if degrees == 180:  # the whole sky, independent of the centre
        centre_ra, centre_dec = 0.0, 0.0
    elif abs(centre_dec) == 90:
        centre_ra = 0.0
    return Cone(centre_ra, centre_dec, degrees, names)
