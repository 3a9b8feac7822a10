"""The budget of a question. An exhausted budget is an answer, never an exception for the caller."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from time import monotonic

from provenn.errors import ProvennError

__all__ = ["Budget", "Clock", "RanOutError"]


@dataclass(frozen=True, slots=True)
class Budget:
    """The budget of a question.

    Parameters
    ----------
    seconds
        The wall-clock time.
    conflicts
        The conflicts of the SAT solver: the same on every machine.
    """

    seconds: float | None = None
    conflicts: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "conflicts"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and float(value) >= 0):
                raise ProvennError(f"expected a budget of {name}, 0 or more, got {value!r}")

    def __str__(self) -> str:
        parts = []
        if self.seconds is not None:
            parts.append(f"{self.seconds:g} s")
        if self.conflicts is not None:
            parts.append(f"{self.conflicts} conflicts")
        return " and ".join(parts) or "no limit"


class Clock:
    """A budget, and its remaining time and conflicts."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._end = None if budget.seconds is None else monotonic() + budget.seconds
        self.conflicts_left = budget.conflicts

    @property
    def seconds_left(self) -> float | None:
        """The remaining time, at least zero; None without a limit."""
        return None if self._end is None else max(self._end - monotonic(), 0.0)

    @property
    def has_run_out(self) -> bool:
        """Whether the time or the conflicts are used up."""
        return self.seconds_left == 0.0 or (self.conflicts_left is not None and self.conflicts_left <= 0)

    def spend(self, conflicts: int) -> None:
        """Subtract used conflicts."""
        if self.conflicts_left is not None:
            self.conflicts_left -= conflicts


class RanOutError(Exception):
    """The clock ran out; `judge` turns this internal error into the answer "unknown"."""
