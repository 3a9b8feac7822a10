"""The possible objects of a counting problem: found by the reasoner, or by their weight with MaxSAT."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from provenn.logic.knowledge.graph import EMPTY, EVERYTHING, PART
from provenn.logic.knowledge.reasoner import Reasoner

if TYPE_CHECKING:
    from provenn.logic.knowledge.weighted_sat import WeightedSolver

__all__ = ["Objects"]

_MOST_CELLS: Final = 4096


class Objects:
    """The objects that the facts allow, and that are in none of some forbidden literals.

    Parameters
    ----------
    reasoner
        The reasoner with the constraints on objects.
    forbidden
        The literals that no object is in, beyond the constraints.
    """

    def __init__(self, reasoner: Reasoner, forbidden: Iterable[int] = ()) -> None:
        self.graph = reasoner.graph
        self._reasoner = reasoner
        self._outside = [literal ^ 1 for literal in forbidden]
        self._imposed: list[int] = []  # constraints that earlier searches needed

    def find(self, *literals: int) -> set[int] | None:
        """Return the part nodes of an object in all the literals, or None."""
        return self._reasoner.find([*literals, *self._outside])

    def find_cover(self, inside: int, sets: Sequence[int]) -> list[int] | None:
        """Return some of the sets that together cover a literal; None if an object of it can be outside all sets."""
        if self.find(inside, *(literal ^ 1 for literal in sets)) is not None:
            return None
        core = set(self._reasoner.core)
        return [literal for literal in sets if literal ^ 1 in core]

    def is_possible(self, *literals: int) -> bool:
        """Return whether an object can be in all the literals."""
        return self._reasoner.possible(*literals, *self._outside)

    def contains(self, literals: Sequence[int], parts: set[int]) -> list[bool]:
        """Return for each literal whether an object is in it."""
        values: dict[int, bool] = {}
        holds = self.graph.holds
        return [holds(literal, parts, values) for literal in literals]

    def invent(self, literal: int) -> list[set[int]]:
        """Return possible objects in a literal and in few other sets, found without a search; there may be none."""
        graph = self.graph
        invented: list[set[int]] = []
        for parts in graph.invent_objects(literal):
            values: dict[int, bool] = {}
            wanted = (literal, *self._outside, *(graph.left[node] for node in parts))
            if all(graph.holds(needed, parts, values) for needed in wanted) and not self._reasoner.find_violated(parts):
                invented.append(parts)
        return invented

    def find_heaviest(self, weights: Mapping[int, int]) -> set[int] | None:
        """Return the object with the greatest sum of weights of its literals, or None if no sum is above 0."""
        wanted: dict[int, int] = {}  # the positive weight of each literal
        gain = 0  # the sum of weights, if all wanted literals were true
        for literal, weight in weights.items():
            positive, bonus = (literal, weight) if weight > 0 else (literal ^ 1, -weight)
            gain += max(weight, 0)
            if positive == EMPTY:
                gain -= bonus
            elif bonus and positive != EVERYTHING:
                wanted[positive] = wanted.get(positive, 0) + bonus
        # A literal and its complement are never both wanted: each weight is given once, for one of the two.
        for literal in [literal for literal in wanted if literal & 1 and literal ^ 1 in wanted]:
            common = min(wanted[literal], wanted[literal ^ 1])
            gain -= common
            for side in (literal, literal ^ 1):
                wanted[side] -= common
        wanted = {literal: weight for literal, weight in wanted.items() if weight}
        if gain <= 0:
            return None
        from provenn.logic.knowledge.weighted_sat import WeightedSolver  # noqa: PLC0415 - slow to import, rarely needed

        solver = WeightedSolver(wanted)
        try:
            return self._find_allowed(solver, list(wanted), gain)
        finally:
            solver.close()

    def _find_allowed(self, solver: WeightedSolver, literals: Sequence[int], gain: int) -> set[int] | None:
        """Return the best solution that violates no constraint; violated constraints are added one after another."""
        graph, encoded = self.graph, set[int]()
        hard = [*self._outside, *self._imposed]
        solver.add([[EVERYTHING]])
        solver.add(graph.clauses(graph.cone([*literals, *hard], encoded)))
        solver.add([literal] for literal in hard)
        while (variables := solver.solve(losing_less_than=gain)) is not None:
            parts = {node for node in variables if graph.right[node] == PART}
            violated = self._reasoner.find_violated(parts)
            if not violated:
                return parts
            self._imposed += violated
            solver.add(graph.clauses(graph.cone(violated, encoded)))
            solver.add([literal] for literal in violated)
        return None

    def list_cells(self, literals: Sequence[int]) -> list[tuple[int, ...]] | None:
        """Return the possible combinations of literals and their complements; None if there are too many."""
        cells: list[tuple[int, ...]] = [()]
        for literal in literals:
            cells = [
                (*cell, side) for cell in cells for side in (literal, literal ^ 1) if self.is_possible(*cell, side)
            ]
            if len(cells) > _MOST_CELLS:
                return None
        return cells
