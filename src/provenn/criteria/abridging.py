"""Shorten criteria for display: long lists of values, long MOCs and long texts lose their middle."""

from __future__ import annotations

import re
from hashlib import blake2b

from provenn.sky import abridged as abridge_mocs

__all__ = ["abridged"]

_LONGEST = 2_000
_CHARACTERS_KEPT = 1_000
_ITEMS_SHOWN = 3
_VALUE = r"(?:[^'(),]|'(?:[^'\\]|\\.)*'|\([^()']*(?:'(?:[^'\\]|\\.)*'[^()']*)*\))+"
_LIST = re.compile(rf"(\bIN\s*\()({_VALUE}(?:,{_VALUE}){{20,}})\)", re.IGNORECASE | re.DOTALL)
_ITEM = re.compile(_VALUE, re.DOTALL)


def abridged(text: str) -> str:
    """Return a criterion with the longest parts left out.

    A hash replaces each omitted part, so that different criteria stay distinguishable.

    >>> abridged("hip IN (1, 2)")
    'hip IN (1, 2)'
    >>> abridged(f"hip IN ({', '.join(map(str, range(100)))}) AND vmag < 6")
    'hip IN (0, 1, 2, … 97 more, 4f544a) AND vmag < 6'
    """

    def shorten_list(match: re.Match[str]) -> str:
        values = _ITEM.findall(match[2])
        shown = ", ".join(value.strip() for value in values[:_ITEMS_SHOWN])
        return f"{match[1]}{shown}, … {len(values) - _ITEMS_SHOWN:,} more, {_compute_mark(match[2])})"

    text = _LIST.sub(shorten_list, abridge_mocs(text))
    return text if len(text) <= _LONGEST else f"{text[:_CHARACTERS_KEPT]} … {_compute_mark(text)}"


def _compute_mark(text: str) -> str:
    """Return a short hash to distinguish abridged texts."""
    return blake2b(text.encode(), digest_size=3).hexdigest()
