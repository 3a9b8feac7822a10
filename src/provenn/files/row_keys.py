"""Keys for tables without a key: a source is a row, identified by the content of the file and the row's position.

The key is stable, because the order of rows is part of the content of a file. A corrected file has different sources,
and so has a file read differently: a different table of a FITS file, a different header of a CSV file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from provenn.criteria import parse_type
from provenn.digests import content_digest
from provenn.errors import BaseFilesError, KeyColumnsError
from provenn.files.columns import FileColumn
from provenn.hints import Hint

if TYPE_CHECKING:
    from provenn.files.file_set import Files

__all__ = ["add_row_key", "check_different", "make_file_keys"]

_NAMES = ("provenn_file", "provenn_row")
_TYPES = ("string", "bigint")
_DIGITS = 32
"""128 bits: a chance collision between two files is practically impossible."""


def add_row_key(files: Files) -> Files:
    """Return files with two key columns added: the file, and the position of the row in the file, from 0.

    Raises
    ------
    KeyColumnsError
        If two files have the same content, so that rows cannot be told apart.
    BaseFilesError
        If the content of the files is not known.
    """
    if files.basis not in ("content", "store") or files.format == "table":
        raise BaseFilesError(
            f"the rows of {files.location} cannot be identified by the content of their file: "
            + (
                "a table of Spark has no files"
                if files.format == "table"
                else "only the metadata of the files are known"
            ),
            hint=Hint(
                'name key columns: key=…; or omit trust="metadata"',
                command="name key columns: --key COLUMN; or omit --trust metadata",
            ),
        )
    check_different(files.fingerprints)
    names = tuple(_find_free_name(name, [column.name for column in files.columns]) for name in _NAMES)
    key_columns = (FileColumn(name, parse_type(kind), nullable=False) for name, kind in zip(names, _TYPES, strict=True))
    return replace(files, columns=(*files.columns, *key_columns), row_key=names)


def check_different(fingerprints: Sequence[tuple[str, str]]) -> None:
    """Refuse files with equal fingerprints: pairs of the name and the fingerprint of each file.

    Raises
    ------
    KeyColumnsError
        If two files have the same content, so that rows cannot be told apart.
    """
    seen: dict[str, str] = {}
    for name, text in fingerprints:
        if text in seen:
            raise KeyColumnsError(
                f"{seen[text]} and {name} have the same content, so their rows cannot be told apart",
                hint="remove one of them, or name key columns",
            )
        seen[text] = name


def _find_free_name(name: str, taken: Collection[str]) -> str:
    """Return a name unlike the name of any column, in upper or lower case.

    >>> _find_free_name("provenn_row", ["hip", "Provenn_Row"])
    'provenn_row_'
    """
    folded = {column.casefold() for column in taken}
    while name in folded:
        name += "_"
    return name


def make_file_keys(files: Files, fingerprints: Mapping[str, str]) -> dict[str, str]:
    """Return the first half of the keys of all rows in each file, by file name.

    Parameters
    ----------
    files
        The files; format and options are part of the keys.
    fingerprints
        The fingerprints of the files, by name.
    """
    reading = [files.format, [list(option) for option in files.options]]
    return {name: content_digest("row key", [text, *reading])[:_DIGITS] for name, text in fingerprints.items()}
