"""What opaque SQL may hold: everything else is refused, so that a forged text can neither act nor look around.

The rules are lists of what is allowed: kinds of syntax, functions, names of tables. The result must depend on the
tables alone, so rules also refuse the clock, chance, and orders in which rows may be equal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from sqlglot import exp

from provenn.catalogs.opaque_functions import (
    AGGREGATES,
    COLLECTING,
    FUNCTIONS,
    ORDERED_WINDOWS,
    SORTING,
    TABLE_FUNCTIONS,
    WINDOWS,
)
from provenn.errors import DefinitionError, did_you_mean

__all__ = ["check_tree"]

_QUERIES: Final = (
    *(exp.Select, exp.From, exp.Table, exp.TableAlias, exp.Subquery, exp.With, exp.CTE, exp.Join, exp.Lateral),
    *(exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Distinct),
    *(exp.Union, exp.Intersect, exp.Except, exp.Values, exp.Cube, exp.Rollup, exp.GroupingSets, exp.Exists, exp.Tuple),
)
_VALUES: Final = (
    *(
        exp.Column,
        exp.Identifier,
        exp.Star,
        exp.Alias,
        exp.Aliases,
        exp.Literal,
        exp.Boolean,
        exp.Null,
        exp.Interval,
        exp.HexString,
    ),
    *(
        exp.Var,
        exp.Cast,
        exp.TryCast,
        exp.DataType,
        exp.DataTypeParam,
        exp.ColumnDef,
        exp.IntervalSpan,
        exp.Case,
        exp.If,
    ),
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.EQ, exp.NEQ, exp.NullSafeEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is),
    *(exp.In, exp.Between, exp.Like, exp.ILike, exp.RegexpLike, exp.Escape, exp.Any, exp.All),
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.Neg, exp.DPipe),
    *(exp.BitwiseAnd, exp.BitwiseOr, exp.BitwiseXor, exp.BitwiseNot, exp.Bracket, exp.Dot),
    *(exp.Anonymous, exp.Extract, exp.Trim, exp.Substring, exp.StrPosition, exp.Lambda),
    *(exp.Window, exp.WindowSpec, exp.Filter, exp.WithinGroup, exp.IgnoreNulls, exp.RespectNulls),
)
_ALLOWED: Final = frozenset(_QUERIES) | frozenset(_VALUES)

_LITERAL_FUNCTIONS: Final = frozenset(
    [
        "current_date",
        "current_timestamp",
        "current_time",
        "current_user",
        "user",
        "session_user",
        "current_catalog",
        "current_database",
        "current_schema",
        "localtimestamp",
        "localtime",
        "grouping__id",
        "curdate",
        "now",
    ]
)
"""What Spark takes for a function without brackets, if no column has the name."""

_CLOCK = re.compile(
    r"\s*(?:(?:now|today|tomorrow|yesterday)(?:\s+\S+)?|T?\d{1,2}:[\d:.]*(?:\s*\S+)?)\s*", re.IGNORECASE
)
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TABLE_ARGUMENTS: Final = frozenset(["this", "alias", "joins", "laterals"])
_SELECT_REFUSED: Final = ("hint", "kind", "into", "operation_modifiers", "prefer", "exclude")


def check_tree(tree: exp.Expr, *, is_condition: bool, parent: str) -> None:
    """Refuse everything that is not allowed.

    Parameters
    ----------
    tree
        The query, or the condition.
    is_condition
        Whether this is a condition on a row of the parent.
    parent
        The qualifier of the columns of the parent.

    Raises
    ------
    DefinitionError
        If something is not allowed.
    """
    scopes = _find_common_scopes(tree, parent)
    for node in tree.walk():
        if type(node) not in _ALLOWED:
            raise _make_error(f"{node.key.upper()} cannot be used in opaque SQL", node)
        match node:
            case exp.Table():
                _check_table(node, scopes)
            case exp.Select():
                _check_select(node)
            case exp.Anonymous():
                _check_call(node)
            case exp.Column():
                _check_column(node)
            case exp.Literal() if node.is_string and _CLOCK.fullmatch(node.name):
                raise _make_error("Spark may read this text from the clock", node, "write a date or a time in full")
            case exp.Dot() if not isinstance(node.expression, exp.Identifier | exp.Star):
                raise _make_error("only built-in functions of Spark can be called", node)
            case exp.Lateral():
                _check_lateral(node)
            case exp.Limit() | exp.Offset():
                _check_limit(node)
            case exp.Alias() | exp.TableAlias() if parent in (node.name, node.alias):
                raise _make_error(f"{parent} cannot be a new name", node, "choose another alias")
    if is_condition:
        _check_condition(tree, parent)


def _find_common_scopes(tree: exp.Expr, parent: str) -> dict[str, exp.Expr]:
    """Return the queries in which common table expressions are known, by name; sqlglot may write them further out."""
    scopes: dict[str, exp.Expr] = {}
    for clause in tree.find_all(exp.With):
        if clause.args.get("recursive"):
            raise _make_error("a recursive query cannot be used in opaque SQL", clause)
        for common in clause.expressions:
            name = common.alias
            if name == parent or re.fullmatch(r"input_[0-9]+", name):
                raise _make_error(f"{name} cannot name a common table expression", clause, "choose another name")
            if name in scopes or clause.parent is None:
                raise _make_error(f"two common table expressions are called {name}", clause, "choose another name")
            scopes[name] = clause.parent
    return scopes


def _check_table(table: exp.Table, scopes: Mapping[str, exp.Expr]) -> None:
    """Accept an input, a common table expression, and functions that make rows."""
    arguments = {name for name, value in table.args.items() if value}
    if not arguments <= _TABLE_ARGUMENTS:
        raise _make_error("only input_1, input_2 … can be read, without a database or a path", table)
    if isinstance(table.this, exp.Anonymous):
        if table.this.name.lower() not in TABLE_FUNCTIONS:
            raise _make_error(f"{table.this.name} cannot be used as a table", table)
        return
    if not isinstance(table.this, exp.Identifier):
        raise _make_error("only input_1, input_2 … can be read", table)
    scope = scopes.get(table.name)
    is_known = any(outer is scope for outer in _list_ancestors(table))
    if not is_known and not re.fullmatch(r"input_[1-9][0-9]{0,3}", table.name):
        raise _make_error(f"there is no table {table.name!r}", table, "tables are called input_1, input_2 and so on")


def _check_select(select: exp.Select) -> None:
    for name in _SELECT_REFUSED:
        if select.args.get(name):
            raise _make_error("this form of SELECT cannot be used in opaque SQL", select)


def _check_call(call: exp.Anonymous) -> None:
    """Accept functions on the list, where they have a definite result."""
    name = call.name.lower()
    if name == "range" and isinstance(call.parent, exp.Table):
        return
    if name not in FUNCTIONS:
        hint = did_you_mean(name, FUNCTIONS) or "only built-in functions of Spark with a definite result can be called"
        raise _make_error(f"the function {name} cannot be used in opaque SQL", call, hint)
    if name == "unix_timestamp" and not call.expressions:
        raise _make_error("unix_timestamp() depends on the clock", call)
    if name in COLLECTING and not _is_sorted(call):
        hint = f"sort the array: sort_array({name}(…))"
        raise _make_error(f"the order of the array of {name} depends on chance", call, hint)
    window = _find_window(call)
    if name in WINDOWS and window is None:
        raise _make_error(f"{name} needs OVER (…)", call)
    if name in ORDERED_WINDOWS:
        hint = "rank() and dense_rank() treat equal rows alike; first() keeps the first sources of each group"
        raise _make_error(f"{name} depends on chance where rows are equal in the order", call, hint)
    if window is not None:
        _check_frame(window)


def _is_sorted(call: exp.Anonymous) -> bool:
    """Return whether the array of a call is sorted at once, by its elements alone."""
    inner: exp.Expr = call
    if isinstance(inner.parent, exp.Filter) and inner.parent.this is inner:
        inner = inner.parent
    outer = inner.parent
    if not isinstance(outer, exp.Anonymous) or outer.name.lower() not in SORTING or outer.expressions[0] is not inner:
        return False
    return outer.name.lower() == "sort_array" or len(outer.expressions) == 1


def _find_window(call: exp.Anonymous) -> exp.Window | None:
    node: exp.Expr = call
    while isinstance(node.parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls) and node.parent.this is node:
        node = node.parent
    return node.parent if isinstance(node.parent, exp.Window) and node.parent.this is node else None


def _check_frame(window: exp.Window) -> None:
    """Refuse frames that count rows: which rows are near depends on chance where rows are equal."""
    frame = window.args.get("spec")
    if window.args.get("alias") or window.args.get("over") not in (None, "OVER"):
        raise _make_error("a window must be written in full: OVER (…)", window)
    is_whole = frame is not None and (frame.args.get("start"), frame.args.get("end")) == ("UNBOUNDED", "UNBOUNDED")
    if frame is not None and frame.args.get("kind") != "RANGE" and not is_whole:
        raise _make_error("a frame of ROWS depends on chance where rows are equal in the order", window, "use RANGE")


def _check_column(column: exp.Column) -> None:
    parts = column.parts
    if len(parts) == 1 and column.name.lower() in _LITERAL_FUNCTIONS:
        hint = f"if it is a column, write the table before it: input_1.{column.name}"
        raise _make_error(f"{column.name} depends on the clock or the session", column, hint)


def _check_lateral(lateral: exp.Lateral) -> None:
    # sqlglot writes this name without backquotes.
    if not _PLAIN_NAME.fullmatch(lateral.alias or "v"):
        raise _make_error(f"{lateral.alias!r} cannot name a view", lateral, "use letters, digits and underscores")
    if isinstance(lateral.this, exp.Anonymous):
        if lateral.this.name.lower() not in TABLE_FUNCTIONS:
            raise _make_error(f"{lateral.this.name} cannot be used as a table", lateral)
    elif not isinstance(lateral.this, exp.Subquery):
        raise _make_error("only explode, posexplode and inline can follow LATERAL VIEW", lateral)


def _check_limit(limit: exp.Limit | exp.Offset) -> None:
    """Accept LIMIT only where the order leaves no choice: rows that are equal in all columns are interchangeable."""
    query = limit.parent
    order = None if query is None else query.args.get("order")
    if isinstance(query, exp.Select) and order is not None:
        ordered = [part.this for part in order.expressions]
        if all(_is_ordered(column, position, ordered) for position, column in enumerate(query.expressions, 1)):
            return
    hint = "order by every column of the result"
    raise _make_error("which rows LIMIT keeps depends on chance where rows are equal in the order", limit, hint)


def _is_ordered(column: exp.Expr, position: int, ordered: Iterable[exp.Expr]) -> bool:
    """Return whether an ORDER BY has a column of the result, by name, by number or by its expression."""
    if isinstance(column, exp.Star) or (isinstance(column, exp.Column) and isinstance(column.this, exp.Star)):
        return False
    own = column.this if isinstance(column, exp.Alias) else column
    for part in ordered:
        if isinstance(part, exp.Literal) and not part.is_string and part.name == str(position):
            return True
        if isinstance(part, exp.Column) and len(part.parts) == 1 and part.name == column.alias_or_name:
            return True
        if part == own and not isinstance(own, exp.Literal):
            return True
    return False


def _check_condition(tree: exp.Expr, parent: str) -> None:
    """Refuse whatever would make a condition depend on more than one row of the parent, or on names alone."""
    for node in tree.walk(prune=lambda inner: isinstance(inner, exp.Query)):
        if isinstance(node, exp.Query):
            continue
        if isinstance(node, exp.Window | exp.Filter | exp.WithinGroup | exp.Star) or (
            isinstance(node, exp.Anonymous) and node.name.lower() in AGGREGATES | COLLECTING | TABLE_FUNCTIONS
        ):
            raise _make_error("a condition reads one row of the parent: no aggregate outside a subquery", node)
        is_bound = any(isinstance(outer, exp.Lambda) for outer in _list_ancestors(node))
        if isinstance(node, exp.Column) and (len(node.parts) == 1 or node.parts[0].name != parent) and not is_bound:
            hint = f"write {parent}.`{node.name}`"
            raise _make_error(f"{node.name} is no column of the parent", node, hint)


def _list_ancestors(node: exp.Expr) -> Iterable[exp.Expr]:
    current = node.parent
    while current is not None:
        yield current
        current = current.parent


def _make_error(problem: str, node: exp.Expr, hint: str = "") -> DefinitionError:
    text = " ".join(node.sql(dialect="spark", comments=False).split())
    return DefinitionError(f"{problem}: {text if len(text) <= 80 else f'{text[:79]}…'}", hint=hint)
