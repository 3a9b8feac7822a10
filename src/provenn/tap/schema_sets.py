"""Set operations in SQLite with their meaning in SQL.

SQLite combines SELECTs strictly from the left, and takes neither parentheses nor the order and limit of a part. So each
part that is more than a plain SELECT becomes ``SELECT * FROM (part)``.
"""

from __future__ import annotations

from typing import Final

from sqlglot import exp

from provenn.criteria.syntax import find_position
from provenn.errors import QueryError

__all__ = ["check_set_operations", "nest_set_operations"]

_MODIFIERS: Final = ("order", "limit", "offset", "with_")


def check_set_operations(tree: exp.Expr, text: str) -> None:
    """Refuse set operations that SQLite lacks.

    Raises
    ------
    QueryError
        If there is one; it says where.
    """
    for operation in tree.find_all(exp.Intersect, exp.Except):
        if not operation.args.get("distinct", True):
            problem = f"{operation.key.upper()} ALL is not supported for TAP_SCHEMA"
            raise QueryError(problem, text, find_position(operation.expression), hint="leave out ALL")


def nest_set_operations(tree: exp.Expr) -> exp.Expr:
    """Return a query whose parts of set operations are SELECTs that SQLite combines from the left.

    Sound: the parser has grouped the parts, INTERSECT before UNION and EXCEPT. A chain on the left stays as it is, since
    SQLite computes it first; any other group is nested, and ``SELECT *`` of a query is the bag of its rows.
    """
    for operation in list(tree.find_all(exp.SetOperation))[::-1]:  # the innermost first
        for side in ("this", "expression"):
            part = operation.args[side]
            is_chain = side == "this" and isinstance(part, exp.SetOperation)
            if not (isinstance(part, exp.Select) or is_chain) or any(part.args.get(key) for key in _MODIFIERS):
                operation.set(side, _select_from(part))
    return _select_from(tree) if isinstance(tree, exp.Subquery) else tree


def _select_from(part: exp.Expr) -> exp.Select:
    """Return ``SELECT * FROM (part)``."""
    query = part if isinstance(part, exp.Subquery) else exp.Subquery(this=part.copy())
    return exp.Select(expressions=[exp.Star()], from_=exp.From(this=query.copy()))
