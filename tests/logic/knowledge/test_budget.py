import pytest

from provenn.errors import ProvennError
from provenn.logic import Budget
from provenn.logic.knowledge.budget import Clock


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (Budget(), "no limit"),
        (Budget(seconds=0.5), "0.5 s"),
        (Budget(conflicts=7), "7 conflicts"),
        (Budget(seconds=2, conflicts=7), "2 s and 7 conflicts"),
    ],
)
def test_a_budget_says_what_it_is(budget, text):
    assert str(budget) == text


@pytest.mark.parametrize("wrong", [-1, float("nan"), "1", [1]])
def test_what_is_no_amount_is_refused_by_name(wrong):
    with pytest.raises(ProvennError, match=r"a budget of seconds, 0 or more, got"):
        Budget(seconds=wrong)
    with pytest.raises(ProvennError, match=r"a budget of conflicts, 0 or more, got"):
        Budget(conflicts=wrong)


def test_a_clock_without_limits_never_runs_out():
    clock = Clock(Budget())
    clock.spend(10**9)
    assert not clock.has_run_out
    assert clock.seconds_left is None
    assert clock.conflicts_left is None


def test_a_clock_runs_out_of_conflicts_and_of_time():
    clock = Clock(Budget(conflicts=3))
    clock.spend(2)
    assert not clock.has_run_out
    clock.spend(2)
    assert clock.has_run_out
    assert Clock(Budget(seconds=0)).has_run_out
    assert not Clock(Budget(seconds=1000)).has_run_out
