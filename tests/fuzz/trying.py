"""Trying random input: many cases, each within an effort, counted."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.effort import counting_calls
from tests.waiting import LIMIT

__all__ = ["Tried", "random_input", "try_all"]

T = TypeVar("T")

MOST_CALLS = 5_000_000
"""How many functions written in Python a case may call: a hundred times more than any does."""


@dataclass(slots=True)
class Tried:
    """What was tried.

    Attributes
    ----------
    cases
        How many.
    accepted
        How many of them were found good.
    most_calls
        How many functions written in Python were called for the case that needed most.
    """

    cases: int = 0
    accepted: int = 0
    most_calls: int = 0


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
        phases=[item for item in Phase if item is not Phase.explain],
    )
    @given(inputs)
    def each(one: T) -> None:
        with _not_for_ever(), counting_calls(MOST_CALLS) as calls:
            good = accept(one)
        tried.most_calls = max(tried.most_calls, calls.count)
        tried.cases += 1
        tried.accepted += good

    each()
    return tried


@contextmanager
def _not_for_ever() -> Iterator[None]:
    def stop(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"this took more than {LIMIT:.0f} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(int(LIMIT))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def random_input(quick: int, campaign: int) -> pytest.MarkDecorator:
    """Have a test run with some cases in `make test`, and with many in `make campaign`."""
    sizes = [quick, pytest.param(campaign, marks=pytest.mark.campaign)]
    return pytest.mark.parametrize("cases", sizes, ids=["quick", "campaign"])
