"""Boxes: a range of right ascension and a range of declination."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from provenn.errors import RegionError
from provenn.sky.angles import read_declination, read_position_names, read_right_ascension
from provenn.sky.cells import Cells
from provenn.sky.points import MARGIN, Cap, Flags, Numbers, Points, measure_arc_distance, measure_separation
from provenn.sky.region import Sides, classify_cells

__all__ = ["Box", "box"]


@dataclass(frozen=True, slots=True)
class Box:
    """A range of right ascension and a range of declination in degrees, ends included. Build it with `box`.

    A box all around the sky has right ascensions from 0 to 360. Otherwise both right ascensions are below 360; if
    ``ra_from`` is above ``ra_to``, the range goes across 0.
    """

    ra_from: float
    ra_to: float
    dec_from: float
    dec_to: float
    on: tuple[str, str] | None = None

    function: ClassVar[str] = "in_box"

    @property
    def constants(self) -> tuple[float, ...]:
        """The four ends of the ranges."""
        return self.ra_from, self.ra_to, self.dec_from, self.dec_to

    @property
    def around(self) -> bool:
        """Whether the box goes all around the sky."""
        return self.ra_to == 360

    @property
    def breadth(self) -> float:
        """The width of the box in degrees of right ascension."""
        return self.ra_to - self.ra_from + 360 * (self.ra_to < self.ra_from)

    @property
    def cap(self) -> Cap:
        """A cap about the middle, through the corners; about a pole if the box spans more than 180 degrees."""
        if self.breadth > 180:
            pole = 90.0 if self.dec_from + self.dec_to > 0 else -90.0
            return Cap(Points.at(0.0, pole).vectors[0], max(abs(pole - self.dec_from), abs(pole - self.dec_to)))
        middle = self.ra_from + self.breadth / 2
        centre = Points.at(middle, (self.dec_from + self.dec_to) / 2).vectors[0]
        corners = Points.at(
            self.ra_from, [self.dec_from, self.dec_to]
        ).vectors  # the corners at the other end are as far
        return Cap(centre, float(measure_separation(corners, centre).max()) + MARGIN)

    def holds(self, points: Points) -> Flags:
        """Return a flag per point: whether it lies inside the box."""
        in_declinations = (points.dec >= self.dec_from) & (points.dec <= self.dec_to)
        return in_declinations & self._is_in_right_ascensions(points.ra)

    def _is_in_right_ascensions(self, ra: Numbers) -> Flags:
        """Return a flag per right ascension: whether it lies in the box's range."""
        after, before = ra >= self.ra_from, ra <= self.ra_to
        return after & before if self.ra_from < self.ra_to else after | before

    def from_border(self, points: Points) -> Numbers:
        """Return the distance in degrees of each point from the sides."""
        in_right_ascensions = self._is_in_right_ascensions(points.ra)
        nearest = np.full(len(points.ra), np.inf)
        for dec in (self.dec_from, self.dec_to):
            if abs(dec) < 90:
                nearest = np.where(in_right_ascensions, np.minimum(nearest, np.abs(points.dec - dec)), nearest)
        if not self.around:
            # Each of the two sides is measured as two arcs, because an arc is shorter than half a circle.
            heights = [self.dec_from, (self.dec_from + self.dec_to) / 2, self.dec_to]
            left, right = (Points.at(np.full(3, ra), heights).vectors for ra in (self.ra_from, self.ra_to))
            starts, ends = np.concatenate([left[:2], right[:2]]), np.concatenate([left[1:], right[1:]])
            nearest = np.minimum(nearest, measure_arc_distance(points.vectors, starts, ends))
        return nearest

    def sides(self, cells: Cells) -> Sides:
        """Return the side of the border for each cell."""
        return classify_cells(self, cells)


def box(ra_from: Any, ra_to: Any, dec_from: Any, dec_to: Any, on: Sequence[str] | None = None) -> Box:  # noqa: ANN401
    """Return the box between two right ascensions and two declinations, ends included.

    If ``ra_from`` is above ``ra_to``, the range of right ascension goes across 0; a range from 0 to 360 goes all around
    the sky.

    Parameters
    ----------
    ra_from, ra_to
        The range of right ascension, in degrees or as quantities of astropy.
    dec_from, dec_to
        The range of declination.
    on
        The attributes that hold the position of a source; without them, UCDs or usual names decide.

    Raises
    ------
    RegionError
        If a number is out of range, or a range is empty.

    Examples
    --------
    >>> box(350, 10, -5, 5)
    Box(ra_from=350.0, ra_to=10.0, dec_from=-5.0, dec_to=5.0, on=None)
    """
    names = read_position_names(on)
    start, end = read_right_ascension(ra_from, "the first right ascension"), read_right_ascension(ra_to, "the last one")
    low, high = read_declination(dec_from, "the first declination"), read_declination(dec_to, "the last one")
    if low >= high:
        raise RegionError(
            f"a box from {low:g} to {high:g} in declination has no height", hint="write the lower declination first"
        )
    if (start, end) != (0, 360):
        start, end = start % 360, end % 360
        if start == end:
            raise RegionError(
                "the box begins and ends at the same right ascension", hint="for the whole circle, write 0 and 360"
            )
    return Box(start, end, low, high, names)
