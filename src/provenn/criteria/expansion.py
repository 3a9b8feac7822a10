"""Limit the expanded size of a criterion during reading.

Some forms repeat their parts: ``nullif(a, b)`` is ``CASE WHEN a = b THEN NULL ELSE a END``, and nested twenty times,
`a` would be written a million times. So the reader sets a limit, and every composite counts its parts. A composite
beyond the limit is refused before construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol

from provenn.criteria.refusal import Refusal

__all__ = ["DEEPEST", "MOST_PARTS", "HasExtent", "check_size", "compute_extent", "get_size_limit", "limit_expansion"]

MOST_PARTS = 5_000
"""The maximum number of values and conditions in an expanded text, unless the text has more characters."""

DEEPEST = 200
"""The maximum nesting depth of values and conditions."""

_LIMIT: ContextVar[int | None] = ContextVar("provenn_expansion", default=None)


class HasExtent(Protocol):
    """A value or condition with a known size."""

    @property
    def extent(self) -> tuple[int, int]:
        """The number of values and conditions, including this one, and the nesting depth."""


def get_size_limit(text: str) -> int:
    """Return the maximum number of values and conditions in the expansion of a text.

    Every value or condition takes at least one character, so canonical text can always be read again.
    """
    return max(MOST_PARTS, len(text))


@contextmanager
def limit_expansion(limit: int) -> Iterator[None]:
    """Refuse larger composites within a `with` block."""
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def compute_extent(parts: Iterable[HasExtent]) -> tuple[int, int]:
    """Return the extent of a composite of these parts.

    Raises
    ------
    Refusal
        If the composite would be larger, or nested deeper, than the limit allows.
    """
    size, depth = 1, 0
    for part in parts:
        inner_size, inner_depth = part.extent
        size += inner_size
        depth = max(depth, inner_depth)
    if _LIMIT.get() is not None:
        check_size(size)
        if depth >= DEEPEST:
            raise Refusal("this is nested too deeply", "split it into several selections, or derive part of it first")
    return size, depth + 1


def check_size(size: int) -> None:
    """Refuse a size beyond the limit."""
    limit = _LIMIT.get()
    if limit is not None and size > limit:
        raise Refusal(
            f"this expands to more than {limit:,} conditions",
            "nullif, CASE, IN and BETWEEN repeat their arguments: split it into several selections, or derive "
            "the inner part as an attribute",
        )
