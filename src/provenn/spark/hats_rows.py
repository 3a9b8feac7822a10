"""Rows on their way into a folder in HATS: the cells of their positions, and their distribution to the parts."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from provenn.criteria.types import BIGINT
from provenn.files.columns import FileColumn
from provenn.files.hats_properties import HEALPIX_COLUMN
from provenn.sky.cell_sql import cell_number_sql, has_position_sql
from provenn.sky.cells import DEEPEST
from provenn.sky.region_conditions import cell_key_sql
from provenn.spark.columns import column, quote_name

__all__ = ["HEALPIX", "PLACE", "add_cells", "distribute_rows"]

_MOST_TASKS = 400

PLACE = "\x1fpixel"
"""The column with the place of a row's part among all parts: the folders that Spark writes are named by it."""

_KEY = "\x1fkey"

HEALPIX = FileColumn(
    HEALPIX_COLUMN,
    BIGINT,
    nullable=False,
    description="cell of order 29 in the nested scheme of HEALPix",
    ucd="pos.healpix",
)
"""The column with the cell of a position."""


def add_cells(frame: DataFrame, position: Sequence[str]) -> DataFrame:
    """Return rows with the cell of their position, in degrees; NULL for a row without a position."""
    ra, dec = (f"CAST({quote_name(name)} AS DOUBLE)" for name in position)
    cell_key = cell_key_sql(DEEPEST, ra, dec, closed_above=True)
    keyed = frame.withColumn(_KEY, sql.expr(f"CASE WHEN {has_position_sql(ra, dec)} THEN {cell_key} END"))
    return keyed.withColumn(HEALPIX_COLUMN, sql.expr(cell_number_sql(quote_name(_KEY)))).drop(_KEY)


def distribute_rows(
    rows: DataFrame, parts: int, sequence: Sequence[str], address: str, *, left_out: Sequence[str] = ()
) -> None:
    """Write the rows of each part to a folder of its own, sorted by some columns.

    Parameters
    ----------
    rows
        The rows, with the place of their part.
    parts
        The number of parts.
    sequence
        The names of the columns by which the rows of a part are sorted.
    address
        The folder, as Spark addresses it.
    left_out
        The names of columns that are not written.
    """
    tasks = max(1, min(parts, _MOST_TASKS))
    ordered = rows.repartition(tasks, column(PLACE)).sortWithinPartitions(*map(column, (PLACE, *sequence)))
    ordered.drop(*left_out).write.format("parquet").option("maxRecordsPerFile", 0).partitionBy(PLACE).save(address)
