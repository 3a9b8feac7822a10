"""Scalar subqueries: the value of an aggregate, looked up by the values connecting the aggregate with a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from provenn.queries.grouping import AggregatedRows, GroupingColumn, group_members
from provenn.queries.joining import cast_to_key, look_up
from provenn.queries.relation import InexpressibleError, RowSource, name_attribute
from provenn.queries.subqueries import SubqueryCall, find_scalar_calls, read_call, separate
from provenn.queries.translating import Translating
from provenn.queries.tree import Node

__all__ = ["look_up_groups", "replace_scalars"]


def replace_scalars(
    expression: exp.Expr, rows: RowSource, subqueries: Sequence[Node], context: Translating
) -> tuple[RowSource, exp.Expr]:
    """Return an expression over attributes with scalar subqueries looked up, and the rows with these values.

    Raises
    ------
    InexpressibleError
        If a subquery is not an aggregate that equalities connect with the row.
    """
    extended = rows
    for call_node in find_scalar_calls(expression):
        call = read_call(call_node, subqueries)
        assert call is not None, "it is a call"  # noqa: S101 - for the type checker
        extended, value = _look_up_scalar(call, extended, context)
        expression = expression.copy().transform(
            lambda node, call_node=call_node, value=value: value.copy() if node == call_node else node
        )
    resolved = replace(extended, values=rows.values).resolve(expression)
    return extended, resolved


def _look_up_scalar(call: SubqueryCall, rows: RowSource, context: Translating) -> tuple[RowSource, exp.Expr]:
    """Return the rows with the value of a subquery for each, and this value as an expression over attributes."""
    correlated = separate(call.subquery)
    if correlated.aggregate is None:
        raise InexpressibleError("a scalar subquery that is no aggregate may have several rows")
    members = context.translate(correlated.rows)
    pairs = [(rows.resolve(equality.left), members.resolve(equality.right)) for equality in correlated.equalities]
    if not pairs:
        pairs = [(exp.Literal.number(0), exp.Literal.number(0))]
    rows_exposed, own = rows.expose([value for value, _ in pairs], "reference")
    members, theirs = members.expose([value for _, value in pairs], "reference")
    grouping = []
    for position, (attribute, other) in enumerate(zip(own, theirs, strict=True)):
        value = cast_to_key(name_attribute(other.name), other.type, attribute.type)
        if value is None:
            raise InexpressibleError("the compared columns have types whose equality provenn does not know")
        grouping.append(GroupingColumn(f"g{position}", attribute.name, value, may_be_null=False))
    if len({column.value.sql() for column in grouping}) < len(grouping):
        raise InexpressibleError("one column is compared with several others")
    groups = group_members(members, grouping, correlated.aggregate, context)
    looked_up, values = look_up_groups(rows_exposed, [name_attribute(attribute.name) for attribute in own], groups)
    (computed,) = correlated.computed
    return looked_up, RowSource(looked_up.catalog, values).resolve(computed)


def look_up_groups(
    rows: RowSource, key_values: Sequence[exp.Expr], groups: AggregatedRows
) -> tuple[RowSource, dict[str, exp.Expr]]:
    """Return rows with the aggregates of their groups, and the values of the columns of the groups.

    A row without a group has what an aggregate of no rows gives.

    Raises
    ------
    InexpressibleError
        If the values cannot refer to the groups, or an aggregate of no rows is neither 0 nor NULL.
    """
    by_symbol = {f"a{position}": name for position, name in enumerate(groups.calls)}
    partners = RowSource(groups.relation.catalog, {symbol: name_attribute(name) for symbol, name in by_symbol.items()})
    looked_up = look_up(rows, partners, key_values, "null")
    if looked_up is None:
        raise InexpressibleError("the compared columns have types whose equality provenn does not know")
    aggregates = {
        name: _count_none_as_zero(looked_up.values[symbol], groups.calls[name]) for symbol, name in by_symbol.items()
    }
    return looked_up, {symbol: _replace_attributes(value, aggregates) for symbol, value in groups.values.items()}


def _replace_attributes(expression: exp.Expr, values: Mapping[str, exp.Expr]) -> exp.Expr:
    """Return an expression with attributes of groups replaced by the values that a row looks up."""

    def replace_attribute(node: exp.Expr) -> exp.Expr:
        return values[node.name].copy() if isinstance(node, exp.Column) and node.name in values else node

    return expression.copy().transform(replace_attribute)


def _count_none_as_zero(value: exp.Expr, call: str) -> exp.Expr:
    """Return the value of an aggregate, for a row without a group: a count of no rows is 0, anything else is NULL."""
    if call.lower().startswith("count("):
        return exp.Coalesce(this=value.copy(), expressions=[exp.Literal.number(0)])
    if call.lower().startswith("collect"):
        raise InexpressibleError("an array of no rows is empty, not NULL")
    return value
