"""The form of calls of regions in criteria, for modules that need no region."""

from __future__ import annotations

import re
from hashlib import blake2b

__all__ = ["FUNCTIONS", "abridged"]

FUNCTIONS: dict[str, tuple[int, int | None]] = {
    "in_box": (6, 6),
    "in_cone": (5, 5),
    "in_moc": (3, 3),
    "in_polygon": (8, None),
}
"""The least and the greatest number of arguments by function; the first two arguments are the coordinates."""

_LONG_MOC = re.compile(r"(in_moc\([^']*')([^']{48})([^']{48,})'")


def abridged(text: str) -> str:
    """Return a criterion with the cells of long MOCs shortened; a hash distinguishes MOCs that begin alike.

    >>> abridged("in_moc(ra, dec, '3/1-4')")
    "in_moc(ra, dec, '3/1-4')"
    """

    def abridge_cells(match: re.Match[str]) -> str:
        digest = blake2b(match[3].encode(), digest_size=3).hexdigest()
        return f"{match[1]}{match[2].rpartition(' ')[0]} … {digest}'"

    return _LONG_MOC.sub(abridge_cells, text)
