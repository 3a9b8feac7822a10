"""Weighted questions to the SAT solver, for counting; most processes need none."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final
from weakref import finalize

from pysat.examples.rc2 import RC2
from pysat.formula import WCNF

from provenn import deadline
from provenn.logic.knowledge.budget import RanOutError
from provenn.logic.knowledge.sat import number_literal

__all__ = ["WeightedSolver"]

_MOST_CORES: Final = 400
_MOST_CONFLICTS_OF_A_STEP: Final = 2_000


class WeightedSolver:
    """Clauses with weighted literals: finds the solution with the heaviest true literals (weighted MaxSAT).

    Weights are whole numbers, so the answer is exact. The search is core-guided: Ignatiev, Morgado and Marques-Silva,
    "RC2: an efficient MaxSAT solver" (2019).

    Parameters
    ----------
    weights
        The positive weight of each literal; a solution loses the weights of its false literals.
    """

    __slots__ = ("__weakref__", "_numbers", "_search", "_variables")

    def __init__(self, weights: Mapping[int, int]) -> None:
        self._numbers: dict[int, int] = {}
        self._variables: list[int] = [0]
        self._search: Any = _BoundedSearch(WCNF())
        finalize(self, self._search.delete)
        for literal, weight in weights.items():
            self._search.add_clause([self._number_literal(literal)], weight=weight)

    def add(self, clauses: Iterable[Iterable[int]]) -> None:
        """Add clauses."""
        for clause in clauses:
            self._search.add_clause([self._number_literal(literal) for literal in clause])

    def solve(self, losing_less_than: int) -> set[int] | None:
        """Return the true variables of a solution with the least loss, or None if every solution loses too much.

        Raises
        ------
        RanOutError
            When the search takes too long: the limit is a number of steps, the same on every machine.
        """
        self._search.limit = losing_less_than
        try:
            model = self._search.compute()
        except _LossError:
            return None
        return None if model is None else {self._variables[number] for number in model if number > 0}

    def close(self) -> None:
        """Free the solver's memory."""
        self._search.delete()

    def _number_literal(self, literal: int) -> int:
        return number_literal(literal, self._numbers, self._variables)


class _LossError(Exception):
    """Every solution loses at least the limit."""


class _BoundedSearch(RC2):  # type: ignore[misc] # python-sat has no types
    """A search that stops as soon as every solution is known to lose the limit."""

    limit = 0
    cores = 0

    def process_core(self) -> None:
        """Take in the next reason for a loss."""
        deadline.check()
        self.cores += 1
        if self.cores > _MOST_CORES:
            raise RanOutError
        super().process_core()
        if self.cost >= self.limit:
            raise _LossError

    def _call_oracle(self, *arguments: Any, **options: Any) -> bool:  # noqa: ANN401 - as python-sat has it
        self.oracle.conf_budget(_MOST_CONFLICTS_OF_A_STEP)
        answer = super()._call_oracle(*arguments, **options)
        if self.oracle.get_status() is None:
            raise RanOutError
        return bool(answer)
