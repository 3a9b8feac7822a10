"""Two-valued conditions about the value of a node: TRUE where the value lies in some ranges, FALSE elsewhere."""

from __future__ import annotations

from provenn.criteria.conditions import build_is_true, build_leaf, join_by_or, negate_condition
from provenn.criteria.domains import OUTCOMES, get_domain
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls, Test, Truth
from provenn.criteria.ranges import Ranges, build_comparison_ranges, build_point_ranges
from provenn.criteria.types import ORDER
from provenn.criteria.writing import CANONICAL, write

__all__ = ["ANY_VALUE", "build_absent", "build_inside", "build_order", "build_present", "mirror_outcomes"]

ANY_VALUE = Ranges(first=True)
"""All values of a type."""

_OPERATORS = ("<", "=", ">")
_MIRRORED = (2, 1, 0)


def build_inside(node: Node, where: Ranges) -> Condition:
    """Return the condition that a node is not NULL and lies in some ranges; it is never NULL."""
    constant = evaluate(node)
    if constant is not None:
        return Truth(constant.key is not None and constant.key in where)
    if isinstance(node, Test):
        sides = [node.condition] * (0 in where) + [negate_condition(node.condition)] * (1 in where)
        return join_by_or(map(build_is_true, sides))
    return build_leaf(node, where, at_null=False)


def build_present(node: Node) -> Condition:
    """Return the condition that a node is not NULL."""
    return build_inside(node, ANY_VALUE)


def build_absent(node: Node) -> Condition:
    """Return the condition that a node is NULL."""
    return negate_condition(build_present(node))


def build_order(left: Node, right: Node, outcomes: Ranges) -> Condition:
    """Return the condition that two nodes of a type compare with some of the outcomes; it is FALSE at NULL.

    A comparison with a constant is a condition on the other node, and two other nodes are in canonical order, as in
    criteria that are read.
    """
    constants: tuple[Constant | None, Constant | None] = (evaluate(left), evaluate(right))
    if any(constant is not None and constant.key is None for constant in constants):
        return Truth(False)
    if constants[0] is not None:
        return _compare_with_key(right, constants[0], mirror_outcomes(outcomes))
    if constants[1] is not None:
        return _compare_with_key(left, constants[1], outcomes)
    texts = write(left, CANONICAL), write(right, CANONICAL)
    if texts[0] == texts[1]:
        return build_inside(left, Ranges(first=1 in outcomes))
    if texts[1] < texts[0]:
        left, right, outcomes = right, left, mirror_outcomes(outcomes)
    return build_leaf(Call("compare", (left, right), ORDER, Nulls.ANY), outcomes, at_null=False)


def mirror_outcomes(outcomes: Ranges) -> Ranges:
    """Return the outcomes of a comparison with its sides exchanged."""
    return build_point_ranges([_MIRRORED[number] for number in range(3) if number in outcomes], OUTCOMES)


def _compare_with_key(node: Node, constant: Constant, outcomes: Ranges) -> Condition:
    """Return the condition that a node compares with a constant with some of the outcomes."""
    within = get_domain(node.type)
    if within is None or constant.key is None:
        raise TypeError(f"{node!r} does not compare with {constant!r}")
    parts = [
        build_comparison_ranges(operator, constant.key, within)
        for number, operator in enumerate(_OPERATORS)
        if number in outcomes
    ]
    return build_inside(node, Ranges.union(parts))
