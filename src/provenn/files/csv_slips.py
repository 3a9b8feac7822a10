"""Remedies for text files that are not as provenn expects CSV files: other separators, encodings or formats."""

from __future__ import annotations

from codecs import getincrementaldecoder
from shlex import quote
from typing import Final

from provenn.hints import Hint

__all__ = ["find_other_separator", "suggest_reading"]

_MAGIC: Final = {b"PAR1": "parquet", b"SIMPLE": "fits", b"ORC": "orc", b"<?xml": "votable", b"# %ECSV": "ecsv"}
"""How files of other formats begin."""
_FOREIGN: Final = {b"PK\x03\x04": "a ZIP archive or a workbook", b"\x89HDF": "HDF5", b"\x1f\x8b": "compressed by gzip"}
"""How files begin that provenn does not read as they are."""
_SEPARATORS: Final = (";", "\t", "|")


def suggest_reading(beginning: bytes) -> Hint:
    r"""Return how to read a file that cannot be read as CSV, by its beginning.

    >>> suggest_reading(b"hip;vmag\n1;2,5\n").command
    "its columns are separated by ';': --option 'sep=;'"
    >>> suggest_reading("hip,name\n1,Androm\u00e8de\n".encode("latin-1"))
    'it is not in UTF-8: options={"encoding": "ISO-8859-1"}, or convert it'
    """
    for start, format_name in _MAGIC.items():
        if beginning.startswith(start):
            return Hint(f'it begins like {format_name}: format="{format_name}"', command=f"add --format {format_name}")
    for start, what in _FOREIGN.items():
        if beginning.startswith(start):
            return Hint(f"it is {what}: convert it to Parquet or CSV first")
    if not beginning.strip():
        return Hint("check that it was copied completely")
    if beginning[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return Hint("it is in UTF-16: convert it to UTF-8 first")
    if not _is_utf8(beginning):
        return Hint(
            'it is not in UTF-8: options={"encoding": "ISO-8859-1"}, or convert it',
            command="it is not in UTF-8: --option encoding=ISO-8859-1, or convert it",
        )
    if beginning[:1] == b"#":
        return Hint('skip comment lines: options={"comment": "#"}', command="skip comment lines: --option 'comment=#'")
    separator = find_other_separator(beginning.decode(errors="replace").split("\n", 1)[0])
    if separator:
        option = quote(f"sep={separator}")
        return Hint(
            f'its columns are separated by {separator!r}: options={{"sep": {separator!r}}}',
            command=f"its columns are separated by {separator!r}: --option {option}",
        )
    return Hint(
        'correct the file, or describe it: options={"sep": …, "quote": …, "comment": …}',
        command="correct the file, or describe it: --option KEY=VALUE, with sep, quote or comment",
    )


def find_other_separator(header: str) -> str:
    r"""Return what separates the columns of a header that has no comma, or nothing.

    >>> find_other_separator("hip|vmag"), find_other_separator("hip,vmag;x"), find_other_separator("hip")
    ('|', '', '')
    """
    return "" if "," in header else next((mark for mark in _SEPARATORS if mark in header.strip()), "")


def _is_utf8(beginning: bytes) -> bool:
    """Tell whether bytes are the beginning of a text in UTF-8, perhaps cut inside a character."""
    try:
        getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        return False
    return True
