"""Whatever is given as a statement is read or refused, soon, and what is read is written so that it reads back."""

import pytest

from provenn.errors import StatementError
from provenn.logic import statement
from tests.fuzz.statements import accept, try_statements
from tests.fuzz.trying import random_input


@random_input(quick=150, campaign=10_000)
def test_any_text_is_read_or_refused(cases):
    tried = try_statements(cases)
    assert tried.accepted < tried.cases


@pytest.mark.parametrize("times", [100, 101, 5_000])
def test_parentheses_hide_no_depth(times):
    """Found: ``not(not(…`` was read however deep, and broke whatever walked over it."""
    text = "not(" * times + "A == B" + ")" * times
    if times > 100:
        with pytest.raises(StatementError, match="nested more than 100"):
            statement(text)
    assert accept(text) == (times <= 100)


def test_a_chain_of_comparisons_is_as_deep_as_what_it_means():
    """Found: a statement was read that could not be read back, one connective deeper."""
    for depth in range(95, 105):
        chained = "A <= B <= C"
        for number in range(depth):
            chained = f"({chained}) {('or', 'and')[number % 2]} A == B"
        assert accept(chained) == (depth < 100)


@pytest.mark.parametrize("count", [1, 5_000])
def test_many_names_are_read(count):
    text = " | ".join(f"'name {number}'" for number in range(count))
    assert accept(f"A <= {text}")
