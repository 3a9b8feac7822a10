"""A VOTable (1.4), written as its rows come, in the form BINARY2: every value can be NULL, and all are exact."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provenn.catalogs.schema import Attribute
from provenn.errors import FormatError
from provenn.spark.tables.cells import Bytes, cells, numbers, type_name
from provenn.spark.tables.parts import Parts, Seen

__all__ = ["write_votable"]

_TYPES = {
    "bool": "boolean",
    "int8": "short",
    "int16": "short",
    "int32": "int",
    "int64": "long",
    "float": "float",
    "double": "double",
    "complex float": "floatComplex",
    "complex double": "doubleComplex",
}
_LINE = 3 << 14


@dataclass(frozen=True, slots=True)
class _Column:
    """How a column is written: VOTable's type, and how many values there are in a row, ``*`` for any number."""

    datatype: str
    size: str = ""


def write_votable(parts: Parts, attributes: Sequence[Attribute], stream: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of parts into a stream, as a VOTable. Return how many.

    Raises
    ------
    FormatError
        If a VOTable cannot hold them.
    """
    seen = parts.seen()
    columns = [_column(field, seen[field.name]) for field in parts.schema]
    rows = parts.rows
    stream.write(_head(columns, attributes, rows).encode())
    rest = b""
    for batch in parts.batches():
        stored = rest + _rows(columns, batch)
        whole = len(stored) // _LINE * _LINE
        for place in range(0, whole, _LINE):
            stream.write(b64encode(stored[place : place + _LINE]) + b"\n")
        rest = stored[whole:]
    stream.write(b64encode(rest) + b"\n</STREAM></BINARY2></DATA></TABLE></RESOURCE></VOTABLE>\n")
    return rows


def _column(field: Any, seen: Seen) -> _Column:  # noqa: ANN401 - pyarrow has no types
    kind, size = field.type, ""
    if pa.types.is_string(kind):
        return _Column("char" if seen.ascii else "unicodeChar", "*")
    if pa.types.is_list(kind):
        shortest, longest = seen.lengths or (0, 0)
        kind, size = kind.value_type, str(longest) if shortest == longest > 0 and not seen.nulls else "*"
        if seen.inner_nulls and not pa.types.is_floating(kind) and not pa.types.is_boolean(kind):
            raise FormatError(
                f"in a VOTable no element of an array is NULL; some of {field.name} are", hint="write Parquet"
            )
    if type_name(kind) not in _TYPES and not (pa.types.is_decimal(kind) and kind.scale == 0 and kind.precision <= 18):
        what = f"arrays of {kind}" if size else str(kind)
        raise FormatError(
            f"a VOTable cannot hold the column {field.name}, {what}",
            hint=f"write Parquet; or derive it in another type, such as CAST({field.name} AS string)",
        )
    return _Column(_TYPES.get(type_name(kind), "long"), size)


def _head(columns: Sequence[_Column], attributes: Sequence[Attribute], rows: int) -> str:
    fields = []
    for column, one in zip(columns, attributes, strict=True):
        given = {"name": one.name, "datatype": column.datatype, "arraysize": column.size}
        given |= {"unit": one.unit, "ucd": one.ucd}
        given["xtype"] = "timestamp" if one.type.name.startswith("timestamp") else ""
        said = " ".join(f"{key}={quoteattr(_printable(text))}" for key, text in given.items() if text)
        inside = f"<DESCRIPTION>{escape(_printable(one.description))}</DESCRIPTION>" if one.description else ""
        fields.append(f"<FIELD {said}>{inside}</FIELD>\n")
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE type="results">\n'
        f'<TABLE nrows="{rows}">\n{"".join(fields)}<DATA><BINARY2><STREAM encoding="base64">\n'
    )


def _printable(text: str) -> str:
    return "".join(one if one.isprintable() else " " for one in text)


def _rows(columns: Sequence[_Column], batch: Any) -> bytes:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of rows: a bit for each value that is NULL, then the values, one row after the other."""
    nulls = np.array([values.is_null().to_numpy(zero_copy_only=False) for values in batch.columns], bool).T
    flags = np.packbits(nulls.reshape(len(batch), len(columns)), axis=1)
    pieces = [(flags.ravel(), np.full(len(batch), flags.shape[1]))]
    pieces += [_stored(one, values) for one, values in zip(columns, batch.columns, strict=True)]
    lengths = np.stack([length for _, length in pieces], axis=1)
    ends = np.cumsum(lengths.ravel()).reshape(lengths.shape)
    stored = np.empty(ends[-1, -1] if len(batch) else 0, np.uint8)
    for place, (data, length) in enumerate(pieces):
        start = ends[:, place] - length
        shift = start - (np.cumsum(length) - length)
        stored[np.repeat(shift, length) + np.arange(len(data))] = data
    return stored.tobytes()


def _stored(column: _Column, values: Any) -> tuple[Bytes, Any]:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of the values of a column, and how many there are for each row."""
    if column.datatype in ("char", "unicodeChar"):
        coding = "ascii" if column.datatype == "char" else "utf-16-be"
        texts = [(one or "").encode(coding) for one in values.to_pylist()]
        counts = np.array([len(one) for one in texts], np.int64)
        units = counts // 2 if column.datatype == "unicodeChar" else counts
        return _counted(units, np.frombuffer(b"".join(texts), np.uint8), counts)
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.int64())
    if not column.size:
        data = cells(_numbers(values))
        return data.ravel(), np.full(len(values), data.shape[1])
    counts = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    data = cells(_numbers(pc.list_flatten(values)))
    size = data.shape[1] if len(data) else cells(_numbers(pa.nulls(1, values.type.value_type))).shape[1]
    if column.size != "*":
        return data.ravel(), counts * size
    return _counted(counts, data.ravel(), counts * size)


def _numbers(values: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    if values.type == pa.int8():  # VOTable has none with a sign
        values = values.cast(pa.int16())
    return numbers(values, ord("?") if pa.types.is_boolean(values.type) else 0)


def _counted(units: Any, data: Bytes, sizes: Any) -> tuple[Bytes, Any]:  # noqa: ANN401 - arrays of whole numbers
    """Put before the bytes of each row how many values they are."""
    heads = units.astype(">i4").view(np.uint8)
    stored = np.empty(len(heads) + len(data), np.uint8)
    starts = np.cumsum(sizes + 4) - (sizes + 4)
    stored[(starts[:, None] + np.arange(4)).ravel()] = heads
    shift = starts + 4 - (np.cumsum(sizes) - sizes)
    stored[np.repeat(shift, sizes) + np.arange(len(data))] = data
    return stored, sizes + 4
