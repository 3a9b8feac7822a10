"""Checks of a VOTable for entities, and for data outside the file.

Entities can grow, or refer to other places. Without these checks, the sender of a VOTable could make this machine read
its files, call addresses, or run out of memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod
from typing import IO, Any
from xml.parsers import expat

from provenn.errors import BaseFilesError
from provenn.gate.entrances import entrance
from provenn.gate.expansion import check_claim

__all__ = ["Prolog", "ScannedTable", "check_votable"]

_BLOCK = 1 << 16
_DATA = ("TABLEDATA", "BINARY", "BINARY2", "FITS", "PARQUET")
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
    """

    number: int
    data: str


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
    nested_columns: list[str] = []
    text_arrays: list[str] = []
    identifiers: list[set[str | None]] = []
    data_formats: dict[int, str] = {}
    rows: list[int] = []
    widths: list[int] = []

    def visit_element(tag: str, attributes: dict[str, str]) -> None:
        element = tag.rpartition(":")[2]
        if element == "TABLE":
            nested_columns.clear()
            identifiers.append({str(len(identifiers)), attributes.get("ID"), attributes.get("name")})
            rows.append(_parse_number(attributes.get("nrows", "0")))
            widths.append(_POINTER)
            counted[0] = 0
        elif element == "TR" and rows:
            counted[0] += 1
            rows[-1] = max(rows[-1], counted[0])
        elif element == "FIELD" and widths:
            widths[-1] += _compute_width(attributes)
        elif element in _DATA and identifiers:
            data_formats.setdefault(len(identifiers) - 1, element)
        if element in ("FIELD", "PARAM") and _is_text_array(attributes):
            text_arrays.append(attributes.get("name", ""))
        if element == "FIELD" and re.fullmatch(r".*x.*\*", attributes.get("arraysize", "")):
            nested_columns.append(attributes.get("name", ""))
        elif element in ("BINARY", "BINARY2") and nested_columns:
            # astropy counts the outer arrays, STILTS all values: each would misread the files of the other.
            raise BaseFilesError(
                f"the column {nested_columns[0]} of {name} holds nested arrays of different lengths, which "
                "programs read differently",
                hint="write them as text, with STILTS: ofmt=votable-tabledata",
            )
        elif element == "STREAM" and "href" in attributes:
            raise BaseFilesError(
                f"the data of {name} are in another file, {attributes['href']}",
                hint="provenn does not follow links in files: fetch the data, and write one complete file with STILTS",
            )

    counted = [0]
    parser = _make_parser(name, visit_element)
    try:
        while block := file.read(_BLOCK):
            parser.Parse(block)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise BaseFilesError(
            f"{name} cannot be read as VOTable: {error}", hint="check that it was copied completely"
        ) from error
    number = next((position for position, names in enumerate(identifiers) if wanted in names), None)
    if number is None:
        raise BaseFilesError(f"{name} has no table {wanted}")
    if data_formats.get(number) != "FITS":  # FITS states the number of rows itself
        if text_arrays:
            raise BaseFilesError(
                f"{text_arrays[0]} of {name} is an array of texts, which astropy does not read in VOTables",
                hint="write the table as FITS, with STILTS: stilts tcopy ofmt=fits",
            )
        check_claim(rows[number] * widths[number], packed, f"the table that {name} announces")
    return ScannedTable(number, data_formats.get(number, ""))


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
