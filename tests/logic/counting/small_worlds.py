"""Counting by brute force: every way to put a few objects into the regions of three sets.

It shares no code with `provenn.logic.counting`: regions are bits, numbers are NumPy arrays, statements are judged by
whether each region holds objects.
"""

from collections.abc import Sequence
from itertools import product

import numpy as np

from provenn.logic import Statement
from provenn.logic.counting import Count
from provenn.logic.statements import And, Not, Or
from provenn.logic.terms import Term

LABELS = ("A", "B", "C")
REGIONS = tuple(
    frozenset(label for label, bit in zip(LABELS, bits, strict=True) if bit) for bits in product((0, 1), repeat=3)
)


def cells(region: Term) -> np.ndarray:
    """Whether each region lies inside a term."""
    return np.array([region.evaluate(lambda label: label in place, False, True) for place in REGIONS])  # noqa: B023


def holds(statement: Statement, numbers: np.ndarray) -> np.ndarray:
    """Whether a statement is true, for each row of numbers of objects by region."""
    match statement:
        case Not(part):
            return ~holds(part, numbers)
        case And(parts):
            return np.all([holds(part, numbers) for part in parts], axis=0)
        case Or(parts):
            return np.any([holds(part, numbers) for part in parts], axis=0)
    return np.all(
        [(numbers[:, cells(region)].sum(axis=1) > 0) == inhabited for region, inhabited in statement.claims()], axis=0
    )


def all_numbers(facts: Sequence[Statement], counts: Sequence[Count], *, open_universe: bool) -> np.ndarray:
    """All numbers of objects by region that fit facts and counts.

    A region inside a set with an upper bound holds no more than that. Any other region holds up to as many as some
    count asks for, or one: more objects there change no statement and no upper bound.
    """
    least = max([1, *(known.low for known in counts)])
    most = []
    for place in range(len(REGIONS)):
        highs = [known.high for known in counts if known.high is not None and cells(known.region)[place]]
        most.append(min([least, *highs]) if not highs else min(highs))
    numbers = np.array(list(product(*(range(number + 1) for number in most))))
    fits = np.ones(len(numbers), dtype=bool)
    for known in counts:
        totals = numbers[:, cells(known.region)].sum(axis=1)
        fits &= totals >= known.low
        if known.high is not None:
            fits &= totals <= known.high
    if open_universe:
        fits &= numbers[:, REGIONS.index(frozenset())] > 0
    numbers = numbers[fits]
    for fact in facts:
        numbers = numbers[holds(fact, numbers)]
    return numbers


def bound_by_hand(region: Term, numbers: np.ndarray, counts: Sequence[Count]) -> tuple[int, int | None]:
    """The least and the most objects in a term; no most, if a region of it that holds objects has no upper bound."""
    totals = numbers[:, cells(region)].sum(axis=1)
    free = [
        place
        for place in np.flatnonzero(cells(region))
        if not any(known.high is not None and cells(known.region)[place] for known in counts)
    ]
    return int(totals.min()), None if numbers[:, free].any() else int(totals.max())
