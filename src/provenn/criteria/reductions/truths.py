"""Reductions of conditions that are used as values, and of constants."""

from __future__ import annotations

from provenn.criteria.conditions import join_by_or, negate_condition
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Condition, Node, Test, Truth
from provenn.criteria.ranges import Ranges

__all__ = ["reduce_constant", "reduce_truth"]


def reduce_constant(term: Node, where: Ranges) -> Condition | None:
    """Reduce a constant: its value lies in the ranges for all sources, or for none."""
    constant = evaluate(term)
    if constant is None:
        return None
    return Truth(constant.key is not None and constant.key in where)


def reduce_truth(term: Node, where: Ranges) -> Condition | None:
    """Reduce a condition that is used as a value: 0 is the key of TRUE, and 1 of FALSE."""
    if not isinstance(term, Test):
        return None
    parts = [(0, term.condition), (1, negate_condition(term.condition))]
    return join_by_or(condition for key, condition in parts if key in where)
