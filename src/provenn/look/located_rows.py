"""Rows with positions on the sky, as a match reads them: located, cut to a box, and put together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from provenn.catalogs.match_rule import Coordinate
from provenn.criteria import AttributeIdentity
from provenn.look.near_pairs import Numbers, SkyRows, compute_reach
from provenn.look.sky_conditions import reduce_to_circle
from provenn.look.tallying import read_numbers
from provenn.sky.positions import DEGREES

__all__ = ["EVERYWHERE", "LocatedRows", "SkyBox", "join_rows", "locate_rows", "make_box"]


@dataclass(frozen=True, slots=True)
class SkyBox:
    """A range of right ascensions and one of declinations, in degrees, ends included."""

    west: float
    east: float
    south: float
    north: float

    @property
    def is_circle(self) -> bool:
        """Whether all right ascensions are inside."""
        return self.west <= 0 and self.east >= 360

    def widen(self, radius: float) -> SkyBox:
        """Return a box that holds all circles of a radius in degrees around positions in this box."""
        south, north = self.south - radius, self.north + radius
        farthest = max(abs(self.south), abs(self.north))
        reach = float(compute_reach(np.array([farthest]), radius)[0])
        west, east = self.west - reach, self.east + reach
        if west < 0 or east > 360:
            west, east = 0.0, 360.0
        return SkyBox(west, east, south, north)

    def meets(self, other: SkyBox) -> bool:
        """Return whether a position may lie in both boxes."""
        return (
            self.west <= other.east
            and other.west <= self.east
            and self.south <= other.north
            and other.south <= self.north
        )

    def is_most_of(self, other: SkyBox) -> bool:
        """Return whether this box is nearly as large as another that holds it."""
        return (self.east - self.west) * (self.north - self.south) >= 0.5 * (
            (other.east - other.west) * (min(other.north, 90.0) - max(other.south, -90.0))
        )


EVERYWHERE = SkyBox(0.0, 360.0, -90.0, 90.0)


def make_box(ra: tuple[float, float] | None, dec: tuple[float, float] | None, units: tuple[str, str]) -> SkyBox:
    """Return a box with the positions of all rows, given the ranges of both coordinates, as far as they are known."""
    west, east, south, north = 0.0, 360.0, -90.0, 90.0
    margin = 1e-9
    if ra is not None:
        low, high = (number * DEGREES[units[0]] for number in ra)
        if low >= 0 and high < 360:
            west, east = low - margin, high + margin
    if dec is not None:
        low, high = (number * DEGREES[units[1]] for number in dec)
        south, north = low - margin, high + margin
    return SkyBox(west, east, south, north)


@dataclass(frozen=True, slots=True)
class LocatedRows:
    """Rows with a position.

    Parameters
    ----------
    sky
        The positions.
    table
        The columns of the same rows that pairs take; None if they take none.
    radius
        The radius of each row in arcseconds; None without one.
    """

    sky: SkyRows
    table: pa.Table | None = None
    radius: Numbers | None = None

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return 16 * len(self.sky) + (0 if self.table is None else int(self.table.nbytes))

    def find_box(self) -> SkyBox | None:
        """Return the smallest box with all rows; None without rows."""
        if not len(self.sky):
            return None
        ra, dec = self.sky.ra, self.sky.dec
        return SkyBox(float(ra.min()), float(ra.max()), float(dec.min()), float(dec.max()))

    def cut(self, box: SkyBox) -> LocatedRows:
        """Return the rows in a box."""
        mask = (self.sky.dec >= box.south) & (self.sky.dec <= box.north)
        if not box.is_circle:
            mask &= (self.sky.ra >= box.west) & (self.sky.ra <= box.east)
        return self if mask.all() else self.filter(mask)

    def filter(self, mask: Any) -> LocatedRows:  # noqa: ANN401 - a mask of NumPy
        """Return the rows that a mask selects."""
        from provenn.look.row_conditions import filter_rows  # noqa: PLC0415 - many rows are not filtered

        return LocatedRows(
            SkyRows(self.sky.ra[mask], self.sky.dec[mask]),
            None if self.table is None else filter_rows(self.table, mask),
            None if self.radius is None else self.radius[mask],
        )


def join_rows(parts: Sequence[LocatedRows]) -> LocatedRows:
    """Return the rows of several parts, of which there is at least one."""
    if len(parts) == 1:
        return parts[0]
    sky = SkyRows(np.concatenate([part.sky.ra for part in parts]), np.concatenate([part.sky.dec for part in parts]))
    tables = [part.table for part in parts if part.table is not None]
    radii = [part.radius for part in parts if part.radius is not None]
    return LocatedRows(sky, pa.concat_tables(tables) if tables else None, np.concatenate(radii) if radii else None)


def locate_rows(
    table: pa.Table,
    coordinates: tuple[Coordinate, Coordinate],
    columns: Sequence[AttributeIdentity],
    radius: Coordinate | None = None,
) -> LocatedRows:
    """Return the rows of a table that have a position and, if they need one, a radius; as Spark reads them.

    Numbers are converted and multiplied by the factor of their unit as in Spark, to the last bit. NULL, NaN and
    infinite coordinates, and declinations beyond the poles, are no position.

    Parameters
    ----------
    table
        The rows.
    coordinates
        The columns of right ascension and declination, and their units.
    columns
        The columns that pairs take.
    radius
        The column of the radius, and its unit; None without one.
    """
    (ra_name, ra_unit), (dec_name, dec_unit) = coordinates
    ra = _scale(read_numbers(table.column(ra_name)), DEGREES[ra_unit])
    dec = _scale(read_numbers(table.column(dec_name)), DEGREES[dec_unit])
    if len(ra) and not (ra.min() >= 0 and ra.max() < 360):  # NaN fails the comparison
        with np.errstate(invalid="ignore"):
            ra = reduce_to_circle(ra)
    mask = (dec >= -90) & (dec <= 90) & (ra <= 360)
    own = None
    if radius is not None:
        own = read_numbers(table.column(radius[0]))
        own = own if radius[1] == "arcsec" else own * (3600 * DEGREES[radius[1]])
        mask &= own >= 0
    located = LocatedRows(SkyRows(ra, dec), table.select(list(columns)) if columns else None, own)
    return located if mask.all() else located.filter(mask)


def _scale(numbers: Numbers, factor: float) -> Numbers:
    return numbers if factor == 1 else numbers * factor
