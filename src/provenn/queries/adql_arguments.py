"""Arguments of calls in ADQL, marked with what takes them, so that their types are checked once they are known.

A call is rewritten before its names have a meaning, and the rewritten call may hide an argument in a cast.
"""

from __future__ import annotations

from typing import Final, Literal

from sqlglot import exp

__all__ = ["ValueKind", "find_mark", "mark_argument", "remove_marks"]

ValueKind = Literal["number", "text", "truth", "moment", "array", "bytes"]
"""A kind of values, which are compared only with each other."""

_MARK: Final = "taken_by"


def mark_argument(tree: exp.Expr, function: str, kind: ValueKind) -> exp.Expr:
    """Return an argument in parentheses that say which function takes it, and what the function takes."""
    marked = exp.Paren(this=tree.copy())
    marked.meta[_MARK] = (function.upper(), kind)
    return marked


def find_mark(tree: exp.Expr) -> tuple[str, ValueKind] | None:
    """Return the function that takes an argument, and what it takes; None for anything else."""
    return tree.meta.get(_MARK) if isinstance(tree, exp.Paren) else None


def remove_marks(tree: exp.Expr) -> exp.Expr:
    """Return an expression without the parentheses of `mark_argument`; the given tree is changed."""
    holder = exp.Paren(this=tree)
    for node in list(holder.find_all(exp.Paren)):
        if find_mark(node) is not None:
            node.replace(node.this)
    unmarked: exp.Expr = holder.this
    unmarked.pop()
    return unmarked
