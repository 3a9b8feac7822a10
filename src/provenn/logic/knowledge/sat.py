"""The only module, with `weighted_sat`, that calls the SAT solver (python-sat).

Clauses and assumptions are literals of the callers, ``2 * variable + complemented``. The solver's own numbering stays
in this module; it is dense for any numbering of the callers.
"""

from __future__ import annotations

from collections.abc import Iterable
from threading import TIMEOUT_MAX, Timer
from typing import Any, Final
from weakref import finalize

from provenn import deadline
from provenn.logic.knowledge.budget import Budget, Clock, RanOutError

__all__ = ["Solver", "number_literal"]

_MOST_CONFLICTS: Final = 2**31 - 1  # the limit of python-sat
_SLICE: Final = 500  # conflicts between two checks of the deadline: well under a second of searching


class Solver:
    """A set of clauses, solved repeatedly under assumptions. An unsatisfiable question returns its reasons."""

    __slots__ = ("__weakref__", "_numbers", "_solver", "_variables")

    def __init__(self) -> None:
        from pysat.solvers import Minisat22  # noqa: PLC0415 - simulated objects answer most questions

        self._solver: Any = Minisat22()
        finalize(self, self._solver.delete)  # python-sat's own destructor fails when the interpreter exits
        self._numbers: dict[int, int] = {}
        self._variables: list[int] = [0]

    def add(self, clauses: Iterable[Iterable[int]]) -> None:
        """Add clauses."""
        numbers, variables = self._numbers, self._variables
        self._solver.append_formula(
            [[number_literal(literal, numbers, variables) for literal in clause] for clause in clauses],
            no_return=True,
        )

    def solve(self, assumptions: Iterable[int], clock: Clock | None = None) -> bool:
        """Return whether all clauses and assumptions can hold at once: then see `true_variables`, otherwise `core`.

        Raises
        ------
        RanOutError
            When the clock ran out first.
        DeadlineError
            When the deadline of the work passed first.
        """
        numbers = [number_literal(literal, self._numbers, self._variables) for literal in assumptions]
        if clock is None and not deadline.is_set():
            return bool(self._solver.solve(assumptions=numbers))
        if clock is None:
            clock = Clock(Budget())
        while not clock.has_run_out:
            deadline.check()
            answer = self._solve_within(numbers, clock)
            if answer is not None:
                return answer
        raise RanOutError

    def _solve_within(self, numbers: list[int], clock: Clock) -> bool | None:
        """Return the answer, or None if the clock ran out or a slice of the search is over."""
        solver = self._solver
        conflicts = clock.conflicts_left
        if deadline.is_set():
            conflicts = _SLICE if conflicts is None else min(conflicts, _SLICE)
        if conflicts is not None:
            solver.conf_budget(min(conflicts, _MOST_CONFLICTS))
        timer = None
        if clock.seconds_left is not None:
            timer = Timer(min(clock.seconds_left, TIMEOUT_MAX), solver.interrupt)
            timer.start()
        before = solver.accum_stats()["conflicts"]
        try:
            answer: bool | None = solver.solve_limited(assumptions=numbers, expect_interrupt=timer is not None)
        finally:
            if timer is not None:
                timer.cancel()
                timer.join()
                solver.clear_interrupt()
            if conflicts is not None:
                solver.conf_budget(-1)
        clock.spend(solver.accum_stats()["conflicts"] - before)
        return answer

    def true_variables(self) -> set[int]:
        """Return the true variables of the last solution."""
        variables = self._variables
        return {variables[number] for number in self._solver.get_model() if number > 0}

    def core(self) -> list[int]:
        """Return the assumptions that together made the last question unsatisfiable."""
        variables = self._variables
        return [2 * variables[abs(number)] + (number < 0) for number in self._solver.get_core() or ()]

    def close(self) -> None:
        """Free the solver's memory."""
        self._solver.delete()


def number_literal(literal: int, numbers: dict[int, int], variables: list[int]) -> int:
    """Return the solver's literal of a literal, with the next number for a new variable."""
    variable = literal >> 1
    number = numbers.get(variable)
    if number is None:
        number = numbers[variable] = len(variables)
        variables.append(variable)
    return -number if literal & 1 else number
