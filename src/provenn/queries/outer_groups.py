"""Aggregates of the partners of each row: GROUP BY the key of the left side of a left outer join."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from provenn.queries.normal_form import is_strict
from provenn.queries.relation import InexpressibleError, RowSource, symbols_in
from provenn.queries.scalar_subqueries import replace_scalars
from provenn.queries.translating import Translating
from provenn.queries.tree import SCALAR, AggregateNode, FilterNode, JoinNode, Node, make_subquery_call

__all__ = ["aggregate_partners"]


def aggregate_partners(node: AggregateNode, context: Translating) -> RowSource | None:
    """Return the rows of the left side with aggregates of their partners; None for a node of another shape.

    Sound: with the key of the left side among the grouping columns, a group is a row of the left side with all partners
    of the row. The aggregates of a group are the aggregates of the partners alone: a row without partners has NULL in
    the columns of partners, and count, sum, avg, min and max of a strict expression pass over NULL with the same result
    as for no rows. count(*) counts the row without partners, and is refused.
    """
    join = node.input
    if (
        not isinstance(join, JoinNode)
        or join.kind not in ("left", "right")
        or join.subqueries
        or join.condition is None
    ):
        return None
    rows_node, partners_node = join.inputs if join.kind == "left" else reversed(join.inputs)
    if not _takes_partners_only(node, rows_node, partners_node):
        return None
    rows = context.translate(rows_node)
    own = RowSource(rows.catalog, {column.symbol: rows.resolve(value) for column, value in node.keys})
    if own.find_key_columns() is None:
        return None
    partners = FilterNode(partners_node, join.condition)
    extended, values = rows, dict(own.values)
    for column, value in node.values:
        subquery = AggregateNode(partners, (), ((column, value),))
        call = make_subquery_call(SCALAR, 0)
        try:
            extended, resolved = replace_scalars(call, replace(extended, values=rows.values), (subquery,), context)
        except InexpressibleError:
            return None
        values[column.symbol] = resolved
    return RowSource(extended.catalog, values)


def _takes_partners_only(node: AggregateNode, rows: Node, partners: Node) -> bool:
    """Whether the grouping columns are of the rows, and each value is an aggregate of a strict value of partners."""
    own = {column.symbol for column in rows.columns}
    others = {column.symbol for column in partners.columns}
    if not all(symbols_in(value) <= own for _, value in node.keys):
        return False
    for _, value in node.values:
        if not isinstance(value, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max):
            return False
        argument = value.this
        if isinstance(argument, exp.Distinct):
            if len(argument.expressions) != 1:
                return False
            argument = argument.expressions[0]
        if value.expressions or not symbols_in(argument) <= others or not is_strict(argument, others):
            return False
    return True
