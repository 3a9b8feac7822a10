"""Replace attributes in a condition by their defining expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from provenn.criteria.comparisons import build_comparison, convert_to_node
from provenn.criteria.conditions import (
    build_is_null,
    build_is_true,
    build_leaf,
    join_by_and,
    join_by_or,
    negate_condition,
)
from provenn.criteria.nodes import Call, ColumnNode, Condition, Constant, Junction, Leaf, Node, Test, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.schema import AttributeIdentity
from provenn.criteria.writing import CANONICAL, write

__all__ = ["substitute_columns", "substitute_in_node"]

_COMMUTATIVE = frozenset(["+", "*", "&", "|", "^"])
_OUTCOMES = ("<", "=", ">")

Replacements = Mapping[AttributeIdentity, Node]


def substitute_columns(condition: Condition, nodes: Replacements) -> Condition:
    """Return a condition with nodes in the place of columns, in canonical form.

    The replaced condition has the same value wherever each node has the value of its column.
    """
    match condition:
        case Truth():
            return condition
        case Junction(operator, parts):
            join = join_by_and if operator == "AND" else join_by_or
            return join(substitute_columns(part, nodes) for part in parts)
        case Leaf(Call("compare", (left, right)), where, at_null):
            sides = substitute_in_node(left, nodes), substitute_in_node(right, nodes)
            return _build_comparison_leaf(*sides, where, at_null)
        case Leaf(term, where, at_null):
            node = substitute_in_node(term, nodes)
            return (
                _build_test_leaf(node.condition, where, at_null)
                if isinstance(node, Test)
                else build_leaf(node, where, at_null)
            )


def substitute_in_node(node: Node, nodes: Replacements) -> Node:
    """Return a node with other nodes in the place of columns, in canonical form."""
    match node:
        case ColumnNode():
            return nodes.get(node.identity, node)
        case Constant():
            return node
        case Test(condition):
            return convert_to_node(substitute_columns(condition, nodes))
        case Call(operator, arguments):
            new = [substitute_in_node(argument, nodes) for argument in arguments]
            if operator in _COMMUTATIVE:
                new.sort(key=lambda argument: write(argument, CANONICAL))
            return replace(node, arguments=tuple(new))


def _build_test_leaf(condition: Condition, where: Ranges, at_null: bool | None) -> Condition:
    """Return the leaf on a condition as a value: TRUE has the key 0, FALSE the key 1."""
    if at_null is None:
        either = join_by_or([condition, negate_condition(condition)])
        match 0 in where, 1 in where:
            case True, False:
                return condition
            case False, True:
                return negate_condition(condition)
            case True, True:
                return either
            case _:
                return negate_condition(either)
    parts = [
        (0 in where, build_is_true(condition)),
        (1 in where, build_is_true(negate_condition(condition))),
        (at_null, build_is_null(condition)),
    ]
    return join_by_or(part for wanted, part in parts if wanted)


def _build_comparison_leaf(left: Node, right: Node, where: Ranges, at_null: bool | None) -> Condition:
    """Return the leaf on the outcome of a comparison of two values."""
    outcomes = [build_comparison(operator, left, right) for key, operator in enumerate(_OUTCOMES) if key in where]
    known = join_by_or([build_comparison("=", left, right), build_comparison("<>", left, right)])
    condition = join_by_or(outcomes) if outcomes else negate_condition(known)
    if at_null is None:
        return condition
    return join_by_or([build_is_true(condition), *([build_is_null(known)] if at_null else [])])
