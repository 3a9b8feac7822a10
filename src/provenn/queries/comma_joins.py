"""The mark of joins that a query writes as a comma."""

from __future__ import annotations

from sqlglot import exp

__all__ = ["is_comma", "mark_comma"]

_COMMA = "comma"


def mark_comma(join: exp.Join) -> None:
    """Mark a join that is written as a comma, where the dialect lets JOIN bind more tightly; Spark does not."""
    join.meta[_COMMA] = True


def is_comma(join: exp.Join) -> bool:
    """Tell whether a join is written as a comma."""
    return bool(join.meta.get(_COMMA))
