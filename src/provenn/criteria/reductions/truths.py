"""Reductions of conditions that are used as values."""

from __future__ import annotations

from provenn.criteria.conditions import join_by_or, negate_condition
from provenn.criteria.nodes import Condition, Node, Test
from provenn.criteria.ranges import Ranges

__all__ = ["reduce_truth"]


def reduce_truth(term: Node, where: Ranges) -> Condition | None:
    """Reduce a condition that is used as a value: 0 is the key of TRUE, and 1 of FALSE."""
    if not isinstance(term, Test):
        return None
    parts = [(0, term.condition), (1, negate_condition(term.condition))]
    return join_by_or(condition for key, condition in parts if key in where)
