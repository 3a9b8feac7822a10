"""Find smallest conflicts: no other conflict has fewer formulas.

Every conflict has a formula in each *correction set*, which is what a world violates. So a conflict is no smaller than
the smallest set with a formula of every known correction set; if that set conflicts, no conflict is smaller. Otherwise
a world satisfies it, and what this world violates is a further correction set (Ignatiev, Previti, Liffiton and
Marques-Silva, "Smallest MUS extraction with minimal hitting set dualization", 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from provenn.logic.knowledge.conflicts import Case, Resolution, find_conflict
from provenn.logic.knowledge.formulas import Disjunction, Formula, Inhabited
from provenn.logic.knowledge.search import Claims, WorldSearch

__all__ = ["MOST_FORMULAS", "find_smallest_conflict"]

MOST_FORMULAS: Final = 64
"""The most formulas among which a smallest conflict is sought."""

_MOST_WORLDS: Final = 40
_MOST_STEPS: Final = 2_000


def find_smallest_conflict(search: WorldSearch, cases: Sequence[Case], conflict: Sequence[int]) -> list[int]:
    """Return the numbers of the fewest formulas that conflict in every case.

    The search is bounded, by numbers that are the same on every machine: if it ends early, or no conflict is smaller,
    the result is the given conflict.

    Parameters
    ----------
    search
        The search for worlds.
    cases
        The cases, with the same number of formulas in the same order.
    conflict
        The numbers of formulas that conflict in every case.
    """
    count = len(cases[0].formulas) if cases else 0
    if len(conflict) < 2 or count > MOST_FORMULAS or count == len(conflict):
        return list(conflict)
    corrections: list[list[int]] = []
    for _ in range(_MOST_WORLDS):
        chosen = _choose_fewest(corrections, len(conflict))
        if chosen is None:
            break
        result = find_conflict(search, cases, sorted(chosen))
        if not isinstance(result, Resolution):
            return result
        corrections.append(_find_violated(search, result))
    return list(conflict)


def _choose_fewest(corrections: Sequence[Sequence[int]], less_than: int) -> frozenset[int] | None:
    """Return a smallest set with a member of each correction set; None if all are too large, or the search is long."""
    steps = 0
    for size in range(less_than):
        stack = [frozenset[int]()]
        while stack:
            steps += 1
            if steps > _MOST_STEPS:
                return None
            chosen = stack.pop()
            missed = min((members for members in corrections if chosen.isdisjoint(members)), key=len, default=None)
            if missed is None:
                return chosen
            if len(chosen) < size:
                stack += [chosen | {member} for member in missed]
    return None


def _find_violated(search: WorldSearch, resolution: Resolution) -> list[int]:
    """Return the formulas that a world violates which satisfies as many formulas as a greedy search finds."""
    case, claims = resolution
    satisfied = _list_true(search, case, claims)
    for number in range(len(case.formulas)):
        if number not in satisfied:
            formulas = [case.formulas[place] for place in sorted({*satisfied, number})]
            larger = search.conflict([case.always, *formulas])
            if isinstance(larger, Claims):
                satisfied = {*satisfied, number, *_list_true(search, case, larger)}
    return [number for number in range(len(case.formulas)) if number not in satisfied]


def _list_true(search: WorldSearch, case: Case, claims: Claims) -> set[int]:
    """Return the numbers of the formulas that are true in a world with the claims."""
    objects = search.objects(claims)
    values: list[dict[int, bool]] = [{} for _ in objects]
    holds = search.reasoner.graph.holds

    def is_true(formula: Formula) -> bool:
        if isinstance(formula, Inhabited):
            inside = any(holds(formula.literal, parts, known) for parts, known in zip(objects, values, strict=True))
            return inside == formula.holds
        return (any if isinstance(formula, Disjunction) else all)(map(is_true, formula.parts))

    return {number for number, formula in enumerate(case.formulas) if is_true(formula)}
