"""Whatever is typed is done, or told to be wrong with exit status 1 or 2; JSON is JSON."""

import pytest

from tests.fuzz.commands import accept, prompt, try_commands
from tests.fuzz.trying import random_input


@pytest.fixture(autouse=True)
def at_a_prompt(made, tmp_path):
    with prompt(made, tmp_path):
        yield


@random_input(quick=30, campaign=5_000)
def test_any_words_are_done_or_refused(cases):
    tried = try_commands(cases)
    assert tried.accepted < tried.cases


@pytest.mark.parametrize(
    "typed", ["init {}", "init --database {}", "target stars {}", "audit --action {} --json", "show {}"]
)
def test_bytes_that_are_no_text_are_refused(typed):
    """Found: they were told to be a bug of provenn."""
    assert not accept(typed.format(b"\xff\x80".decode(errors="surrogateescape")).split())
