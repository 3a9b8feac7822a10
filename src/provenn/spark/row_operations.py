"""The operations of plan steps on rows: on DataFrames whose columns are named by the identities of attributes."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from provenn.catalogs import Attribute
from provenn.files.columns import build_metadata
from provenn.spark.columns import KEY_PREFIX, column, quote_name, select_columns

__all__ = [
    "add_null_attributes",
    "combine_frames",
    "concatenate_frames",
    "derive_attribute",
    "exclude_rows",
    "keep_matched_rows",
    "make_empty_frame",
    "name_columns",
    "restrict_rows",
    "select_rows",
]


_PLAIN_TYPE = re.compile("boolean|tinyint|smallint|int|bigint|float|double|string|date")
"""Types whose names mean the same in SQL."""


def name_columns(frame: DataFrame, names: Iterable[tuple[str, Attribute]]) -> DataFrame:
    """Return columns under the names of attributes, with their units and descriptions as metadata."""
    pairs = tuple(names)
    if not any(build_metadata(attribute) for _, attribute in pairs):
        return select_columns(frame, [(old, attribute.name) for old, attribute in pairs])
    return frame.select(
        *(column(old).alias(attribute.name, metadata=build_metadata(attribute)) for old, attribute in pairs)
    )


def select_rows(frame: DataFrame, condition: str) -> DataFrame:
    """Return the rows for which a condition in SQL is TRUE."""
    return frame.where(condition)


def derive_attribute(frame: DataFrame, attribute: Attribute, expression: str) -> DataFrame:
    """Return the rows with one more attribute, computed by an SQL expression."""
    # Spark parses the type as a type, never as SQL: it may come from the definition of another archive.
    if _PLAIN_TYPE.fullmatch(str(attribute.type)):  # each Column object takes a dozen round trips
        return frame.selectExpr("*", f"CAST(({expression}) AS {attribute.type}) AS {quote_name(attribute.identity)}")
    return frame.select("*", sql.expr(expression).cast(str(attribute.type)).alias(attribute.identity))


def add_null_attributes(frame: DataFrame, attributes: Iterable[Attribute]) -> DataFrame:
    """Return the rows with more attributes, all of whose values are NULL."""
    nulls = (sql.lit(None).cast(str(attribute.type)).alias(attribute.identity) for attribute in attributes)
    return frame.select("*", *nulls)


def restrict_rows(frame: DataFrame, other: DataFrame, key: Sequence[str], small: Collection[int] = ()) -> DataFrame:
    """Return the rows whose key also occurs in the other frame, once.

    Parameters
    ----------
    frame, other
        The rows, and the other rows.
    key
        The columns of the key, which is unique in each frame.
    small
        0 if `frame` is known to be small, 1 if `other` is: small rows are sent to the other ones.
    """
    keys = select_columns(other, zip(key, key, strict=True))
    if 1 not in small and 0 in small:  # Spark can only send the other rows of a semi join
        return sql.broadcast(frame).join(keys, list(key), "inner")
    return frame.join(sql.broadcast(keys) if 1 in small else keys, list(key), "left_semi")


def exclude_rows(frame: DataFrame, other: DataFrame, key: Sequence[str], *, is_small: bool = False) -> DataFrame:
    """Return the rows whose key does not occur in the other frame; a small one is sent to the rows."""
    keys = select_columns(other, zip(key, key, strict=True))
    return frame.join(sql.broadcast(keys) if is_small else keys, list(key), "left_anti")


def keep_matched_rows(
    frame: DataFrame, pairs: DataFrame, key: Sequence[str], pair_key: Sequence[str], *, is_in: bool = True
) -> DataFrame:
    """Return the rows whose key occurs in pairs, where `pair_key` names the part of the pair's key.

    With `is_in` False, return the other rows.
    """
    names = [f"{KEY_PREFIX}{position}" for position in range(len(key))]
    conditions = [column(own) == column(name) for own, name in zip(key, names, strict=True)]
    return frame.join(
        select_columns(pairs, zip(pair_key, names, strict=True)), conditions, "left_semi" if is_in else "left_anti"
    )


def combine_frames(frames: Sequence[DataFrame], key: Sequence[str], small: Collection[int] = ()) -> DataFrame:
    """Return the rows whose key occurs in all frames, with the columns of all frames; of equal columns, the first.

    Frames at `small` positions are sent to the rows of the others.
    """

    def join_frames(left: DataFrame, right: DataFrame) -> DataFrame:
        new = [name for name in right.columns if name in key or name not in left.columns]
        return left.join(right.select(*map(column, new)), list(key), "inner")

    return reduce(
        join_frames, [sql.broadcast(frame) if position in small else frame for position, frame in enumerate(frames)]
    )


def concatenate_frames(frames: Sequence[DataFrame], columns: Sequence[Mapping[str, str]]) -> DataFrame:
    """Return the rows of all frames, with columns of each frame given as old names by new names."""
    parts = [
        select_columns(frame, [(old, new) for new, old in names.items()])
        for frame, names in zip(frames, columns, strict=True)
    ]
    return reduce(DataFrame.unionByName, parts)


def make_empty_frame(session: SparkSession, attributes: Iterable[Attribute]) -> DataFrame:
    """Return a frame without rows, which Spark computes without a job."""
    nulls = (sql.lit(None).cast(str(attribute.type)).alias(attribute.identity) for attribute in attributes)
    return session.range(0).select(*nulls)
