"""Arrow tables that say what is said of attributes; also without Spark: what is proved to be empty is not computed."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from provenn.catalogs import Schema
from provenn.criteria import Type
from provenn.spark.columns import said
from provenn.spark.tables.arrow_types import arrow_type

__all__ = ["described", "no_rows"]

_MOMENTS = {
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "binary": pa.binary(),
}


def no_rows(schema: Schema) -> pa.Table:
    """Return a table with the columns of a schema, and nothing in it."""
    return described(pa.schema([(one.name, _type(one.type)) for one in schema.attributes]).empty_table(), schema)


def described(table: pa.Table, schema: Schema) -> pa.Table:
    """Return a table with unit, description and ucd of its attributes as metadata of its fields."""
    fields = [
        field.with_metadata(said(schema[field.name]) or None) if field.name in schema.names else field
        for field in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def _type(kind: Type) -> Any:  # noqa: ANN401 - pyarrow has no types
    if kind.name == "decimal":
        return pa.decimal128(kind.precision, kind.scale)
    try:
        return _MOMENTS.get(kind.name) or arrow_type(kind)
    except KeyError:  # maps and structs: there is nothing in them either
        return pa.null()
