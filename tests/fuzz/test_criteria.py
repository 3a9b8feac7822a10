"""Whatever is given as a criterion or an expression is read or refused, soon; what is read reads back as the same."""

import pytest

from tests.effort import counting_calls
from tests.fuzz.criteria import accept_criterion, accept_expression, try_criteria, try_expressions
from tests.fuzz.trying import MOST_CALLS, random_input


@random_input(quick=80, campaign=10_000)
def test_any_text_is_read_as_a_criterion_or_refused(cases):
    tried = try_criteria(cases)
    assert tried.accepted < tried.cases


@random_input(quick=80, campaign=10_000)
def test_any_text_is_read_as_an_expression_or_refused(cases):
    tried = try_expressions(cases)
    assert tried.accepted < tried.cases


@pytest.mark.parametrize("length", [1, 1_000])
def test_long_lists_are_read(length):
    listed = ", ".join(str(3 * number) for number in range(length))
    assert accept_criterion(f"n_obs IN ({listed})")
    assert accept_expression(f"coalesce(n_obs, {listed})")


@pytest.mark.parametrize("name", ["int", "date", "string", "decimal", "struct", "array"])
def test_nested_names_of_types_are_read_or_refused_soon(name):
    """Found: each of them doubled the time, so that twenty took for ever."""

    def read_nested(depth):
        accept_expression(f"{name}(" * depth + "n_obs" + ")" * depth)
        accept_criterion(f"{name}(" * depth + "n_obs" + ")" * depth + " > 5")

    for depth in (1, 5, 20, 5_000):
        with counting_calls(most=MOST_CALLS):
            read_nested(depth)
