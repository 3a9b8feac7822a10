"""Cross-matching as a distributed job: a join on cells of the sky, with margins, and an exact test.

The sky is divided into zones of declination, and each zone into cells of right ascension. A source of the first side
lies in a single cell; a source of the second side is copied to every cell that its circle may touch. So a pair meets in
exactly one cell, also across cells, across right ascension 0 and around the poles. Cells only limit the comparisons:
the arithmetic of cells is the same on every machine, and the circles are a little too large.

The haversine formula decides about a pair; beyond a right angle, the formula is applied to the opposite point. The
formula is exact to 1e-9 arcseconds at any distance, and symmetric. The differences of coordinates come first, and their
signs vanish: mirrored positions have the same separation to the last bit, and so have all positions of equal
declination from a pole, where the cosine of the declination is exactly 0. So rounding never chooses between equals.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sql

from provenn.catalogs.match_rule import Coordinate, MatchRule
from provenn.catalogs.placements import IN_PLACE, Placement
from provenn.criteria import AttributeIdentity
from provenn.sky.positions import DEGREES
from provenn.spark.columns import column, quote_name
from provenn.spark.sky_places import place_rows

__all__ = ["MatchSide", "count_cells", "join_pairs", "match_pairs"]

_SMALLEST, _LARGEST = 5 / 3600, 10.0
"""The height of zones in degrees: at least, so that cell numbers stay small; at most, so that there are enough."""

_RADII_PER_ZONE = 8
"""The height of a zone in radii: higher zones copy fewer sources to several cells, but compare more sources."""

_PREFIX = "\x1f"
"""The prefix of columns that are no attributes: names of attributes are printable, this prefix is not."""

_RA, _DEC, _SCALE, _ZONE, _CELLS, _PLACE, _CELL, _REACH, _NEAREST, _RANK, _RADIUS = (
    _PREFIX + name
    for name in ("ra", "dec", "scale", "zone", "cells", "place", "cell", "separation", "found", "rank", "radius")
)


@dataclass(frozen=True, slots=True)
class MatchSide:
    """A side of a match.

    Parameters
    ----------
    frame
        The rows of this side.
    key
        The columns that identify a source, in order.
    ra, dec
        The columns of the position, and their units, as in `provenn.sky.positions.DEGREES`.
    columns
        The columns that pairs take from this side, the key included: the name in `frame` by the name in the pairs.
    radius
        For the left side, the column with the radius of each row, and its unit; None without one. A row whose radius is
        NULL, NaN or negative is in no pair.
    placement
        How positions become positions in ICRS at a common epoch.
    """

    frame: DataFrame
    key: Sequence[AttributeIdentity]
    ra: Coordinate
    dec: Coordinate
    columns: Mapping[AttributeIdentity, AttributeIdentity]
    radius: Coordinate | None = None
    placement: Placement = IN_PLACE


def match_pairs(
    left: MatchSide, right: MatchSide, rule: MatchRule, separation: str, *, spread_left: bool = False
) -> DataFrame:
    """Return the pairs of two sides that a rule keeps.

    Parameters
    ----------
    left, right
        The sides. The names of their columns in the pairs differ.
    rule
        Which pairs to keep.
    separation
        The name of the column with the separation.
    spread_left
        Whether rows of `left` are copied to several cells, rather than rows of `right`. The result is the same, but it
        is faster to copy the smaller side.
    """
    radius = rule.radius
    grid = _Grid.of(radius)
    left_cells = (grid.spread_rows if spread_left else grid.place_rows)(_locate_rows(left, "1"), "1")
    right_cells = (grid.place_rows if spread_left else grid.spread_rows)(_locate_rows(right, "2"), "2")
    heights = f"abs({quote_name(_DEC + '1')} - {quote_name(_DEC + '2')}) <= {grid.radius!r}D"
    close = f"{heights} AND {_HAVERSINE} <= {_compute_limit(radius)!r}D"
    near = f"{close} AND {_ANGLE} <= {radius!r}D"
    if rule.min_radius:
        near += f" AND {_ANGLE} >= {rule.min_radius!r}D"
    if left.radius is not None:
        near += f" AND {_ANGLE} <= {quote_name(_RADIUS + '1')}"
    same_cell = f"{quote_name(_CELL + '1')} = {quote_name(_CELL + '2')}"
    joined = left_cells.join(right_cells, sql.expr(f"{same_cell} AND {near}"), "inner")
    names = [*left.columns, *right.columns]
    pairs = joined.selectExpr(*map(quote_name, names), f"{_ANGLE} AS {quote_name(separation)}")
    return _keep_pairs(pairs, _list_pair_key(left), _list_pair_key(right), separation, rule)


def join_pairs(
    parts: Sequence[DataFrame], left_key: Sequence[str], right_key: Sequence[str], separation: str, rule: MatchRule
) -> DataFrame:
    """Return the pairs of several frames with the same columns, each once.

    Parameters
    ----------
    parts
        The pairs. A pair in several frames has the same values in all.
    left_key, right_key
        The columns that identify the sources of a pair.
    separation
        The column with the separation.
    rule
        Which of the pairs to keep; the frames contain all that it keeps.
    """
    names = parts[0].columns
    pairs = parts[0]
    for part in parts[1:]:
        pairs = pairs.unionAll(part.select(*map(column, names)))
    if len(parts) == 1:
        return pairs
    # The nearest pair of a source is the same however often it occurs; a second or third one is not.
    distinct = pairs if rule.matches == "best" else pairs.dropDuplicates([*left_key, *right_key])
    return _keep_pairs(distinct, left_key, right_key, separation, rule)


def _list_pair_key(side: MatchSide) -> list[str]:
    """Return the columns of pairs that identify the source of a side."""
    return [next(new for new, old in side.columns.items() if old == name) for name in side.key]


def _locate_rows(side: MatchSide, suffix: str) -> DataFrame:
    """Return the columns that pairs take from a side, and the position in degrees, of all rows with a position."""
    names = [f"{quote_name(old)} AS {quote_name(new)}" for new, old in side.columns.items()]
    if side.radius is not None:
        names.append(f"{_write_arcseconds(side.radius)} AS {quote_name(_RADIUS)}")
    placed = place_rows(side.frame, names, (side.ra, side.dec), side.placement, (_RA, _DEC))
    # The cosine of the declination as the sine of the distance to the pole: 0 at the pole itself, unlike cos(pi / 2).
    parts = {_RA: quote_name(_RA), _DEC: quote_name(_DEC), _SCALE: f"sin(radians(90D - abs({quote_name(_DEC)})))"}
    if side.radius is not None:
        placed = placed.where(f"{quote_name(_RADIUS)} >= 0D AND NOT isnan({quote_name(_RADIUS)})")
        parts[_RADIUS] = quote_name(_RADIUS)
    # These values are never NULL; coalesce tells Spark so, which otherwise would compute them twice to make sure.
    return placed.selectExpr(
        "*", *(f"coalesce({text}, 0D) AS {quote_name(name + suffix)}" for name, text in parts.items())
    )


def _write_arcseconds(angle: Coordinate) -> str:
    name, unit = angle
    number = f"CAST({quote_name(name)} AS DOUBLE)"
    return number if unit == "arcsec" else f"{number} * {3600 * DEGREES[unit]!r}D"


# -- angles ------------------------------------------------------------------------------------------------------------


def _build_haversine(height: str, width: str) -> str:
    """Return SQL for the squared sine of half the angle between two positions, given their differences in degrees."""
    scale = f"{quote_name(_SCALE + '1')} * {quote_name(_SCALE + '2')}"
    up, across = (f"power(sin(radians({difference}) / 2D), 2D)" for difference in (height, width))
    return f"({up} + {scale} * {across})"


_TURN = f"abs({quote_name(_RA + '1')} - {quote_name(_RA + '2')})"
_WIDTH = f"least({_TURN}, 360D - {_TURN})"
_HAVERSINE = _build_haversine(f"({quote_name(_DEC + '1')} - {quote_name(_DEC + '2')})", _WIDTH)
_OPPOSITE = _build_haversine(f"({quote_name(_DEC + '1')} + {quote_name(_DEC + '2')})", f"(180D - {_WIDTH})")

_ANGLE = (
    f"({648000 / math.pi!r}D * CASE WHEN {_HAVERSINE} <= 0.5D THEN 2D * asin(sqrt({_HAVERSINE})) "
    f"ELSE {math.pi!r}D - 2D * asin(sqrt({_OPPOSITE})) END)"
)
"""SQL for the angle between two positions in arcseconds."""


def _compute_limit(radius: float) -> float:
    """Return the largest value of `_HAVERSINE` within a radius, and a little more."""
    return (math.sin(math.radians(radius / 3600) / 2) + 1e-14) ** 2 * (1 + 1e-6)


def _keep_pairs(
    pairs: DataFrame, left_key: Sequence[str], right_key: Sequence[str], separation: str, rule: MatchRule
) -> DataFrame:
    """Return the pairs that a rule keeps, of all pairs within its radius."""
    if rule.most is None:
        return pairs
    if rule.matches == "best":
        return _keep_nearest(pairs, left_key, right_key, separation)
    kept = _rank_pairs(pairs, left_key, right_key, separation, "1")
    if rule.is_mutual:
        kept = _rank_pairs(kept, right_key, left_key, separation, "2").where(f"{quote_name(_RANK + '2')} = 1")
    return kept.where(f"{quote_name(_RANK + '1')} <= {rule.most}").select(*map(column, pairs.columns))


def _rank_pairs(
    pairs: DataFrame, own_key: Sequence[str], other_key: Sequence[str], separation: str, suffix: str
) -> DataFrame:
    """Return pairs with their rank among those of the same source: by separation, then by the key of the partner."""
    order = Window.partitionBy(*map(column, own_key)).orderBy(*map(column, [separation, *other_key]))
    return pairs.withColumn(_RANK + suffix, sql.row_number().over(order))


def _keep_nearest(pairs: DataFrame, left_key: Sequence[str], right_key: Sequence[str], separation: str) -> DataFrame:
    """Return, for every key of the left side, the pair with the smallest separation, then the smallest right key."""
    names = pairs.columns
    whole = sql.struct(*(column(name).alias(f"c{n}") for n, name in enumerate(names)))
    order = sql.struct(*(column(name).alias(f"c{n}") for n, name in enumerate([separation, *right_key])))
    nearest = pairs.groupBy(*map(column, left_key)).agg(sql.min_by(whole, order).alias(_NEAREST))
    return nearest.select(*(sql.col(f"{quote_name(_NEAREST)}.c{n}").alias(name) for n, name in enumerate(names)))


# -- cells -------------------------------------------------------------------------------------------------------------


def count_cells(radius: float, dec: NDArray[np.float64]) -> tuple[int, NDArray[np.int64]]:
    """Return the number of zones for a radius in arcseconds, and of cells in the zones of some declinations."""
    zones = _Grid.of(radius).zones
    zone = np.clip(np.floor((dec + 90) * (zones / 180)), 0, zones - 1)
    edge = (np.abs(2 * zone + 1 - zones) + 1) / zones
    return zones, np.maximum(np.floor(2 * zones * (1 - edge * edge)), 1).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Grid:
    """A division of the sky into zones and cells for a radius, in degrees."""

    radius: float
    zones: int

    @classmethod
    def of(cls, radius: float) -> _Grid:
        degrees = radius / 3600
        height = min(max(_RADII_PER_ZONE * degrees, _SMALLEST), _LARGEST)
        return cls(degrees * (1 + 1e-9) + 1e-9, max(1, int(180 / height)))

    def place_rows(self, frame: DataFrame, suffix: str) -> DataFrame:
        """Return rows with the number of their cell."""
        zoned = frame.selectExpr("*", f"{self._build_zone(quote_name(_DEC))} AS {quote_name(_ZONE)}")
        counted = zoned.selectExpr("*", f"{self._build_cell_count()} AS {quote_name(_CELLS)}")
        place = f"least(floor({quote_name(_RA)} / 360D * {quote_name(_CELLS)}), {quote_name(_CELLS)} - 1L)"
        return _number_cells(counted.selectExpr("*", f"{place} AS {quote_name(_PLACE)}"), suffix)

    def spread_rows(self, frame: DataFrame, suffix: str) -> DataFrame:
        """Return each row once for every cell that the circle around the row may touch."""
        ra, dec, cells, place = map(quote_name, (_RA, _DEC, _CELLS, _PLACE))
        lowest, highest = (self._build_zone(f"({dec} {sign} {self.radius!r}D)") for sign in "-+")
        zoned = frame.selectExpr("*", f"explode(sequence({lowest}, {highest})) AS {quote_name(_ZONE)}")
        # How far a circle reaches in right ascension; a circle around a pole reaches everywhere.
        reach = (
            f"CASE WHEN abs({dec}) + {self.radius!r}D >= 89.999999D THEN 360D ELSE "
            f"degrees(asin({math.sin(math.radians(min(self.radius, 90)))!r}D / cos(radians({dec})))) + 1e-9D END"
        )
        counted = zoned.selectExpr("*", f"{self._build_cell_count()} AS {cells}", f"{reach} AS {quote_name(_REACH)}")
        first = f"floor(({ra} - {quote_name(_REACH)}) / 360D * {cells})"
        last = f"floor(({ra} + {quote_name(_REACH)}) / 360D * {cells})"
        placed = counted.selectExpr(
            "*", f"explode(sequence({first}, least({last}, {first} + {cells} - 1L))) AS {place}"
        )
        return _number_cells(placed.withColumn(_PLACE, sql.expr(f"pmod({place}, {cells})")), suffix)

    def _build_zone(self, dec: str) -> str:
        return f"least(greatest(floor(({dec} + 90D) * {self.zones / 180!r}D), 0L), {self.zones - 1}L)"

    def _build_cell_count(self) -> str:
        """Return SQL for the number of cells in a zone: cells are about as wide as high; the poles have one cell."""
        edge = f"(abs(2D * {quote_name(_ZONE)} + {1 - self.zones}D) + 1D) / {self.zones}D"  # 1 at the pole
        return f"greatest(floor({2 * self.zones}D * (1D - {edge} * {edge})), 1L)"


def _number_cells(frame: DataFrame, suffix: str) -> DataFrame:
    """Return a frame with the number of the cell instead of the columns from which it is computed."""
    parts = (_RA, _DEC, _ZONE, _CELLS, _PLACE, _REACH, _RADIUS)
    cell = f"coalesce({quote_name(_ZONE)} * {2**32}L + {quote_name(_PLACE)}, -1L) AS {quote_name(_CELL + suffix)}"
    return frame.selectExpr(*(quote_name(name) for name in frame.columns if name not in parts), cell)
