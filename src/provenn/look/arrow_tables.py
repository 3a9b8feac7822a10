"""Arrow tables with the metadata of attributes in their fields.

A provably empty table is made here without Spark, because nothing has to be computed.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from provenn.catalogs import Schema
from provenn.criteria import Type
from provenn.files.arrow_types import find_arrow_type
from provenn.files.columns import build_metadata
from provenn.look.array_types import parse_array_type

__all__ = ["add_field_metadata", "find_result_type", "make_empty_table"]

_MOMENTS = {
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
    "binary": pa.binary(),
}


def make_empty_table(schema: Schema) -> pa.Table:
    """Return a table with the columns of a schema and no rows."""
    types = [find_result_type(attribute.type) for attribute in schema.attributes]
    # Other ways to make an empty table import pandas.
    return add_field_metadata(pa.Table.from_arrays([pa.nulls(0, kind) for kind in types], list(schema.names)), schema)


def add_field_metadata(table: pa.Table, schema: Schema) -> pa.Table:
    """Return a table whose fields have the unit, description and UCD of their attributes as metadata."""
    fields = [
        field.with_metadata(build_metadata(schema[field.name]) or None) if field.name in schema.names else field
        for field in table.schema
    ]
    return pa.Table.from_arrays(table.columns, schema=pa.schema(fields))


def find_result_type(kind: Type) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return the type of Arrow that a result has for an attribute of a type, as Spark gives it."""
    if kind.name == "decimal":
        return pa.decimal128(kind.precision, kind.scale)
    array = parse_array_type(kind)
    if array is not None:
        fields = [(name, find_arrow_type(inner)) for name, inner in array.fields]
        return pa.list_(pa.field("element", pa.struct(fields) if fields else find_arrow_type(array.element)))
    try:
        return _MOMENTS.get(kind.name) or find_arrow_type(kind)
    except KeyError:  # maps and structs: an empty table has no values of them
        return pa.null()
