"""The rows of ECSV files as Arrow, in batches, with the types of the header.

NULL is an empty cell, a masked cell, the null word that the user names when the file is ingested, and an array whose
elements are all null. NaN stays NaN. Blanks around text are ignored, as in astropy.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from typing import IO, Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv as arrow_csv

from provenn.errors import BaseFilesError, ExpansionError
from provenn.files.arrow_types import find_arrow_type
from provenn.files.csv_columns import NULL_WORDS, make_null_hint
from provenn.files.ecsv_columns import EcsvColumn, EcsvHeader, read_ecsv_header

__all__ = ["read_ecsv_batches"]

_BLOCK = 1 << 24
_ROWS = 1 << 15
_TYPES = {
    **{name: getattr(pa, name)() for name in ("int8", "int16", "int32", "int64")},
    **{name: getattr(pa, name)() for name in ("uint8", "uint16", "uint32", "uint64", "float32", "float64")},
    "bool": pa.bool_(),
    "float16": pa.float64(),
}
_COMMENT = re.compile(rb"^[ \t]*#", re.MULTILINE)


def read_ecsv_batches(file: IO[bytes], name: str, null: str) -> Iterator[Any]:
    """Yield the rows of an open ECSV file in batches.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        The name of the file in errors.
    null
        The word that stands for NULL, in addition to an empty cell.

    Raises
    ------
    BaseFilesError
        If a row does not fit the header.
    """
    buffered: IO[bytes] = io.BufferedReader(cast("io.RawIOBase", file))
    header = read_ecsv_header(buffered, name)
    rows = _SpacedRows(buffered) if header.delimiter == " " else _CommaRows(buffered, name)
    types = {column.name: _TYPES.get(column.datatype, pa.string()) for column in header.columns}
    types |= {column.name: pa.string() for column in header.columns if column.shape or column.json}
    try:
        with arrow_csv.open_csv(
            pa.PythonFile(rows, "r"),
            read_options=arrow_csv.ReadOptions(
                column_names=[column.name for column in header.columns], block_size=_BLOCK
            ),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=types, null_values=["", null], strings_can_be_null=False
            ),
        ) as reader:
            for batch in reader:
                yield _decode_rows(pa.table(batch), header, name, null)
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        # For a table without rows, and for each value that is not of its type, Arrow raises the same ArrowInvalid: only
        # the text differs.
        if "Empty CSV file" in str(error):
            return
        word = next((word for word in NULL_WORDS if f"'{word}'" in str(error)), "")
        raise BaseFilesError(
            f"{name} does not match its header: {error}",
            hint=make_null_hint(word) if word else "it may have been edited, or not copied completely",
        ) from error


def _decode_rows(rows: Any, header: EcsvHeader, name: str, null: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    masks = {column.mask for column in header.columns} - {""}
    decoded = {}
    for column in header.columns:
        if column.name in masks:
            continue
        values = _decode_column(column, rows[column.name].combine_chunks(), name, null)
        if column.mask:
            values = _apply_mask(values, column, rows[column.mask].combine_chunks(), name)
        decoded[column.base_name] = values
    return pa.table(decoded)


def _decode_column(column: EcsvColumn, stored: Any, name: str, null: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    if column.shape:
        return _decode_arrays(column, stored, name, null)
    if column.datatype == "float16":
        # The text stands for a number of 16 bits, so it is rounded to 16 bits, and not to 32.
        halves = stored.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float16).astype(np.float32)
        return pa.array(halves, mask=stored.is_null().to_numpy(zero_copy_only=False))
    if column.datatype != "string":
        return stored.cast(find_arrow_type(column.type))
    texts = pc.utf8_trim(stored, characters=" \t")
    # If a mask marks missing values, the empty text is a text.
    missing = pa.array([word for word in ("", null) if word or not column.mask], pa.string())
    texts = pc.if_else(pc.is_in(texts, value_set=missing), None, texts)
    if column.json:
        return pc.if_else(pc.equal(texts, "null"), None, texts)
    if column.moment:
        return _decode_moments(column, texts, name)
    return texts


def _decode_moments(column: EcsvColumn, texts: Any, name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    try:
        return pc.assume_timezone(texts.cast(pa.timestamp("us")), "UTC")
    except pa.ArrowInvalid as error:
        raise BaseFilesError(
            f"the column {column.name} of {name} holds an invalid time: {error}",
            hint="leap seconds, and digits below a microsecond, are not supported",
        ) from error


def _decode_arrays(column: EcsvColumn, stored: Any, name: str, null: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    wanted = find_arrow_type(column.type)
    cells = []
    try:
        for text in stored.to_pylist():
            cell = None if text is None or text.strip() in ("", null) else json.loads(text)
            _check_shape(cell, column.shape)
            cells.append(None if _is_missing(cell, column.shape) else _round_numbers(cell, column.datatype))
        return pa.array(cells, wanted)
    except (ValueError, TypeError, OverflowError, RecursionError, pa.ArrowException) as error:
        raise BaseFilesError(
            f"the column {column.name} of {name} holds values that are not arrays of {column.datatype}: {error}",
            hint="it may have been edited, or not copied completely",
        ) from error


def _check_shape(cell: Any, shape: Sequence[int | None]) -> None:  # noqa: ANN401 - JSON
    if not shape:
        if isinstance(cell, list | dict):
            raise ValueError(f"{cell!r} has more dimensions")
        return
    if cell is None:
        return
    if not isinstance(cell, list) or (shape[0] is not None and len(cell) != shape[0]):
        raise ValueError(f"{cell!r} is not of the length {shape[0]}")
    for part in cell:
        if part is None and len(shape) > 1:
            raise ValueError("an array in an array is null")
        _check_shape(part, shape[1:])


def _is_missing(cell: Any, shape: Sequence[int | None]) -> bool:  # noqa: ANN401 - JSON
    """Return whether a cell is NULL: no array, or an array of a fixed shape in which everything is null."""
    if cell is None:
        return True
    leaves = np.array(cell, object).ravel().tolist() if None not in shape else [0]
    return bool(leaves) and all(leaf is None for leaf in leaves)


def _round_numbers(value: Any, datatype: str) -> Any:  # noqa: ANN401 - JSON
    """Return a cell whose numbers of the type float16 are rounded to 16 bits."""
    if isinstance(value, list):
        return [_round_numbers(element, datatype) for element in value]
    if value is None:
        return None
    if datatype == "float16":
        return float(np.float16(value))
    return value


def _apply_mask(values: Any, column: EcsvColumn, mask: Any, name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    if column.shape:
        raise BaseFilesError(
            f"the column {column.name} of {name} is an array with its own mask",
            hint="write the table as FITS, or with null in its arrays, as ECSV defines",
        )
    return pc.if_else(mask, pa.scalar(None, values.type), values)


class _CsvRows(io.RawIOBase):
    """Rows of CSV that pyarrow reads in blocks."""

    def __init__(self) -> None:
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes."""
        if not self._rest:
            self._rest = self._read_block()
        size = len(self._rest) if size < 0 else size
        block, self._rest = self._rest[:size], self._rest[size:]
        return block

    def _read_block(self) -> bytes:
        raise NotImplementedError


class _CommaRows(_CsvRows):
    """Rows that are separated by commas, unchanged."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        super().__init__()
        self._file, self._name = file, name

    def _read_block(self) -> bytes:
        block = self._file.read(_BLOCK)
        block += self._file.readline(_BLOCK) if block else b""
        if len(block) == 2 * _BLOCK:
            raise ExpansionError(f"a line of {self._name} has more than {_BLOCK // 2**20} MB")
        if _COMMENT.search(block):
            raise BaseFilesError(
                f"{self._name} has a line among its rows that begins with #: a comment, or a text with line breaks",
                hint="delete comments below the header; write such texts to FITS or Parquet",
            )
        return block


class _SpacedRows(_CsvRows):
    """Rows that are separated by one or more blanks, rewritten with commas."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        lines = (line.decode().strip(" \t\r\n") + "\n" for line in file)
        rows = (line for line in lines if line.strip() and not line.startswith("#"))
        self._reader = csv.reader(rows, delimiter=" ", skipinitialspace=True)

    def _read_block(self) -> bytes:
        block = io.StringIO()
        writer = csv.writer(block, lineterminator="\n")
        for _, row in zip(range(_ROWS), self._reader, strict=False):
            writer.writerow(row)
        return block.getvalue().encode()
