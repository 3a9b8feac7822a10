"""Writing a FITS file with one binary table, batch by batch.

The header of FITS needs the number of rows, the length of the longest text, the lengths of arrays, and the whole number
for NULL. So the parts are read twice; and once more for arrays of different lengths, because their values lie behind
the rows.
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

from provenn.catalogs.schema import Attribute
from provenn.errors import FormatError
from provenn.files.export_notes import NO_NOTES, FileNotes
from provenn.spark.tables.cells import Bytes, encode_numbers, name_type, view_bytes
from provenn.spark.tables.fits_cards import add_cards, replace_non_ascii
from provenn.spark.tables.parts import PartFiles, WrittenStatistics, measure_list_depth

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
"""The offset of numbers that have a sign, if FITS stores them without a sign."""
_RECORD, _MOST = 2880, 999
_WIDEST = 16
"""The number of bytes of the largest value."""
_ELSEWHERE = "write Parquet or VOTable"


@dataclass(frozen=True, slots=True)
class _FitsForm:
    """The form in which a column is written.

    Parameters
    ----------
    form
        The format code of FITS, with the number of values in a row.
    dims
        The lengths of arrays, the outermost first; None for single values.
    heap
        For arrays of different lengths, which lie behind the rows: the number of bytes of a value.
    width
        The length of texts.
    zero
        The number that a reader adds to whole numbers.
    null
        The whole number that stands for NULL, as a reader sees it.
    wider
        The type in which whole numbers are written, if it differs from their own.
    """

    form: str
    dims: tuple[int, ...] | None = None
    heap: int = 0
    width: int = 0
    zero: int = 0
    null: int | None = None
    wider: Any = None


def write_fits(parts: PartFiles, attributes: Sequence[Attribute], stream: Any, notes: FileNotes = NO_NOTES) -> int:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of part files into a stream as a FITS file, and return the number of rows.

    Raises
    ------
    FormatError
        If FITS cannot hold the rows.
    """
    if len(attributes) > _MOST:
        raise FormatError(f"a FITS table has at most {_MOST} columns, not {len(attributes)}", hint="keep fewer")
    lowered: dict[str, str] = {}
    for attribute in attributes:
        if not attribute.name.isascii():
            raise FormatError(f"FITS does not support the name {attribute.name}", hint="rename it with ASCII letters")
        if lowered.setdefault(attribute.name.lower(), attribute.name) != attribute.name:
            raise FormatError(
                f"FITS treats {lowered[attribute.name.lower()]} and {attribute.name} as the same name",
                hint="rename one of them",
            )
    statistics = parts.collect_statistics()
    wide = sum(seen.total for seen in statistics.values()) * _WIDEST >= 2**31
    columns = [_choose_form(field, statistics[field.name], "Q" if wide else "P") for field in parts.schema]
    rows = parts.rows
    pairs = list(zip(columns, parts.schema, strict=True))
    width = sum(_encode_column(column, pa.nulls(0, field.type), 0).shape[1] for column, field in pairs)
    heap = sum(column.heap * statistics[field.name].total for column, field in pairs)
    stream.write(_format_headers(columns, attributes, (rows, width, heap), notes))
    place = 0
    for batch in parts.read_batches():
        encoded = []
        for column, values in zip(columns, batch.columns, strict=True):
            encoded.append(_encode_column(column, values, place))
            place += column.heap * len(_flatten_arrays(values)) if column.heap else 0
        stream.write(np.concatenate(encoded, axis=1).tobytes())
    for batch in parts.read_batches() if heap else ():
        for column, values in zip(columns, batch.columns, strict=True):
            if column.heap:
                stream.write(view_bytes(_encode_numbers(column, _flatten_arrays(values))).tobytes())
    stream.write(b"\0" * (-(rows * width + heap) % _RECORD))
    return rows


def _choose_form(field: Any, statistics: WrittenStatistics, letter: str) -> _FitsForm:  # noqa: ANN401 - pyarrow has no types
    """Return the form of a column; `letter` is the kind of pointers to arrays behind the rows."""
    kind, dims = field.type, None
    if depth := measure_list_depth(kind):
        kind = _find_leaf_type(kind)
        varies = _check_lengths(field.name, statistics, depth)
        if varies and not pa.types.is_string(kind):
            form = _choose_value_form(field, kind, statistics, ())
            code = form.form[-1]
            size = view_bytes(_encode_numbers(form, pa.nulls(1, kind))).shape[1]
            return replace(form, form=f"1{letter}{code}({statistics.lengths[0][1]})", dims=None, heap=size)
        if varies:
            raise FormatError(
                f"in FITS all arrays of text must have one length; those of {field.name} differ", hint=_ELSEWHERE
            )
        dims = tuple(longest for _, longest in statistics.lengths) + (0,) * (depth - len(statistics.lengths))
    return _choose_value_form(field, kind, statistics, dims)


def _check_lengths(name: str, statistics: WrittenStatistics, depth: int) -> bool:
    """Return whether arrays have different lengths; arrays that contain arrays, or lie in arrays, must not."""
    varies = [shortest != longest for shortest, longest in statistics.lengths]
    if statistics.gaps or any(varies[1:]) or (depth > 1 and any(varies)):
        raise FormatError(
            f"in FITS all arrays of arrays must have one length; those of {name} differ, or one is NULL",
            hint=_ELSEWHERE,
        )
    return any(varies)


def _choose_value_form(
    field: Any,  # noqa: ANN401 - as above
    kind: Any,  # noqa: ANN401 - as above
    statistics: WrittenStatistics,
    dims: tuple[int, ...] | None,
) -> _FitsForm:
    """Return the form of values; the values of an array are written one after the other."""
    missing = statistics.nulls or statistics.inner_nulls
    number = prod(dims or ())
    repeat = "" if dims is None else str(number)
    if pa.types.is_string(kind):
        if not statistics.ascii:
            raise FormatError(
                f"the column {field.name} holds text that is not printable ASCII, which FITS cannot", hint=_ELSEWHERE
            )
        width = max(1, statistics.width)
        return _FitsForm(f"{width * number}A", dims, width=width)
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return replace(_choose_decimal_form(field.name, statistics, missing), form=f"{repeat}K", dims=dims)
    code = _CODES.get(name_type(kind))
    if code is None:
        raise FormatError(
            f"FITS cannot hold the column {field.name}, of the type {field.type}",
            hint=f"write Parquet; or derive it in another type, such as CAST({field.name} AS double)",
        )
    if code in "BIJK" and missing:
        form = _choose_nullable_form(field.name, kind, statistics)
        return replace(form, form=repeat + form.form, dims=dims)
    return _FitsForm(repeat + code, dims, zero=_ZEROS.get(code, 0))


def _find_leaf_type(kind: Any) -> Any:  # noqa: ANN401 - as above
    return _find_leaf_type(kind.value_type) if pa.types.is_list(kind) else kind


def _flatten_arrays(values: Any) -> Any:  # noqa: ANN401 - as above
    """Return the values of arrays one after the other."""
    while pa.types.is_list(values.type):
        values = pc.list_flatten(values)
    return values


def _choose_nullable_form(name: str, kind: Any, statistics: WrittenStatistics) -> _FitsForm:  # noqa: ANN401 - pyarrow has no types
    """Return the form of whole numbers with a number for NULL; the type is wider if all numbers are in use."""
    for wider in _INTEGERS[_INTEGERS.index(kind) :]:
        null = _find_unused(statistics, _find_bounds(wider))
        if null is not None:
            code = _CODES[str(wider)]
            return _FitsForm(code, zero=_ZEROS.get(code, 0), null=null, wider=wider)
    raise FormatError(f"the column {name} uses every number, so FITS has none left for NULL", hint=_ELSEWHERE)


def _find_bounds(kind: Any) -> tuple[int, int]:  # noqa: ANN401 - pyarrow has no types
    """Return the least and the greatest whole number of a type."""
    limits = np.iinfo(kind.to_pandas_dtype())
    return int(limits.min), int(limits.max)


def _choose_decimal_form(name: str, statistics: WrittenStatistics, missing: bool) -> _FitsForm:
    """Return the form of whole numbers that are decimals in Spark, such as unsigned numbers of 64 bits."""
    least, most = map(int, statistics.extremes or (0, 0))
    for zero in (0, 2**63):
        bounds = (zero - 2**63, zero + 2**63 - 1)
        null = _find_unused(statistics, bounds) if missing else None
        if bounds[0] <= least and most <= bounds[1] and (null is not None or not missing):
            return _FitsForm("K", zero=zero, null=null)
    raise FormatError(
        f"the column {name} holds whole numbers of more than 64 bits, which FITS cannot", hint="write Parquet"
    )


def _find_unused(statistics: WrittenStatistics, bounds: tuple[int, int]) -> int | None:
    """Return a whole number within bounds that does not occur, or None."""
    least, most = statistics.extremes or (0, 0)
    if least > bounds[0]:
        return bounds[0]
    return bounds[1] if most < bounds[1] else None


def _format_headers(
    columns: Sequence[_FitsForm], attributes: Sequence[Attribute], sizes: tuple[int, int, int], notes: FileNotes
) -> bytes:
    """Return the headers of the file and its table, given the number of rows, their width and the size of the heap."""
    from astropy.io import fits  # noqa: PLC0415 - it takes a while to import

    header = fits.Header()
    header["XTENSION"] = "BINTABLE"
    rows, width, heap = sizes
    structure = {"BITPIX": 8, "NAXIS": 2, "NAXIS1": width, "NAXIS2": rows, "PCOUNT": heap, "GCOUNT": 1}
    for key, value in {**structure, "TFIELDS": len(columns)}.items():
        header[key] = value
    for number, (column, attribute) in enumerate(zip(columns, attributes, strict=True), 1):
        header[f"TTYPE{number}"] = attribute.name
        header[f"TFORM{number}"] = column.form
        if attribute.unit:
            header[f"TUNIT{number}"] = _format_unit(attribute.unit)
        if column.dims is not None and (column.width or len(column.dims) > 1 or column.dims == (1,)):
            axes = (column.width, *reversed(column.dims)) if column.width else tuple(reversed(column.dims))
            header[f"TDIM{number}"] = f"({','.join(map(str, axes))})"
        if column.zero:
            header[f"TZERO{number}"] = column.zero
        if column.null is not None:
            header[f"TNULL{number}"] = column.null - column.zero
        if attribute.description:
            header[f"TCOMM{number}"] = replace_non_ascii(attribute.description)
        if attribute.ucd:
            header[f"TUCD{number}"] = replace_non_ascii(attribute.ucd)
    add_cards(header, notes)
    return b"".join(part.tostring().encode("ascii") for part in (fits.PrimaryHDU().header, header))


def _format_unit(text: str) -> str:
    """Return a unit in the notation of FITS: ``um`` for micrometre in any spelling."""
    if text.isascii():
        return replace_non_ascii(text)
    from astropy import units  # noqa: PLC0415 - it takes a while to import

    try:
        return str(units.Unit(text).to_string("fits"))
    except ValueError:
        return replace_non_ascii(text)


def _encode_column(column: _FitsForm, values: Any, place: int) -> Bytes:  # noqa: ANN401 - pyarrow has no types
    """Return the bytes of a column by row; for arrays behind the rows, their pointers from `place` on."""
    if column.heap:
        counts = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        starts = place + (np.cumsum(counts) - counts) * column.heap
        return np.stack([counts, starts], axis=1).astype(">i8" if "Q" in column.form else ">i4").view(np.uint8)
    if column.dims is not None:
        missing = view_bytes(_encode_values(column, pa.nulls(1, _find_leaf_type(values.type))))
        rows = np.tile(missing, (len(values), prod(column.dims)))
        present = values.is_valid().to_numpy(zero_copy_only=False)
        rows[present] = view_bytes(_encode_values(column, _flatten_arrays(values))).reshape(
            present.sum(), rows.shape[1]
        )
        return rows
    return view_bytes(_encode_values(column, values))


def _encode_values(column: _FitsForm, values: Any) -> NDArray[Any]:  # noqa: ANN401 - pyarrow has no types
    """Return values as they are stored."""
    if column.width:
        # A text that is NULL begins with NUL; an empty text is a blank.
        texts = [None if text is None else text.encode("ascii") or b" " for text in values.to_pylist()]
        return np.array([text or b"" for text in texts], f"S{column.width}")
    return _encode_numbers(column, values)


def _encode_numbers(column: _FitsForm, values: Any) -> NDArray[Any]:  # noqa: ANN401 - pyarrow has no types
    if pa.types.is_decimal(values.type):
        missing = Decimal(column.null or 0)
        exact = [int(missing if value is None else value) - column.zero for value in values.to_pylist()]
        return np.array(exact, ">i8")
    plain = encode_numbers(values.cast(column.wider) if column.wider else values, column.null or 0)
    return plain.view(np.uint8) ^ np.uint8(0x80) if column.zero == -128 else plain
