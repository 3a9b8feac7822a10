"""A lineage as formulas, for peers that have formulas of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.lineages import Kind, Lineage, Operation, Questions

__all__ = ["Algebra", "Formula"]

Formula = Any
"""Whatever the peer takes for one."""


@dataclass(frozen=True, slots=True)
class Algebra:
    """How a peer makes its formulas. A variable is made from the number of its set."""

    variable: Callable[[int], Formula]
    conjunction: Callable[[Formula, Formula], Formula]
    disjunction: Callable[[Formula, Formula], Formula]
    exclusive: Callable[[Formula, Formula], Formula]
    negation: Callable[[Formula], Formula]

    def sets(self, lineage: Lineage) -> list[Formula]:
        """Return the formula of every set; a selection is its parent and a fresh variable."""
        sets: list[Formula] = []
        for number, (operation, left, right) in enumerate(lineage.rows()):
            if operation == Operation.BASE:
                made = self.variable(number)
            elif operation == Operation.SELECTION:
                made = self.conjunction(sets[left], self.variable(number))
            elif operation == Operation.EQUAL:
                made = sets[left]
            elif operation == Operation.INTERSECTION:
                made = self.conjunction(sets[left], sets[right])
            elif operation == Operation.UNION:
                made = self.disjunction(sets[left], sets[right])
            else:
                made = self.conjunction(sets[left], self.negation(sets[right]))
            sets.append(made)
        return sets

    def regions(self, lineage: Lineage, questions: Questions) -> Iterator[Formula]:
        """Yield for each question the region that is empty if and only if the question's statement holds."""
        sets = self.sets(lineage)
        for kind, one, other in questions.rows():
            first, second = sets[one], sets[other]
            if kind == Kind.EQUAL:
                yield self.exclusive(first, second)
            elif kind == Kind.SUBSET:
                yield self.conjunction(first, self.negation(second))
            else:
                yield self.conjunction(first, second)
