"""Reductions of ``greatest`` and ``least`` of one term and constants."""

from __future__ import annotations

from provenn.criteria.conditions import build_leaf
from provenn.criteria.domains import get_domain
from provenn.criteria.nodes import Call, Condition, Node
from provenn.criteria.ranges import Ranges, build_comparison_ranges
from provenn.criteria.reductions.constants import evaluate_constant

__all__ = ["reduce_extreme"]


def reduce_extreme(term: Node, where: Ranges) -> Condition | None:
    """Reduce ``greatest`` or ``least`` of a single term and any number of constants.

    Both ignore NULL, and order values as comparisons do. So the value is the constant where the term is NULL or on the
    other side of the constant, and the term elsewhere.
    """
    match term:
        case Call("greatest" | "least" as operator, arguments):
            constants = [evaluate_constant(argument) for argument in arguments]
        case _:
            return None
    others = {argument for argument, constant in zip(arguments, constants, strict=True) if constant is None}
    keys = [constant.key for constant in constants if constant and constant.key is not None]
    within = get_domain(term.type)
    if len(others) != 1 or within is None:
        return None
    (inner,) = others
    if not keys:
        return build_leaf(inner, where)
    bound = max(keys) if operator == "greatest" else min(keys)
    beyond = build_comparison_ranges(">" if operator == "greatest" else "<", bound, within)
    return build_leaf(inner, (where & beyond) | ~beyond if bound in where else where & beyond, at_null=bound in where)
