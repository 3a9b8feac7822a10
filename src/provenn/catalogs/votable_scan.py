"""What a VOTable must not do: declare entities, which grow or lead elsewhere, or have its data lie elsewhere.

Whoever sends one could otherwise have this machine read its files, call addresses, or run out of memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any
from xml.parsers import expat

from provenn.errors import BaseFilesError

__all__ = ["Prolog", "TableFound", "check_votable"]

_BLOCK = 1 << 16
_DATA = ("TABLEDATA", "BINARY", "BINARY2", "FITS", "PARQUET")


class Prolog:
    """The beginning of an XML file, up to its first element; it must not declare anything.

    Parameters
    ----------
    name
        What to call the file in errors.
    """

    def __init__(self, name: str) -> None:
        self._over = False
        self._parser = _parser(name, self._end)

    def feed(self, data: bytes) -> None:
        """Look at some more bytes.

        Raises
        ------
        BaseFilesError
            If there is a document type, which is where entities are declared.
        """
        if not self._over:
            self._parser.Parse(data)

    def _end(self, _tag: str, _given: dict[str, str]) -> None:
        self._over = True


@dataclass(frozen=True, slots=True)
class TableFound:
    """A table of a VOTable.

    Parameters
    ----------
    number
        Its number, the first being 0.
    data
        How its rows are written: ``TABLEDATA``, ``BINARY``, ``BINARY2`` or ``FITS``; empty if there are none.
    """

    number: int
    data: str


def check_votable(file: IO[bytes], name: str, wanted: str = "0") -> TableFound:
    """Go through a whole VOTable. Return the first table that has a number, an ID or a name.

    Raises
    ------
    BaseFilesError
        If it is not complete, declares entities, has data elsewhere, or has no such table.
    """
    odd: list[str] = []
    called: list[set[str | None]] = []
    written: dict[int, str] = {}

    def look(tag: str, given: dict[str, str]) -> None:
        what = tag.rpartition(":")[2]
        if what == "TABLE":
            odd.clear()
            called.append({str(len(called)), given.get("ID"), given.get("name")})
        elif what in _DATA and called:
            written.setdefault(len(called) - 1, what)
        if what == "FIELD" and re.fullmatch(r".*x.*\*", given.get("arraysize", "")):
            odd.append(given.get("name", ""))
        elif what in ("BINARY", "BINARY2") and odd:
            # astropy counts the outer arrays, STILTS all values, and one would read what the other never wrote.
            raise BaseFilesError(
                f"the column {odd[0]} of {name} holds arrays of arrays of different lengths, which readers count in "
                "two ways",
                hint="write them as text, with STILTS: ofmt=votable-tabledata",
            )
        elif what == "STREAM" and "href" in given:
            raise BaseFilesError(
                f"the data of {name} lie elsewhere, at {given['href']}",
                hint="provenn follows no links in files: fetch them, and write one file that holds all, with STILTS",
            )

    parser = _parser(name, look)
    try:
        while block := file.read(_BLOCK):
            parser.Parse(block)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise BaseFilesError(f"{name} cannot be read as VOTable: {error}", hint="was it copied completely?") from error
    found = next((number for number, names in enumerate(called) if wanted in names), None)
    if found is None:
        raise BaseFilesError(f"there is no table {wanted} in {name}")
    return TableFound(found, written.get(found, ""))


def _parser(name: str, start: Callable[[str, dict[str, str]], None]) -> Any:  # noqa: ANN401 - expat has no types
    def refuse(*_: object) -> None:
        raise BaseFilesError(
            f"{name} declares a document type, which a VOTable needs no more, and which can lead elsewhere",
            hint="remove <!DOCTYPE …> from it if you trust it",
        )

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    return parser
