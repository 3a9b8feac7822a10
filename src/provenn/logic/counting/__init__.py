"""Counting: the least and the most objects of a set, proved from facts and known counts."""

from provenn.logic.counting.counting import bound_count, bound_numbers, find_count_conflict
from provenn.logic.counting.counts import Count, count
from provenn.logic.counting.proofs import BoundProof, CountBounds, CountConflict, Inequality

__all__ = [
    "BoundProof",
    "Count",
    "CountBounds",
    "CountConflict",
    "Inequality",
    "bound_count",
    "bound_numbers",
    "count",
    "find_count_conflict",
]
