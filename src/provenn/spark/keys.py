"""Whether the key of a base catalog identifies its sources: never NULL, and no two rows have the same."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from provenn.catalogs.base import Base
from provenn.catalogs.file_listing import listed
from provenn.catalogs.hashing import HashMemory
from provenn.catalogs.key_values import KeyCount, key_error
from provenn.criteria.types import INTEGRAL
from provenn.spark.columns import column, quoted
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from provenn.store.folder import DataFolder

__all__ = ["verify_key"]

_SOME = 5
_ROWS, _NULLS, _DISTINCT = "\x1frows", "\x1frows NULL", "\x1frows distinct"  # no attribute is called so
_DENSE = 16
"""How many whole numbers there may be for every row, so that a bit for each is cheaper than to compare them."""


def verify_key(engine: Engine, base: Base, folder: DataFolder, memory: HashMemory | None = None) -> int:
    """Read the keys of a base catalog, and nothing else, and make sure that they identify its sources.

    Keys are equal as they are in joins: NaN equals NaN, and -0.0 equals 0.0. Keys are read once. Only where whole
    numbers lie close together and do not identify sources, those around the ones that occur twice are read again.

    Returns
    -------
    int
        How many rows there are.

    Raises
    ------
    KeyValuesError
        If a key is NULL or occurs twice: says how many, and shows some.
    FilesMissingError, FilesChangedError
        If the files are not what they were.
    """
    keys = read_base(engine, base, folder, memory).select(*map(column, base.key))
    if base.files.row_key:  # no two rows have the same file and the same place in it
        return keys.count()
    missing = sql.greatest(*(column(name).isNull() for name in base.key), sql.lit(False))
    count = _count_bits(keys, base.key[0], missing) if _is_dense(base) else _count_groups(keys, base.key, missing)
    if count.nulls or count.repeated:
        raise key_error(base, count)
    return count.rows


def _count_groups(keys: DataFrame, names: tuple[str, ...], missing: Column) -> KeyCount:
    """Count keys, one by one, and find those that occur most often; all in one job, which reads keys once.

    Rows are brought together before they are counted: a key occurs once, so that counting first would save nothing.
    Both questions are asked of rows that were brought together in the same way, which Spark does once for both; so
    neither may have a condition on the key alone, with which Spark would read fewer rows for one of them.
    """
    columns = [column(name) for name in names]
    grouped = keys.repartition(*columns).groupBy(*columns).agg(sql.count("*").alias(_ROWS))
    rows, once = sql.col(_ROWS), sql.lit(0).cast("bigint")
    totals = grouped.agg(
        sql.sum(rows).alias(_ROWS),
        sql.sum(sql.when(missing, rows).otherwise(once)).alias(_NULLS),
        sql.count_if(~missing & (rows > 1)).alias(_DISTINCT),
    )
    most = grouped.where(rows > 1).orderBy(missing, rows.desc(), *columns).limit(_SOME)
    told = totals.select(*(sql.lit(None).cast(kind).alias(name) for name, kind in keys.dtypes), *totals.columns)
    found = told.unionByName(most, allowMissingColumns=True).collect()
    (whole,) = (row for row in found if row[_DISTINCT] is not None)
    some = [(tuple(row)[: len(names)], row[_ROWS]) for row in found if row[_DISTINCT] is None]
    some = [(values, times) for values, times in some if None not in values]
    return KeyCount(whole[_ROWS] or 0, whole[_NULLS] or 0, whole[_DISTINCT] or 0, some)


def _count_bits(keys: DataFrame, name: str, missing: Column) -> KeyCount:
    """Count keys that are whole numbers, 64 of them at a time."""
    number = quoted(name)
    block = sql.expr(f"shiftright({number}, 6)")
    grouped = keys.groupBy(block.alias("block")).agg(
        sql.count("*").alias(_ROWS),
        sql.count_if(missing).alias(_NULLS),
        sql.bit_count(sql.expr(f"bit_or(shiftleft(1L, CAST({number} & 63 AS INT)))")).alias(_DISTINCT),
    )
    surplus = sql.col(_ROWS) - sql.col(_NULLS) - sql.coalesce(sql.col(_DISTINCT), sql.lit(0))  # of NULL, bits are NULL
    row = grouped.agg(
        sql.sum(_ROWS),
        sql.sum(_NULLS),
        sql.min(sql.when(surplus > 0, sql.col("block"))),
        sql.max(sql.when(surplus > 0, sql.col("block"))),
    ).collect()[0]
    rows, nulls, first, last = row
    if first is None:
        return KeyCount(rows or 0, nulls or 0, 0)
    around = _count_groups(keys.where(column(name).between(first << 6, (last << 6) + 63)), (name,), missing)
    return KeyCount(rows, nulls, around.repeated, around.examples)


def _is_dense(base: Base) -> bool:
    """Tell whether the key is one column of whole numbers that lie close together, if the metadata of files tell."""
    if len(base.key) != 1 or base.files.format != "parquet" or base.schema[base.key[0]].type not in INTEGRAL:
        return False
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    lowest, highest, rows = [], [], 0
    for file in listed(base.files.location):
        with file.open() as opened:
            metadata = parquet.ParquetFile(opened).metadata
        for group in (metadata.row_group(place) for place in range(metadata.num_row_groups)):
            columns = (group.column(place) for place in range(group.num_columns))
            found = next((one.statistics for one in columns if one.path_in_schema == base.key[0]), None)
            if found is None or not found.has_min_max or isinstance(found.min, bytes):
                return False
            lowest.append(int(found.min))
            highest.append(int(found.max))
            rows += group.num_rows
    return bool(rows) and max(highest) - min(lowest) < _DENSE * rows
