"""Elements of a VOTable above its table: what is said of it as a whole, and which catalog it is."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from provenn.catalogs.file_notes import FileNotes
from provenn.catalogs.table_metadata import is_of_frame, written_frame

__all__ = ["SYSTEM", "printable", "votable_elements"]

SYSTEM = "system"
"""The ID of the element that says in which frame positions are."""

_LONGEST = 1 << 20
_NOT_OURS = ("QUERY_STATUS", "QUERY", "DESCRIPTION", "EXTNAME")
"""What is said of the answer of a service that was read, or of the table as it was."""


def printable(text: str) -> str:
    """Return a text without characters that XML cannot have."""
    return "".join(one if one.isprintable() else " " for one in text)


def votable_elements(notes: FileNotes) -> str:
    """Return the elements that say what a file says of itself, in the order that the standard has."""
    coordinates, clock = written_frame(notes.metadata)
    described = f"<DESCRIPTION>{escape(printable(notes.words))}</DESCRIPTION>\n" if notes.words else ""
    systems = [f"<COOSYS ID={quoteattr(SYSTEM)} {_attributes(coordinates)}/>\n"] if coordinates else []
    systems += [f'<TIMESYS ID="clock" {_attributes(clock)}/>\n'] if clock else []
    infos = [f"<INFO name={quoteattr(name)} value={quoteattr(value)}/>\n" for name, value in _infos(notes)]
    return described + "".join(infos) + "".join(systems)


def _infos(notes: FileNotes) -> Iterator[tuple[str, str]]:
    if notes.version:
        yield "provenn", notes.version
        if notes.digest:
            yield "provenn_digest", notes.digest
            yield "provenn_name", printable(notes.name)
        yield "provenn_origin", notes.text(_LONGEST)
    coordinates, clock = written_frame(notes.metadata)
    for keyword, value in notes.metadata.items():
        said = is_of_frame(keyword) and (coordinates or clock) and _is_said(keyword, coordinates, clock)
        if keyword not in _NOT_OURS and not said:
            yield printable(keyword), printable(_text(value))


def _is_said(keyword: str, coordinates: dict[str, str], clock: dict[str, str]) -> bool:
    """Tell whether a keyword is said by the elements for frames."""
    names = {"RADESYS": "system", "EQUINOX": "equinox", "EPOCH": "epoch"}
    times = {"TIMESYS": "timescale", "TREFPOS": "refposition"}
    name = keyword.upper()
    return names.get(name) in coordinates or times.get(name) in clock or ("REF" in name and "timeorigin" in clock)


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)


def _attributes(given: dict[str, str]) -> str:
    return " ".join(f"{key}={quoteattr(printable(text))}" for key, text in given.items())
