"""The columns of a table in a VOTable (version 1.1 to 1.5): read up to the start of the data."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import IO, Any
from xml.etree import ElementTree as ET
from xml.parsers import expat

from provenn.errors import BaseFilesError
from provenn.files.columns import FileColumn, FileContents, check_columns
from provenn.files.table_metadata import parse_frame_number, read_frame_keywords
from provenn.files.type_names import restore_type
from provenn.files.votable_scan import Prolog
from provenn.gate.entrances import entrance
from provenn.gate.expansion import MOST_AXES
from provenn.hints import NAME_FORMAT

__all__ = ["read_votable_columns"]

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


@entrance("VOTable header", "expansion", "types")
def read_votable_columns(
    file: IO[bytes], name: str, options: Mapping[str, str], size: int | None = None
) -> FileContents:
    """Return the columns of a table in an open VOTable, and the number of rows if stated.

    Parameters
    ----------
    file
        The file, at its beginning.
    name
        The name of the file in errors.
    options
        ``table``: the number of the table, from 0, or its ID or name; by default, the first table.
    size
        The number of bytes of the file, if known; then the file must allow seeking.

    Raises
    ------
    BaseFilesError
        If the table does not exist, or the file is cut off.
    """
    if size is not None and not _is_complete(file, size):
        raise BaseFilesError(f"{name} does not end like a VOTable", hint="check that it was copied completely")
    wanted = options.get("table", "0")
    tables: list[str] = []
    in_table = False
    columns: list[FileColumn] = []
    metadata_reader = _MetadataReader()
    try:
        for event, element in _parse_events(file, name):
            tag = element.tag.rpartition("}")[2]
            if len(tables) == 0 and event == "start" and tag == "VOTABLE":
                tables.append("")
            elif not tables:
                raise BaseFilesError(f"{name} is not a VOTable", hint=NAME_FORMAT)
            if event == "start" and tag == "TABLE":
                identifiers = {str(len(tables) - 1), element.get("ID"), element.get("name")}
                in_table = wanted in identifiers
                rows = element.get("nrows")
                tables.append(element.get("name") or element.get("ID") or str(len(tables) - 1))
            elif event == "end" and tag == "FIELD" and in_table:
                columns.append(_make_column(element, name))
            elif in_table and tag in ("DATA", "TABLE"):
                return FileContents(
                    check_columns(columns, name),
                    int(rows) if rows else None,
                    metadata=metadata_reader.collect_keywords(),
                )
            metadata_reader.observe(event, tag, element, in_table=in_table)
            if event == "end" and tag != "DESCRIPTION":
                element.clear()
    except (ET.ParseError, expat.ExpatError, ValueError, OSError) as error:
        raise BaseFilesError(f"{name} cannot be read as VOTable: {error}") from error
    hint = f"there are the tables {', '.join(tables[1:])}" if tables[1:] else ""
    raise BaseFilesError(f"{name} has no table {wanted}", hint=hint)


class _MetadataReader:
    """A collector of the metadata of a table, fed with the elements before the data."""

    def __init__(self) -> None:
        self._path: list[str] = []
        self._file: dict[str, Any] = {}
        self._resource: dict[str, Any] = {}
        self._table: dict[str, Any] = {}
        self._systems: list[dict[str, str]] = []
        self._clocks: list[dict[str, str]] = []

    def observe(self, event: str, tag: str, element: ET.Element, *, in_table: bool) -> None:
        """Process the start or end of an element; `in_table` says whether the element is in the requested table."""
        if event == "start":
            self._path.append(tag)
            if tag == "RESOURCE":
                self._resource = {}
            return
        self._path.pop()
        parent_tag = self._path[-1] if self._path else ""
        target = {"VOTABLE": self._file, "RESOURCE": self._resource, "TABLE": self._table if in_table else None}.get(
            parent_tag
        )
        if tag == "COOSYS":
            self._systems.append(dict(element.attrib))
        elif tag == "TIMESYS":
            self._clocks.append(dict(element.attrib))
        elif target is not None and tag == "DESCRIPTION":
            target[tag] = " ".join((element.text or "").split())
        elif target is not None and tag in ("INFO", "PARAM") and (name := element.get("name") or element.get("ID")):
            value = element.get("value") or " ".join((element.text or "").split())
            if not name.startswith("provenn"):
                target[name] = {"value": value, "unit": element.get("unit")} if element.get("unit") else value

    def collect_keywords(self) -> dict[str, Any]:
        """Return the metadata by keyword; frames of positions and times under the keywords of FITS."""
        metadata = {**self._file, **self._resource, **self._table}
        numbers = {
            key: number for key, text in metadata.items() if (number := parse_frame_number(key, text)) is not None
        }
        return {**metadata, **numbers, **read_frame_keywords(self._systems, self._clocks)}


def _is_complete(file: IO[bytes], size: int) -> bool:
    """Whether an open file ends like a VOTable; files in encodings of several bytes are assumed complete."""
    is_wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    file.seek(max(0, size - _BLOCK))
    is_complete = is_wide or _END.search(file.read(_BLOCK)) is not None
    file.seek(0)
    return is_complete


def _parse_events(file: IO[bytes], name: str) -> Iterator[Any]:
    """Yield the starts and ends of elements, reading the file in blocks."""
    prolog = Prolog(name)
    parser: ET.XMLPullParser[Any] = ET.XMLPullParser(("start", "end"))
    while block := file.read(_BLOCK):
        prolog.check_bytes(block)
        parser.feed(block)
        yield from parser.read_events()
    parser.close()


def _make_column(field: ET.Element, file: str) -> FileColumn:
    name = field.get("name") or field.get("ID") or ""
    datatype = field.get("datatype", "")
    if datatype not in _TYPES:
        raise BaseFilesError(f"the column {name} of {file} has the unknown type {datatype!r}")
    axes = [axis for axis in field.get("arraysize", "1").split("x") if axis]
    if len(axes) > MOST_AXES:
        raise BaseFilesError(f"the column {name} of {file} has arrays of {len(axes)} axes, more than {MOST_AXES}")
    depth = len(axes) - 1 if datatype in ("char", "unicodeChar") or axes == ["1"] else len(axes)
    kind = "array<" * depth + _TYPES[datatype] + ">" * depth
    description = next((child.text or "" for child in field if child.tag.rpartition("}")[2] == "DESCRIPTION"), "")
    unit, ucd = field.get("unit", ""), field.get("ucd", "")
    return FileColumn(
        name, restore_type(kind), nullable=True, unit=unit, description=" ".join(description.split()), ucd=ucd
    )
