"""Elements of a VOTable above its table: what is said of it as a whole, and which catalog it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from json import dumps
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from provenn.catalogs.file_notes import FileNotes
from provenn.catalogs.schema import Attribute
from provenn.catalogs.table_metadata import written_frame
from provenn.errors import DefinitionError
from provenn.sky.positions import positions

__all__ = ["VOTableHead", "printable", "votable_head"]

_LONGEST = 1 << 20
_SYSTEM, _CLOCK = "system", "clock"
_NOT_OURS = ("QUERY_STATUS", "QUERY", "DESCRIPTION", "EXTNAME")
"""What is said of the answer of a service that was read, or of the table as it was."""
_SAID = {
    **{"RADESYS": "system", "EQUINOX": "equinox", "EPOCH": "epoch"},  # noqa: PIE800 - by kind
    **{"TIMESYS": "timescale", "TREFPOS": "refposition"},  # noqa: PIE800 - by kind
    **dict.fromkeys(("MJDREF", "MJDREFI", "MJDREFF", "JDREF", "JDREFI", "JDREFF"), "timeorigin"),
}
"""Which attribute of the elements for frames says what a keyword does."""


@dataclass(frozen=True, slots=True)
class VOTableHead:
    """What stands above the table.

    Parameters
    ----------
    elements
        The elements, in the order that the standard has.
    references
        To which of them fields refer, by the name of the attribute.
    """

    elements: str
    references: dict[str, str]


def printable(text: str) -> str:
    """Return a text without characters that XML cannot have."""
    return "".join(one if one.isprintable() else " " for one in text)


def votable_head(notes: FileNotes, attributes: Sequence[Attribute]) -> VOTableHead:
    """Return what stands above a table: what the file says of itself.

    A frame for positions is told by an element of its own only if the table has positions, and likewise for times:
    what no field refers to would be about nothing. Otherwise its keywords are kept as they are.
    """
    placed, timed = _positions(attributes), _times(attributes)
    coordinates, clock = written_frame(notes.metadata)
    coordinates, clock = coordinates if placed else {}, clock if timed else {}
    described = f"<DESCRIPTION>{escape(printable(notes.words))}</DESCRIPTION>\n" if notes.words else ""
    infos = _infos(notes, {*coordinates, *clock})
    elements = [described, *(f"<INFO name={quoteattr(name)} value={quoteattr(value)}/>\n" for name, value in infos)]
    references: dict[str, str] = {}
    for tag, name, given, fields in (("COOSYS", _SYSTEM, coordinates, placed), ("TIMESYS", _CLOCK, clock, timed)):
        if given:
            elements.append(f"<{tag} ID={quoteattr(name)} {_written(given)}/>\n")
            references |= dict.fromkeys(fields, name)
    return VOTableHead("".join(elements), references)


def _positions(attributes: Sequence[Attribute]) -> list[str]:
    found = [one.name for one in attributes if one.ucd.startswith("pos.eq.")]
    with suppress(DefinitionError):
        found += [one.name for one in positions({one.name: one for one in attributes})]
    return list(dict.fromkeys(found))


def _times(attributes: Sequence[Attribute]) -> list[str]:
    return [one.name for one in attributes if one.ucd.startswith("time.") or one.type.name.startswith("timestamp")]


def _infos(notes: FileNotes, said: set[str]) -> Iterator[tuple[str, str]]:
    if notes.version:
        yield "provenn", notes.version
        if notes.digest:
            yield "provenn_digest", notes.digest
            yield "provenn_name", printable(notes.name)
        yield "provenn_origin", notes.text(_LONGEST)
    for keyword, value in notes.metadata.items():
        if keyword not in _NOT_OURS and _SAID.get(keyword.upper()) not in said:
            yield printable(keyword), printable(_text(value))


def _text(value: Any) -> str:  # noqa: ANN401 - JSON
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)


def _written(given: dict[str, str]) -> str:
    return " ".join(f"{key}={quoteattr(printable(text))}" for key, text in given.items())
