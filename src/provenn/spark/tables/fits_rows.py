"""The rows of a FITS table, some at a time, as Arrow: what is stored, decoded as the standard says (4.0, section 7).

NULL is what `TNULL` says, an undefined logical, a text that begins with NUL and, of single values, NaN, which is how
FITS says that there is none. Trailing blanks of text do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from provenn.catalogs.fits_columns import FitsColumn, FitsTable
from provenn.errors import BaseFilesError
from provenn.spark.tables.arrow_types import arrow_type, element_type

__all__ = ["fits_batches"]

_CODES = {
    **{"L": "i1", "X": "u1", "B": "u1", "I": ">i2", "J": ">i4", "K": ">i8", "A": "S1"},  # noqa: PIE800 - by kind
    **{"E": ">f4", "D": ">f8", "C": ">c8", "M": ">c16"},  # noqa: PIE800 - by kind
}
_POINTERS = {"P": ">i4", "Q": ">i8"}
_BYTES = 1 << 26
"""How many bytes of rows are decoded at a time."""

Values = NDArray[Any]


def fits_batches(file: IO[bytes], table: FitsTable, name: str) -> Iterator[Any]:
    """Yield the rows of a table.

    Parameters
    ----------
    file
        The file; it can seek.
    table
        Where in it the table lies.
    name
        What to call it in errors.

    Raises
    ------
    BaseFilesError
        If the file ends before the table does.
    """
    step = max(1, _BYTES // max(1, table.width))
    names = [one.name for one in table.columns]
    for first in range(0, table.rows, step):
        count = min(step, table.rows - first)
        stored = _read(file, table.start + first * table.width, count * table.width, name)
        rows = np.frombuffer(stored, _layout(table)) if table.width else np.zeros(count, _layout(table))
        yield pa.table(
            [_decoded(one, rows[f"f{place}"], file, table, name) for place, one in enumerate(table.columns)], names
        )


def _read(file: IO[bytes], start: int, size: int, name: str) -> bytes:
    file.seek(start)
    stored = file.read(size)
    if len(stored) != size:
        raise BaseFilesError(f"{name} ends in the middle of its table", hint="was it copied completely?")
    return stored


def _layout(table: FitsTable) -> np.dtype[Any]:
    """Return how a row lies in memory."""
    if table.text:
        places = [one.start for one in table.columns]
        formats: list[Any] = [f"S{one.repeat}" for one in table.columns]
    else:
        formats = [_stored(one) for one in table.columns]
        places = [0, *np.cumsum([np.dtype(one).itemsize for one in formats]).tolist()][: len(formats)]
    names = [f"f{place}" for place in range(len(table.columns))]
    return np.dtype({"names": names, "formats": formats, "offsets": places, "itemsize": table.width})


def _stored(one: FitsColumn) -> Any:  # noqa: ANN401 - what NumPy takes for a type
    if one.variable:
        return (_POINTERS[one.variable], (2,))
    if one.code == "A":
        number = prod(one.dims)
        return (f"S{one.repeat // number if number else 1}", one.dims)  # NumPy has no arrays of no texts of no length
    if one.code == "X":
        return (_CODES["X"], (-(-one.repeat // 8),))
    return (_CODES[one.code], one.dims)


def _decoded(one: FitsColumn, stored: Values, file: IO[bytes], table: FitsTable, name: str) -> Any:  # noqa: ANN401
    if table.text:
        return _from_text(one, stored)
    if one.variable:
        return _variable(one, stored, file, table, name)
    if one.code == "X":
        bits = np.unpackbits(stored, axis=1)[:, : one.repeat].astype(bool)
        return _nested(one.type, pa.array(bits.ravel()), [len(stored), *one.dims])
    return _nested(one.type, _values(one, np.ascontiguousarray(stored).ravel(), alone=not one.dims), stored.shape)


def _nested(kind: str, values: Any, shape: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return arrays of arrays, given all their values in a row."""
    for axis in range(len(shape) - 1, 0, -1):
        number = prod(shape[:axis])
        offsets = np.arange(number + 1, dtype=np.int32) * shape[axis]
        values = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values)
    return values.cast(arrow_type(kind))


def _values(one: FitsColumn, stored: Values, *, alone: bool) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Decode values that lie in a row."""
    if one.code == "A":
        return _text(stored)
    if one.code == "L":
        return pa.array(stored == ord("T"), mask=(stored != ord("T")) & (stored != ord("F")))
    values = stored.astype(stored.dtype.newbyteorder("="))
    if one.code in "CM":
        values = _scaled(one, values)
        missing = pa.array(np.isnan(values.real) & np.isnan(values.imag)) if alone else None
        pairs = [pa.array(values.real.copy()), pa.array(values.imag.copy())]
        return pa.StructArray.from_arrays(pairs, ["re", "im"], mask=missing)
    mask = values == one.null if one.null is not None and one.code in "BIJK" else None
    values = _scaled(one, values)
    if alone and values.dtype.kind == "f":
        mask = np.isnan(values) if mask is None else mask | np.isnan(values)
    return pa.array(values, mask=mask)


def _scaled(one: FitsColumn, values: Values) -> Values:
    if (one.scale, one.zero) == (1, 0):
        return values
    kind = element_type(one.type) or one.type
    while inner := element_type(kind):
        kind = inner
    if kind == "tinyint":
        return (values ^ 0x80).view(np.int8)
    if kind == "decimal(20,0)":
        return values.view(np.uint64) ^ np.uint64(2**63)
    if kind in ("int", "bigint"):
        return values.astype(np.int64) + int(one.zero)
    wide = values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
    return wide * float(one.scale) + float(one.zero)


def _text(stored: Values) -> Any:  # noqa: ANN401 - pyarrow has no types
    if stored.dtype.itemsize == 0:
        return pa.nulls(len(stored), pa.string())
    # NumPy leaves out the NULs at the end.
    texts = pa.array(stored, pa.binary())
    try:
        texts = texts.cast(pa.string())
    except pa.ArrowInvalid:  # not ASCII, nor what it has become since
        texts = pa.array([one.decode("latin-1") for one in stored.tolist()], pa.string())
    texts = pc.replace_substring_regex(texts, pattern="(?s)\x00.*", replacement="")
    missing = pa.array(np.frombuffer(stored.tobytes(), np.uint8)[:: stored.dtype.itemsize] == 0)
    return pc.if_else(missing, None, pc.utf8_rtrim(texts, characters=" "))


def _variable(one: FitsColumn, stored: Values, file: IO[bytes], table: FitsTable, name: str) -> Any:  # noqa: ANN401
    """Decode arrays whose values lie behind the table."""
    counts, places = stored[:, 0].astype(np.int64), stored[:, 1].astype(np.int64)
    kind = np.dtype(_CODES[one.code])
    sizes = -(-counts // 8) if one.code == "X" else counts * kind.itemsize
    pieces = [
        _read(file, table.heap + place, size, name) if size else b""
        for place, size in zip(places.tolist(), sizes.tolist(), strict=True)
    ]
    if one.code == "A":
        texts = [piece.split(b"\x00")[0].decode("latin-1").rstrip(" ") if piece else None for piece in pieces]
        return pa.array(texts, pa.string())
    if one.code == "X":
        bits = [
            np.unpackbits(np.frombuffer(piece, np.uint8))[:count] for piece, count in zip(pieces, counts, strict=True)
        ]
        values = pa.array(np.concatenate([*bits, np.zeros(0, np.uint8)]).astype(bool))
    else:
        values = _values(one, np.frombuffer(b"".join(pieces), kind), alone=False)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values).cast(arrow_type(one.type))


def _from_text(one: FitsColumn, stored: Values) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Decode values that are written as text."""
    texts = pc.replace_substring(_text(stored), pattern="\x00", replacement="")
    if one.code == "A":  # blanks before it belong to it
        return pc.if_else(pc.equal(pc.utf8_trim_whitespace(texts), str(one.null)), None, texts) if one.null else texts
    texts = pc.replace_substring_regex(pc.utf8_trim_whitespace(texts), pattern=r"^\+", replacement="")
    texts = pc.if_else(pc.or_(pc.equal(texts, str(one.null)), pc.equal(texts, "")), None, texts)
    if one.code == "D":
        texts = pc.replace_substring_regex(texts, pattern="[dD]", replacement="E")
    try:
        numbers = texts.cast(pa.float64() if one.type == "double" else pa.int64())
    except pa.ArrowInvalid as error:
        raise BaseFilesError(f"the column {one.name} holds something other than numbers: {error}") from error
    if (one.scale, one.zero) != (1, 0):
        numbers = pc.add(pc.multiply(numbers, float(one.scale)), float(one.zero))
    return numbers.cast(arrow_type(one.type))
