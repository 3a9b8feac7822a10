"""Elements of a VOTable above its table: the metadata and the catalog of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from json import dumps
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from provenn.catalogs.schema import Attribute
from provenn.errors import DefinitionError
from provenn.files.export_notes import FileNotes
from provenn.files.table_metadata import build_frame_elements
from provenn.sky.positions import find_position_attributes

__all__ = ["VOTableHead", "build_votable_head", "replace_unprintable"]

_LONGEST = 1 << 20
_SYSTEM, _CLOCK = "system", "clock"
_FILE_KEYWORDS = ("QUERY_STATUS", "QUERY", "DESCRIPTION", "EXTNAME")
"""Keywords that describe the answer of a service, or the table that was read, and not the table that is written."""
_FRAME_ATTRIBUTES = {
    **{"RADESYS": "system", "EQUINOX": "equinox", "EPOCH": "epoch"},  # noqa: PIE800 - by kind
    **{"TIMESYS": "timescale", "TREFPOS": "refposition"},  # noqa: PIE800 - by kind
    **dict.fromkeys(("MJDREF", "MJDREFI", "MJDREFF", "JDREF", "JDREFI", "JDREFF"), "timeorigin"),
}
"""The attribute of the elements COOSYS and TIMESYS that has the meaning of a keyword."""


@dataclass(frozen=True, slots=True)
class VOTableHead:
    """The elements above the table.

    Parameters
    ----------
    elements
        The elements, in the order of the standard.
    references
        The ID of the element to which a field refers, by the name of the attribute.
    """

    elements: str
    references: dict[str, str]


def replace_unprintable(text: str) -> str:
    """Return a text with blanks for characters that XML does not allow."""
    return "".join(character if character.isprintable() else " " for character in text)


def build_votable_head(notes: FileNotes, attributes: Sequence[Attribute]) -> VOTableHead:
    """Return the elements above a table, made from the notes of a file.

    The frame of positions becomes an element only if the table has positions, because no field would refer to it
    otherwise; the same holds for times. Otherwise the keywords of the frame are kept unchanged.
    """
    positioned, timed = _find_positions(attributes), _find_times(attributes)
    coordinates, clock = build_frame_elements(notes.metadata)
    coordinates, clock = coordinates if positioned else {}, clock if timed else {}
    description = f"<DESCRIPTION>{escape(replace_unprintable(notes.words))}</DESCRIPTION>\n" if notes.words else ""
    infos = _list_infos(notes, {*coordinates, *clock})
    elements = [description, *(f"<INFO name={quoteattr(name)} value={quoteattr(value)}/>\n" for name, value in infos)]
    references: dict[str, str] = {}
    for tag, name, frame, fields in (("COOSYS", _SYSTEM, coordinates, positioned), ("TIMESYS", _CLOCK, clock, timed)):
        if frame:
            elements.append(f"<{tag} ID={quoteattr(name)} {_format_attributes(frame)}/>\n")
            references |= dict.fromkeys(fields, name)
    return VOTableHead("".join(elements), references)


def _find_positions(attributes: Sequence[Attribute]) -> list[str]:
    names = [attribute.name for attribute in attributes if attribute.ucd.startswith("pos.eq.")]
    with suppress(DefinitionError):
        by_name = {attribute.name: attribute for attribute in attributes}
        names += [coordinate.name for coordinate in find_position_attributes(by_name)]
    return list(dict.fromkeys(names))


def _find_times(attributes: Sequence[Attribute]) -> list[str]:
    return [
        attribute.name
        for attribute in attributes
        if attribute.ucd.startswith("time.") or attribute.type.name.startswith("timestamp")
    ]


def _list_infos(notes: FileNotes, frame_attributes: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the names and values of INFO elements, without keywords that frame attributes express already."""
    if notes.version:
        yield "provenn", notes.version
        if notes.digest:
            yield "provenn_digest", notes.digest
            yield "provenn_name", replace_unprintable(notes.name)
        yield "provenn_origin", notes.text(_LONGEST)
    for keyword, value in notes.metadata.items():
        if keyword not in _FILE_KEYWORDS and _FRAME_ATTRIBUTES.get(keyword.upper()) not in frame_attributes:
            yield replace_unprintable(keyword), replace_unprintable(_format_value(value))


def _format_value(value: Any) -> str:  # noqa: ANN401 - JSON
    return value if isinstance(value, str) else dumps(value, ensure_ascii=False)


def _format_attributes(attributes: dict[str, str]) -> str:
    return " ".join(f"{key}={quoteattr(replace_unprintable(text))}" for key, text in attributes.items())
