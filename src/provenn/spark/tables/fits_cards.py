"""Cards in the header of a FITS table: the metadata and the catalog of the table."""

from __future__ import annotations

import re
from typing import Any

from provenn.files.export_notes import FileNotes
from provenn.files.fits_columns import PROVENN, STRUCTURE

__all__ = ["add_cards", "replace_non_ascii"]

_LONGEST, _LINES = 32 * 1024, 200
"""The most characters of the origin as JSON, and the most lines of the origin in words."""

_KEYWORD = re.compile(r"[A-Z0-9_-]{1,8}")
_FILE_KEYWORDS = re.compile(r"DATE|CHECKSUM|DATASUM|EXTVER|EXTLEVEL|INHERIT|ORIGIN")
"""Keywords that describe the file that was read, and not the file that is written."""


def replace_non_ascii(text: str) -> str:
    """Return a text with a question mark for each character that FITS lacks.

    >>> replace_non_ascii("5 µm")
    '5 ?m'
    """
    return "".join(character if " " <= character <= "~" else "?" for character in text)


def add_cards(header: Any, notes: FileNotes) -> None:  # noqa: ANN401 - astropy has no types
    """Add the notes of a file to a header."""
    for keyword, value in notes.metadata.items():
        _add_keyword(header, keyword, value)
    if not notes.version:
        return
    header["PRVVERS"] = (replace_non_ascii(notes.version), "version of provenn that wrote this")
    if notes.digest:
        header["PRVDIGST"] = notes.digest
        header["PRVNAME"] = replace_non_ascii(notes.name)
    header["PRVJSON"] = notes.text(_LONGEST)
    for number, line in enumerate(notes.lines()):
        if number == _LINES:
            header["HISTORY"] = f"{PROVENN}and more: see PRVJSON"
            break
        header["HISTORY"] = f"{PROVENN}{replace_non_ascii(line)[:1000]}"


def _add_keyword(header: Any, keyword: str, value: Any) -> None:  # noqa: ANN401 - astropy has no types; JSON
    if keyword in ("HISTORY", "COMMENT", "comments"):
        for line in value if isinstance(value, list) else [value]:
            header["COMMENT" if keyword == "comments" else keyword] = replace_non_ascii(str(line))[:1000]
        return
    name = keyword.upper()
    if name in header or not _KEYWORD.fullmatch(name) or _FILE_KEYWORDS.fullmatch(name) or STRUCTURE.fullmatch(name):
        return
    if isinstance(value, dict) and set(value) == {"value", "unit"}:
        header[name] = (replace_non_ascii(str(value["value"])), f"[{replace_non_ascii(str(value['unit']))}]")
    elif isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 2**63):
        header[name] = value
    elif isinstance(value, str):
        header[name] = replace_non_ascii(value)
