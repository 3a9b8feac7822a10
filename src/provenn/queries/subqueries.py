"""Subqueries in conditions: EXISTS, IN and scalar subqueries, with the values taken from the enclosing query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from provenn.queries.joining import Equality
from provenn.queries.relation import InexpressibleError, join_conjuncts, split_conjuncts, symbols_in
from provenn.queries.tree import (
    EXISTS,
    IN,
    SCALAR,
    AggregateNode,
    DistinctNode,
    FilterNode,
    JoinNode,
    Node,
    ProjectNode,
    SortNode,
    walk_tree,
)

__all__ = [
    "Correlated",
    "SubqueryCall",
    "find_outer_symbols",
    "find_scalar_calls",
    "has_subquery",
    "read_call",
    "separate",
]


@dataclass(frozen=True, slots=True)
class SubqueryCall:
    """A call of EXISTS, IN or a scalar subquery in an expression.

    Parameters
    ----------
    kind
        `EXISTS`, `IN` or `SCALAR`.
    subquery
        The subquery.
    values
        The values that IN compares with its rows.
    """

    kind: str
    subquery: Node
    values: tuple[exp.Expr, ...]


def read_call(node: exp.Expr, subqueries: Sequence[Node]) -> SubqueryCall | None:
    """Return the call of a subquery; None for an expression of another kind."""
    if not isinstance(node, exp.Anonymous) or node.this not in (EXISTS, IN, SCALAR):
        return None
    position, *values = node.expressions
    return SubqueryCall(node.this, subqueries[int(position.name)], tuple(values))


def has_subquery(expression: exp.Expr) -> bool:
    """Whether an expression calls a subquery."""
    return any(call.this in (EXISTS, IN, SCALAR) for call in expression.find_all(exp.Anonymous))


def find_scalar_calls(expression: exp.Expr) -> list[exp.Anonymous]:
    """Return the calls of scalar subqueries in an expression.

    Raises
    ------
    InexpressibleError
        If it calls another kind of subquery.
    """
    calls = [call for call in expression.find_all(exp.Anonymous) if call.this in (EXISTS, IN, SCALAR)]
    if any(call.this != SCALAR for call in calls):
        raise InexpressibleError("EXISTS or IN (SELECT …) is part of a larger condition than AND and NOT")
    return calls


@dataclass(frozen=True, slots=True)
class Correlated:
    """A subquery without the conditions naming columns of the enclosing query.

    Parameters
    ----------
    rows
        The rows of the subquery before its SELECT, for any row of the enclosing query.
    equalities
        Pairs of an expression of the enclosing query (left) and one over `rows` (right) that must be equal.
    computed
        The values of the columns of the subquery, as expressions over columns of `rows`.
    aggregate
        The aggregate of all rows that the subquery computes, if it does; `computed` is then over its columns.
    """

    rows: Node
    equalities: tuple[Equality, ...]
    computed: tuple[exp.Expr, ...]
    aggregate: AggregateNode | None = None


def separate(subquery: Node) -> Correlated:
    """Separate a subquery from the conditions that connect it with the enclosing query.

    Raises
    ------
    InexpressibleError
        If it is connected by anything but equalities.
    """
    outer = find_outer_symbols(subquery)
    computed: list[exp.Expr] = [exp.column(column.symbol) for column in subquery.columns]
    aggregate = None
    node = subquery
    while isinstance(node, ProjectNode | SortNode | DistinctNode | AggregateNode):
        if isinstance(node, AggregateNode):
            if aggregate is not None or node.keys:
                break
            aggregate = node
        elif isinstance(node, ProjectNode):
            if node.subqueries or aggregate is not None:
                break
            by_symbol = {column.symbol: value for column, value in node.computed}
            computed = [_replace_columns(value, by_symbol) for value in computed]
        elif isinstance(node, DistinctNode) and aggregate is not None:
            break
        node = node.input
    rows, equalities = _take_equalities(node, outer)
    if find_outer_symbols(rows) & outer or any(symbols_in(value) & outer for value in computed):
        raise InexpressibleError("a subquery is connected with the enclosing query by more than equalities")
    if aggregate is not None and any(symbols_in(value) & outer for _, value in aggregate.values):
        raise InexpressibleError("an aggregate of a subquery names columns of the enclosing query")
    return Correlated(rows, tuple(equalities), tuple(computed), aggregate)


def _replace_columns(expression: exp.Expr, values: dict[str, exp.Expr]) -> exp.Expr:
    def replace_column(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in values:
            return exp.paren(values[node.name], copy=True)
        return node

    return expression.copy().transform(replace_column)


def find_outer_symbols(subquery: Node) -> set[str]:
    """Return the symbols of columns that a tree names and does not have."""
    own: set[str] = set()
    named: set[str] = set()
    for node in walk_tree(subquery):
        own |= {column.symbol for column in node.columns}
        for expression in _list_expressions(node):
            named |= symbols_in(expression)
    return named - own


def _list_expressions(node: Node) -> list[exp.Expr]:
    """Return the expressions of a node."""
    expressions: list[exp.Expr] = []
    for name in getattr(node, "__dataclass_fields__", {}):
        value = getattr(node, name)
        if isinstance(value, exp.Expr):
            expressions.append(value)
        elif isinstance(value, tuple):
            for part in value:
                if isinstance(part, tuple):
                    expressions.extend(member for member in part if isinstance(member, exp.Expr))
                elif isinstance(getattr(part, "expression", None), exp.Expr):
                    expressions.append(part.expression)
    return expressions


def _take_equalities(node: Node, outer: set[str]) -> tuple[Node, list[Equality]]:
    """Return a node without the conditions naming outer columns, and these conditions as equalities."""
    if isinstance(node, FilterNode):
        below, equalities = _take_equalities(node.input, outer)
        kept, taken = _divide(split_conjuncts(node.condition), outer)
        condition = replace(node, input=below, condition=join_conjuncts(kept)) if kept else below
        return condition, equalities + taken
    if isinstance(node, JoinNode) and node.kind in ("inner", "cross"):
        left, left_equalities = _take_equalities(node.left, outer)
        right, right_equalities = _take_equalities(node.right, outer)
        kept, taken = _divide(split_conjuncts(node.condition), outer)
        joined = replace(
            node,
            left=left,
            right=right,
            kind="inner" if kept else "cross",
            condition=join_conjuncts(kept) if kept else None,
        )
        return joined, left_equalities + right_equalities + taken
    return node, []


def _divide(conjuncts: Sequence[exp.Expr], outer: set[str]) -> tuple[list[exp.Expr], list[Equality]]:
    """Return the conditions without outer columns, and the equalities of an outer and an inner expression."""
    kept, taken = [], []
    for conjunct in conjuncts:
        if not symbols_in(conjunct) & outer:
            kept.append(conjunct)
            continue
        equality = _orient(conjunct, outer)
        if equality is None:
            raise InexpressibleError("a subquery is connected with the enclosing query by more than equalities")
        taken.append(equality)
    return kept, taken


def _orient(conjunct: exp.Expr, outer: set[str]) -> Equality | None:
    """Return an equality with the outer side on the left; None if a side is mixed."""
    if not isinstance(conjunct, exp.EQ):
        return None
    for left, right in ((conjunct.this, conjunct.expression), (conjunct.expression, conjunct.this)):
        if symbols_in(left) <= outer and symbols_in(left) and not symbols_in(right) & outer:
            return Equality(left, right, conjunct)
    return None
