"""Columns of DataFrames, by attribute."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from provenn.catalogs.file_columns import Column as FileColumn
from provenn.catalogs.population import key_position
from provenn.catalogs.schema import Attribute, Schema

__all__ = [
    "KEY",
    "NOTES",
    "column",
    "column_names",
    "join_keys",
    "keys_as",
    "picked",
    "quoted",
    "said",
    "sampled",
    "with_one_zero",
]

KEY = "\x1fkey"
"""How the key columns of the other side of a join begin: the name of an attribute can be printed, this one cannot."""


_ZERO = {"double": "0.0D", "float": "0.0F"}

NOTES = ("unit", "description", "ucd")
"""What the metadata of a column say of it, by key."""


def quoted(name: str) -> str:
    """Return a column's name as SQL has it, whatever it contains."""
    return "`" + name.replace("`", "``") + "`"


def column(name: str) -> Column:
    """Return the column that has a name, whatever it contains."""
    return sql.col(quoted(name))


def column_names(schema: Schema) -> dict[str, str]:
    """Return the column of each attribute, by its identity, for `provenn.criteria.render`."""
    return {identity: one.name for identity, one in schema.by_identity.items()}


def said(attribute: Attribute | FileColumn) -> dict[str, str]:
    """Return what is said of an attribute, unit, description and UCD, as metadata of its column."""
    return {key: text for key in NOTES if (text := getattr(attribute, key))}


def picked(frame: DataFrame, names: Iterable[tuple[str, str]]) -> DataFrame:
    """Return some columns, given as pairs of what they are called and what they will be."""
    # As text: each column in Java is a dozen conversations with it.
    return frame.selectExpr(*(quoted(old) if old == new else f"{quoted(old)} AS {quoted(new)}" for old, new in names))


def with_one_zero(frame: DataFrame, attributes: Iterable[tuple[str, str]]) -> DataFrame:
    """Return a frame whose keys hold 0.0 instead of -0.0, given its columns as pairs of identity and name.

    Both are one key, because joins take them for equal; but functions such as ``CAST(x AS STRING)`` and ``atan2`` tell
    them apart. Spark moves a criterion on the key to both sides of a join, so each source needs one value on all sides.
    """
    types = dict(frame.dtypes)
    keys = {name for identity, name in attributes if key_position(identity) is not None}
    zeros = {name: _ZERO[types[name]] for name in keys if types[name] in _ZERO}
    if not zeros:
        return frame
    metadata = {field.name: field.metadata for field in frame.schema.fields}
    sums = {name: sql.expr(f"{quoted(name)} + {zero}") for name, zero in zeros.items()}  # -0.0 + 0.0 is 0.0
    return frame.withColumns({name: total.alias(name, metadata=metadata[name]) for name, total in sums.items()})


def keys_as(frame: DataFrame, key: Iterable[Attribute], others: Mapping[str, str] | None = None) -> DataFrame:
    """Return the key columns under names that only they have, and others by old and new name."""
    keys = ((one.name, f"{KEY}{position}") for position, one in enumerate(key))
    return picked(frame, [*keys, *(others or {}).items()])


def join_keys(frame: DataFrame, key: Iterable[Attribute], other: DataFrame, how: str) -> DataFrame:
    """Join a frame with another one whose key columns are named by `keys_as`."""
    conditions = [column(one.name) == column(f"{KEY}{position}") for position, one in enumerate(key)]
    return frame.join(other, conditions, how)


def sampled(key: Iterable[Attribute], seed: int, threshold: int) -> Column:
    """Return whether the hash of a key lies below a threshold, by the rule of `SampleSources`."""
    hashed = sql.xxhash64(sql.lit(seed).cast("bigint"), *(column(one.name) for one in key))
    return hashed.bitwiseAND(sql.lit(2**63 - 1)) < sql.lit(threshold).cast("bigint")
