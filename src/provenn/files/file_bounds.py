"""The bounds of columns in each file of a base catalog, in stored form: plans skip files by them.

A text holds the bounds of a column in all files, in the order of the files' fingerprints, after a digest that shows
later changes. Names of files do not matter: a file that was renamed keeps its bounds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from provenn.criteria import Type
from provenn.digests import canonical_json, content_digest
from provenn.files.column_bounds import PARTS, PIXELS, ColumnBounds, decode_bounds, encode_bounds

__all__ = [
    "are_sealed",
    "decode_file_bounds",
    "decode_file_parts",
    "decode_file_pixels",
    "encode_file_bounds",
    "encode_file_parts",
]

_MOST_BOUNDS = 200_000
"""How many bounds of files are kept for a base catalog: those of the first columns."""


def encode_file_bounds(
    files: str, bounds: Sequence[Mapping[str, ColumnBounds]], names: Iterable[str], pixels: Sequence[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the bounds of columns in each file in stored form, by column.

    Parameters
    ----------
    files
        The digest of the files.
    bounds
        The bounds of each file by column, in the order of the fingerprints.
    names
        The columns, in the order in which they are wanted.
    pixels
        For files in HATS: the pixel of each file, as `provenn.files.hats` states it; empty for others.
    """
    known = ((name, [_encode_column(file.get(name)) for file in bounds]) for name in names)
    columns = [(name, texts) for name, texts in known if any(texts)]
    if pixels:
        columns.insert(0, (PIXELS, list(pixels)))
    most = _MOST_BOUNDS // max(len(bounds), 1)
    return tuple((name, canonical_json([_compute_seal(files, name, texts), *texts])) for name, texts in columns[:most])


def _encode_column(bounds: ColumnBounds | None) -> str:
    """Return the bounds of a column in a file in stored form; empty if nothing is known."""
    return next((text for _, text in encode_bounds({"": bounds})), "") if bounds is not None else ""


def decode_file_bounds(files: str, column: str, text: str, count: int, kind: Type) -> list[ColumnBounds]:
    """Return the bounds of a column in each of some files; they say nothing if the text was changed.

    Parameters
    ----------
    files
        The digest of the files.
    column
        The column.
    text
        The stored form.
    count
        The number of files.
    kind
        The type of the column.
    """
    return [decode_bounds(stored, kind) for stored in _open_texts(files, column, text, count)]


def decode_file_pixels(files: str, text: str, count: int) -> list[str]:
    """Return the pixels of each of some files in HATS in stored form; empty texts if the text was changed."""
    return _open_texts(files, PIXELS, text, count)


def encode_file_parts(files: str, core: str, division: str, parts: Sequence[str]) -> tuple[str, str]:
    """Return the name and the stored form of the parts in which files have the same keys as a core.

    Parameters
    ----------
    files
        The digest of the files.
    core
        The digest of the core.
    division
        What identifies the division of the core into parts: its files may have been in other parts at another time.
    parts
        The part of each file, in the order of the fingerprints.
    """
    column, texts = PARTS + core, [division, *parts]
    return column, canonical_json([_compute_seal(files, column, texts), *texts])


def decode_file_parts(files: str, core: str, text: str, count: int) -> tuple[str, list[str]]:
    """Return the division of a core and the part of each of some files; empty texts if the text was changed."""
    division, *parts = _open_texts(files, PARTS + core, text, count + 1)
    return division, parts


def are_sealed(files: str, column: str, text: str) -> bool:
    """Return whether the stored form of bounds is as it was written for some files and a column."""
    return _unseal(files, column, text) is not None


def _open_texts(files: str, column: str, text: str, count: int) -> list[str]:
    """Return the texts of each file; empty texts if the stored form was changed, or is no such form."""
    texts = _unseal(files, column, text)
    return [str(stored) for stored in texts] if texts is not None and len(texts) == count else [""] * count


def _unseal(files: str, column: str, text: str) -> list[str] | None:
    """Return the texts of the files; None if the stored form was changed, or is no such form."""
    try:
        seal, *texts = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    return texts if seal == _compute_seal(files, column, texts) else None


def _compute_seal(files: str, column: str, texts: list[str]) -> str:
    return content_digest("bounds of files", [files, column, texts])
