"""Whether what several processes saw can be explained by one order of their operations: linearisability.

The search is that of Wing and Gong (1993) with the memory of Lowe (2017): it looks for an order in which every
operation happens between its call and its answer, and each answer is one that a sequential specification gives. An
operation whose answer was lost may have happened at any time after its call, or never.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import inf

__all__ = ["UNKNOWN", "Operation", "Specification", "explain_history", "is_linearisable"]

UNKNOWN = "unknown"
"""The answer of an operation whose answer was lost."""

State = Hashable
Specification = Callable[[State, str, str], Sequence[tuple[object, State]]]
"""The possible answers to an operation with an argument in a state, each with the next state."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What a process did.

    Parameters
    ----------
    process
        Which process.
    kind, argument
        What it did, with what.
    called, answered
        When it was called, and when it was answered; for one whose answer was lost, infinity.
    answer
        The answer, or `UNKNOWN`.
    """

    process: str
    kind: str
    argument: str
    called: float
    answered: float
    answer: object

    @classmethod
    def lost(cls, process: str, kind: str, argument: str, called: float) -> Operation:
        """Return an operation whose answer was lost."""
        return cls(process, kind, argument, called, inf, UNKNOWN)

    @property
    def known(self) -> bool:
        """Whether it was answered."""
        return self.answer != UNKNOWN


def is_linearisable(history: Iterable[Operation], apply: Specification, first: State) -> bool:
    """Whether there is an order of the operations of one object that explains all answers."""
    operations = sorted(history, key=lambda item: item.called)
    needed = sum(1 << at for at, item in enumerate(operations) if item.known)
    waiting: list[tuple[int, State]] = [(0, first)]
    visited = set(waiting)
    while waiting:
        done, state = waiting.pop()
        if done & needed == needed:
            return True
        for at in _candidates(operations, done):
            operation = operations[at]
            for answer, after in apply(state, operation.kind, operation.argument):
                now = (done | 1 << at, after)
                if (not operation.known or answer == operation.answer) and now not in visited:
                    visited.add(now)
                    waiting.append(now)
    return False


def _candidates(operations: Sequence[Operation], done: int) -> Iterable[int]:
    """Give the operations that can be next: those called before any that is not done yet was answered."""
    earliest = inf
    for at, operation in enumerate(operations):
        if operation.called > earliest:
            return
        if not done >> at & 1:
            earliest = min(earliest, operation.answered)
            yield at


def explain_history(history: Iterable[Operation]) -> str:
    """Return a history in words, for people."""
    return "\n".join(
        f"{change.called:.6f}-{change.answered:.6f} {change.process}: "
        f"{change.kind} {change.argument} -> {change.answer}"
        for change in sorted(history, key=lambda item: item.called)
    )
