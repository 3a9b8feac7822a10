"""Columns of DataFrames for attributes: their names, metadata, keys and joins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from provenn.catalogs.population import key_position
from provenn.criteria import AttributeIdentity

if TYPE_CHECKING:
    import pyarrow as pa

    from provenn.look.row_order import ColumnOrder

__all__ = [
    "KEY_PREFIX",
    "collect_sorted",
    "column",
    "normalize_zeros",
    "quote_name",
    "select_columns",
]

KEY_PREFIX = "\x1fkey"
"""The prefix of key columns on the other side of a join: names of attributes are printable, this prefix is not."""


_ZEROS = {"double": "0.0D", "float": "0.0F"}


def quote_name(name: str) -> str:
    """Return the name of a column as SQL quotes it; the name may contain any character."""
    return "`" + name.replace("`", "``") + "`"


def column(name: str) -> Column:
    """Return the column with a name; the name may contain any character."""
    return sql.col(quote_name(name))


def collect_sorted(frame: DataFrame, order: Sequence[ColumnOrder], number: int, offset: int) -> pa.Table:
    """Return rows of a frame in an order: at most `number`, after the first `offset`."""
    keys = []
    for part in order:
        name = column(part.name)
        ascending = name.asc_nulls_first() if part.nulls_first else name.asc_nulls_last()
        descending = name.desc_nulls_first() if part.nulls_first else name.desc_nulls_last()
        keys.append(descending if part.is_descending else ascending)
    return frame.orderBy(*keys).offset(offset).limit(number).toArrow()


def select_columns(frame: DataFrame, names: Iterable[tuple[str, str]]) -> DataFrame:
    """Return columns of a frame, given as pairs of old and new name."""
    # As text, because making a column object in Java takes a dozen round trips.
    return frame.selectExpr(
        *(quote_name(old) if old == new else f"{quote_name(old)} AS {quote_name(new)}" for old, new in names)
    )


def normalize_zeros(frame: DataFrame, attributes: Iterable[tuple[AttributeIdentity, str]]) -> DataFrame:
    """Return a frame with 0.0 instead of -0.0 in the keys, given the columns as pairs of identity and name.

    Joins treat both zeros as equal, so both are the same key; but some functions, ``CAST(x AS STRING)`` and ``atan2``
    among them, distinguish both. Spark moves a criterion on the key to both sides of a join, so a source needs the same
    value on all sides.
    """
    types = dict(frame.dtypes)
    keys = {name for identity, name in attributes if key_position(identity) is not None}
    zeros = {name: _ZEROS[types[name]] for name in keys if types[name] in _ZEROS}
    if not zeros:
        return frame
    metadata = {field.name: field.metadata for field in frame.schema.fields}
    sums = {name: sql.expr(f"{quote_name(name)} + {zero}") for name, zero in zeros.items()}  # -0.0 + 0.0 is 0.0
    return frame.withColumns({name: total.alias(name, metadata=metadata[name]) for name, total in sums.items()})
