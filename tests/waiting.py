"""Waiting in tests: as long as it takes. `LIMIT` only ends a test that hangs, and no machine is too slow for it."""

import time
from collections.abc import Callable

__all__ = ["FOR_EVER", "LIMIT", "wait_until"]

LIMIT = 600.0
"""The seconds after which a test is taken to hang."""

FOR_EVER = 2 * LIMIT
"""The seconds that something takes which a test must end: whoever waits for it is taken to hang before."""


def wait_until(happened: Callable[[], bool], what: str) -> None:
    """Return when `happened` is true; fail with the words `what` once the test is taken to hang."""
    until = time.monotonic() + LIMIT
    while not happened():
        assert time.monotonic() < until, what
        time.sleep(0.01)
