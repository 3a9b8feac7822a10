"""How many bytes the rows of a VOTable in BINARY and BINARY2 have, to notice data that end within a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Final

__all__ = ["Stream", "compute_row_size"]

_SIZES: Final = {
    **dict.fromkeys(("boolean", "unsignedByte", "char"), 1),
    **dict.fromkeys(("short", "unicodeChar"), 2),
    **dict.fromkeys(("int", "float"), 4),
    **dict.fromkeys(("long", "double", "floatComplex"), 8),
    "doubleComplex": 16,
}


class Stream:
    """The texts of a stream in base64, counted as they come."""

    def __init__(self) -> None:
        self._characters = 0

    def count(self, text: str) -> None:
        """Count a piece of the text; blanks and fillers are no data."""
        self._characters += len(text) - sum(map(text.count, "=\n\r\t "))

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self._characters * 3 // 4


def compute_row_size(fields: Sequence[Mapping[str, str]], data: str) -> int | None:
    """Return the bytes of a row; None if they differ from row to row, or are not known.

    Parameters
    ----------
    fields
        The attributes of the fields of a table.
    data
        ``BINARY``, or ``BINARY2``, in which each row begins with a bit for each field that is NULL.
    """
    sizes = [_compute_cell_size(field) for field in fields]
    known = [size for size in sizes if size is not None]
    return sum(known) + (-(-len(fields) // 8) if data == "BINARY2" else 0) if len(known) == len(sizes) else None


def _compute_cell_size(field: Mapping[str, str]) -> int | None:
    axes = field.get("arraysize", "1").split("x")
    if not all(axis.strip().isdecimal() for axis in axes):
        return None
    number = prod(map(int, axes))
    if field.get("datatype") == "bit":
        return -(-number // 8)
    size = _SIZES.get(field.get("datatype", ""))
    return None if size is None else size * number
