import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic import equal, intersection, statement, subset
from provenn.logic.knowledge.definitions import find_definitions, order_by_dependencies
from tests.logic.knowledge.all_worlds import AllWorlds
from tests.strategies import statements

WORLDS = AllWorlds("ABC")


@pytest.mark.parametrize(
    ("fact", "defined"),
    [
        ("D == B & C", ["D == B & C"]),
        ("B & C == D", ["D == B & C"]),
        ("A == B", ["A == B", "B == A"]),
        ("B <= A - C", ["B <= A - C"]),
        ("A - C >= B", ["B <= A - C"]),
        ("B < A", ["B <= A"]),
        ("A > B", ["B <= A"]),
        ("empty(A)", ["A == {}"]),
        ("disjoint(A, B | C)", ["A <= ~(B | C)"]),
        ("disjoint(A, B)", ["B <= ~A", "A <= ~B"]),
        ("A & B <= C", []),
        ("A != B", []),
        ("nonempty(A)", []),
        ("disjoint(A, B, C)", []),
        ("A == B or B == C", []),
        ("not A == B", []),
    ],
)
def test_what_a_fact_can_define(fact, defined):
    results = [
        f"{label} {'==' if whole else '<='} {source}" for label, source, whole in find_definitions(statement(fact))
    ]
    assert results == defined


@settings(max_examples=150, deadline=None)
@given(statements("ABC", parts=1))
def test_a_definition_says_all_that_the_fact_says_of_emptiness(fact):
    """Where the definition holds, the fact does, but for what it says to be inhabited; and the other way round."""
    for label, source, whole in find_definitions(fact):
        defined = WORLDS.truth((equal if whole else subset)(label, source))
        inhabited = WORLDS.truth(statement("{} == {}"))
        for region, there in fact.claims():
            if there:
                inhabited = inhabited & (WORLDS.contents(region) != 0)
        assert (WORLDS.truth(fact) == (defined & inhabited)).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40))
def test_definitions_come_before_uses_whatever_the_order_was(seed, size):
    chooser = random.Random(seed)
    facts = [
        intersection(f"s{number}", f"s{chooser.randrange(number)}", f"s{chooser.randrange(number)}")
        for number in range(1, size)
    ]
    chooser.shuffle(facts)
    order = order_by_dependencies(facts, ())
    assert sorted(order) == list(range(len(facts)))
    known = {"s0"}
    for number in order:
        assert set(facts[number].right.labels) <= known
        known.add(facts[number].left.label)


def test_a_circle_of_definitions_is_cut_and_what_is_known_is_not_defined_again():
    facts = [statement("A == B | C"), statement("B == A | D"), statement("C <= C"), statement("nonempty(A)")]
    assert sorted(order_by_dependencies(facts, ())) == [0, 1, 2, 3]
    chain = [subset("B", "A"), subset("A", "C")]
    assert order_by_dependencies(chain, ()) == [1, 0]
    assert order_by_dependencies(chain, {"A", "C"}) == [0, 1]
    both = [subset("B", "A"), statement("A <= C and C <= D")]
    assert order_by_dependencies(both, ()) == [1, 0]
