"""The combinations of MOCs that share cells with a MOC: which unions hold the MOC, and which intersections do not."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from provenn.sky.mocs import Moc
from provenn.sky.region import INSIDE
from provenn.sky.relations import relation

__all__ = ["Combination", "find_combinations"]

Combination = tuple[bool, ...]
"""A flag per MOC: whether a cell lies in it."""

_MOST_COMBINATIONS = 64


def find_combinations(moc: Moc, others: Sequence[Moc]) -> list[Combination] | None:
    """Return the combinations of other MOCs in which the cells of a MOC lie.

    Cells are divided where another MOC begins or ends, and so lie inside or outside it. Return None if the relations
    between two MOCs each say as much, or if there are very many combinations.
    """
    ends = np.unique(np.concatenate([region.ranges.ravel() for region in (moc, *others)]))
    first, last = ends[:-1], ends[1:]
    own = moc.sides_of(first, last) == INSIDE
    flags = np.stack([other.sides_of(first[own], last[own]) == INSIDE for other in others])
    occurring = [tuple(column) for column in np.unique(flags, axis=1).T.tolist()]
    if len(occurring) > _MOST_COMBINATIONS or len(occurring) == len(_list_allowed(moc, others)):
        return None
    return occurring


def _list_allowed(moc: Moc, others: Sequence[Moc]) -> list[Combination]:
    """Return the combinations that the relations between two MOCs each allow."""
    holds_moc = [relation(moc, other).within for other in others]
    pairs = [(place, relation(others[place[0]], others[place[1]])) for place in combinations(range(len(others)), 2)]
    return [
        flags
        for flags in product(*([True] if holds else [False, True] for holds in holds_moc))
        if not any(
            (pair.apart and flags[first] and flags[second])
            or (pair.within and flags[first] and not flags[second])
            or (pair.around and flags[second] and not flags[first])
            for (first, second), pair in pairs
        )
    ]
