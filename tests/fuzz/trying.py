"""Trying random input: many cases, each within a time, counted."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import process_time
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

__all__ = ["Tried", "random_input", "try_all"]

T = TypeVar("T")

SECONDS = 5.0
"""The most time of a processor that a case may take: far more than any does. Time on a clock says little on a machine
that is busy."""

HANGING = 120
"""The seconds after which a case is taken to hang."""


@dataclass(slots=True)
class Tried:
    """What was tried.

    Attributes
    ----------
    cases
        How many.
    accepted
        How many of them were found good.
    slowest
        The seconds of a processor that the slowest took.
    """

    cases: int = 0
    accepted: int = 0
    slowest: float = 0.0


def try_all(inputs: st.SearchStrategy[T], accept: Callable[[T], bool], cases: int) -> Tried:
    """Try random input.

    Parameters
    ----------
    inputs
        Where it comes from.
    accept
        Tells whether an input is good. What it raises is a bug; so is taking long, or for ever.
    cases
        How many to try.
    """
    tried = Tried()

    @settings(
        max_examples=cases,
        deadline=None,
        database=None,  # it would take what one reader fails on for another's
        suppress_health_check=list(HealthCheck),
        phases=[one for one in Phase if one is not Phase.explain],
    )
    @given(inputs)
    def each(one: T) -> None:
        start = process_time()
        with _not_for_ever():
            good = accept(one)
        taken = process_time() - start
        assert taken < SECONDS, f"this took {taken:.1f} s"
        tried.slowest = max(tried.slowest, taken)
        tried.cases += 1
        tried.accepted += good

    each()
    return tried


@contextmanager
def _not_for_ever() -> Iterator[None]:
    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"this took more than {HANGING} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(HANGING)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def random_input(quick: int, campaign: int) -> pytest.MarkDecorator:
    """Have a test run with some cases in `make test`, and with many in `make campaign`."""
    sizes = [quick, pytest.param(campaign, marks=pytest.mark.campaign)]
    return pytest.mark.parametrize("cases", sizes, ids=["quick", "campaign"])
