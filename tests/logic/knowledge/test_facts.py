import random
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lineages import generate
from provenn.logic import Knowledge, Lineage, Operation, intersection, statement, subset
from provenn.logic.knowledge.facts import MENTIONED, FactBase, FactList
from provenn.logic.knowledge.graph import EMPTY, EVERYTHING
from tests.repetitions import repeat_a_few

FACTS = [subset(f"s{number}", f"s{number + 1}") for number in range(12)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 12), max_size=4), st.integers(-15, 15), st.integers(-15, 15), st.integers(1, 3))
def test_a_list_of_facts_is_a_list_whatever_batches_they_came_in(breaks, start, stop, step):
    facts = FactList()
    for first, last in pairwise([0, *sorted(breaks), 12]):
        facts.extend(FACTS[first:last])
    assert list(facts) == FACTS
    assert len(facts) == 12
    assert facts[start:stop:step] == FACTS[start:stop:step]
    assert [facts[number] for number in range(-12, 12)] == FACTS + FACTS
    for beyond in (12, -13):
        with pytest.raises(IndexError, match=f"no fact {beyond} among 12"):
            facts[beyond]


def taken(*facts: str) -> FactBase:
    base = FactBase()
    base.take([statement(fact) for fact in facts])
    return base


@pytest.mark.parametrize(
    ("facts", "constraints", "inhabited", "choices"),
    [
        (["B <= A", "C == A & B", "D == A - C"], 0, 0, 0),
        (["B < A"], 0, 1, 0),
        (["B <= A", "B <= C"], 1, 0, 0),
        (["B <= A", "C == B", "B == C"], 0, 0, 0),
        (["disjoint(A, B)", "disjoint(B, C)"], 0, 0, 0),
        (["disjoint(A, B)", "disjoint(B, C)", "disjoint(A, C)"], 1, 0, 0),
        (["disjoint(A, B, C)"], 2, 0, 0),
        (["A == A & B"], 1, 0, 0),
        (["A <= A"], 0, 0, 0),
        (["A == B | C", "B == A | D"], 1, 0, 0),
        (["nonempty(A)", "A != B", "overlapping(A, B)"], 0, 3, 0),
        (["A <= B or B <= A"], 0, 0, 1),
        (["A <= B and nonempty(A)"], 0, 1, 0),
        (["not (A <= B or empty(A))"], 0, 2, 0),
        (["not B < A"], 0, 0, 1),
        (["{} != {}"], 0, 0, 1),
    ],
)
def test_definitions_become_graph_and_the_rest_constrains_it(facts, constraints, inhabited, choices):
    base = taken(*facts)
    assert (len(base.constraints), len(base.inhabited), len(base.choices)) == (constraints, inhabited, choices)
    assert len(base.definers) == len(base.labels)


@pytest.mark.parametrize("seed", repeat_a_few(range(6), 2))
def test_the_order_of_a_batch_costs_no_definition(seed):
    """Of a lineage that comes shuffled every fact still defines its set, and nothing is left to constrain."""
    facts = generate(300, seed).statements()
    shuffled = random.Random(seed).sample(facts, len(facts))
    base = FactBase()
    base.take(shuffled)
    assert not base.constraints
    defined = {label: number for label, number in zip(base.labels, base.definers, strict=True) if number != MENTIONED}
    assert {label: shuffled[number] for label, number in defined.items()} == {fact.left.label: fact for fact in facts}
    assert list(base.facts) == shuffled


def test_a_batch_that_is_begun_anew_leaves_no_trace_of_the_first_attempt():
    base = taken("X <= Y", "nonempty(X)")
    before = len(base.graph)
    base.take([intersection("D", "B", "C"), statement("nonempty(D)"), subset("B", "A"), statement("D < B | C")])
    assert base.graph.left[before:].count(EVERYTHING) == 2  # A and C are all that nothing is known of
    assert [number for _, number in base.inhabited] == [1, 3, 5]
    definer = dict(zip(base.labels, base.definers, strict=True))
    assert definer == {"X": 0, "Y": MENTIONED, "A": MENTIONED, "C": MENTIONED, "B": 4, "D": 2}


def test_a_part_of_nothing_is_nothing():
    assert taken("A == {}", "B <= A", "C == B & D").labels["C"] == EMPTY


def arrays(size: int, seed: int) -> Lineage:
    lineage = generate(size, seed)
    return Lineage(lineage.labels(), lineage.operations, lineage.left.clip(0), lineage.right.clip(0))


def test_a_lineage_about_known_sets_is_taken_as_the_facts_it_states():
    known = Knowledge(["c5 <= c4", "z <= c7"])
    known.add(arrays(40, 1))
    fact_by_fact = Knowledge(["c5 <= c4", "z <= c7", *generate(40, 1).statements()])
    assert set(known.labels) == {"z", *(f"c{number}" for number in range(40))}
    for label in fact_by_fact.labels:
        assert known.subsets_of(label) == fact_by_fact.subsets_of(label)


def test_lineages_and_facts_can_be_told_together():
    known = Knowledge([arrays(30, 2), "z <= c3"])
    known.add("y <= z", Lineage(["u", "v"], [Operation.BASE, Operation.SUBSET], [0, 0], [0, 0]), "y <= u")
    assert known.entails("y <= c3 & u")
    assert known.entails("v <= u")
    assert len(known.facts) == len(generate(30, 2).statements()) + 4
