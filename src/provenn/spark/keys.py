"""Verification of the key of a base catalog: never NULL, and unique."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from urllib.parse import unquote

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from provenn.catalogs.base import Base
from provenn.catalogs.key_values import KeyCount, format_key, make_key_error
from provenn.criteria.types import INTEGRAL
from provenn.display.text import join_words
from provenn.errors import KeyValuesError
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import GIVEN
from provenn.files.hashing import HashMemory
from provenn.spark.columns import column, quote_name
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base

__all__ = ["check_new_keys", "verify_key"]

_MOST_EXAMPLES = 5
_ROWS, _NULLS, _DISTINCT = "\x1frows", "\x1frows NULL", "\x1frows distinct"  # names that no attribute has
_DENSE = 16
"""The most whole numbers in the range of the key, for each row, for which counting bits is cheaper than comparing."""


def verify_key(engine: Engine, base: Base, folder: DataFolder, memory: HashMemory | None = None) -> int:
    """Read only the keys of a base catalog, and check that every source has a key of its own.

    Keys are equal as in joins: NaN equals NaN, and -0.0 equals 0.0. Keys are read once. Only if whole numbers lie close
    together and some occur twice, the keys around the repeated keys are read again.

    Returns
    -------
    int
        The number of rows.

    Raises
    ------
    KeyValuesError
        If a key is NULL or occurs twice; the message says how many and shows examples.
    FilesMissingError, FilesChangedError
        If the files are missing or have changed.
    """
    keys = read_base(engine, base, folder, memory).select(*map(column, base.key))
    if base.files.row_key:  # no two rows have the same file and the same place in it
        return keys.count()
    missing = sql.greatest(*(column(name).isNull() for name in base.key), sql.lit(False))
    count = _count_bits(keys, base.key[0], missing) if _is_dense(base) else _count_groups(keys, base.key, missing)
    if count.nulls or count.repeated:
        raise make_key_error(base, count)
    return count.rows


def check_new_keys(others: Sequence[tuple[Base, DataFrame]], new: Base, rows: DataFrame) -> None:
    """Check that no key of a base catalog occurs in others; equality is that of joins.

    Raises
    ------
    KeyValuesError
        If a key does; the message shows examples.
    """
    names = [f"key {number}" for number in range(len(new.key))]
    keys, *frames = (
        frame.select(*(column(key).alias(name) for key, name in zip(base.key, names, strict=True)))
        for base, frame in ((new, rows), *others)
    )
    shared = keys.join(reduce(DataFrame.unionByName, frames), names, "left_semi").limit(_MOST_EXAMPLES).collect()
    if shared:
        repeated = sorted((tuple(row) for row in shared), key=repr)
        located = _locate_keys([(new, rows), *others], repeated)
        examples = ", ".join(f"{format_key(key)}{_describe_files(located.get(repr(key), ()))}" for key in repeated)
        raise KeyValuesError(
            f"keys of {new.files.location} occur in other files of the same version: {examples}",
            hint="remove these rows from the new files; or replace the file that holds them",
        )


def _locate_keys(tables: Sequence[tuple[Base, DataFrame]], keys: Sequence[tuple[object, ...]]) -> dict[str, list[str]]:
    """Return the names of the files that hold some keys, by the representation of the key, where Spark tells them."""
    files: dict[str, list[str]] = {}
    for base, frame in tables:
        columns = [column(name) for name in base.key]
        wanted = reduce(or_, (reduce(and_, map(Column.__eq__, columns, map(sql.lit, key))) for key in keys))
        for *key, address in frame.select(*columns, sql.input_file_name()).where(wanted).collect():
            name = "a table from memory" if base.files.format == GIVEN else unquote(address).rpartition("/")[2]
            files.setdefault(repr(tuple(key)), []).append(name)
    return files


def _describe_files(names: Sequence[str]) -> str:
    """Return the names of files in parentheses, after a key; empty if one is unknown."""
    return f" ({join_words(sorted(names))})" if names and all(names) else ""


def _count_groups(keys: DataFrame, names: tuple[str, ...], missing: Column) -> KeyCount:
    """Count all keys, and find the most frequent keys, in a single job with a single pass over the keys.

    Rows are repartitioned before counting: most keys occur once, so counting first would save nothing. Spark
    repartitions the rows once for both queries, because both use the same partitioning; so neither query may have a
    condition on the key alone, because Spark would then read fewer rows for this query.
    """
    columns = [column(name) for name in names]
    grouped = keys.repartition(*columns).groupBy(*columns).agg(sql.count("*").alias(_ROWS))
    rows, zero = sql.col(_ROWS), sql.lit(0).cast("bigint")
    totals = grouped.agg(
        sql.sum(rows).alias(_ROWS),
        sql.sum(sql.when(missing, rows).otherwise(zero)).alias(_NULLS),
        sql.count_if(~missing & (rows > 1)).alias(_DISTINCT),
    )
    frequent = grouped.where(rows > 1).orderBy(missing, rows.desc(), *columns).limit(_MOST_EXAMPLES)
    totals = totals.select(*(sql.lit(None).cast(kind).alias(name) for name, kind in keys.dtypes), *totals.columns)
    results = totals.unionByName(frequent, allowMissingColumns=True).collect()
    (total,) = (row for row in results if row[_DISTINCT] is not None)
    repeated = [(tuple(row)[: len(names)], row[_ROWS]) for row in results if row[_DISTINCT] is None]
    examples = [(values, times) for values, times in repeated if None not in values]
    return KeyCount(total[_ROWS] or 0, total[_NULLS] or 0, total[_DISTINCT] or 0, examples)


def _count_bits(keys: DataFrame, name: str, missing: Column) -> KeyCount:
    """Count keys that are whole numbers, as bits in blocks of 64 numbers."""
    number = quote_name(name)
    block = sql.expr(f"shiftright({number}, 6)")
    grouped = keys.groupBy(block.alias("block")).agg(
        sql.count("*").alias(_ROWS),
        sql.count_if(missing).alias(_NULLS),
        sql.bit_count(sql.expr(f"bit_or(shiftleft(1L, CAST({number} & 63 AS INT)))")).alias(_DISTINCT),
    )
    # The bits of NULL are NULL.
    surplus = sql.col(_ROWS) - sql.col(_NULLS) - sql.coalesce(sql.col(_DISTINCT), sql.lit(0))
    row = grouped.agg(
        sql.sum(_ROWS),
        sql.sum(_NULLS),
        sql.min(sql.when(surplus > 0, sql.col("block"))),
        sql.max(sql.when(surplus > 0, sql.col("block"))),
    ).collect()[0]
    rows, nulls, first, last = row
    if first is None:
        return KeyCount(rows or 0, nulls or 0, 0)
    nearby = _count_groups(keys.where(column(name).between(first << 6, (last << 6) + 63)), (name,), missing)
    return KeyCount(rows, nulls, nearby.repeated, nearby.examples)


def _is_dense(base: Base) -> bool:
    """Return whether the metadata of Parquet files show that the key is one column of whole numbers close together."""
    if len(base.key) != 1 or base.files.format != "parquet" or base.schema[base.key[0]].type not in INTEGRAL:
        return False
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    lowest, highest, rows = [], [], 0
    for file in base.files.list_own_files():
        with file.open() as opened:
            metadata = parquet.ParquetFile(opened).metadata
        for group in (metadata.row_group(number) for number in range(metadata.num_row_groups)):
            columns = (group.column(number) for number in range(group.num_columns))
            statistics = next((chunk.statistics for chunk in columns if chunk.path_in_schema == base.key[0]), None)
            if statistics is None or not statistics.has_min_max or isinstance(statistics.min, bytes):
                return False
            lowest.append(int(statistics.min))
            highest.append(int(statistics.max))
            rows += group.num_rows
    return bool(rows) and max(highest) - min(lowest) < _DENSE * rows
