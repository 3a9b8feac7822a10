"""The columns of ECSV files (APE 6) from astropy and the Gaia archive: CSV below a header of YAML.

The header gives names, types and units, so nothing is guessed. `provenn.spark.tables.ecsv_rows` reads the rows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, cast

from provenn.errors import BaseFilesError
from provenn.files.astropy_header import AstropyHeader, HeaderColumn, read_header
from provenn.files.columns import FileColumn, FileContents, check_columns
from provenn.files.csv_columns import NULL_WORDS, make_null_hint
from provenn.files.type_names import INTEGER_TYPES, restore_type
from provenn.gate.entrances import entrance
from provenn.gate.expansion import LONGEST_HEADER, MOST_AXES
from provenn.hints import NAME_FORMAT

__all__ = ["EcsvColumn", "EcsvHeader", "is_ecsv", "read_ecsv_columns", "read_ecsv_header"]

_TYPES = {
    "bool": "boolean",
    **INTEGER_TYPES,
    "float16": "float",
    "float32": "float",
    "float64": "double",
    "string": "string",
}
_SAMPLE = 1 << 20
"""The number of bytes of rows searched for words that stand for NULL."""


@dataclass(frozen=True, slots=True)
class EcsvColumn:
    """A stored column of an ECSV file.

    Parameters
    ----------
    name
        Its name in the file.
    base_name
        Its name in a base; empty for the mask of another column.
    datatype
        The type of its values, or of the values in its arrays, as named in the header.
    shape
        The lengths of the axes of its arrays, None for any length; empty for single values.
    mask
        The column that marks missing values; empty without a mask.
    json
        Whether its cells hold arbitrary JSON, kept as text.
    moment
        Whether its texts are moments in UTC.
    """

    name: str
    base_name: str
    datatype: str
    shape: tuple[int | None, ...] = ()
    mask: str = ""
    json: bool = False
    moment: bool = False

    @property
    def type(self) -> str:
        """Spark's name of the type."""
        kind = "timestamp" if self.moment else "string" if self.json else _TYPES[self.datatype]
        return "array<" * len(self.shape) + kind + ">" * len(self.shape)


@dataclass(frozen=True, slots=True)
class EcsvHeader:
    """The header of an ECSV file.

    Parameters
    ----------
    columns
        The stored columns, in order, masks among them.
    delimiter
        The separator of values: a comma or blanks.
    header
        The header in YAML.
    """

    columns: tuple[EcsvColumn, ...]
    delimiter: str
    header: AstropyHeader


def is_ecsv(beginning: bytes) -> bool:
    """Whether the beginning of a file shows ECSV, regardless of the file name.

    >>> is_ecsv(b"# %ECSV 1.0"), is_ecsv(b"hip,vmag")
    (True, False)
    """
    return re.match(rb"(\xef\xbb\xbf)?\s*#\s*%ECSV\s", beginning) is not None


@entrance("ECSV header", "expansion", "length", "types")
def read_ecsv_columns(file: IO[bytes], name: str, options: Mapping[str, str]) -> FileContents:
    """Return the columns of an open ECSV file.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        The name of the file in errors.
    options
        ``nullvalue``: the text that stands for NULL, besides the empty text.

    Raises
    ------
    BaseFilesError
        If the file is not ECSV, has a type unknown to Spark, or holds an undeclared word for NULL.
    """
    buffered: IO[bytes] = io.BufferedReader(cast("io.RawIOBase", file))
    ecsv_header = read_ecsv_header(buffered, name)
    _check_nulls(buffered.read(_SAMPLE), ecsv_header, name, options.get("nullvalue", ""))
    position_columns = ecsv_header.header.position_columns
    columns = []
    for column in ecsv_header.columns:
        if column.base_name:
            header_column = (
                position_columns[column.name][1]
                if column.name in position_columns
                else ecsv_header.header.columns[column.name]
            )
            columns.append(
                FileColumn(
                    column.base_name,
                    restore_type(column.type),
                    True,
                    header_column.unit,
                    header_column.description,
                    header_column.ucd,
                )
            )
    return FileContents(check_columns(columns, name), metadata=ecsv_header.header.meta)


def read_ecsv_header(file: IO[bytes], name: str) -> EcsvHeader:
    """Read the header of an ECSV file and the line of names below, up to the first row.

    Raises
    ------
    BaseFilesError
        If the file is not ECSV.
    """
    lines: list[str] = []
    left = LONGEST_HEADER
    names = ""
    while line := file.readline(left):
        left -= len(line)
        text = line.decode("utf-8", "replace").lstrip("\ufeff").strip()
        if text and not text.startswith("#"):
            names = text
            break
        lines.append(text[1:].removeprefix(" "))
    if not lines or not re.match(r"\s*%ECSV\s", lines[0]):
        raise BaseFilesError(f"{name} is not ECSV: it does not begin with # %ECSV", hint=NAME_FORMAT)
    if left <= 0:
        raise BaseFilesError(f"the header of {name} has more than {LONGEST_HEADER // 2**20} MB")
    header = read_header("\n".join(lines[1:]), name, "in YAML")
    if header.delimiter not in (",", " "):
        raise BaseFilesError(f"{name} separates values by {header.delimiter!r}", hint="ECSV allows commas or blanks")
    row_names = next(csv.reader([names], delimiter=header.delimiter, skipinitialspace=True), [])
    if row_names != list(header.columns):
        raise BaseFilesError(
            f"{name} names the columns {', '.join(header.columns)} in its header, and {', '.join(row_names)} below it",
            hint="it may have been edited, or not copied completely",
        )
    return EcsvHeader(
        tuple(_make_column(column, header, name) for column in header.columns.values()), header.delimiter, header
    )


def _make_column(column: HeaderColumn, header: AstropyHeader, file: str) -> EcsvColumn:
    """Return a column of the header as a stored column of ECSV."""
    is_mask = column.name in header.masks.values()
    base_name = "" if is_mask else header.position_columns.get(column.name, (column.name, None))[0]
    match = re.fullmatch(r"(\w+)(?:\[([\d,\s]|null)*\])?", column.subtype) if column.subtype else None
    if column.subtype and match is None:
        raise _make_refusal(column.name, file, column.subtype)
    json = match is not None and match[1] == "json"
    datatype = match[1] if match and not json else column.datatype
    axes = re.findall(r"\d+|null", column.subtype.partition("[")[2])
    shape = () if json else tuple(None if axis == "null" else int(axis) for axis in axes)
    if len(axes) > MOST_AXES:
        raise BaseFilesError(
            f"the column {column.name} of {file} has arrays of {len(axes)} axes, more than {MOST_AXES}"
        )
    if datatype not in _TYPES:
        raise _make_refusal(column.name, file, datatype)
    moment = column.name in header.moments and datatype == "string" and not shape
    return EcsvColumn(column.name, base_name, datatype, shape, header.masks.get(column.name, ""), json, moment)


def _make_refusal(column: str, file: str, kind: str) -> BaseFilesError:
    return BaseFilesError(
        f"the column {column} of {file} has the type {kind}, which Spark does not support",
        hint=f"ECSV has {', '.join(_TYPES)}",
    )


def _check_nulls(sample: bytes, header: EcsvHeader, name: str, null: str) -> None:
    """Refuse a word for NULL in a column without text, until the user explains the word."""
    lines = sample.decode("utf-8", "replace").splitlines(keepends=True)
    if len(sample) == _SAMPLE:
        lines.pop()  # the last line may be cut off
    plain_columns = {
        place: column for place, column in enumerate(header.columns) if column.datatype != "string" and not column.shape
    }
    for row in _split_rows(lines, header.delimiter, name):
        for place, column in plain_columns.items():
            word = row[place].strip() if place < len(row) else ""
            if word in NULL_WORDS and word != null:
                raise BaseFilesError(
                    f"{name}: the column {column.name} holds {word!r}, which is not a {column.datatype}",
                    hint=make_null_hint(word),
                )


def _split_rows(lines: Sequence[str], delimiter: str, name: str) -> Iterator[list[str]]:
    try:
        yield from csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    except csv.Error as error:
        raise BaseFilesError(f"{name} cannot be read as ECSV: {error}") from error
