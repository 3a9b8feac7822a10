"""Read expressions: resolve their names, and read the subqueries of expressions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import UnsupportedError

from provenn.criteria.syntax import find_position
from provenn.errors import did_you_mean
from provenn.queries.adql_arguments import remove_marks
from provenn.queries.adql_dialect import ADQL
from provenn.queries.adql_expressions import rewrite_expression
from provenn.queries.function_names import is_aggregate
from provenn.queries.reading_conditions import check_conditions
from provenn.queries.reading_context import QueryReading, Surroundings
from provenn.queries.reading_text import convert_to_spark
from provenn.queries.reading_types import check_types
from provenn.queries.reading_units import check_units, resolve_units
from provenn.queries.refusals import check_dialect, check_functions
from provenn.queries.scopes import ColumnMatch, Scope
from provenn.queries.tree import EXISTS, IN, SCALAR, Node, make_subquery_call, refer_to

__all__ = ["Names", "has_aggregate", "has_window", "is_window_function", "read_expression"]

_EXTRACTED = ("year", "quarter", "month", "day")
"""Parts of a date that have a function with their name."""
_NUMBERED = re.compile("c[0-9]+")


@dataclass(frozen=True, slots=True)
class Names:
    """The possible meanings of the names in an expression.

    Parameters
    ----------
    scope
        The columns of FROM, and of the enclosing queries.
    queries
        The queries of WITH.
    before
        Expressions of aliases that are meant although a column has the same name.
    after
        Expressions of aliases that are meant if no column of FROM has the name. None is an alias that two have.
    windows
        The windows with a name.
    grouped
        In HAVING, the columns that are keys: other columns are meant only inside of aggregate functions.
    is_strict
        Whether a name that is both an alias and a column is refused.
    is_condition
        Whether the expression must be a condition.
    """

    scope: Scope
    queries: Mapping[str, Node]
    before: Mapping[str, exp.Expr | None] = field(default_factory=dict)
    after: Mapping[str, exp.Expr | None] = field(default_factory=dict)
    windows: Mapping[str, exp.Window] = field(default_factory=dict)
    grouped: frozenset[int] | None = None
    is_strict: bool = False
    is_condition: bool = False


def read_expression(reading: QueryReading, tree: exp.Expr, names: Names) -> exp.Expr:
    """Return an expression in Spark's dialect with numbered columns; `reading` keeps its subqueries."""
    if reading.dialect == ADQL:
        tree = rewrite_expression(reading, tree)
    elif not reading.is_spark:
        check_dialect(reading, tree)
    holder = exp.Paren(this=tree.copy())
    _ExpressionReader(reading, names).resolve_names(holder)
    resolved: exp.Expr = holder.this
    resolved.pop()
    check_conditions(reading, resolved, tree, is_condition=names.is_condition)
    if reading.dialect == ADQL:
        check_types(reading, resolved, tree)
        resolved = remove_marks(resolved)
    if not reading.is_spark:
        try:
            resolved = convert_to_spark(resolved)
        except UnsupportedError as error:
            reading.refuse(tree, f"Spark cannot express this part: {error}")
    if reading.dialect == ADQL:
        resolved = resolve_units(reading, resolved, tree)
    check_units(reading, resolved, tree)
    check_functions(reading, resolved, tree)
    return _name_extracts(resolved)


def _name_extracts(tree: exp.Expr) -> exp.Expr:
    """Return an expression with ``year(x)`` in place of ``EXTRACT(YEAR FROM x)``, which is the same in Spark."""

    def name_extract(node: exp.Expr) -> exp.Expr:
        unit = node.name.lower() if isinstance(node, exp.Extract) else ""
        if unit not in _EXTRACTED or node.expression.find(exp.Interval):
            return node
        return exp.Anonymous(this=unit, expressions=[node.expression])

    return tree.transform(name_extract, copy=False) if tree.find(exp.Extract) else tree


def has_aggregate(tree: exp.Expr) -> bool:
    """Tell whether an expression has an aggregate function outside of window functions."""
    return any(is_aggregate(part) and not is_window_function(part) for part in tree.walk())


def has_window(tree: exp.Expr) -> bool:
    """Tell whether an expression has a window function."""
    return tree.find(exp.Window) is not None


def is_window_function(tree: exp.Expr) -> bool:
    """Tell whether OVER encloses a call, directly or with FILTER or IGNORE NULLS."""
    parent = tree.parent
    while isinstance(parent, exp.Filter | exp.IgnoreNulls | exp.RespectNulls | exp.WithinGroup) and parent.this is tree:
        tree, parent = parent, parent.parent
    return isinstance(parent, exp.Window) and parent.this is tree


class _ExpressionReader:
    """Resolves the names in a single expression."""

    def __init__(self, reading: QueryReading, names: Names) -> None:
        self.reading = reading
        self.names = names
        self.surroundings = Surroundings(names.queries, names.scope)

    def resolve_names(self, holder: exp.Expr) -> None:
        """Replace all columns and subqueries below a tree."""
        pending: list[tuple[exp.Expr, frozenset[str], bool]] = [(holder.this, frozenset(), False)]
        while pending:
            tree, bound, is_inside = pending.pop()
            is_inside = is_inside or (is_aggregate(tree) and not is_window_function(tree))
            if isinstance(tree, exp.Column):
                if tree.parts[0].name.lower() not in bound:
                    tree.replace(self.resolve_column(tree, is_inside))
                continue
            if isinstance(tree, exp.Lambda):
                variables = {parameter.name.lower() for parameter in tree.expressions}
                if any(_NUMBERED.fullmatch(variable) for variable in variables):
                    self.reading.refuse(tree, "a variable is called like a numbered column", "choose another name")
                bound |= variables
                pending.append((tree.this, bound, is_inside))
                continue
            if isinstance(tree, exp.Window):
                self.name_window(tree)
            call = self.read_subquery(tree)
            if call is not None:
                tree.replace(call)
                pending += [(value, bound, is_inside) for value in call.args["expressions"][1:]]
                continue
            pending += [(part, bound, is_inside) for part in tree.iter_expressions()]

    def resolve_column(self, tree: exp.Column, is_inside_aggregate: bool) -> exp.Expr:
        """Return the expression meant by a name, with the fields of structs in the rest of the name."""
        if isinstance(tree.this, exp.Star):
            self.reading.refuse(tree, "* is not a value here", "name the columns")
        parts = [part.name.lower() for part in tree.parts]
        meaning, fields = self.find_meaning(tree, parts, is_inside_aggregate)
        meaning = meaning.copy()
        position = find_position(tree)
        if position is not None:
            meaning.meta["start"] = position
        for part in tree.parts[len(parts) - fields :]:
            meaning = exp.Dot(this=meaning, expression=part.copy())
        return meaning

    def find_meaning(self, tree: exp.Column, parts: list[str], is_inside: bool) -> tuple[exp.Expr, int]:
        """Return the expression meant by the first parts of a name, and the number of remaining parts."""
        names = self.names
        first = parts[0]
        matches = self.find_matches(names.scope, tree, parts)
        alias_before = first in names.before and len(parts) == 1
        if names.is_strict and matches and (first in names.before or first in names.after):
            self.check_alias(tree, first, refer_to(matches[0].column))
        if alias_before:
            return self.get_alias(tree, names.before[first]), 0
        if (
            matches
            and names.grouped is not None
            and not is_inside
            and first in names.after
            and all(match.column.number not in names.grouped for match in matches)
        ):
            matches = []
        if not matches and first in names.after:
            return self.get_alias(tree, names.after[first]), len(parts) - 1
        for scope in names.scope.outer.iterate_outwards() if names.scope.outer is not None else ():
            if matches:
                break
            matches = self.find_matches(scope, tree, parts)
        if not matches:
            shown = ".".join(part.name for part in tree.parts)
            known = [*names.scope.list_names(), *names.after]
            hint = did_you_mean(tree.name.lower(), list(dict.fromkeys(name.lower() for name in known)))
            listed = ", ".join(dict.fromkeys(known[:20]))
            self.reading.refuse(tree, f"there is no column {shown}", hint or f"the columns are {listed}" * bool(listed))
        if len(matches) > 1:
            shown = ".".join(part.name for part in tree.parts)
            self.reading.refuse(tree, f"several columns are called {shown}", "write the name of the table before it")
        return refer_to(matches[0].column), matches[0].fields

    def find_matches(self, scope: Scope, tree: exp.Column, parts: list[str]) -> list[ColumnMatch]:
        """Return the columns of a scope that a name may mean; in ADQL, case counts in a name in double quotes."""
        matches = scope.find_matches(parts)
        if self.reading.dialect != ADQL:
            return matches
        named = [(match, tree.parts[len(parts) - 1 - match.fields]) for match in matches]
        return [match for match, name in named if not name.args.get("quoted") or name.name == match.column.name]

    def check_alias(self, tree: exp.Column, name: str, column: exp.Expr) -> None:
        alias = self.names.before.get(name) or self.names.after.get(name)
        if alias is None or alias.sql("spark") != column.sql("spark"):
            problem = f"{tree.name} is both a column and the name of a result"
            self.reading.refuse(tree, problem, "write the name of the table before it, or rename the result")

    def get_alias(self, tree: exp.Column, alias: exp.Expr | None) -> exp.Expr:
        if alias is None:
            self.reading.refuse(tree, f"several results are called {tree.name}", "give them different names")
        return exp.paren(alias) if isinstance(alias, exp.Binary | exp.Not) else alias

    def name_window(self, window: exp.Window) -> None:
        """Put the definition of a window in place of the window's name."""
        name = window.args.get("alias")
        if name is None:
            return
        definition = self.names.windows.get(name.name.lower())
        if definition is None:
            hint = did_you_mean(name.name.lower(), self.names.windows)
            self.reading.refuse(window, f"there is no window {name.name}", hint)
        for part in ("partition_by", "order", "spec"):
            own_part, defined = window.args.get(part), definition.args.get(part)
            if own_part and defined:
                self.reading.refuse(window, f"the window {name.name} has this part already")
            if defined:
                copied = [tree.copy() for tree in defined] if isinstance(defined, list) else defined.copy()
                window.set(part, copied)
        window.set("alias", None)
        window.set("over", "OVER")

    def read_subquery(self, tree: exp.Expr) -> exp.Anonymous | None:
        """Return the call of a subquery if a tree is a subquery, or None."""
        match tree:
            case exp.Exists() if _is_query(tree.this):
                return self.make_call(EXISTS, tree.this, [])
            case exp.In() if tree.args.get("query") is not None:
                return self.make_call(IN, tree.args["query"], _list_values(tree.this))
            case exp.EQ() if isinstance(tree.expression, exp.Any) and _is_query(tree.expression.this):
                return self.make_call(IN, tree.expression.this, _list_values(tree.this))
            case exp.Any() | exp.All() if _is_query(tree.this):
                self.reading.refuse(tree, "ANY and ALL are not supported here", "use IN, EXISTS, min() or max()")
            case exp.Query():
                return self.make_call(SCALAR, tree, [])
        return None

    def make_call(self, kind: str, query: exp.Expr, values: list[exp.Expr]) -> exp.Anonymous:
        """Read a subquery, and return the call of the subquery."""
        while isinstance(query, exp.Subquery) and not query.args.get("alias") and isinstance(query.this, exp.Query):
            if any(value for key, value in query.args.items() if key != "this"):
                break
            query = query.this
        node = self.reading.read_nested(query, self.surroundings)
        wanted = {EXISTS: None, IN: len(values), SCALAR: 1}[kind]
        if wanted is not None and len(node.columns) != wanted:
            problem = f"the subquery has {len(node.columns)} columns, and {wanted} are needed"
            self.reading.refuse(query, problem)
        return make_subquery_call(kind, self.reading.hold_subquery(node), *values)


def _is_query(tree: exp.Expr | None) -> bool:
    return isinstance(tree, exp.Query)


def _list_values(tree: exp.Expr) -> list[exp.Expr]:
    """Return the values of a row, or the only value."""
    inner = tree.unnest()
    return list(inner.expressions) if isinstance(inner, exp.Tuple) else [tree]
