"""Lists of names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["join_names"]


def join_names(names: Sequence[str], most: int = 8) -> str:
    """Return names with commas between them.

    >>> join_names(["g", "r"]), join_names(list("abcdefghij"))
    ('g, r', 'a, b, c, d, e, f, g, h and 2 more')
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more:,} more" if more > 0 else "")
