"""Writing a VOTable (1.4) batch by batch in the form BINARY2, in which every value is exact and can be NULL."""

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

from provenn.catalogs.schema import Attribute
from provenn.errors import FormatError
from provenn.files.export_notes import NO_NOTES, FileNotes
from provenn.spark.tables.cells import Bytes, encode_numbers, name_type, view_bytes
from provenn.spark.tables.parts import PartFiles, WrittenStatistics, measure_list_depth
from provenn.spark.tables.votable_elements import build_votable_head, replace_unprintable

__all__ = ["VOTableForm", "choose_form", "encode_rows", "write_votable"]

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
class VOTableForm:
    """The form in which a column is written.

    Parameters
    ----------
    datatype
        VOTable's type.
    size
        The lengths of arrays, the innermost first; the last may be ``*``, for any length. Empty for single values.
    null
        The whole number that stands for NULL in arrays.
    """

    datatype: str
    size: str = ""
    null: int | None = None


def write_votable(parts: PartFiles, attributes: Sequence[Attribute], stream: Any, notes: FileNotes = NO_NOTES) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of part files into a stream as a VOTable, and return the number of rows.

    Raises
    ------
    FormatError
        If a VOTable cannot hold the rows.
    """
    statistics = parts.collect_statistics()
    columns = [choose_form(field, statistics[field.name]) for field in parts.schema]
    rows = parts.rows
    stream.write(_format_head(columns, attributes, rows, notes).encode())
    rest = b""
    for batch in parts.read_batches():
        encoded = rest + encode_rows(columns, batch)
        whole = len(encoded) // _LINE * _LINE
        for place in range(0, whole, _LINE):
            stream.write(b64encode(encoded[place : place + _LINE]) + b"\n")
        rest = encoded[whole:]
    stream.write(b64encode(rest) + b"\n</STREAM></BINARY2></DATA></TABLE></RESOURCE></VOTABLE>\n")
    return rows


def choose_form(field: Any, statistics: WrittenStatistics) -> VOTableForm:  # noqa: ANN401 - pyarrow has no types
    """Return the form in which a column is written.

    Raises
    ------
    FormatError
        If a VOTable cannot hold the column.
    """
    kind, depth = field.type, measure_list_depth(field.type)
    if pa.types.is_string(kind):
        return VOTableForm("char" if statistics.ascii else "unicodeChar", "*")
    for _ in range(depth):
        kind = kind.value_type
    datatype = _TYPES.get(name_type(kind))
    if pa.types.is_decimal(kind) and kind.scale == 0 and min(statistics.extremes or (0,)) >= -(2**63):
        datatype = "long" if max(statistics.extremes or (0,)) < 2**63 else None
    if datatype is None:
        type_text = f"arrays of {kind}" if depth else str(kind)
        raise FormatError(
            f"a VOTable cannot hold the column {field.name}, {type_text}",
            hint=f"write Parquet; or derive it in another type, such as CAST({field.name} AS string)",
        )
    size = _format_size(field.name, statistics, depth) if depth else ""
    null = _find_unused(field.name, statistics, datatype) if statistics.inner_nulls and datatype in _BITS else None
    return VOTableForm(datatype, size, null)


def _format_size(name: str, statistics: WrittenStatistics, depth: int) -> str:
    """Return the lengths of arrays in the notation of VOTable."""
    varies = any(shortest != longest or not longest for shortest, longest in statistics.lengths)
    if depth > 1 and statistics.lengths and (statistics.gaps or varies):
        # Readers count arrays of arrays in two ways: astropy counts the outer arrays, STILTS counts all values.
        raise FormatError(
            f"in a VOTable arrays of arrays must have one length; those of {name} differ, or one is NULL or empty",
            hint="write Parquet",
        )
    if depth > 1:
        return "x".join([str(longest) for _, longest in reversed(statistics.lengths)] or ["1"] * depth)
    longest = statistics.lengths[0][1] if statistics.lengths else 0
    return "*" if varies or longest < 2 else str(longest)  # readers take an array of one value for the value


def _find_unused(name: str, statistics: WrittenStatistics, datatype: str) -> int:
    """Return a whole number that does not occur, which stands for NULL in arrays."""
    least, most = map(int, statistics.extremes or (0, 0))
    bound = 1 << (_BITS[datatype] - 1)
    if least > -bound:
        return -bound
    if most < bound - 1:
        return bound - 1
    raise FormatError(f"the column {name} uses every number, so VOTable has none left for NULL", hint="write Parquet")


def _format_head(columns: Sequence[VOTableForm], attributes: Sequence[Attribute], rows: int, notes: FileNotes) -> str:
    head = build_votable_head(notes, attributes)
    fields = []
    for column, attribute in zip(columns, attributes, strict=True):
        properties = {"name": attribute.name, "datatype": column.datatype, "arraysize": column.size}
        properties |= {"unit": attribute.unit, "ucd": attribute.ucd}
        properties["ref"] = head.references.get(attribute.name, "")
        properties["xtype"] = "timestamp" if attribute.type.name.startswith("timestamp") else ""
        text = " ".join(f"{key}={quoteattr(replace_unprintable(value))}" for key, value in properties.items() if value)
        description = escape(replace_unprintable(attribute.description))
        inside = f"<DESCRIPTION>{description}</DESCRIPTION>" if attribute.description else ""
        inside += f'<VALUES null="{column.null}"/>' if column.null is not None else ""
        fields.append(f"<FIELD {text}>{inside}</FIELD>\n")
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE type="results">\n'
        f"{head.elements}"
        f'<TABLE nrows="{rows}">\n{"".join(fields)}<DATA><BINARY2><STREAM encoding="base64">\n'
    )


def encode_rows(columns: Sequence[VOTableForm], batch: Any) -> bytes:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of rows one after the other: in each row a bit for each NULL value, then the values."""
    nulls = np.array([values.is_null().to_numpy(zero_copy_only=False) for values in batch.columns], bool).T
    flags = np.packbits(nulls.reshape(len(batch), len(columns)), axis=1)
    pieces = [(flags.ravel(), np.full(len(batch), flags.shape[1]))]
    pieces += [_encode_column(column, values) for column, values in zip(columns, batch.columns, strict=True)]
    lengths = np.stack([length for _, length in pieces], axis=1)
    ends = np.cumsum(lengths.ravel()).reshape(lengths.shape)
    encoded = np.empty(ends[-1, -1] if len(batch) else 0, np.uint8)
    for place, (data, length) in enumerate(pieces):
        start = ends[:, place] - length
        shift = start - (np.cumsum(length) - length)
        encoded[np.repeat(shift, length) + np.arange(len(data))] = data
    return encoded.tobytes()


def _encode_column(column: VOTableForm, values: Any) -> tuple[Bytes, Any]:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of the values of a column, and the number of bytes in each row."""
    if column.datatype in ("char", "unicodeChar"):
        coding = "ascii" if column.datatype == "char" else "utf-16-be"
        texts = [(text or "").encode(coding) for text in values.to_pylist()]
        counts = np.array([len(text) for text in texts], np.int64)
        units = counts // 2 if column.datatype == "unicodeChar" else counts
        return _prefix_counts(units, np.frombuffer(b"".join(texts), np.uint8), counts)
    if not column.size:
        data = view_bytes(_encode_numbers(column, values))
        return data.ravel(), np.full(len(values), data.shape[1])
    leaves = values
    while pa.types.is_list(leaves.type):
        leaves = pc.list_flatten(leaves)
    data = view_bytes(_encode_numbers(column, leaves))
    filler = view_bytes(_encode_numbers(column, pa.nulls(1, leaves.type))).ravel()
    *within, outer = column.size.split("x")
    inner = prod(map(int, within))
    if outer != "*":
        rows = np.tile(filler, (len(values), inner * int(outer)))
        present = values.is_valid().to_numpy(zero_copy_only=False)
        rows[present] = data.reshape(present.sum(), rows.shape[1])
        return rows.ravel(), np.full(len(values), rows.shape[1])
    counts = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    return _prefix_counts(counts, data.ravel(), counts * inner * len(filler))


def _encode_numbers(column: VOTableForm, values: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.int64())
    if values.type == pa.int8():  # VOTable has no bytes with a sign
        values = values.cast(pa.int16())
    return encode_numbers(values, ord("?") if pa.types.is_boolean(values.type) else column.null or 0)


def _prefix_counts(units: Any, data: Bytes, sizes: Any) -> tuple[Bytes, Any]:  # noqa: ANN401 - arrays of whole numbers
    """Return the bytes of rows, with the number of values before the bytes of each row."""
    prefixes = units.astype(">i4").view(np.uint8)
    encoded = np.empty(len(prefixes) + len(data), np.uint8)
    starts = np.cumsum(sizes + 4) - (sizes + 4)
    encoded[(starts[:, None] + np.arange(4)).ravel()] = prefixes
    shift = starts + 4 - (np.cumsum(sizes) - sizes)
    encoded[np.repeat(shift, sizes) + np.arange(len(data))] = data
    return encoded, sizes + 4
