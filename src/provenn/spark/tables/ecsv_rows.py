"""The rows of ECSV files, some at a time, as Arrow: in the types that the header says.

NULL is an empty cell, what a mask hides, and the word that whoever ingests the file says; of arrays also those of which
every element is null. NaN stays NaN. Blanks around text do not count, as for astropy.
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

from provenn.catalogs.csv_columns import NULL_WORDS, null_hint
from provenn.catalogs.ecsv_columns import EcsvColumn, EcsvHeader, read_ecsv_header
from provenn.errors import BaseFilesError
from provenn.spark.tables.arrow_types import arrow_type

__all__ = ["ecsv_batches"]

_BLOCK = 1 << 24
_ROWS = 1 << 15
_READ = {
    **{name: getattr(pa, name)() for name in ("int8", "int16", "int32", "int64")},
    **{name: getattr(pa, name)() for name in ("uint8", "uint16", "uint32", "uint64", "float32", "float64")},
    "bool": pa.bool_(),
    "float16": pa.float64(),
}
_COMMENT = re.compile(rb"^[ \t]*#", re.MULTILINE)


def ecsv_batches(file: IO[bytes], name: str, null: str) -> Iterator[Any]:
    """Yield the rows of an open ECSV file.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        What to call it in errors.
    null
        What stands for NULL besides nothing at all.

    Raises
    ------
    BaseFilesError
        If a row does not fit the header.
    """
    buffered: IO[bytes] = io.BufferedReader(cast("io.RawIOBase", file))
    header = read_ecsv_header(buffered, name)
    rows = _Spaced(buffered) if header.delimiter == " " else _Plain(buffered, name)
    kinds = {one.name: _READ.get(one.datatype, pa.string()) for one in header.columns}
    kinds |= {one.name: pa.string() for one in header.columns if one.shape or one.json}
    try:
        with arrow_csv.open_csv(
            pa.PythonFile(rows, "r"),
            read_options=arrow_csv.ReadOptions(column_names=[one.name for one in header.columns], block_size=_BLOCK),
            parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
            convert_options=arrow_csv.ConvertOptions(
                column_types=kinds, null_values=["", null], strings_can_be_null=False
            ),
        ) as reader:
            for batch in reader:
                yield _decoded(pa.table(batch), header, name, null)
    except (pa.ArrowException, UnicodeDecodeError, csv.Error) as error:
        if "Empty CSV file" in str(error):
            return
        word = next((one for one in NULL_WORDS if f"'{one}'" in str(error)), "")
        raise BaseFilesError(
            f"{name} does not hold what its header says: {error}",
            hint=null_hint(word) if word else "was it edited, or not copied completely?",
        ) from error


def _decoded(rows: Any, header: EcsvHeader, name: str, null: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    masks = {one.mask for one in header.columns} - {""}
    made = {}
    for column in header.columns:
        if column.name in masks:
            continue
        values = _values(column, rows[column.name].combine_chunks(), name, null)
        if column.mask:
            values = _masked(values, column, rows[column.mask].combine_chunks(), name)
        made[column.called] = values
    return pa.table(made)


def _values(column: EcsvColumn, stored: Any, name: str, null: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    if column.shape:
        return _arrays(column, stored, name, null)
    if column.datatype == "float16":
        # The text is that of a number of 16 bits: the nearest such number is meant, not the nearest of 32.
        halves = stored.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float16).astype(np.float32)
        return pa.array(halves, mask=stored.is_null().to_numpy(zero_copy_only=False))
    if column.datatype != "string":
        return stored.cast(arrow_type(column.type))
    texts = pc.utf8_trim(stored, characters=" \t")
    # Where a mask tells what is missing, the empty text is a text.
    missing = pa.array([word for word in ("", null) if word or not column.mask], pa.string())
    texts = pc.if_else(pc.is_in(texts, value_set=missing), None, texts)
    if column.json:
        return pc.if_else(pc.equal(texts, "null"), None, texts)
    if column.moment:
        return _moments(column, texts, name)
    return texts


def _moments(column: EcsvColumn, texts: Any, name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    try:
        return pc.assume_timezone(texts.cast(pa.timestamp("us")), "UTC")
    except pa.ArrowInvalid as error:
        raise BaseFilesError(
            f"the column {column.name} of {name} holds a time that is no moment of the calendar: {error}",
            hint="leap seconds, and more digits than microseconds have, are not kept",
        ) from error


def _arrays(column: EcsvColumn, stored: Any, name: str, null: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    wanted = arrow_type(column.type)
    cells = []
    try:
        for text in stored.to_pylist():
            cell = None if text is None or text.strip() in ("", null) else json.loads(text)
            _check_shape(cell, column.shape)
            cells.append(None if _is_missing(cell, column.shape) else _plain(cell, column.datatype))
        return pa.array(cells, wanted)
    except (ValueError, TypeError, OverflowError, RecursionError, pa.ArrowException) as error:
        raise BaseFilesError(
            f"the column {column.name} of {name} holds something else than arrays of {column.datatype}: {error}",
            hint="was it edited, or not copied completely?",
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
    """Tell whether a cell is NULL: nothing at all, or an array of one shape in which everything is null."""
    if cell is None:
        return True
    leaves = np.array(cell, object).ravel().tolist() if None not in shape else [0]
    return bool(leaves) and all(one is None for one in leaves)


def _plain(value: Any, datatype: str) -> Any:  # noqa: ANN401 - JSON
    if isinstance(value, list):
        return [_plain(one, datatype) for one in value]
    if value is None:
        return None
    if datatype == "float16":
        return float(np.float16(value))
    return value


def _masked(values: Any, column: EcsvColumn, mask: Any, name: str) -> Any:  # noqa: ANN401 - pyarrow has no types
    if column.shape:
        raise BaseFilesError(
            f"the column {column.name} of {name} is an array with a mask of its own",
            hint="write the table as FITS, or with null in its arrays, which is how ECSV has it",
        )
    return pc.if_else(mask, pa.scalar(None, values.type), values)


class _Rows(io.RawIOBase):
    """Rows of CSV that pyarrow can read, piece by piece."""

    def __init__(self) -> None:
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """Read up to some bytes."""
        if not self._rest:
            self._rest = self._next()
        size = len(self._rest) if size < 0 else size
        block, self._rest = self._rest[:size], self._rest[size:]
        return block

    def _next(self) -> bytes:
        raise NotImplementedError


class _Plain(_Rows):
    """Rows that are separated by commas: as they are."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        super().__init__()
        self._file, self._name = file, name

    def _next(self) -> bytes:
        block = self._file.read(_BLOCK)
        block += self._file.readline() if block else b""
        if _COMMENT.search(block):
            raise BaseFilesError(
                f"{self._name} has a line among its rows that begins with #: a comment, or a text with line breaks",
                hint="delete comments below the header; write such texts to FITS or Parquet",
            )
        return block


class _Spaced(_Rows):
    """Rows that are separated by one blank or more: rewritten with commas."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        lines = (line.decode().strip(" \t\r\n") + "\n" for line in file)
        full = (line for line in lines if line.strip() and not line.startswith("#"))
        self._reader = csv.reader(full, delimiter=" ", skipinitialspace=True)

    def _next(self) -> bytes:
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        for _, row in zip(range(_ROWS), self._reader, strict=False):
            writer.writerow(row)
        return written.getvalue().encode()
