"""A VOTable (1.4), written as its rows come, in the form BINARY2: every value can be NULL, and all are exact."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provenn.catalogs.file_notes import NO_NOTES, FileNotes
from provenn.catalogs.schema import Attribute
from provenn.errors import FormatError
from provenn.spark.tables.cells import Bytes, cells, numbers, type_name
from provenn.spark.tables.parts import Parts, Seen, list_depth
from provenn.spark.tables.votable_elements import printable, votable_head

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
_BITS = {"short": 16, "int": 32, "long": 64}
_LINE = 3 << 14


@dataclass(frozen=True, slots=True)
class _Column:
    """How a column is written.

    Parameters
    ----------
    datatype
        VOTable's type.
    size
        How long arrays are, those in others first; the last may be ``*``, for any length. Empty for single values.
    null
        The whole number that stands for an element of an array that is NULL.
    """

    datatype: str
    size: str = ""
    null: int | None = None


def write_votable(parts: Parts, attributes: Sequence[Attribute], stream: Any, notes: FileNotes = NO_NOTES) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of parts into a stream, as a VOTable. Return how many.

    Raises
    ------
    FormatError
        If a VOTable cannot hold them.
    """
    seen = parts.seen()
    columns = [_column(field, seen[field.name]) for field in parts.schema]
    rows = parts.rows
    stream.write(_head(columns, attributes, rows, notes).encode())
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
    kind, depth = field.type, list_depth(field.type)
    if pa.types.is_string(kind):
        return _Column("char" if seen.ascii else "unicodeChar", "*")
    for _ in range(depth):
        kind = kind.value_type
    datatype = _TYPES.get(type_name(kind))
    if pa.types.is_decimal(kind) and kind.scale == 0 and min(seen.extremes or (0,)) >= -(2**63):
        datatype = "long" if max(seen.extremes or (0,)) < 2**63 else None
    if datatype is None:
        what = f"arrays of {kind}" if depth else str(kind)
        raise FormatError(
            f"a VOTable cannot hold the column {field.name}, {what}",
            hint=f"write Parquet; or derive it in another type, such as CAST({field.name} AS string)",
        )
    size = _size(field.name, seen, depth) if depth else ""
    null = _unused(field.name, seen, datatype) if seen.inner_nulls and datatype in _BITS else None
    return _Column(datatype, size, null)


def _size(name: str, seen: Seen, depth: int) -> str:
    """Return how long arrays are, as VOTable has it."""
    varies = any(shortest != longest or not longest for shortest, longest in seen.lengths)
    if depth > 1 and seen.lengths and (seen.gaps or varies):
        # How to count arrays of arrays is understood in two ways: astropy counts the outer ones, STILTS all values.
        raise FormatError(
            f"in a VOTable arrays of arrays have one length; those of {name} have not, or one is NULL or empty",
            hint="write Parquet",
        )
    if depth > 1:
        return "x".join([str(longest) for _, longest in reversed(seen.lengths)] or ["1"] * depth)
    longest = seen.lengths[0][1] if seen.lengths else 0
    return "*" if varies or longest < 2 else str(longest)  # an array of one value is taken for the value


def _unused(name: str, seen: Seen, datatype: str) -> int:
    """Return a whole number that does not occur, to stand for NULL in arrays."""
    least, most = map(int, seen.extremes or (0, 0))
    bound = 1 << (_BITS[datatype] - 1)
    if least > -bound:
        return -bound
    if most < bound - 1:
        return bound - 1
    raise FormatError(f"in a VOTable no number is left to stand for NULL in the column {name}", hint="write Parquet")


def _head(columns: Sequence[_Column], attributes: Sequence[Attribute], rows: int, notes: FileNotes) -> str:
    head = votable_head(notes, attributes)
    fields = []
    for column, one in zip(columns, attributes, strict=True):
        given = {"name": one.name, "datatype": column.datatype, "arraysize": column.size}
        given |= {"unit": one.unit, "ucd": one.ucd}
        given["ref"] = head.references.get(one.name, "")
        given["xtype"] = "timestamp" if one.type.name.startswith("timestamp") else ""
        said = " ".join(f"{key}={quoteattr(printable(text))}" for key, text in given.items() if text)
        inside = f"<DESCRIPTION>{escape(printable(one.description))}</DESCRIPTION>" if one.description else ""
        inside += f'<VALUES null="{column.null}"/>' if column.null is not None else ""
        fields.append(f"<FIELD {said}>{inside}</FIELD>\n")
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE type="results">\n'
        f"{head.elements}"
        f'<TABLE nrows="{rows}">\n{"".join(fields)}<DATA><BINARY2><STREAM encoding="base64">\n'
    )


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
    if not column.size:
        data = cells(_numbers(column, values))
        return data.ravel(), np.full(len(values), data.shape[1])
    leaves = values
    while pa.types.is_list(leaves.type):
        leaves = pc.list_flatten(leaves)
    data = cells(_numbers(column, leaves))
    filler = cells(_numbers(column, pa.nulls(1, leaves.type))).ravel()
    *within, outer = column.size.split("x")
    inner = prod(map(int, within))
    if outer != "*":
        rows = np.tile(filler, (len(values), inner * int(outer)))
        there = values.is_valid().to_numpy(zero_copy_only=False)
        rows[there] = data.reshape(there.sum(), rows.shape[1])
        return rows.ravel(), np.full(len(values), rows.shape[1])
    counts = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return _counted(counts, data.ravel(), counts * inner * len(filler))


def _numbers(column: _Column, values: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.int64())
    if values.type == pa.int8():  # VOTable has none with a sign
        values = values.cast(pa.int16())
    return numbers(values, ord("?") if pa.types.is_boolean(values.type) else column.null or 0)


def _counted(units: Any, data: Bytes, sizes: Any) -> tuple[Bytes, Any]:  # noqa: ANN401 - arrays of whole numbers
    """Put before the bytes of each row how many values they are."""
    heads = units.astype(">i4").view(np.uint8)
    stored = np.empty(len(heads) + len(data), np.uint8)
    starts = np.cumsum(sizes + 4) - (sizes + 4)
    stored[(starts[:, None] + np.arange(4)).ravel()] = heads
    shift = starts + 4 - (np.cumsum(sizes) - sizes)
    stored[np.repeat(shift, sizes) + np.arange(len(data))] = data
    return stored, sizes + 4
