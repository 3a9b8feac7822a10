"""Whether the key of a base catalog identifies its sources: never NULL, and no two rows have the same."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from provenn.catalogs.base import Base
from provenn.catalogs.file_listing import listed
from provenn.catalogs.hashing import HashMemory
from provenn.criteria.types import INTEGRAL
from provenn.errors import KeyValuesError
from provenn.spark.columns import column, quoted
from provenn.spark.engine import Engine
from provenn.spark.reading import read_base
from provenn.store.folder import DataFolder

__all__ = ["verify_key"]

_SOME = 5
_ROWS = "\x1frows"  # no attribute is called so: names can be printed
_DENSE = 16
"""How many whole numbers there may be for every row, so that a bit for each is cheaper than to compare them."""


def verify_key(engine: Engine, base: Base, folder: DataFolder, memory: HashMemory | None = None) -> int:
    """Read the keys of a base catalog, and nothing else, and make sure that they identify its sources.

    Keys are equal as they are in joins: NaN equals NaN, and -0.0 equals 0.0.

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
    missing = sql.greatest(*(column(name).isNull() for name in base.key), sql.lit(False))
    counted = _bits(keys, base.key[0], missing) if _is_dense(base) else _groups(keys, base.key, missing)
    totals = counted.agg(*(sql.sum(name) for name in counted.columns)).collect()[0]
    rows, nulls, distinct = (total or 0 for total in totals)
    if nulls or distinct != rows:
        raise _problem(base, keys, missing, rows, nulls)
    return int(rows)


def _groups(keys: DataFrame, names: tuple[str, ...], missing: Column) -> DataFrame:
    """Return how many rows, NULLs and different keys there are, key by key.

    Rows are brought together before they are counted: a key occurs once, so that counting first would save nothing.
    """
    columns = [column(name) for name in names]
    grouped = keys.repartition(*columns).groupBy(*columns).agg(sql.count("*").alias(_ROWS))
    rows = sql.col(_ROWS)
    return grouped.select(
        rows, sql.when(missing, rows).otherwise(0).alias(f"{_ROWS} NULL"), sql.lit(1).alias(f"{_ROWS} distinct")
    )


def _bits(keys: DataFrame, name: str, missing: Column) -> DataFrame:
    """Return the same for a key of whole numbers, 64 of them at a time."""
    number = quoted(name)
    grouped = keys.groupBy(sql.expr(f"shiftright({number}, 6)")).agg(
        sql.count("*").alias(_ROWS),
        sql.count_if(missing).alias(f"{_ROWS} NULL"),
        sql.expr(f"bit_or(shiftleft(1L, CAST({number} & 63 AS INT)))").alias("bits"),
    )
    # All the bits of NULL are NULL: not a key that differs from others.
    return grouped.select(_ROWS, f"{_ROWS} NULL", sql.bit_count("bits").alias(f"{_ROWS} distinct"))


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


def _problem(base: Base, keys: DataFrame, missing: Column, rows: int, nulls: int) -> KeyValuesError:
    """Look again, for what is wrong."""
    columns = [column(name) for name in base.key]
    repeated = keys.where(~missing).groupBy(*columns).agg(sql.count("*").alias(_ROWS)).where(sql.col(_ROWS) > 1)
    number = repeated.count()
    some = repeated.orderBy(sql.col(_ROWS).desc(), *columns).limit(_SOME).collect()
    what = []
    if nulls:
        what.append(f"{_counted(nulls)} of {_counted(rows)} rows have none: it is NULL")
    if number:
        shown = ", ".join(f"{_shown(row[:-1])} ({_counted(row[-1])} times)" for row in some)
        what.append(f"{_counted(number)} occur more than once: {shown}{' …' * (number > len(some))}")
    return KeyValuesError(
        f"the key {', '.join(base.key)} of {base.files.location} does not identify sources; " + "; ".join(what),
        hint="is another column the key, or several together? Or take such rows out of the files; then ingest again",
    )


def _counted(number: int) -> str:
    return f"{number:_}".replace("_", " ")


def _shown(values: tuple[object, ...]) -> str:
    return str(values[0]) if len(values) == 1 else f"({', '.join(map(str, values))})"
