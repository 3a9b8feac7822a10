"""Stop work that no caller waits for any more.

The caller that starts a piece of work sets a limit; the loops of criteria, knowledge and planning call `check`, which
raises `DeadlineError` as soon as the limit demands it. Without a limit, `check` only reads a context variable.

A limit belongs to its context: a thread started by the work has no limit, unless the thread runs in a copy of the
context (`contextvars.copy_context`), as `asyncio.to_thread` and Starlette's thread pool do.

>>> from time import monotonic
>>> until = monotonic() + 60
>>> with limit(lambda: monotonic() > until):
...     check()
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from provenn.errors import DeadlineError

__all__ = ["check", "is_over", "is_set", "limit"]

_CANCELLED: ContextVar[Callable[[], bool] | None] = ContextVar("provenn_deadline", default=None)


@contextmanager
def limit(cancelled: Callable[[], bool]) -> Iterator[None]:
    """Stop the work of a `with` block as soon as a function returns True.

    Parameters
    ----------
    cancelled
        A function that returns whether the work should stop. The work calls it often, from its own thread, so it
        should be fast: `threading.Event.is_set`, or a comparison with a clock. Inside another limit, both apply.
    """
    outer = _CANCELLED.get()
    token = _CANCELLED.set(cancelled if outer is None else lambda: outer() or cancelled())
    try:
        yield
    finally:
        _CANCELLED.reset(token)


def is_set() -> bool:
    """Return whether the current context has a limit."""
    return _CANCELLED.get() is not None


def is_over() -> bool:
    """Return whether the limit of the current context demands that the work stops."""
    cancelled = _CANCELLED.get()
    return cancelled is not None and cancelled()


def check() -> None:
    """Raise an error if the limit of the current context demands that the work stops.

    Raises
    ------
    DeadlineError
        If the work should stop.
    """
    if is_over():
        raise DeadlineError
