"""What the parser reads and ADQL does not have: such a query is refused before anything of it is read over."""

from __future__ import annotations

from sqlglot import exp

from provenn.criteria.syntax import find_position
from provenn.errors import QueryError
from provenn.queries.function_names import get_function_name

__all__ = ["check_grammar"]

_CLAUSES = {
    "locks": "FOR UPDATE",
    "sort": "SORT BY",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "windows": "WINDOW",
    "qualify": "QUALIFY",
    "hint": "hints",
    "into": "SELECT INTO",
    "sample": "TABLESAMPLE",
    "prewhere": "PREWHERE",
}
_OPERATORS: dict[type[exp.Expr], str] = {
    exp.RegexpLike: "RLIKE",
    exp.RegexpILike: "RLIKE",
    exp.SimilarTo: "SIMILAR TO",
    exp.Glob: "GLOB",
    exp.NullSafeEQ: "IS NOT DISTINCT FROM",
    exp.NullSafeNEQ: "IS DISTINCT FROM",
}
_TESTS = ("contains", "intersects")
_NUMBERS = (exp.Literal, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.DPipe, exp.HexString)


def check_grammar(tree: exp.Expr, text: str) -> None:
    """Refuse clauses and operators that ADQL does not have, and values where a condition belongs.

    Raises
    ------
    QueryError
        If the query has one; it says where.
    """
    for node in tree.walk():
        if isinstance(node, exp.Query):
            clause = next((word for key, word in _CLAUSES.items() if node.args.get(key)), None)
            if clause is not None:
                raise QueryError(f"ADQL has no {clause}", text, find_position(node), hint="leave it out")
        elif type(node) in _OPERATORS:
            hint = "use LIKE, ILIKE, =, <> and IS NULL"
            raise QueryError(f"ADQL has no {_OPERATORS[type(node)]}", text, find_position(node), hint=hint)
        elif isinstance(node, exp.Star) and any(node.args.values()):
            raise QueryError("ADQL has * alone", text, find_position(node), hint="list the columns")
        elif isinstance(node, exp.In) and not any(node.args.get(key) for key in ("expressions", "query", "field")):
            raise QueryError("IN lists no values", text, find_position(node), hint="write at least one, or NULL")
        for condition in _list_conditions(node):
            _check_condition(condition, text)


def _list_conditions(node: exp.Expr) -> list[exp.Expr]:
    """Return the parts of a node that are conditions by their place."""
    match node:
        case exp.Where() | exp.Having() | exp.Not():
            return [node.this]
        case exp.Connector():
            return [node.this, node.expression]
        case exp.Join():
            return [node.args["on"]] if node.args.get("on") is not None else []
        case exp.Case():
            return [branch.this for branch in node.args["ifs"]] if node.args.get("this") is None else []
    return []


def _check_condition(tree: exp.Expr, text: str) -> None:
    """Refuse a value in place of a condition; a column may hold truth values."""
    inner = tree.unnest()
    name = get_function_name(inner)
    if name in _TESTS:
        problem, hint = f"{name.upper()} is 1 or 0, and no condition", f"compare it: {name.upper()}(…) = 1"
        raise QueryError(problem, text, find_position(inner), hint=hint)
    if isinstance(inner, _NUMBERS):
        raise QueryError("a condition is expected here, not a value", text, find_position(inner), hint="compare it")
