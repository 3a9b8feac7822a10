"""The order of rows in Spark's plans, and the limits that depend on it."""

from __future__ import annotations

from dataclasses import replace

from provenn.queries.tree import FilterNode, LimitNode, Node, ProjectNode, SortNode
from provenn.spark.plan_reading_json import JsonNode
from provenn.spark.plan_reading_refusals import make_refusal

__all__ = ["drop_order", "limit_rows", "read_number"]


def drop_order(node: Node) -> Node:
    """Return the rows of a node in no order."""
    if isinstance(node, SortNode):
        return node.input
    return replace(node, input=drop_order(node.input)) if isinstance(node, ProjectNode | FilterNode) else node


def limit_rows(node: Node, number: int | None, offset: int) -> Node:
    """Return the first rows of a node; the order that decides stands directly below the limit.

    Spark sorts below the projection to the selected columns: ``SELECT id FROM t ORDER BY price LIMIT 3``.
    """
    if isinstance(node, ProjectNode) and _is_ordered(node.input):
        return replace(node, input=limit_rows(node.input, number, offset))
    if isinstance(node, FilterNode) and isinstance(node.input, SortNode):
        node = replace(node.input, input=replace(node, input=node.input.input))
    elif isinstance(node, FilterNode) and _is_ordered(node.input):
        raise make_refusal(
            "GlobalLimit", "of sorted rows that were selected and filtered is not supported", "filter before sorting"
        )
    return LimitNode(node, number, offset)


def _is_ordered(node: Node) -> bool:
    """Return whether the rows of a node are in an order that a sort has given them."""
    return isinstance(node, SortNode) or (isinstance(node, ProjectNode | FilterNode) and _is_ordered(node.input))


def read_number(plan: JsonNode, field_name: str) -> int:
    """Return a whole number that a plan must have as a constant."""
    literal = plan.get_tree(field_name)
    if literal.kind != "Literal" or literal.fields["dataType"] != "integer" or literal.fields["value"] is None:
        raise make_refusal(plan.kind, "with a number that is no constant is not supported")
    return int(literal.fields["value"])
