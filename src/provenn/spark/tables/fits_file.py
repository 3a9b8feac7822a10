"""A FITS file with one binary table, written as its rows come.

Before the first row, FITS wants to know how many rows there are, how long the longest text is, how long arrays are, and
which whole number stands for NULL. So the parts are read twice; and once more for arrays of different lengths, whose
values lie behind the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provenn.catalogs.file_notes import NO_NOTES, FileNotes
from provenn.catalogs.schema import Attribute
from provenn.errors import FormatError
from provenn.spark.tables.cells import Bytes, cells, numbers, type_name
from provenn.spark.tables.fits_cards import add_cards, ascii_text
from provenn.spark.tables.parts import Parts, Seen, list_depth

__all__ = ["write_fits"]

_CODES = {
    "bool": "L",
    "int8": "B",
    "int16": "I",
    "int32": "J",
    "int64": "K",
    "float": "E",
    "double": "D",
    "complex float": "C",
    "complex double": "M",
}
_INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64()]
_ZEROS = {"B": -128}
"""What is added to numbers that have a sign where FITS has none."""
_RECORD, _MOST = 2880, 999
_WIDEST = 16
"""How many bytes the largest value has."""
_ELSEWHERE = "write Parquet or VOTable"


@dataclass(frozen=True, slots=True)
class _Column:
    """How a column is written.

    Parameters
    ----------
    form
        What FITS calls the format, with how many values there are in a row.
    dims
        How long arrays are, those that hold others first; None for single values.
    heap
        For arrays of different lengths: how many bytes a value has. They lie behind the rows.
    width
        How long texts are.
    zero
        What a reader adds to whole numbers.
    null
        The whole number that stands for NULL, as a reader sees it.
    wider
        The type in which whole numbers are written, if it is not their own.
    """

    form: str
    dims: tuple[int, ...] | None = None
    heap: int = 0
    width: int = 0
    zero: int = 0
    null: int | None = None
    wider: Any = None


def write_fits(parts: Parts, attributes: Sequence[Attribute], stream: Any, notes: FileNotes = NO_NOTES) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of parts into a stream, as a FITS file. Return how many.

    Raises
    ------
    FormatError
        If FITS cannot hold them.
    """
    if len(attributes) > _MOST:
        raise FormatError(f"a FITS table has at most {_MOST} columns, not {len(attributes)}", hint="keep fewer")
    lowered: dict[str, str] = {}
    for one in attributes:
        if not one.name.isascii():
            raise FormatError(f"FITS has no names such as {one.name}", hint="rename it with letters of ASCII")
        if lowered.setdefault(one.name.lower(), one.name) != one.name:
            raise FormatError(
                f"FITS takes {lowered[one.name.lower()]} and {one.name} for the same name", hint="rename one of them"
            )
    seen = parts.seen()
    wide = sum(one.total for one in seen.values()) * _WIDEST >= 2**31
    columns = [_column(field, seen[field.name], "Q" if wide else "P") for field in parts.schema]
    rows = parts.rows
    pairs = list(zip(columns, parts.schema, strict=True))
    width = sum(_stored(column, pa.nulls(0, field.type), 0).shape[1] for column, field in pairs)
    heap = sum(column.heap * seen[field.name].total for column, field in pairs)
    stream.write(_headers(columns, attributes, (rows, width, heap), notes))
    place = 0
    for batch in parts.batches():
        stored = []
        for column, values in zip(columns, batch.columns, strict=True):
            stored.append(_stored(column, values, place))
            place += column.heap * len(_leaves(values)) if column.heap else 0
        stream.write(np.concatenate(stored, axis=1).tobytes())
    for batch in parts.batches() if heap else ():
        for column, values in zip(columns, batch.columns, strict=True):
            if column.heap:
                stream.write(cells(_numbers(column, _leaves(values))).tobytes())
    stream.write(b"\0" * (-(rows * width + heap) % _RECORD))
    return rows


def _column(field: Any, seen: Seen, letter: str) -> _Column:  # noqa: ANN401 - pyarrow has no types
    kind, dims = field.type, None
    if depth := list_depth(kind):
        kind = _leaf_type(kind)
        varies = _check_lengths(field.name, seen, depth)
        if varies and not pa.types.is_string(kind):
            made = _values(field, kind, seen, ())
            code = made.form[-1]
            size = cells(_numbers(made, pa.nulls(1, kind))).shape[1]
            return replace(made, form=f"1{letter}{code}({seen.lengths[0][1]})", dims=None, heap=size)
        if varies:
            raise FormatError(
                f"in FITS all arrays of text have one length; those of {field.name} do not", hint=_ELSEWHERE
            )
        dims = tuple(longest for _, longest in seen.lengths) + (0,) * (depth - len(seen.lengths))
    return _values(field, kind, seen, dims)


def _check_lengths(name: str, seen: Seen, depth: int) -> bool:
    """Tell whether arrays have different lengths; those in others must not, and those that hold others."""
    varies = [shortest != longest for shortest, longest in seen.lengths]
    if seen.gaps or any(varies[1:]) or (depth > 1 and any(varies)):
        raise FormatError(
            f"in FITS all arrays of arrays have one length; those of {name} do not, or one is NULL", hint=_ELSEWHERE
        )
    return any(varies)


def _values(field: Any, kind: Any, seen: Seen, dims: tuple[int, ...] | None) -> _Column:  # noqa: ANN401 - as above
    """Return how values are written; those of an array, one after the other."""
    missing = seen.nulls or seen.inner_nulls
    number = prod(dims or ())
    repeat = "" if dims is None else str(number)
    if pa.types.is_string(kind):
        if not seen.ascii:
            raise FormatError(
                f"the column {field.name} holds text that is not ASCII, which FITS cannot", hint=_ELSEWHERE
            )
        width = max(1, seen.width)
        return _Column(f"{width * number}A", dims, width=width)
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return replace(_long(field.name, seen, missing), form=f"{repeat}K", dims=dims)
    code = _CODES.get(type_name(kind))
    if code is None:
        raise FormatError(
            f"FITS cannot hold the column {field.name}, of the type {field.type}",
            hint=f"write Parquet; or derive it in another type, such as CAST({field.name} AS double)",
        )
    if code in "BIJK" and missing:
        made = _nullable(field.name, kind, seen)
        return replace(made, form=repeat + made.form, dims=dims)
    return _Column(repeat + code, dims, zero=_ZEROS.get(code, 0))


def _leaf_type(kind: Any) -> Any:  # noqa: ANN401 - as above
    return _leaf_type(kind.value_type) if pa.types.is_list(kind) else kind


def _leaves(values: Any) -> Any:  # noqa: ANN401 - as above
    """Return the values of arrays, one after the other."""
    while pa.types.is_list(values.type):
        values = pc.list_flatten(values)
    return values


def _nullable(name: str, kind: Any, seen: Seen) -> _Column:  # noqa: ANN401 - pyarrow has no types
    """Return how whole numbers are written of which one stands for NULL: in a wider type, if all are in use."""
    for wider in _INTEGERS[_INTEGERS.index(kind) :]:
        null = _unused(seen, _bounds(wider))
        if null is not None:
            code = _CODES[str(wider)]
            return _Column(code, zero=_ZEROS.get(code, 0), null=null, wider=wider)
    raise FormatError(f"in FITS no number is left to stand for NULL in the column {name}", hint=_ELSEWHERE)


def _bounds(kind: Any) -> tuple[int, int]:  # noqa: ANN401 - pyarrow has no types
    """Return the least and the greatest whole number of a type."""
    limits = np.iinfo(kind.to_pandas_dtype())
    return int(limits.min), int(limits.max)


def _long(name: str, seen: Seen, missing: bool) -> _Column:
    """Return how whole numbers are written that are decimals in Spark, as those of 64 bits without a sign."""
    least, most = map(int, seen.extremes or (0, 0))
    for zero in (0, 2**63):
        bounds = (zero - 2**63, zero + 2**63 - 1)
        null = _unused(seen, bounds) if missing else None
        if bounds[0] <= least and most <= bounds[1] and (null is not None or not missing):
            return _Column("K", zero=zero, null=null)
    raise FormatError(
        f"the column {name} holds whole numbers of more than 64 bits, which FITS cannot", hint="write Parquet"
    )


def _unused(seen: Seen, bounds: tuple[int, int]) -> int | None:
    least, most = seen.extremes or (0, 0)
    if least > bounds[0]:
        return bounds[0]
    return bounds[1] if most < bounds[1] else None


def _headers(
    columns: Sequence[_Column], attributes: Sequence[Attribute], sizes: tuple[int, int, int], notes: FileNotes
) -> bytes:
    """Return the headers of the file and of its table, given how many rows it has, how wide they are, and the heap."""
    from astropy.io import fits  # noqa: PLC0415 - it takes a while to import

    header = fits.Header()
    header["XTENSION"] = "BINTABLE"
    rows, width, heap = sizes
    given = {"BITPIX": 8, "NAXIS": 2, "NAXIS1": width, "NAXIS2": rows, "PCOUNT": heap, "GCOUNT": 1}
    for key, value in {**given, "TFIELDS": len(columns)}.items():
        header[key] = value
    for number, (column, one) in enumerate(zip(columns, attributes, strict=True), 1):
        header[f"TTYPE{number}"] = one.name
        header[f"TFORM{number}"] = column.form
        if one.unit:
            header[f"TUNIT{number}"] = _ascii_unit(one.unit)
        if column.dims is not None and (column.width or len(column.dims) > 1 or column.dims == (1,)):
            axes = (column.width, *reversed(column.dims)) if column.width else tuple(reversed(column.dims))
            header[f"TDIM{number}"] = f"({','.join(map(str, axes))})"
        if column.zero:
            header[f"TZERO{number}"] = column.zero
        if column.null is not None:
            header[f"TNULL{number}"] = column.null - column.zero
        if one.description:
            header[f"TCOMM{number}"] = ascii_text(one.description)
        if one.ucd:
            header[f"TUCD{number}"] = ascii_text(one.ucd)
    add_cards(header, notes)
    return b"".join(one.tostring().encode("ascii") for one in (fits.PrimaryHDU().header, header))


def _ascii_unit(text: str) -> str:
    """Return a unit as FITS has it: ``um`` for one of a thousandth of a millimetre, however it was written."""
    if text.isascii():
        return ascii_text(text)
    from astropy import units  # noqa: PLC0415 - it takes a while to import

    try:
        return str(units.Unit(text).to_string("fits"))
    except ValueError:
        return ascii_text(text)


def _stored(column: _Column, values: Any, place: int) -> Bytes:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of a column, a row of them for each row; of arrays behind the rows, where from `place` on."""
    if column.heap:
        counts = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        starts = place + (np.cumsum(counts) - counts) * column.heap
        return np.stack([counts, starts], axis=1).astype(">i8" if "Q" in column.form else ">i4").view(np.uint8)
    if column.dims is not None:
        missing = cells(_single(column, pa.nulls(1, _leaf_type(values.type))))
        rows = np.tile(missing, (len(values), prod(column.dims)))
        there = values.is_valid().to_numpy(zero_copy_only=False)
        rows[there] = cells(_single(column, _leaves(values))).reshape(there.sum(), rows.shape[1])
        return rows
    return cells(_single(column, values))


def _single(column: _Column, values: Any) -> NDArray[Any]:  # noqa: ANN401 - pyarrow has no types
    """Return values as they are stored."""
    if column.width:
        # A text that is NULL begins with NUL; an empty one is blank.
        texts = [None if one is None else one.encode("ascii") or b" " for one in values.to_pylist()]
        return np.array([one or b"" for one in texts], f"S{column.width}")
    return _numbers(column, values)


def _numbers(column: _Column, values: Any) -> NDArray[Any]:  # noqa: ANN401 - pyarrow has no types
    if pa.types.is_decimal(values.type):
        missing = Decimal(column.null or 0)
        exact = [int(missing if one is None else one) - column.zero for one in values.to_pylist()]
        return np.array(exact, ">i8")
    plain = numbers(values.cast(column.wider) if column.wider else values, column.null or 0)
    return plain.view(np.uint8) ^ np.uint8(0x80) if column.zero == -128 else plain
