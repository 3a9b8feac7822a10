"""Trying random input: many cases, each within a time, counted."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

__all__ = ["Tried", "random_input", "try_all"]

T = TypeVar("T")

SECONDS = 2.0
"""How long one case may take. Hundreds of milliseconds are the most that was seen; machines that test are busy."""


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
        The seconds that the slowest took.
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
        Tells whether an input is good. What it raises is a bug, and so is more time than `SECONDS`.
    cases
        How many to try.
    """
    tried = Tried()

    @settings(
        max_examples=cases,
        deadline=timedelta(seconds=SECONDS),
        suppress_health_check=list(HealthCheck),
        phases=[one for one in Phase if one is not Phase.explain],
    )
    @given(inputs)
    def each(one: T) -> None:
        start = perf_counter()
        good = accept(one)
        tried.slowest = max(tried.slowest, perf_counter() - start)
        tried.cases += 1
        tried.accepted += good

    each()
    return tried


def random_input(quick: int, campaign: int) -> pytest.MarkDecorator:
    """Have a test run with some cases in `make test`, and with many in `make campaign`."""
    sizes = [quick, pytest.param(campaign, marks=pytest.mark.campaign)]
    return pytest.mark.parametrize("cases", sizes, ids=["quick", "campaign"])
