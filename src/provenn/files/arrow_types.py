"""Arrow's types by the names of Spark's types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from provenn.criteria import Type

__all__ = ["find_arrow_type", "find_element_type"]

_TYPES = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(20,0)": pa.decimal128(20, 0),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
    "struct<re:float,im:float>": pa.struct([("re", pa.float32()), ("im", pa.float32())]),
    "struct<re:double,im:double>": pa.struct([("re", pa.float64()), ("im", pa.float64())]),
}


def find_element_type(kind: str) -> str | None:
    """Return the type of the elements of an array, or None if a type is not an array.

    >>> find_element_type("array<array<int>>"), find_element_type("int")
    ('array<int>', None)
    """
    return kind[len("array<") : -1] if kind.startswith("array<") else None


def find_arrow_type(kind: Type | str) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return Arrow's type for a type of a column of converted files."""
    name = str(kind)
    inner = find_element_type(name)
    return pa.list_(find_arrow_type(inner)) if inner else _TYPES[name]
