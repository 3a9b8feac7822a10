"""The columns of a table in a VOTable (version 1.1 to 1.5): read up to where its data begin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any
from xml.etree import ElementTree as ET
from xml.parsers import expat

from provenn.catalogs.file_columns import Column, Contents, check_columns
from provenn.catalogs.table_metadata import frame_keywords, frame_number
from provenn.catalogs.type_names import type_named
from provenn.catalogs.votable_scan import Prolog
from provenn.errors import BaseFilesError

__all__ = ["votable_columns"]

_BLOCK = 1 << 16
_END = re.compile(rb"</\s*([\w.-]+:)?VOTABLE\s*>")

_TYPES = {
    "boolean": "boolean",
    "bit": "boolean",
    "unsignedByte": "smallint",
    "short": "smallint",
    "int": "int",
    "long": "bigint",
    "float": "float",
    "double": "double",
    "char": "string",
    "unicodeChar": "string",
    "floatComplex": "struct<re:float,im:float>",
    "doubleComplex": "struct<re:double,im:double>",
}


def votable_columns(file: IO[bytes], name: str, options: Mapping[str, str], size: int | None = None) -> Contents:
    """Return the columns of a table in an open VOTable, and how many rows it has if it says so.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        What to call it in errors.
    options
        ``table``: the number of the table, the first being 0, or its ID or name; by default, the first one.
    size
        How many bytes the file has, if that is known; then it can seek.

    Raises
    ------
    BaseFilesError
        If there is no such table, or the file is not complete.
    """
    if size is not None and not _is_whole(file, size):
        raise BaseFilesError(f"{name} does not end as a VOTable does", hint="was it copied completely?")
    wanted = options.get("table", "0")
    tables: list[str] = []
    inside = False
    columns: list[Column] = []
    about = _About()
    try:
        for event, element in _events(file, name):
            tag = element.tag.rpartition("}")[2]
            if len(tables) == 0 and event == "start" and tag == "VOTABLE":
                tables.append("")
            elif not tables:
                raise BaseFilesError(f"{name} is not a VOTable", hint="say what it is with format=")
            if event == "start" and tag == "TABLE":
                called = {str(len(tables) - 1), element.get("ID"), element.get("name")}
                inside = wanted in called
                rows = element.get("nrows")
                tables.append(element.get("name") or element.get("ID") or str(len(tables) - 1))
            elif event == "end" and tag == "FIELD" and inside:
                columns.append(_column(element, name))
            elif inside and tag in ("DATA", "TABLE"):
                return Contents(check_columns(columns, name), int(rows) if rows else None, metadata=about.keywords())
            about.look(event, tag, element, inside=inside)
            if event == "end" and tag != "DESCRIPTION":
                element.clear()
    except (ET.ParseError, expat.ExpatError, ValueError, OSError) as error:
        raise BaseFilesError(f"{name} cannot be read as VOTable: {error}") from error
    hint = f"there are the tables {', '.join(tables[1:])}" if tables[1:] else ""
    raise BaseFilesError(f"there is no table {wanted} in {name}", hint=hint)


class _About:
    """What a VOTable says of a table as a whole, gathered on the way to its data."""

    def __init__(self) -> None:
        self._path: list[str] = []
        self._file: dict[str, Any] = {}
        self._resource: dict[str, Any] = {}
        self._table: dict[str, Any] = {}
        self._systems: list[dict[str, str]] = []
        self._clocks: list[dict[str, str]] = []

    def look(self, event: str, tag: str, element: ET.Element, *, inside: bool) -> None:
        """Look where an element starts or ends; `inside` tells whether that is in the table that is meant."""
        if event == "start":
            self._path.append(tag)
            if tag == "RESOURCE":
                self._resource = {}
            return
        self._path.pop()
        above = self._path[-1] if self._path else ""
        into = {"VOTABLE": self._file, "RESOURCE": self._resource, "TABLE": self._table if inside else None}.get(above)
        if tag == "COOSYS":
            self._systems.append(dict(element.attrib))
        elif tag == "TIMESYS":
            self._clocks.append(dict(element.attrib))
        elif into is not None and tag == "DESCRIPTION":
            into[tag] = " ".join((element.text or "").split())
        elif into is not None and tag in ("INFO", "PARAM") and (name := element.get("name") or element.get("ID")):
            value = element.get("value") or " ".join((element.text or "").split())
            if not name.startswith("provenn"):
                into[name] = {"value": value, "unit": element.get("unit")} if element.get("unit") else value

    def keywords(self) -> dict[str, Any]:
        """Return it, by keyword; how positions and times are measured under the keywords of FITS."""
        said = {**self._file, **self._resource, **self._table}
        numbers = {key: number for key, text in said.items() if (number := frame_number(key, text)) is not None}
        return {**said, **numbers, **frame_keywords(self._systems, self._clocks)}


def _is_whole(file: IO[bytes], size: int) -> bool:
    """Tell whether an open file ends as a VOTable does; in encodings of several bytes, take it so."""
    wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    file.seek(max(0, size - _BLOCK))
    whole = wide or _END.search(file.read(_BLOCK)) is not None
    file.seek(0)
    return whole


def _events(file: IO[bytes], name: str) -> Iterator[Any]:
    """Yield where elements start and end, some bytes at a time."""
    prolog = Prolog(name)
    parser: ET.XMLPullParser[Any] = ET.XMLPullParser(("start", "end"))
    while block := file.read(_BLOCK):
        prolog.feed(block)
        parser.feed(block)
        yield from parser.read_events()
    parser.close()


def _column(field: ET.Element, file: str) -> Column:
    name = field.get("name") or field.get("ID") or ""
    datatype = field.get("datatype", "")
    if datatype not in _TYPES:
        raise BaseFilesError(f"the column {name} of {file} is of an unknown type {datatype!r}")
    axes = [one for one in field.get("arraysize", "1").split("x") if one]
    depth = len(axes) - 1 if datatype in ("char", "unicodeChar") or axes == ["1"] else len(axes)
    kind = "array<" * depth + _TYPES[datatype] + ">" * depth
    said = next((one.text or "" for one in field if one.tag.rpartition("}")[2] == "DESCRIPTION"), "")
    unit, ucd = field.get("unit", ""), field.get("ucd", "")
    return Column(name, type_named(kind), nullable=True, unit=unit, description=" ".join(said.split()), ucd=ucd)
