"""Criteria for people: long lists of values, long MOCs and long texts with their middle left out."""

from __future__ import annotations

import re
from hashlib import blake2b

from provenn.sky import abridged as without_cells_of_mocs

__all__ = ["abridged"]

_LONGEST = 2_000
_KEPT = 1_000
_SHOWN = 3
_VALUE = r"(?:[^'(),]|'(?:[^'\\]|\\.)*'|\([^()']*(?:'(?:[^'\\]|\\.)*'[^()']*)*\))+"
_LIST = re.compile(rf"(\bIN\s*\()({_VALUE}(?:,{_VALUE}){{20,}})\)", re.IGNORECASE | re.DOTALL)
_ONE = re.compile(_VALUE, re.DOTALL)


def abridged(text: str) -> str:
    """Return a criterion with its longest parts left out; what stands for them tells one from the other.

    >>> abridged("hip IN (1, 2)")
    'hip IN (1, 2)'
    >>> abridged(f"hip IN ({', '.join(map(str, range(100)))}) AND vmag < 6")
    'hip IN (0, 1, 2, … 97 more, 4f544a) AND vmag < 6'
    """

    def short(found: re.Match[str]) -> str:
        values = _ONE.findall(found[2])
        some = ", ".join(value.strip() for value in values[:_SHOWN])
        return f"{found[1]}{some}, … {len(values) - _SHOWN:,} more, {_mark(found[2])})"

    text = _LIST.sub(short, without_cells_of_mocs(text))
    return text if len(text) <= _LONGEST else f"{text[:_KEPT]} … {_mark(text)}"


def _mark(text: str) -> str:
    return blake2b(text.encode(), digest_size=3).hexdigest()
