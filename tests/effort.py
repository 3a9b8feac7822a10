"""How much Python is executed, counted in lines and calls: the same on every machine, however slow and busy it is.

Work inside functions written in C, such as copying a list, is not counted.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

__all__ = ["Calls", "assert_far_from_quadratic", "count_lines", "counting_calls"]

GROWTH = 16
"""By how much a size grows: linear effort grows 16 times and quadratic effort 256 times, both 4 times off `BOUND`."""

BOUND = 64
"""How many times the effort may grow when the size grows by `GROWTH`."""


def count_lines(work: Callable[[], object]) -> int:
    """Return how many lines of provenn and of the tests are executed while `work` runs on this thread."""
    lines = 0

    def trace_line(_frame: FrameType, event: str, _argument: Any) -> Callable[..., Any]:
        nonlocal lines
        lines += event == "line"
        return trace_line

    def trace_call(frame: FrameType, _event: str, _argument: Any) -> Callable[..., Any] | None:
        package = frame.f_globals.get("__name__", "").partition(".")[0]
        return trace_line if package in ("provenn", "tests") else None

    before = sys.gettrace()
    sys.settrace(trace_call)
    try:
        work()
    finally:
        sys.settrace(before)
    return lines


def assert_far_from_quadratic(work: Callable[[int], object], size: int) -> None:
    """Assert that `work` of `GROWTH` times the size executes far fewer lines than if the effort grew quadratically."""
    work(size)  # what is imported or remembered for ever is so before anything is counted
    small, large = (count_lines(lambda size=size: work(size)) for size in (size, GROWTH * size))
    assert small > size / 2, "the effort is not visible in lines of Python"
    assert large < BOUND * small, f"{GROWTH} times the size takes {large / small:.0f} times the lines"


class Calls:
    """How many functions written in Python were called."""

    def __init__(self) -> None:
        self.count = 0


@contextmanager
def counting_calls(most: int) -> Iterator[Calls]:
    """Count the calls of functions written in Python on this thread, and fail at the call after the `most` allowed."""
    calls = Calls()

    def trace_call(_frame: FrameType, _event: str, _argument: Any) -> None:
        calls.count += 1
        if calls.count > most:
            raise AssertionError(f"this took more than {most:,} calls")

    before = sys.gettrace()
    sys.settrace(trace_call)
    try:
        yield calls
    finally:
        sys.settrace(before)
