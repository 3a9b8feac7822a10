"""Keys for tables that have none: a source is a row of a file, known by what the file holds and the place of the row.

That is stable, because the order of rows is part of what a file holds. A corrected file has other sources, and so has a
file that is read in another way: another table of a FITS file, another header of a CSV file.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from provenn.catalogs.digest import content_digest
from provenn.catalogs.file_columns import Column
from provenn.criteria import parse_type
from provenn.errors import BaseFilesError, KeyColumnsError

if TYPE_CHECKING:
    from provenn.catalogs.files import Files

__all__ = ["file_keys", "with_row_key"]

_NAMES = ("provenn_file", "provenn_row")
_TYPES = ("string", "bigint")
_DIGITS = 32
"""128 bits: no two files of all that there are have the same by chance."""


def with_row_key(files: Files) -> Files:
    """Return files with two columns more, which identify each row: the file, and the place of the row in it, from 0.

    Raises
    ------
    KeyColumnsError
        If rows cannot be told apart, because two files hold the same.
    BaseFilesError
        If it is not known what the files hold.
    """
    if files.basis not in ("content", "store") or files.format == "table":
        raise BaseFilesError(
            f"the rows of {files.location} cannot be known by what their file holds: "
            + ("a table of Spark has no files" if files.format == "table" else "only metadata of the files are known"),
            hint='name key columns: key=…; or leave out trust="metadata"',
        )
    _require_different(files.fingerprints)
    names = tuple(_free(name, [column.name for column in files.columns]) for name in _NAMES)
    added = (Column(name, parse_type(kind), nullable=False) for name, kind in zip(names, _TYPES, strict=True))
    return replace(files, columns=(*files.columns, *added), row_key=names)


def _require_different(fingerprints: Sequence[tuple[str, str]]) -> None:
    seen: dict[str, str] = {}
    for name, text in fingerprints:
        if text in seen:
            raise KeyColumnsError(
                f"{seen[text]} and {name} hold the same, so that their rows cannot be told apart",
                hint="take one of them away; or name key columns",
            )
        seen[text] = name


def _free(name: str, taken: Collection[str]) -> str:
    """Return a name that no column has, in upper or lower case.

    >>> _free("provenn_row", ["hip", "Provenn_Row"])
    'provenn_row_'
    """
    folded = {one.casefold() for one in taken}
    while name in folded:
        name += "_"
    return name


def file_keys(files: Files, fingerprints: Mapping[str, str]) -> dict[str, str]:
    """Return the first half of the keys of all rows of each file, by the file's name.

    Parameters
    ----------
    files
        The files; how they are read is part of the keys.
    fingerprints
        Those of the files, by name.
    """
    read = [files.format, [list(option) for option in files.options]]
    return {name: content_digest("row key", [text, *read])[:_DIGITS] for name, text in fingerprints.items()}
