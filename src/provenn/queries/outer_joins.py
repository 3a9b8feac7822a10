"""Outer joins in which a row has several partners: the pairs, united with the rows without a partner.

``customers LEFT JOIN orders`` has a row for each order of a customer, and one for each customer without orders. That is
``UNION ALL`` of an inner and an anti join with a tag, which tells where a row comes from (`tagged_unions`): a row is
known by the tag, and by the key of the order or of the customer. Sound: a row of a side either has partners, and is in
the inner join as often as it has them, or has none, and is in the anti join once, with NULL in all columns of the other
side; the conditions of both are TRUE for the same pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import exp

from provenn.queries.relation import InexpressibleError, RowSource
from provenn.queries.tagged_unions import unite_tagged
from provenn.queries.translating import Translating
from provenn.queries.tree import Column, JoinNode, Node, ProjectNode, SetOperationNode, refer_to, walk_tree

__all__ = ["join_with_repetition", "write_nulls"]

_TAG = "side"
"""The name of the tag, which no query shows."""


def join_with_repetition(
    node: JoinNode, reason: str, join: Callable[[JoinNode, Translating], RowSource], context: Translating
) -> RowSource:
    """Return a left, right or full outer join in which rows of one side may have several partners.

    Parameters
    ----------
    node
        The join.
    reason
        Why it is not expressed otherwise.
    join
        Returns the rows of an inner join or an anti join, or raises `InexpressibleError`.
    context
        The context of the translation.

    Raises
    ------
    InexpressibleError
        If rows of both sides may have several partners, or the keys of both sides are of different types.
    """
    tag = Column(1 + max(column.number for part in walk_tree(node) for column in part.columns), _TAG)
    sides = {"left": (node.left, node.right), "right": (node.right, node.left)}
    kinds = [kind for kind in sides if node.kind in (kind, "full")]
    parts = {"both": replace(node, kind="cross" if node.condition is None else "inner")}
    parts |= {kind: JoinNode(*sides[kind], "anti", node.condition) for kind in kinds}
    values = {column: refer_to(column) for column in node.columns}
    try:
        for part in parts.values():  # no part is opaque
            context.relations[id(part)] = part, join(part, context)
        members = [_show(parts["both"], "both", tag, values)]
        for kind in kinds:
            partners = sides[kind][1]
            nulls = zip(partners.columns, write_nulls(context.translate(partners), partners), strict=True)
            label = "other" if kind == "right" and node.kind == "full" else "alone"  # a join is its mirror image
            members.append(_show(parts[kind], label, tag, {**values, **dict(nulls)}))
        columns, (pairs, *others) = (tag, *node.columns), members
        united = SetOperationNode("union", True, pairs, others[0], columns)
        for member in others[1:]:
            united = SetOperationNode("union", True, united, member, columns)
        rows = unite_tagged(united, reason, context)
    except InexpressibleError:
        raise InexpressibleError(reason) from None
    # The number of the tag is new in this join alone: a column of another table may have the same.
    return replace(rows, values={symbol: value for symbol, value in rows.values.items() if symbol != tag.symbol})


def _show(part: JoinNode, label: str, tag: Column, values: Mapping[Column, exp.Expr]) -> Node:
    """Return the rows of a part with the tag and all columns."""
    return ProjectNode(part, ((tag, exp.Literal.string(label)), *values.items()))


def write_nulls(rows: RowSource, node: Node) -> list[exp.Expr]:
    """Return NULL in the type of each column of a node, whose relation is `rows`."""
    _, attributes = rows.expose([rows.resolve(refer_to(column)) for column in node.columns], "column")
    return [exp.cast(exp.null(), str(attribute.type), dialect="spark") for attribute in attributes]
