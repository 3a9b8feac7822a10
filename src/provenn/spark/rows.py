"""What the steps of a plan do with rows: DataFrames whose columns are called by the identities of attributes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from provenn.catalogs import Attribute
from provenn.spark.columns import KEY, column, picked, quoted, said

__all__ = [
    "combined",
    "concatenated",
    "derived",
    "excluded",
    "filled",
    "matched",
    "named",
    "no_rows",
    "restricted",
    "selected",
]


def named(frame: DataFrame, names: Iterable[tuple[str, Attribute]]) -> DataFrame:
    """Return columns under the names of attributes, with what is said of these: unit and description."""
    pairs = tuple(names)
    if not any(said(one) for _, one in pairs):
        return picked(frame, [(old, one.name) for old, one in pairs])
    return frame.select(*(column(old).alias(one.name, metadata=said(one)) for old, one in pairs))


def selected(frame: DataFrame, condition: str) -> DataFrame:
    """Return the rows for which a condition in SQL is TRUE."""
    return frame.where(condition)


def derived(frame: DataFrame, attribute: Attribute, expression: str) -> DataFrame:
    """Return the rows with an attribute more, given by SQL."""
    return frame.selectExpr("*", f"CAST({expression} AS {attribute.type}) AS {quoted(attribute.identity)}")


def filled(frame: DataFrame, attributes: Iterable[Attribute]) -> DataFrame:
    """Return the rows with attributes of which they have no value."""
    return frame.select("*", *(sql.lit(None).cast(str(one.type)).alias(one.identity) for one in attributes))


def restricted(frame: DataFrame, other: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return the rows whose key the other frame has too."""
    return frame.join(picked(other, zip(key, key, strict=True)), list(key), "left_semi")


def excluded(frame: DataFrame, other: DataFrame, key: Sequence[str]) -> DataFrame:
    """Return the rows whose key the other frame does not have."""
    return frame.join(picked(other, zip(key, key, strict=True)), list(key), "left_anti")


def matched(frame: DataFrame, pairs: DataFrame, key: Sequence[str], pair_key: Sequence[str]) -> DataFrame:
    """Return the rows whose key is a part of the key of pairs."""
    names = [f"{KEY}{place}" for place in range(len(key))]
    alike = [column(own) == column(name) for own, name in zip(key, names, strict=True)]
    return frame.join(picked(pairs, zip(pair_key, names, strict=True)), alike, "left_semi")


def combined(frames: Sequence[DataFrame], key: Sequence[str]) -> DataFrame:
    """Return the rows whose key all frames have, with the columns of all of them; of equal ones, the first."""

    def joined(one: DataFrame, other: DataFrame) -> DataFrame:
        new = [name for name in other.columns if name in key or name not in one.columns]
        return one.join(other.select(*map(column, new)), list(key), "inner")

    return reduce(joined, frames)


def concatenated(frames: Sequence[DataFrame], columns: Sequence[Mapping[str, str]]) -> DataFrame:
    """Return the rows of all frames; of each, some columns under new names, by old name."""
    parts = [
        picked(frame, [(old, new) for new, old in names.items()]) for frame, names in zip(frames, columns, strict=True)
    ]
    return reduce(DataFrame.unionByName, parts)


def no_rows(session: SparkSession, attributes: Iterable[Attribute]) -> DataFrame:
    """Return a frame without rows, and so without a job to compute it."""
    nulls = (sql.lit(None).cast(str(one.type)).alias(one.identity) for one in attributes)
    return session.range(0).select(*nulls)
