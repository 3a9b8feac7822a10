"""The grammar of ADQL: what the parser reads beyond it is refused before anything of it is read over.

The parser reads SQL of many kinds. So this module lists what ADQL has, and not what it lacks: each kind of node in a
syntax tree with those of its parts that may be there.
"""

from __future__ import annotations

import re
from typing import Final

from sqlglot import exp

from provenn.criteria.syntax import find_position
from provenn.errors import QueryError
from provenn.queries.comma_joins import is_comma
from provenn.queries.function_names import get_function_name

__all__ = ["check_grammar"]

_BINARY: Final = frozenset(["this", "expression"])
_SET: Final = frozenset(["this", "expression", "distinct", "order", "offset", "limit", "with_"])
_GRAMMAR: Final[dict[type[exp.Expr], frozenset[str]]] = {
    **dict.fromkeys((exp.Union, exp.Intersect, exp.Except), _SET),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor), _BINARY),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is, exp.And, exp.Or), _BINARY),
    **dict.fromkeys((exp.Neg, exp.Not, exp.BitwiseNot, exp.Paren, exp.Where, exp.Having), frozenset(["this"])),
    **dict.fromkeys((exp.From, exp.Exists, exp.Any, exp.HexString, exp.Boolean), frozenset(["this"])),
    **dict.fromkeys((exp.Avg, exp.Max, exp.Min, exp.Sum, exp.DataTypeParam), frozenset(["this"])),
    **dict.fromkeys((exp.Order, exp.Group, exp.Distinct), frozenset(["expressions"])),
    **dict.fromkeys((exp.Like, exp.ILike), _BINARY | {"negate"}),
    **dict.fromkeys((exp.Div, exp.DPipe), _BINARY | {"safe", "typed"}),
    **dict.fromkeys((exp.Limit, exp.Offset), frozenset(["this", "expression", "expressions", "offset"])),
    exp.Alias: frozenset(["this", "alias"]),
    exp.Anonymous: frozenset(["this", "expressions"]),
    exp.Between: frozenset(["this", "low", "high"]),
    exp.CTE: frozenset(["this", "alias"]),
    exp.Case: frozenset(["this", "ifs", "default"]),
    exp.Cast: frozenset(["this", "to"]),
    exp.Coalesce: frozenset(["this", "expressions"]),
    exp.Collate: _BINARY,  # refused by the reader of expressions, with a reason of its own
    exp.Column: frozenset(["this", "table", "db", "catalog"]),
    exp.Count: frozenset(["this", "big_int"]),
    exp.DataType: frozenset(["this", "expressions", "nested"]),
    exp.Escape: _BINARY,
    exp.Identifier: frozenset(["this", "quoted"]),
    exp.If: frozenset(["this", "true"]),
    exp.In: frozenset(["this", "expressions", "query", "field"]),
    exp.Join: frozenset(["this", "on", "side", "kind", "using", "method"]),
    exp.Literal: frozenset(["this", "is_string"]),
    exp.Null: frozenset(),
    exp.Ordered: frozenset(["this", "desc", "nulls_first"]),
    exp.Select: frozenset(
        ["expressions", "from_", "joins", "where", "distinct", "limit", "order", "offset", "group", "having", "with_"]
    ),
    exp.Star: frozenset(),
    exp.Subquery: frozenset(["this", "alias", "joins", "order", "limit", "offset", "with_"]),
    exp.Table: frozenset(["this", "db", "catalog", "alias", "joins"]),
    exp.TableAlias: frozenset(["this", "columns"]),
    exp.With: frozenset(["expressions"]),
}
"""The nodes of ADQL, each with its parts."""

_WORDS: Final = {
    "all": "GROUP BY ALL",
    "bracket": "parts of arrays",
    "by_name": "BY NAME",
    "cluster": "CLUSTER BY",
    "cube": "CUBE",
    "distribute": "DISTRIBUTE BY",
    "dot": "parts of values",
    "groupingsets": "GROUPING SETS",
    "hint": "hints",
    "into": "SELECT INTO",
    "limit_options": "PERCENT and WITH TIES",
    "locks": "FOR UPDATE",
    "on": "DISTINCT ON",
    "pivots": "PIVOT",
    "recursive": "WITH RECURSIVE",
    "rollup": "ROLLUP",
    "sample": "TABLESAMPLE",
    "sort": "SORT BY",
    "tuple": "lists of values in parentheses",
    "window": "windows (OVER)",
    "windows": "WINDOW",
}
"""What people call the nodes and parts of other languages, where the parser calls them otherwise."""

_OPERATORS: Final[dict[type[exp.Expr], tuple[str, str]]] = {
    **dict.fromkeys((exp.RegexpLike, exp.RegexpILike), ("RLIKE", "use LIKE, ILIKE, =, <> and IS NULL")),
    exp.SimilarTo: ("SIMILAR TO", "use LIKE, ILIKE, =, <> and IS NULL"),
    exp.Glob: ("GLOB", "use LIKE, ILIKE, =, <> and IS NULL"),
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", "use LIKE, ILIKE, =, <> and IS NULL"),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", "use LIKE, ILIKE, =, <> and IS NULL"),
    exp.Mod: ("%", "write MOD(x, y)"),
    exp.IntDiv: ("DIV", "write FLOOR(x / y)"),
}
_AGGREGATES: Final = (exp.Count, exp.Avg, exp.Max, exp.Min, exp.Sum)
_NUMBER: Final = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_TESTS: Final = ("contains", "intersects")
_NUMBERS: Final = (exp.Literal, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Neg, exp.DPipe, exp.HexString)


def check_grammar(tree: exp.Expr, text: str) -> None:
    """Refuse what ADQL does not have, and values where a condition belongs.

    Raises
    ------
    QueryError
        If the query has it; the error says where.
    """
    for node in tree.walk():
        problem = _find_problem(node)
        if problem is not None:
            raise QueryError(problem[0], text, find_position(node), hint=problem[1])
        for condition in _list_conditions(node):
            _check_condition(condition, text)


def _find_problem(node: exp.Expr) -> tuple[str, str] | None:
    """Return what is wrong with a node, and what to do; None if ADQL has it."""
    if type(node) in _OPERATORS:
        word, hint = _OPERATORS[type(node)]
        return f"ADQL has no {word}", hint
    parts = _GRAMMAR.get(type(node))
    if parts is None:
        return f"ADQL has no {_name(node.key)}", "leave it out"
    if isinstance(node, exp.Star) and any(node.args.values()):
        return "ADQL has * alone", "list the columns"
    if isinstance(node, _AGGREGATES):
        return _find_aggregate_problem(node)
    foreign = next((key for key, value in node.args.items() if value and key not in parts), None)
    if foreign is not None:
        return f"ADQL has no {_name(foreign)}", "leave it out"
    match node:
        case exp.In() if not any(node.args.get(key) for key in ("expressions", "query", "field")):
            return "IN lists no values", "write at least one, or NULL"
        case exp.In() if node.args.get("field") is not None:
            return "IN takes a list in parentheses", "write IN (1, 2, 3)"
        case exp.Literal() if not node.is_string and not _NUMBER.fullmatch(node.name):
            return f"{node.name[:60]} is not a number", "write 15, 1.5 or 1.5e3"
        case exp.With():
            return _find_repeated_name(node)
        case exp.Join():
            return _find_join_problem(node)
    return None


def _name(key: str) -> str:
    return _WORDS.get(key, key.replace("_", " ").strip().upper())


def _find_aggregate_problem(node: exp.Expr) -> tuple[str, str] | None:
    """Return what is wrong with the arguments of an aggregate function: it takes a single value, or COUNT all rows."""
    values = node.this.expressions if isinstance(node.this, exp.Distinct) else [node.this]
    is_star = isinstance(node.this, exp.Star) and isinstance(node, exp.Count)
    if len(values) == 1 and not node.expressions and (is_star or not isinstance(values[0], exp.Star | None)):
        return None
    name = node.key.upper()
    return f"{name} takes {'* or ' if name == 'COUNT' else ''}a single value", f"for example {name}(vmag)"


def _find_repeated_name(node: exp.With) -> tuple[str, str] | None:
    """Return the problem that two queries of WITH have the same name."""
    names = [part.alias.lower() for part in node.expressions]
    repeated = next((name for name in names if names.count(name) > 1), None)
    return None if repeated is None else (f"two queries of WITH are called {repeated}", "choose another name")


def _find_join_problem(node: exp.Join) -> tuple[str, str] | None:
    """Return what is wrong with a join: its kind, a condition too many, or none at all."""
    kind, is_natural = node.kind, node.method == "NATURAL"
    if kind not in ("", "INNER", "OUTER", "CROSS") or node.method not in ("", "NATURAL"):
        return f"ADQL has no {node.side} {kind} {node.method}".replace("  ", " ").rstrip() + " JOIN", "use EXISTS"
    has_condition = bool(node.args.get("on") or node.args.get("using"))
    if has_condition and (is_natural or kind == "CROSS"):
        return f"{'NATURAL' if is_natural else 'CROSS'} JOIN takes no condition", "write JOIN … ON"
    if not (has_condition or is_natural or kind == "CROSS" or is_comma(node)):
        return "this JOIN has no condition", "add ON or USING; CROSS JOIN has all pairs of rows"
    return None


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
