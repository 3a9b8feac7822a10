"""The columns of ECSV files (APE 6), which astropy and the Gaia archive write: CSV below a header of YAML.

The header says names, types and units, so nothing is guessed. `provenn.spark.tables.ecsv_rows` reads the rows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import IO, cast

from provenn.catalogs.astropy_header import AstropyHeader, HeaderColumn, read_header
from provenn.catalogs.csv_columns import NULL_WORDS, null_hint
from provenn.catalogs.file_columns import Column, Contents, check_columns
from provenn.catalogs.type_names import type_named
from provenn.errors import BaseFilesError

__all__ = ["EcsvColumn", "EcsvHeader", "ecsv_columns", "is_ecsv", "read_ecsv_header"]

_TYPES = {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "uint64": "decimal(20,0)",
    "float16": "float",
    "float32": "float",
    "float64": "double",
    "string": "string",
}
_LONGEST = 16 * 2**20
"""The most bytes that a header has."""
_SAMPLE = 1 << 20
"""How many bytes of rows are searched for words that stand for NULL."""


@dataclass(frozen=True, slots=True)
class EcsvColumn:
    """A stored column of an ECSV file.

    Parameters
    ----------
    name
        Its name in the file.
    called
        What a base calls it; empty for the mask of another column.
    datatype
        What the header calls the type of its values, or of those in its arrays.
    shape
        The lengths of the axes of its arrays, None for any length; empty for single values.
    mask
        The column that tells which of its values do not count; empty if there is none.
    json
        Whether its cells hold arbitrary JSON, which is kept as text.
    moment
        Whether its texts are moments in UTC.
    """

    name: str
    called: str
    datatype: str
    shape: tuple[int | None, ...] = ()
    mask: str = ""
    json: bool = False
    moment: bool = False

    @property
    def type(self) -> str:
        """Spark's name of its type."""
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
        What separates values: a comma or blanks.
    header
        What astropy wrote.
    """

    columns: tuple[EcsvColumn, ...]
    delimiter: str
    header: AstropyHeader


def is_ecsv(beginning: bytes) -> bool:
    """Tell whether a file that begins so is ECSV, whatever its name says.

    >>> is_ecsv(b"# %ECSV 1.0"), is_ecsv(b"hip,vmag")
    (True, False)
    """
    return re.match(rb"(\xef\xbb\xbf)?\s*#\s*%ECSV\s", beginning) is not None


def ecsv_columns(file: IO[bytes], name: str, options: Mapping[str, str]) -> Contents:
    """Return the columns of an open ECSV file.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        What to call it in errors.
    options
        ``nullvalue``: what stands for NULL besides nothing at all.

    Raises
    ------
    BaseFilesError
        If it is none, holds a type that Spark does not have, or a word for NULL that nobody has said.
    """
    buffered: IO[bytes] = io.BufferedReader(cast("io.RawIOBase", file))
    found = read_ecsv_header(buffered, name)
    _check_nulls(buffered.read(_SAMPLE), found, name, options.get("nullvalue", ""))
    renamed = found.header.renamed
    columns = []
    for one in found.columns:
        if one.called:
            said = renamed[one.name][1] if one.name in renamed else found.header.columns[one.name]
            columns.append(Column(one.called, type_named(one.type), True, said.unit, said.description, said.ucd))
    return Contents(check_columns(columns, name), metadata=found.header.meta)


def read_ecsv_header(file: IO[bytes], name: str) -> EcsvHeader:
    """Read the header of an ECSV file, and the line of names below it: the rows are what comes next.

    Raises
    ------
    BaseFilesError
        If it is none.
    """
    lines: list[str] = []
    left = _LONGEST
    names = ""
    while line := file.readline(left):
        left -= len(line)
        text = line.decode("utf-8", "replace").lstrip("\ufeff").strip()
        if text and not text.startswith("#"):
            names = text
            break
        lines.append(text[1:].removeprefix(" "))
    if not lines or not re.match(r"\s*%ECSV\s", lines[0]):
        raise BaseFilesError(f"{name} is not ECSV: it does not begin with # %ECSV", hint="say what it is with format=")
    if left <= 0:
        raise BaseFilesError(f"the header of {name} has more than {_LONGEST // 2**20} MB")
    header = read_header("\n".join(lines[1:]), name, "in YAML")
    if header.delimiter not in (",", " "):
        raise BaseFilesError(f"{name} separates values by {header.delimiter!r}", hint="ECSV has commas or blanks")
    given = next(csv.reader([names], delimiter=header.delimiter, skipinitialspace=True), [])
    if given != list(header.columns):
        raise BaseFilesError(
            f"{name} names the columns {', '.join(header.columns)} in its header, and {', '.join(given)} below it",
            hint="was it edited, or not copied completely?",
        )
    return EcsvHeader(tuple(_column(one, header, name) for one in header.columns.values()), header.delimiter, header)


def _column(given: HeaderColumn, header: AstropyHeader, file: str) -> EcsvColumn:
    is_mask = given.name in header.masks.values()
    called = "" if is_mask else header.renamed.get(given.name, (given.name, None))[0]
    match = re.fullmatch(r"(\w+)(?:\[([\d,\s]|null)*\])?", given.subtype) if given.subtype else None
    if given.subtype and match is None:
        raise _refused(given.name, file, given.subtype)
    json = match is not None and match[1] == "json"
    datatype = match[1] if match and not json else given.datatype
    axes = re.findall(r"\d+|null", given.subtype.partition("[")[2])
    shape = () if json else tuple(None if axis == "null" else int(axis) for axis in axes)
    if datatype not in _TYPES:
        raise _refused(given.name, file, datatype)
    moment = given.name in header.moments and datatype == "string" and not shape
    return EcsvColumn(given.name, called, datatype, shape, header.masks.get(given.name, ""), json, moment)


def _refused(column: str, file: str, kind: str) -> BaseFilesError:
    return BaseFilesError(
        f"the column {column} of {file} is of the type {kind}, which Spark does not have",
        hint=f"ECSV has {', '.join(_TYPES)}",
    )


def _check_nulls(sample: bytes, header: EcsvHeader, name: str, null: str) -> None:
    """Refuse a word for NULL in a column that holds no text, until it is said what that word is."""
    lines = sample.decode("utf-8", "replace").splitlines(keepends=True)
    if len(sample) == _SAMPLE:
        lines.pop()  # it may go on
    plain = {place: one for place, one in enumerate(header.columns) if one.datatype != "string" and not one.shape}
    for row in csv.reader(lines, delimiter=header.delimiter, skipinitialspace=True):
        for place, column in plain.items():
            word = row[place].strip() if place < len(row) else ""
            if word in NULL_WORDS and word != null:
                raise BaseFilesError(
                    f"{name}: the column {column.name} holds {word!r}, which is no {column.datatype}",
                    hint=null_hint(word),
                )
