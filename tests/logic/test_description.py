"""A relationship and the statement that describes it mean the same."""

import pytest
from hypothesis import given, settings

from provenn.logic import Relationship
from tests.brute_force import models, read
from tests.strategies import relationships


@settings(max_examples=80, deadline=None)
@given(relationships("ABC"))
def test_the_statement_holds_in_the_hypercubes_and_in_no_others(p):
    assert models(p.to_statement(), p.labels) == read(p)
    assert Relationship.of(p.to_statement()) == p


@settings(max_examples=40, deadline=None)
@given(relationships("ABC"))
def test_the_statement_can_be_written_and_read_again(p):
    assert Relationship.of(str(p.to_statement())) == p


@pytest.mark.parametrize(
    ("text", "described"),
    [
        ("A == B", "A == B"),
        ("B < A", "empty(B - A) and nonempty(A - B)"),
        ("disjoint(A, B)", "empty(A & B)"),
        ("outside(A, B)", "nonempty(~(A | B))"),
        ("D == B & C", "empty(D - C) and empty(D - B) and empty((B & C) - D)"),
        ("A <= B or nonempty(C)", "nonempty(C) or empty(A - B) and empty(C)"),
        ("A == A", "{} == {}"),
        ("nonempty(A) and empty(A)", "nonempty({})"),
        ("empty(~{})", "empty(~{})"),
    ],
)
def test_the_statement_is_short(text, described):
    assert str(Relationship.of(text).to_statement()) == described


def test_many_sets_are_described_by_the_regions_that_are_possible():
    """Twelve sets, all different, of which each is a function of the first three."""
    derived = [f"A {join} B {join} C" for join in "&|^"] + ["A & B", "B & C", "A & C", "A | B", "B | C", "A - B"]
    p = Relationship.of(*(f"D{i} == {text}" for i, text in enumerate(derived)), "nonempty(D0)")
    assert len(p.form.equal_sets()) == 12
    assert Relationship.of(p.to_statement()) == p
