"""Rewrite the tree of a query, so queries of the same meaning, in different words, have the same tree.

Each rule says why it changes neither the rows nor how often each occurs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from sqlglot import exp

from provenn.queries.folding_dates import fold_dates
from provenn.queries.relation import join_conjuncts, split_conjuncts, symbols_in
from provenn.queries.subqueries import has_subquery
from provenn.queries.tree import AggregateNode, FilterNode, JoinKind, JoinNode, Node, ProjectNode

__all__ = ["is_strict", "normalise"]

_STRICT = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Paren,
    exp.Neg,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Upper,
    exp.Lower,
    exp.Abs,
)
"""Expressions that are NULL if any column in them is."""
_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Like)


def normalise(node: Node) -> Node:
    """Return a tree with the same rows, in normal form."""
    changed: dict[str, Any] = {}
    for field in fields(node):
        value = getattr(node, field.name)
        if isinstance(value, Node):
            changed[field.name] = normalise(value)
        elif isinstance(value, exp.Expr):
            changed[field.name] = fold_dates(value)
        elif field.name == "subqueries":
            changed[field.name] = tuple(normalise(subquery) for subquery in value)
        elif field.name in ("computed", "keys", "values") and value and isinstance(value[0], tuple):
            changed[field.name] = tuple((column, fold_dates(expression)) for column, expression in value)
    node = replace(node, **changed)
    return _place_conditions(node) if isinstance(node, FilterNode) else node


def _place_conditions(node: FilterNode) -> Node:
    """Return a filter with conditions below aggregates and in joins, and without outer joins whose NULLs it rejects."""
    below, kept = node.input, []
    for conjunct in split_conjuncts(node.condition):
        placed = None if has_subquery(conjunct) else _place(below, conjunct)
        if placed is None:
            kept.append(conjunct)
        else:
            below = placed
    if isinstance(below, JoinNode):
        below = _drop_outer(below, kept)
    if isinstance(below, JoinNode):
        below, kept = _place_in_joins(below, kept)
    return replace(node, input=below, condition=join_conjuncts(kept)) if kept else below


def _place_in_joins(node: JoinNode, conjuncts: list[exp.Expr]) -> tuple[JoinNode, list[exp.Expr]]:
    """Return inner joins with conditions at the first table or join that has their columns, and the other conditions.

    Sound: a row of an inner join is a pair of rows that fulfils all conditions, wherever these stand.
    """
    if node.kind not in ("inner", "cross") or node.subqueries:
        return node, conjuncts
    sides = [node.left, node.right]
    own, others = split_conjuncts(node.condition), []
    for conjunct in conjuncts:
        symbols = symbols_in(conjunct)
        if not symbols or has_subquery(conjunct):
            others.append(conjunct)
            continue
        owner = next((side for side in (0, 1) if symbols <= {column.symbol for column in sides[side].columns}), None)
        if owner is None:
            own.append(conjunct)
        else:
            sides[owner] = _place_conditions(FilterNode(sides[owner], conjunct))
    left, right = sides
    if not own:
        return replace(node, left=left, right=right), others
    return replace(node, left=left, right=right, kind="inner", condition=join_conjuncts(own)), others


def _place(node: Node, conjunct: exp.Expr) -> Node | None:
    """Return a node with a condition on grouping columns below the aggregate; None if the condition must stay above.

    Sound: a condition on grouping columns has the same value for a group and for all members of the group, so the
    condition keeps or drops a group as a whole. Without grouping columns a group exists even without members: the
    condition stays.
    """
    if isinstance(node, ProjectNode):
        columns = {
            column.symbol: expression
            for column, expression in node.computed
            if isinstance(expression, exp.Column) and expression.this
        }
        if not symbols_in(conjunct) <= columns.keys():
            return None
        below = _place(node.input, _replace_columns(conjunct, columns))
        return None if below is None else replace(node, input=below)
    if isinstance(node, FilterNode):
        below = _place(node.input, conjunct)
        return None if below is None else replace(node, input=below)
    if isinstance(node, AggregateNode) and node.keys:
        keys = {column.symbol: expression for column, expression in node.keys}
        symbols = symbols_in(conjunct)
        if symbols and symbols <= keys.keys() and not any(has_subquery(value) for value in keys.values()):
            return replace(node, input=_place_conditions(FilterNode(node.input, _replace_columns(conjunct, keys))))
    return None


def _replace_columns(expression: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    def replace_column(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Column) and node.name in values:
            value = values[node.name]
            return value.copy() if isinstance(value, exp.Column) else exp.paren(value, copy=True)
        return node

    return expression.copy().transform(replace_column)


def _drop_outer(node: JoinNode, conjuncts: list[exp.Expr]) -> JoinNode:
    """Return a join without the rows lacking a partner, if conditions reject these rows.

    Sound: a row without a partner has NULL in every column of the missing side. A comparison of a strict expression
    over any of these columns is then not TRUE.
    """
    left, right = ({column.symbol for column in side.columns} for side in node.inputs)
    rejects_left = any(_rejects_null(conjunct, left) for conjunct in conjuncts)
    rejects_right = any(_rejects_null(conjunct, right) for conjunct in conjuncts)
    kind: JoinKind = node.kind
    if kind in ("left", "full") and rejects_right:
        kind = "inner" if kind == "left" else "right"
    if kind in ("right", "full") and rejects_left:
        kind = "inner" if kind == "right" else "left"
    return replace(node, kind=kind)


def _rejects_null(conjunct: exp.Expr, symbols: set[str]) -> bool:
    """Whether a condition is not TRUE if all columns with some symbols are NULL."""
    if isinstance(conjunct, exp.Not) and isinstance(conjunct.this.unnest(), exp.Is):
        inner = conjunct.this.unnest()
        return isinstance(inner.expression, exp.Null) and is_strict(inner.this, symbols)
    if isinstance(conjunct, _COMPARISONS):
        return is_strict(conjunct.this, symbols) or is_strict(conjunct.expression, symbols)
    if isinstance(conjunct, exp.Between):
        return is_strict(conjunct.this, symbols)
    if isinstance(conjunct, exp.In) and conjunct.expressions:
        return is_strict(conjunct.this, symbols)
    return False


def is_strict(expression: exp.Expr, symbols: set[str]) -> bool:
    """Whether an expression names any of some columns, and is NULL if the named column is NULL."""
    if not symbols_in(expression) & symbols:
        return False
    return all(isinstance(part, _STRICT) for part in expression.walk())
