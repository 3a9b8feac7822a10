"""A FITS file with one binary table, written as its rows come.

Before the first row, FITS wants to know how many rows there are, how long the longest text is, how long arrays are, and
which whole number stands for NULL. So the parts are read twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provenn.catalogs.schema import Attribute
from provenn.errors import FormatError
from provenn.spark.tables.cells import Bytes, cells, numbers, type_name
from provenn.spark.tables.parts import Parts, Seen

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
_ELSEWHERE = "write Parquet or VOTable"


@dataclass(frozen=True, slots=True)
class _Column:
    """How a column is written.

    Parameters
    ----------
    form
        What FITS calls the format, with how many values there are in a row.
    length
        How long arrays are; None for single values.
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
    length: int | None = None
    width: int = 0
    zero: int = 0
    null: int | None = None
    wider: Any = None


def write_fits(parts: Parts, attributes: Sequence[Attribute], stream: Any) -> int:  # noqa: ANN401 - pyarrow has no types
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
    columns = [_column(field, seen[field.name]) for field in parts.schema]
    rows = parts.rows
    empty = [_stored(one, pa.nulls(0, field.type)) for one, field in zip(columns, parts.schema, strict=True)]
    width = sum(one.shape[1] for one in empty)
    stream.write(_headers(columns, attributes, rows, width))
    for batch in parts.batches():
        stored = [_stored(one, values) for one, values in zip(columns, batch.columns, strict=True)]
        stream.write(np.concatenate(stored, axis=1).tobytes())
    stream.write(b"\0" * (-rows * width % _RECORD))
    return rows


def _column(field: Any, seen: Seen) -> _Column:  # noqa: ANN401 - pyarrow has no types
    kind, length, repeat = field.type, None, ""
    if pa.types.is_list(kind):
        shortest, longest = seen.lengths or (0, 0)
        if shortest != longest:
            raise FormatError(
                f"in FITS all arrays of a column have one length; those of {field.name} have {shortest} to {longest}",
                hint=_ELSEWHERE,
            )
        kind, length, repeat = kind.value_type, longest, str(longest)
    missing = seen.nulls or seen.inner_nulls
    if pa.types.is_string(kind) and length is None:
        if not seen.ascii:
            raise FormatError(
                f"the column {field.name} holds text that is not ASCII, which FITS cannot", hint=_ELSEWHERE
            )
        return _Column(f"{max(1, seen.width)}A", width=max(1, seen.width))
    if pa.types.is_decimal(kind) and kind.scale == 0 and length is None:
        return _long(field.name, seen, missing)
    code = _CODES.get(type_name(kind))
    if code is None:
        raise FormatError(
            f"FITS cannot hold the column {field.name}, of the type {field.type}",
            hint=f"{_ELSEWHERE}; or derive it in another type, such as CAST({field.name} AS double)",
        )
    if code in "BIJK" and missing:
        return _nullable(field.name, kind, length, seen)
    return _Column(repeat + code, length, zero=_ZEROS.get(code, 0))


def _nullable(name: str, kind: Any, length: int | None, seen: Seen) -> _Column:  # noqa: ANN401 - pyarrow has no types
    """Return how whole numbers are written of which one stands for NULL: in a wider type, if all are in use."""
    for wider in _INTEGERS[_INTEGERS.index(kind) :]:
        null = _unused(seen, _bounds(wider))
        if null is not None:
            code = _CODES[str(wider)]
            form = code if length is None else f"{length}{code}"
            return _Column(form, length, zero=_ZEROS.get(code, 0), null=null, wider=wider)
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
    raise FormatError(f"the column {name} holds whole numbers of more than 64 bits, which FITS cannot", hint=_ELSEWHERE)


def _unused(seen: Seen, bounds: tuple[int, int]) -> int | None:
    least, most = seen.extremes or (0, 0)
    if least > bounds[0]:
        return bounds[0]
    return bounds[1] if most < bounds[1] else None


def _headers(columns: Sequence[_Column], attributes: Sequence[Attribute], rows: int, width: int) -> bytes:
    from astropy.io import fits  # noqa: PLC0415 - it takes a while to import

    header = fits.Header()
    header["XTENSION"] = "BINTABLE"
    given = {"BITPIX": 8, "NAXIS": 2, "NAXIS1": width, "NAXIS2": rows, "PCOUNT": 0, "GCOUNT": 1}
    for key, value in {**given, "TFIELDS": len(columns)}.items():
        header[key] = value
    for number, (column, one) in enumerate(zip(columns, attributes, strict=True), 1):
        header[f"TTYPE{number}"] = one.name
        header[f"TFORM{number}"] = column.form
        if one.unit:
            header[f"TUNIT{number}"] = _ascii(one.unit)
        if column.zero:
            header[f"TZERO{number}"] = column.zero
        if column.null is not None:
            header[f"TNULL{number}"] = column.null - column.zero
        if one.description:
            header[f"TCOMM{number}"] = _ascii(one.description)
        if one.ucd:
            header[f"TUCD{number}"] = _ascii(one.ucd)
    return b"".join(one.tostring().encode("ascii") for one in (fits.PrimaryHDU().header, header))


def _ascii(text: str) -> str:
    return "".join(one if " " <= one <= "~" else "?" for one in text)


def _stored(column: _Column, values: Any) -> Bytes:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of a column, a row of them for each row."""
    if column.width:
        # A text that is NULL begins with NUL; an empty one is blank.
        texts = [None if one is None else one.encode("ascii") or b" " for one in values.to_pylist()]
        return cells(np.array([one or b"" for one in texts], f"S{column.width}"))
    if column.length is None:
        return cells(_numbers(column, values))
    missing = cells(_numbers(column, pa.nulls(1, values.type.value_type)))
    rows = np.tile(missing, (len(values), column.length))
    there = values.is_valid().to_numpy(zero_copy_only=False)
    rows[there] = cells(_numbers(column, pc.list_flatten(values))).reshape(there.sum(), rows.shape[1])
    return rows


def _numbers(column: _Column, values: Any) -> NDArray[Any]:  # noqa: ANN401 - pyarrow has no types
    if pa.types.is_decimal(values.type):
        missing = Decimal(column.null or 0)
        exact = [int(missing if one is None else one) - column.zero for one in values.to_pylist()]
        return np.array(exact, ">i8")
    plain = numbers(values.cast(column.wider) if column.wider else values, column.null or 0)
    return plain.view(np.uint8) ^ np.uint8(0x80) if column.zero == -128 else plain
