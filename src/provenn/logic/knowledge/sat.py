"""The one place that talks to the SAT solver (python-sat).

Clauses and assumptions are literals of the callers, ``2 * variable + complemented``; the solver's own numbering stays
in here, dense whatever the callers' is.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import TIMEOUT_MAX, Timer
from typing import Final
from weakref import finalize

from pysat.solvers import Minisat22

from provenn.logic.knowledge.budget import Clock, RanOutError

__all__ = ["Solver"]

_MOST_CONFLICTS: Final = 2**31 - 1  # that python-sat can count to


class Solver:
    """Clauses, asked again and again under assumptions. A failed question hands back its reasons."""

    __slots__ = ("__weakref__", "_numbers", "_solver", "_variables")

    def __init__(self) -> None:
        self._solver = Minisat22()
        finalize(self, self._solver.delete)  # python-sat's own destructor fails when the interpreter is leaving
        self._numbers: dict[int, int] = {}
        self._variables: list[int] = [0]

    def add(self, clauses: Iterable[Iterable[int]]) -> None:
        """Add clauses."""
        self._solver.append_formula(
            [[self._signed(literal) for literal in clause] for clause in clauses], no_return=True
        )

    def solve(self, assumptions: Iterable[int], clock: Clock | None = None) -> bool:
        """Whether all clauses and assumptions can hold at once: then see `true_variables`, otherwise `core`.

        Raises
        ------
        RanOutError
            When the clock ran out first.
        """
        signed = [self._signed(literal) for literal in assumptions]
        if clock is None:
            return bool(self._solver.solve(assumptions=signed))
        answer = None if clock.ran_out else self._solve_within(signed, clock)
        if answer is None:
            raise RanOutError
        return answer

    def _solve_within(self, signed: list[int], clock: Clock) -> bool | None:
        solver = self._solver
        if clock.conflicts_left is not None:
            solver.conf_budget(min(clock.conflicts_left, _MOST_CONFLICTS))
        timer = None
        if clock.seconds_left is not None:
            timer = Timer(min(clock.seconds_left, TIMEOUT_MAX), solver.interrupt)
            timer.start()
        before = solver.accum_stats()["conflicts"]
        try:
            answer: bool | None = solver.solve_limited(assumptions=signed, expect_interrupt=timer is not None)
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
                solver.clear_interrupt()
            if clock.conflicts_left is not None:
                solver.conf_budget(-1)
        clock.spend(solver.accum_stats()["conflicts"] - before)
        return answer

    def true_variables(self) -> set[int]:
        """Return the variables that are true in the solution that was found."""
        variables = self._variables
        return {variables[number] for number in self._solver.get_model() if number > 0}

    def core(self) -> list[int]:
        """Return the assumptions that together made the last question impossible."""
        variables = self._variables
        return [2 * variables[abs(number)] + (number < 0) for number in self._solver.get_core() or ()]

    def close(self) -> None:
        """Free the solver's memory."""
        self._solver.delete()

    def _signed(self, literal: int) -> int:
        variable = literal >> 1
        number = self._numbers.get(variable)
        if number is None:
            number = self._numbers[variable] = len(self._variables)
            self._variables.append(variable)
        return -number if literal & 1 else number
