"""A question of a client: whether the client still waits, and whether questions of other people wait."""

import threading
from collections.abc import Callable
from contextvars import ContextVar
from time import monotonic, sleep
from typing import Final

__all__ = ["CURRENT", "Question"]


_SHORT: Final = 1.0
"""Seconds after which a question is long: while other people wait, a long question works only part of the time."""

_WORK: Final = 0.01
_REST: Final = 0.04


class Question:
    """A request in progress. Its work stops after a call of `stop`: see `provenn.deadline`."""

    def __init__(self) -> None:
        self._others_wait: Callable[[], bool] = lambda: False
        self._rests_at: float | None = None
        self._stopped = threading.Event()
        self._listeners: list[Callable[[], None]] = []
        self._finish_turn: Callable[[], None] = lambda: None

    @property
    def was_stopped(self) -> bool:
        """Whether the client does not wait for the answer any more."""
        return self._stopped.is_set()

    def begin(self, others_wait: Callable[[], bool], finish_turn: Callable[[], None] = lambda: None) -> None:
        """Record the start of the work.

        Parameters
        ----------
        others_wait
            Returns whether other people wait for their turn.
        finish_turn
            Ends the turn of the question before its answer.
        """
        self._others_wait = others_wait
        self._finish_turn = finish_turn
        self._rests_at = monotonic() + _SHORT

    def give_up_turn(self) -> None:
        """End the turn of this question, which now only waits for a job; to be called on the event loop."""
        self._finish_turn()

    def is_stopped(self) -> bool:
        """Return whether the client does not wait any more; `provenn.deadline.limit` calls this regularly.

        The calling thread rests now and then if its work is long and other people wait: Python runs one thread at a
        time, and the short questions of other people come first.
        """
        if self._rests_at is not None and monotonic() >= self._rests_at:
            if self._others_wait():
                sleep(_REST)
            self._rests_at = monotonic() + _WORK
        return self._stopped.is_set()

    def on_stop(self, listener: Callable[[], None]) -> None:
        """Register a function to be called, on the event loop, when the question is stopped."""
        self._listeners.append(listener)

    def stop(self) -> None:
        """Stop the work, and call the registered listeners once."""
        if not self._stopped.is_set():
            self._stopped.set()
            for listener in self._listeners:
                listener()


CURRENT: Final[ContextVar[Question | None]] = ContextVar("question", default=None)
"""The question in progress in this context."""
