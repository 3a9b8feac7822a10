"""Cross-matching as a distributed job: a join on cells of the sky, with margins, and an exact test.

The sky is divided into zones of declination, and each zone into cells of right ascension. A source of one side lies in
one cell; one of the other side is brought to every cell that its circle may touch. So a pair meets in just one cell,
wherever it is: across cells, across right ascension 0, around the poles. The cells only decide who is compared; they
are computed with arithmetic that is the same on every machine, and the circles are taken a little too large.

The haversine formula decides which sources are a pair, beyond a right angle with the opposite point. It is exact to
1e-9 arcseconds at any distance, and the same both ways. It takes differences of coordinates first, and their signs
vanish: positions that mirror each other have the same separation to the last bit, and so have all positions of one
declination from a pole, where the cosine of the declination is exactly 0. So rounding does not choose between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from provenn.sky.positions import DEGREES
from provenn.spark.columns import column, quoted

__all__ = ["Matching", "paired"]

_SMALLEST, _LARGEST = 5 / 3600, 10.0
"""How high zones are, in degrees: not lower, so that numbers of cells stay small; not higher, for enough of them."""

_TIMES = 8
"""How many times as high as the radius: the more, the fewer sources are brought to several cells, but the more are
compared."""

_OWN = "\x1f"
"""How columns begin that are no attributes: the names of these can be printed."""

_RA, _DEC, _SCALE, _ZONE, _CELLS, _PLACE, _CELL, _APART, _FOUND = (
    _OWN + name for name in ("ra", "dec", "scale", "zone", "cells", "place", "cell", "separation", "found")
)


@dataclass(frozen=True, slots=True)
class Matching:
    """One side of a match.

    Parameters
    ----------
    frame
        Its rows.
    key
        The columns that identify a source, in order.
    ra, dec
        The columns of its position, and their units, as `provenn.sky.positions.DEGREES` has them.
    columns
        What pairs have of it: what the column is called here, by what it is called there; the key included.
    """

    frame: DataFrame
    key: Sequence[str]
    ra: tuple[str, str]
    dec: tuple[str, str]
    columns: Mapping[str, str]


def paired(
    left: Matching, right: Matching, radius: float, separation: str, *, best: bool, spread_left: bool = False
) -> DataFrame:
    """Return the pairs of two sides that are at most a radius apart.

    Parameters
    ----------
    left, right
        The sides. What pairs have of them has different names.
    radius
        In arcseconds.
    separation
        What the column with the separation is called.
    best
        Whether to return, for every row of `left`, only the nearest of `right`; of several, the smallest key.
    spread_left
        Whether rows of `left` are brought to several cells, rather than those of `right`: those of the smaller side
        should be. The result is the same.
    """
    grid = _Grid.of(radius)
    one = (grid.spread if spread_left else grid.placed)(_located(left, "1"), "1")
    other = (grid.placed if spread_left else grid.spread)(_located(right, "2"), "2")
    close = (
        f"abs({quoted(_DEC + '1')} - {quoted(_DEC + '2')}) <= {grid.radius!r}D AND {_HAVERSINE} <= {_limit(radius)!r}D"
    )
    near = f"{close} AND {_ANGLE} <= {radius!r}D"
    met = one.join(other, sql.expr(f"{quoted(_CELL + '1')} = {quoted(_CELL + '2')} AND {near}"), "inner")
    names = [*left.columns, *right.columns]
    pairs = met.selectExpr(*map(quoted, names), f"{_ANGLE} AS {quoted(separation)}")
    return _nearest(pairs, left, right, separation) if best else pairs


def _located(side: Matching, which: str) -> DataFrame:
    """Return what pairs have of a side, and its position in degrees; rows without a position are left out."""
    ra, dec = (f"CAST({quoted(name)} AS DOUBLE)" + _factor(unit) for name, unit in (side.ra, side.dec))
    names = [f"{quoted(old)} AS {quoted(new)}" for new, old in side.columns.items()]
    placed = side.frame.selectExpr(*names, f"pmod({ra}, 360D) AS {quoted(_RA)}", f"{dec} AS {quoted(_DEC)}")
    # Neither NULL nor NaN, which is greater than any number, is at most anything.
    there = f"{quoted(_DEC)} BETWEEN -90D AND 90D AND {quoted(_RA)} <= 360D"
    # The cosine of the declination as the sine of the distance to the pole: 0 at the pole itself, unlike cos(pi / 2).
    parts = {_RA: quoted(_RA), _DEC: quoted(_DEC), _SCALE: f"sin(radians(90D - abs({quoted(_DEC)})))"}
    # They are never NULL here; Spark, which would make sure of it by computing them twice, is told so.
    return placed.where(there).selectExpr(
        "*", *(f"coalesce({text}, 0D) AS {quoted(name + which)}" for name, text in parts.items())
    )


def _factor(unit: str) -> str:
    return "" if unit == "deg" else f" * {DEGREES[unit]!r}D"


# -- angles ------------------------------------------------------------------------------------------------------------


def _haversine(height: str, aside: str) -> str:
    """Return the square of the sine of half an angle between two positions, given how far they are apart in degrees."""
    scale = f"{quoted(_SCALE + '1')} * {quoted(_SCALE + '2')}"
    up, across = (f"power(sin(radians({difference}) / 2D), 2D)" for difference in (height, aside))
    return f"({up} + {scale} * {across})"


_TURN = f"abs({quoted(_RA + '1')} - {quoted(_RA + '2')})"
_ASIDE = f"least({_TURN}, 360D - {_TURN})"
_HAVERSINE = _haversine(f"({quoted(_DEC + '1')} - {quoted(_DEC + '2')})", _ASIDE)
_OPPOSITE = _haversine(f"({quoted(_DEC + '1')} + {quoted(_DEC + '2')})", f"(180D - {_ASIDE})")

_ANGLE = (
    f"({648000 / math.pi!r}D * CASE WHEN {_HAVERSINE} <= 0.5D THEN 2D * asin(sqrt({_HAVERSINE})) "
    f"ELSE {math.pi!r}D - 2D * asin(sqrt({_OPPOSITE})) END)"
)
"""The angle between two positions in arcseconds."""


def _limit(radius: float) -> float:
    """Return the largest `_HAVERSINE` within a radius, and a little more."""
    return (math.sin(math.radians(radius / 3600) / 2) + 1e-14) ** 2 * (1 + 1e-6)


def _nearest(pairs: DataFrame, left: Matching, right: Matching, separation: str) -> DataFrame:
    def listed(side: Matching) -> list[str]:
        return [next(new for new, old in side.columns.items() if old == one) for one in side.key]

    names = pairs.columns
    whole = sql.struct(*(column(name).alias(f"c{n}") for n, name in enumerate(names)))
    order = sql.struct(*(column(name).alias(f"c{n}") for n, name in enumerate([separation, *listed(right)])))
    found = pairs.groupBy(*map(column, listed(left))).agg(sql.min_by(whole, order).alias(_FOUND))
    return found.select(*(sql.col(f"{quoted(_FOUND)}.c{n}").alias(name) for n, name in enumerate(names)))


# -- cells -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Grid:
    """Zones and cells for a radius, in degrees."""

    radius: float
    zones: int

    @classmethod
    def of(cls, radius: float) -> _Grid:
        degrees = radius / 3600
        height = min(max(_TIMES * degrees, _SMALLEST), _LARGEST)
        return cls(degrees * (1 + 1e-9) + 1e-9, max(1, int(180 / height)))

    def placed(self, frame: DataFrame, which: str) -> DataFrame:
        """Return rows with their cell."""
        zoned = frame.selectExpr("*", f"{self._zone(quoted(_DEC))} AS {quoted(_ZONE)}")
        counted = zoned.selectExpr("*", f"{self._cells()} AS {quoted(_CELLS)}")
        place = f"least(floor({quoted(_RA)} / 360D * {quoted(_CELLS)}), {quoted(_CELLS)} - 1L)"
        return _celled(counted.selectExpr("*", f"{place} AS {quoted(_PLACE)}"), which)

    def spread(self, frame: DataFrame, which: str) -> DataFrame:
        """Return rows once for every cell that the circle around them may touch."""
        ra, dec, cells, place = map(quoted, (_RA, _DEC, _CELLS, _PLACE))
        lowest, highest = (self._zone(f"({dec} {sign} {self.radius!r}D)") for sign in "-+")
        zoned = frame.selectExpr("*", f"explode(sequence({lowest}, {highest})) AS {quoted(_ZONE)}")
        # How far a circle reaches in right ascension; one around a pole reaches everywhere.
        reach = (
            f"CASE WHEN abs({dec}) + {self.radius!r}D >= 89.999999D THEN 360D ELSE "
            f"degrees(asin({math.sin(math.radians(min(self.radius, 90)))!r}D / cos(radians({dec})))) + 1e-9D END"
        )
        counted = zoned.selectExpr("*", f"{self._cells()} AS {cells}", f"{reach} AS {quoted(_APART)}")
        first = f"floor(({ra} - {quoted(_APART)}) / 360D * {cells})"
        last = f"floor(({ra} + {quoted(_APART)}) / 360D * {cells})"
        placed = counted.selectExpr(
            "*", f"explode(sequence({first}, least({last}, {first} + {cells} - 1L))) AS {place}"
        )
        return _celled(placed.withColumn(_PLACE, sql.expr(f"pmod({place}, {cells})")), which)

    def _zone(self, dec: str) -> str:
        return f"least(greatest(floor(({dec} + 90D) * {self.zones / 180!r}D), 0L), {self.zones - 1}L)"

    def _cells(self) -> str:
        """Return how many cells a zone has: about as wide as it is high, and one at the poles."""
        edge = f"(abs(2D * {quoted(_ZONE)} + {1 - self.zones}D) + 1D) / {self.zones}D"  # 1 at the pole
        return f"greatest(floor({2 * self.zones}D * (1D - {edge} * {edge})), 1L)"


def _celled(frame: DataFrame, which: str) -> DataFrame:
    """Return the columns of a frame with the number of the cell, and without what it is made from."""
    made = (_RA, _DEC, _ZONE, _CELLS, _PLACE, _APART)
    cell = f"coalesce({quoted(_ZONE)} * {2**32}L + {quoted(_PLACE)}, -1L) AS {quoted(_CELL + which)}"
    return frame.selectExpr(*(quoted(name) for name in frame.columns if name not in made), cell)
