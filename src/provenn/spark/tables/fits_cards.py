"""Cards in the header of a FITS table: what is said of the table as a whole, and which catalog it is."""

from __future__ import annotations

import re
from typing import Any

from provenn.catalogs.file_notes import FileNotes
from provenn.catalogs.fits_columns import PROVENN, STRUCTURE

__all__ = ["add_cards", "ascii_text"]

_LONGEST, _LINES = 32 * 1024, 200
"""How many characters the origin has in JSON, and how many lines in words."""

_KEYWORD = re.compile(r"[A-Z0-9_-]{1,8}")
_NOT_OURS = re.compile(r"DATE|CHECKSUM|DATASUM|EXTVER|EXTLEVEL|INHERIT|ORIGIN")
"""Keywords about the file that was read, which do not hold for the one that is written."""


def ascii_text(text: str) -> str:
    """Return a text in the characters that FITS has.

    >>> ascii_text("5 µm")
    '5 ?m'
    """
    return "".join(one if " " <= one <= "~" else "?" for one in text)


def add_cards(header: Any, notes: FileNotes) -> None:  # noqa: ANN401 - astropy has no types
    """Add to a header what a file says of itself."""
    for keyword, value in notes.metadata.items():
        _add_keyword(header, keyword, value)
    if not notes.version:
        return
    header["PRVVERS"] = (ascii_text(notes.version), "version of provenn that wrote this")
    if notes.digest:
        header["PRVDIGST"] = notes.digest
        header["PRVNAME"] = ascii_text(notes.name)
    header["PRVJSON"] = notes.text(_LONGEST)
    for number, line in enumerate(notes.lines()):
        if number == _LINES:
            header["HISTORY"] = f"{PROVENN}and more: see PRVJSON"
            break
        header["HISTORY"] = f"{PROVENN}{ascii_text(line)[:1000]}"


def _add_keyword(header: Any, keyword: str, value: Any) -> None:  # noqa: ANN401 - astropy has no types; JSON
    if keyword in ("HISTORY", "COMMENT", "comments"):
        for line in value if isinstance(value, list) else [value]:
            header["COMMENT" if keyword == "comments" else keyword] = ascii_text(str(line))[:1000]
        return
    name = keyword.upper()
    if name in header or not _KEYWORD.fullmatch(name) or _NOT_OURS.fullmatch(name) or STRUCTURE.fullmatch(name):
        return
    if isinstance(value, dict) and set(value) == {"value", "unit"}:
        header[name] = (ascii_text(str(value["value"])), f"[{ascii_text(str(value['unit']))}]")
    elif isinstance(value, bool | float) or (isinstance(value, int) and abs(value) < 2**63):
        header[name] = value
    elif isinstance(value, str):
        header[name] = ascii_text(value)
