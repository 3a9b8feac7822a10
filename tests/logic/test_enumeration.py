"""Statements become exactly the hypercubes in which they hold."""

import pytest
from hypothesis import given, settings

from provenn.errors import BudgetError
from provenn.logic import Relationship, statement
from provenn.logic.enumeration import enumerate_hypercubes, select_holding
from provenn.logic.statements import And, Not, Or
from tests.brute_force import holds, hypercubes, models, read
from tests.strategies import relationships, statements


@settings(max_examples=80, deadline=None)
@given(statements("ABC"))
def test_a_statement_becomes_the_hypercubes_in_which_it_holds(said):
    assert read(Relationship.of(said, labels="ABC")) == models(said, "ABC")
    assert read(Relationship.of(said)) == models(said, said.labels)


@settings(max_examples=2, deadline=None)
@given(statements("ABCD", leaves=4))
def test_the_same_with_four_sets(said):
    assert read(Relationship.of(said, labels="ABCD")) == models(said, "ABCD")


@pytest.mark.campaign
@settings(max_examples=60, deadline=None)
@given(statements("ABCD", parts=6, leaves=6))
def test_the_same_with_four_sets_many_times(said):
    assert read(Relationship.of(said, labels="ABCD")) == models(said, "ABCD")


@settings(max_examples=40, deadline=None)
@given(statements("AB"), statements("BC"), statements("ABC"))
def test_several_statements_all_hold(one, other, third):
    expected = models(one, "ABC") & models(other, "ABC") & models(third, "ABC")
    assert read(Relationship.of(one, other, third, labels="ABC")) == expected


@settings(max_examples=40, deadline=None)
@given(relationships("ABC", least=3), statements("ABC"))
def test_a_statement_is_judged_in_hypercubes_that_are_there(p, said):
    assert read(Relationship(select_holding(p.form, said))) == {item for item in read(p) if holds(said, item)}


@settings(max_examples=40, deadline=None)
@given(statements("ABC"))
def test_with_a_small_budget_disjunctions_are_taken_case_by_case_to_the_same_end(said):
    expected = models(said, said.labels)
    try:
        result = Relationship.of(said, budget=20)
    except BudgetError as error:
        assert error.size > 20  # noqa: PT017 - whether it is raised depends on the case
    else:
        assert read(result) == expected


def test_cases_are_counted_in_the_end_as_they_are():
    """Two hypercubes that differ in all of 32 regions: 2^32 lie between them, and none of those is built."""
    wholly = "empty(~(A & B & C & D & E)) and nonempty(A)"
    nowhere = "nonempty(~(A | B | C | D | E)) and empty(A | B | C | D | E)"
    assert len(Relationship.of(f"{wholly} or {nowhere}", budget=2)) == 2


def test_an_empty_conjunction_holds_and_an_empty_disjunction_does_not():
    assert len(Relationship.of(And(()))) == 2
    assert len(Relationship.of(Or(()))) == 0
    assert len(Relationship.of(Not(And(())), labels="A")) == 0


def test_no_statement_at_all_says_nothing():
    assert Relationship.of(labels="AB").kind == "tautology"


def test_a_chain_of_thirty_equal_sets_has_the_four_hypercubes_of_two():
    chain = Relationship.of(*(f"S{i} == S{i + 1}" for i in range(29)))
    assert len(chain.labels) == 30
    assert len(chain) == 4
    assert chain.entails("S0 == S29")


def test_a_long_lineage_in_an_unhelpful_order_stays_small():
    """Pairs first, and only then what links them; intersections and unions of what comes later."""
    pairs = [f"P{i} == Q{i}" for i in range(12)]
    links = [f"Q{i} == P{i + 1}" for i in range(11)]
    derived = [f"R{i} == P{i} & R{i + 1} | Q{i}" for i in range(10)]
    lineage = Relationship.of(*derived, *pairs, *links, "R10 <= P0", "nonempty(R10)")
    assert len(lineage.labels) == 35
    assert lineage.entails("R0 == P11 and R10 <= R5 and nonempty(P3)")


def test_contradictory_claims_are_noticed_before_anything_is_enumerated():
    labels = "ABCDEFGH"
    assert len(Relationship.of("nonempty(A & B)", "empty(A)", labels=labels)) == 0


def test_too_many_hypercubes_are_refused_with_their_number_and_the_sets():
    with pytest.raises(BudgetError, match="between A, B, C, D, E would need 4,294,967,296 hypercubes") as raised:
        Relationship.of("A == A or B == C or D == E", labels="ABCDE")
    assert raised.value.labels == tuple("ABCDE")
    with pytest.raises(BudgetError, match="about"):
        Relationship.of(labels=[f"S{i}" for i in range(64)])


def test_what_is_no_statement_is_refused():
    with pytest.raises(TypeError, match="not a statement: 7"):
        enumerate_hypercubes([And((statement("A == B"), 7))], ("A", "B"), 100)


def test_the_brute_force_itself_counts_hypercubes():
    assert [len(hypercubes(labels)) for labels in ("", "A", "AB", "ABC")] == [2, 4, 16, 256]
