"""Results as plain tables: tables of Arrow that have only types with a form in a VOTable.

A date or a moment is a text in ISO 8601, a decimal number a double or a whole number, and a struct a text in JSON.
`provenn.tap.column_types` states the same rules for the types of attributes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

__all__ = ["make_plain_table", "read_note"]

_LONG_DIGITS: Final = 18
_WIDER: Final = {
    pa.int8(): pa.int16(),
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.float16(): pa.float32(),
    pa.large_string(): pa.string(),
}
_KEPT: Final = (pa.bool_(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string())
_MOMENT: Final = "%Y-%m-%dT%H:%M:%S"


def make_plain_table(table: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return a table of Arrow with plain types; metadata of fields stay, with the key ``xtype`` for moments."""
    columns, fields = [], []
    for field, chunks in zip(table.schema, table.columns, strict=True):
        values = chunks.combine_chunks() if chunks.num_chunks != 1 else chunks.chunk(0)
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        plain, notes = _convert_values(values)
        metadata = {**(field.metadata or {}), **{key.encode(): text.encode() for key, text in notes.items()}}
        columns.append(plain)
        fields.append(pa.field(field.name, plain.type, metadata=metadata or None))
    return pa.Table.from_arrays(columns, schema=pa.schema(fields))


def read_note(field: Any, key: str) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return a text of the metadata of a field, or an empty text."""
    text: str = (field.metadata or {}).get(key.encode(), b"").decode("utf-8", "replace")
    return text


def _convert_values(values: Any) -> tuple[Any, Mapping[str, str]]:  # noqa: ANN401 - pyarrow has no types
    """Return values of a plain type, and notes on the field."""
    kind = values.type
    if kind in _KEPT:
        return values, {}
    if kind in _WIDER:
        return values.cast(_WIDER[kind]), {}
    if pa.types.is_date(kind):
        return values.cast(pa.date32()).cast(pa.string()), {"xtype": "timestamp"}
    if pa.types.is_timestamp(kind):
        moments = values.cast(pa.timestamp("us"))  # a moment with a time zone becomes UTC
        return pc.strftime(moments, format=_MOMENT), {"xtype": "timestamp"}
    if pa.types.is_decimal(kind):
        is_whole = kind.scale == 0 and kind.precision <= _LONG_DIGITS
        return values.cast(pa.int64() if is_whole else pa.float64(), safe=is_whole), {}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        inner = kind.value_type
        wider = _WIDER.get(inner, inner)
        if wider in _KEPT and wider != pa.string():
            return values.cast(pa.list_(wider)), {}
    return pa.array([None if value is None else _write_text(value) for value in values.to_pylist()], pa.string()), {}


def _write_text(value: object) -> str:
    """Return a value without a plain type as text: JSON, or hexadecimal digits for bytes."""
    return value.hex() if isinstance(value, bytes) else json.dumps(value, default=str, ensure_ascii=False)
