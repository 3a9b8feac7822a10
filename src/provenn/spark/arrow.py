"""Arrow tables without Spark: what is proved to be empty need not be computed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from provenn.catalogs import Schema
from provenn.criteria import Type
from provenn.spark.tables.arrow_types import arrow_type

__all__ = ["no_rows"]

_MOMENTS = {
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "binary": pa.binary(),
}


def no_rows(schema: Schema) -> pa.Table:
    """Return a table with the columns of a schema, and nothing in it."""
    return pa.schema([(one.name, _type(one.type)) for one in schema.attributes]).empty_table()


def _type(kind: Type) -> Any:  # noqa: ANN401 - pyarrow has no types
    if kind.name == "decimal":
        return pa.decimal128(kind.precision, kind.scale)
    try:
        return _MOMENTS.get(kind.name) or arrow_type(kind)
    except KeyError:  # maps and structs: there is nothing in them either
        return pa.null()
