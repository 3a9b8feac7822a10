"""Checks of a VOTable for entities, and for data outside the file.

Entities can grow, or refer to other places. Without these checks, the sender of a VOTable could make this machine read
its files, call addresses, or run out of memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from math import prod
from typing import IO, Any
from xml.parsers import expat

from provenn.errors import BaseFilesError
from provenn.files.votable_streams import Stream, compute_row_size
from provenn.gate.entrances import entrance
from provenn.gate.expansion import check_claim

__all__ = ["Prolog", "ScannedTable", "check_votable"]

_BLOCK = 1 << 16
_STREAMED = ("BINARY", "BINARY2")
_DATA = ("TABLEDATA", *_STREAMED, "FITS", "PARQUET")
_SIZES = {"short": 2, "int": 4, "float": 4, "char": 4, "unicodeChar": 4, "long": 8, "double": 8}
_SIZES |= {"floatComplex": 8, "doubleComplex": 16}
_POINTER = 8


class Prolog:
    """The beginning of an XML file, up to the first element; declarations are refused.

    Parameters
    ----------
    name
        The name of the file in errors.
    """

    def __init__(self, name: str) -> None:
        self._over = False
        self._parser = _make_parser(name, self._mark_end)

    def check_bytes(self, data: bytes) -> None:
        """Check more bytes.

        Raises
        ------
        BaseFilesError
            If there is a document type, which could declare entities.
        """
        if not self._over:
            self._parser.Parse(data)

    def _mark_end(self, _tag: str, _attributes: dict[str, str]) -> None:
        self._over = True


@dataclass(frozen=True, slots=True)
class ScannedTable:
    """A table of a VOTable.

    Parameters
    ----------
    number
        Its number, from 0.
    data
        The format of its rows: ``TABLEDATA``, ``BINARY``, ``BINARY2`` or ``FITS``; empty without rows.
    rows
        The number of its rows as far as it is announced or seen.
    """

    number: int
    data: str
    rows: int = 0


@entrance("VOTable", "expansion", "types")
def check_votable(file: IO[bytes], name: str, wanted: str = "0", packed: int = 0) -> ScannedTable:
    """Check a whole VOTable. Return the first table with the requested number, ID or name.

    Parameters
    ----------
    file, name
        The file, at its beginning, and its name in errors.
    wanted
        The number, the ID or the name of the table.
    packed
        The stored size of the file in bytes, compressed or not.

    Raises
    ------
    BaseFilesError
        If the file is cut off, declares entities, has data elsewhere, or lacks the table.
    ExpansionError
        If the fields claim more than a file of this size may hold: an empty cell of a field of a million values has a
        million values.
    """
    scan = _Scan(name)
    scan.read(file)
    number = next((place for place, table in enumerate(scan.tables) if wanted in table.identifiers), None)
    if number is None:
        raise BaseFilesError(f"{name} has no table {wanted}")
    table = scan.tables[number]
    if table.data != "FITS":  # FITS states the number of rows itself
        if scan.text_arrays:
            raise BaseFilesError(
                f"{scan.text_arrays[0]} of {name} is an array of texts, which astropy does not read in VOTables",
                hint="write the table as FITS, with STILTS: stilts tcopy ofmt=fits",
            )
        check_claim(table.rows * table.width, packed, f"the table that {name} announces")
    if table.data in _STREAMED and table.stream.size % (compute_row_size(table.fields, table.data) or 1):
        raise BaseFilesError(f"the data of {name} end within a row", hint="check that it was copied completely")
    return ScannedTable(number, table.data, table.rows)


@dataclass(slots=True)
class _TableState:
    """What is known of a table so far."""

    identifiers: set[str | None]
    rows: int
    """The number of rows as announced, or of those that were seen if they are more."""
    rows_seen: int = 0
    width: int = _POINTER
    data: str = ""
    fields: list[dict[str, str]] = dataclass_field(default_factory=list)
    stream: Stream = dataclass_field(default_factory=Stream)


class _Scan:
    """The tables of a VOTable, found by a walk through its elements."""

    def __init__(self, name: str) -> None:
        self.tables: list[_TableState] = []
        self.text_arrays: list[str] = []
        self._name = name
        self._nested_columns: list[str] = []
        self._parser = _make_parser(name, self._enter)
        self._parser.EndElementHandler = self._leave

    def read(self, file: IO[bytes]) -> None:
        """Walk through a whole file."""
        try:
            while block := file.read(_BLOCK):
                self._parser.Parse(block)
            self._parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise BaseFilesError(
                f"{self._name} cannot be read as VOTable: {error}", hint="check that it was copied completely"
            ) from error

    def _enter(self, tag: str, attributes: dict[str, str]) -> None:
        element = tag.rpartition(":")[2]
        if element == "TABLE":
            self._nested_columns.clear()
            identifiers = {str(len(self.tables)), attributes.get("ID"), attributes.get("name")}
            self.tables.append(_TableState(identifiers, _parse_number(attributes.get("nrows", "0"))))
        elif self.tables:
            self._enter_part(self.tables[-1], element, attributes)
        if element in ("FIELD", "PARAM") and _is_text_array(attributes):
            self.text_arrays.append(attributes.get("name", ""))
        if element == "FIELD" and re.fullmatch(r".*x.*\*", attributes.get("arraysize", "")):
            self._nested_columns.append(attributes.get("name", ""))
        elif element in _STREAMED and self._nested_columns:
            # astropy counts the outer arrays, STILTS all values: each would misread the files of the other.
            raise BaseFilesError(
                f"the column {self._nested_columns[0]} of {self._name} holds nested arrays of different lengths, which "
                "programs read differently",
                hint="write them as text, with STILTS: ofmt=votable-tabledata",
            )
        elif element == "STREAM" and "href" in attributes:
            raise BaseFilesError(
                f"the data of {self._name} are in another file, {attributes['href']}",
                hint="provenn does not follow links in files: fetch the data, and write one complete file with STILTS",
            )

    def _enter_part(self, table: _TableState, element: str, attributes: dict[str, str]) -> None:
        if element == "TR":
            table.rows_seen += 1
            table.rows = max(table.rows, table.rows_seen)
        elif element == "FIELD":
            table.width += _compute_width(attributes)
            table.fields.append(attributes)
        elif element in _DATA:
            table.data = table.data or element
        elif element == "STREAM":
            self._parser.CharacterDataHandler = table.stream.count

    def _leave(self, tag: str) -> None:
        if tag.rpartition(":")[2] == "STREAM":
            self._parser.CharacterDataHandler = None  # texts of cells are many, and not counted


def _is_text_array(attributes: Mapping[str, str]) -> bool:
    return attributes.get("datatype") in ("char", "unicodeChar") and "x" in attributes.get("arraysize", "")


def _compute_width(field: Mapping[str, str]) -> int:
    """Return the number of bytes of a value in memory, with the marker of missing values."""
    shape = field.get("arraysize", "1")
    if "*" in shape:  # limited by the data in the file
        return _POINTER
    size = _SIZES.get(field.get("datatype", ""), 1) + 1
    return max(_POINTER, size * prod(_parse_number(axis) for axis in shape.split("x")))


def _parse_number(text: str) -> int:
    """Return the integer in a text; 0 for any other text."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def _make_parser(name: str, start: Callable[[str, dict[str, str]], None]) -> Any:  # noqa: ANN401 - expat has no types
    def refuse(*_: object) -> None:
        raise BaseFilesError(
            f"{name} declares a document type, which a VOTable does not need and which can refer to other files",
            hint="remove <!DOCTYPE …> from it if you trust it",
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    return parser
