"""What people get wrong, and what they make too large."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.errors import ContradictionError, LabelError, StatementError, UnknownLabelError
from provenn.logic import Budget, Knowledge, Lineage, Operation, disjoint, equal, intersection, subset, union
from provenn.logic.statements import Or

DEEP = 10_000
CONTRADICTORY = ["B < A", "A <= C", "C == B", "D <= A"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda known: known.entails("A == A"),
        lambda known: known.judge("A == A"),
        lambda known: known.explain("A == A"),
        lambda known: known.counterexample("A == B"),
        lambda known: known.relationship("A", "B"),
        lambda known: known.equal_to("A"),
        lambda known: known.classify(),
    ],
)
def test_contradictory_facts_prove_nothing_and_say_which_they_are(ask):
    known = Knowledge(CONTRADICTORY)
    assert not known.consistent
    with pytest.raises(ContradictionError, match="contradict") as caught:
        ask(known)
    assert sorted(map(str, caught.value.conflict.facts)) == ["A <= C", "B < A", "C == B"]
    assert not caught.value.conflict.open_universe


def test_a_conflict_with_the_open_universe_says_so():
    conflict = Knowledge(["A | B == ~{}"]).conflict()
    assert conflict is not None
    assert conflict.open_universe
    assert Knowledge(["A | B == ~{}"], open_universe=False).conflict() is None


def test_a_label_that_nothing_mentions_is_an_error_in_look_ups_and_a_free_set_in_questions():
    known = Knowledge(["bright <= stars"])
    for look_up in (known.equal_to, known.subsets_of, known.supersets_of, known.disjoint_from, known.relationship):
        with pytest.raises(UnknownLabelError, match="brigth") as caught:
            look_up("brigth")
        assert "did you mean bright?" in str(caught.value)
    assert not known.entails("brigth <= stars")
    assert known.entails("brigth & bright <= stars")
    assert sorted(known.labels) == ["bright", "stars"]


def test_a_set_named_twice_is_an_error():
    with pytest.raises(LabelError, match="twice"):
        Knowledge(["B <= A"]).relationship("A", "A")


@pytest.mark.parametrize("fact", [3, None, object(), ["A", "B"]])
def test_what_is_no_fact_is_refused(fact):
    with pytest.raises(LabelError, match="expected a fact"):
        Knowledge([fact])
    with pytest.raises(StatementError):
        Knowledge(["A <"])


def test_a_definition_that_speaks_of_itself_is_a_fact():
    known = Knowledge(["A == A & B"])
    assert known.entails("A <= B")
    assert not known.entails("B <= A")
    circle = Knowledge(["A == B | C", "B == A | D"])
    assert circle.entails("A == B")
    assert not Knowledge(["A == ~A"], open_universe=False).entails("nonempty(A)")


@given(st.lists(st.text(min_size=1), min_size=3, max_size=3, unique=True))
def test_any_text_names_a_set(names):
    a, b, c = names
    known = Knowledge([subset(a, b), subset(b, c)])
    assert known.entails(subset(a, c))
    assert known.supersets_of(a) == sorted([b, c])


def test_an_enormous_union_is_a_union():
    parts = [f"part {number}" for number in range(DEEP)]
    known = Knowledge([union("whole", *parts), subset("x", "part 7")])
    assert known.entails(subset("part 9999", "whole"))
    assert known.entails(subset("x", "whole"))
    assert not known.entails(equal("part 1", "whole"))
    why = known.explain(subset("x", "whole"))
    assert why is not None
    assert len(why.facts) == 2


def _chain(kind):
    names = [f"n{number}" for number in range(DEEP)]
    pairs = list(zip(names[1:], names, strict=False))
    if kind == "subset":
        return [subset(lower, upper) for lower, upper in pairs]
    if kind == "equal":
        return [equal(lower, upper) for lower, upper in pairs]
    return [intersection(lower, upper, f"s{lower}") for lower, upper in pairs]


@pytest.mark.parametrize("order", ["in order", "in reverse", "shuffled"])
@pytest.mark.parametrize("kind", ["subset", "equal", "intersection"])
def test_chains_of_ten_thousand_are_followed_in_whatever_order_they_come(kind, order):
    facts = _chain(kind)
    if order == "in reverse":
        facts.reverse()
    elif order == "shuffled":
        random.Random(1).shuffle(facts)
    assert_followed(Knowledge(facts), kind)


@pytest.mark.parametrize("order", ["in order", "in reverse", "shuffled"])
@pytest.mark.parametrize("kind", ["subset", "equal", "intersection"])
def test_chains_that_come_fact_by_fact_are_followed(kind, order):
    """What is not in order cannot define sets then, and thousands of constraints are left."""
    facts = _chain(kind)[:3000]
    if order == "in reverse":
        facts.reverse()
    elif order == "shuffled":
        random.Random(1).shuffle(facts)
    known = Knowledge()
    for fact in facts:
        known.add(fact)
    assert_followed(known, kind, "n3000")


def assert_followed(known, kind, last=f"n{DEEP - 1}"):
    first = "n0"
    assert known.entails(subset(last, first))
    assert known.entails(subset(first, last)) == (kind == "equal")
    assert known.judge(disjoint(first, last)) == "unknown"


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("kind", ["subset", "equal", "intersection"])
def test_a_long_chain_is_explained_by_all_of_it(kind, backwards):
    facts = _chain(kind)[:2000]
    if backwards:
        facts.reverse()
    why = Knowledge(facts).explain("n2000 <= n0")
    assert why is not None
    assert list(why.facts) == facts


@pytest.mark.parametrize("budget", [Budget(conflicts=50), Budget(seconds=0.02), 0.02])
def test_a_used_up_budget_is_the_answer_unknown_and_does_no_harm(budget):
    """Pigeons: each of twelve in one of eleven holes, no two in one hole, is impossible, and takes very long to see."""
    pigeons, holes = range(12), range(11)
    facts = [f"w <= {' | '.join(f'p{pigeon}h{hole}' for hole in holes)}" for pigeon in pigeons] + [
        f"disjoint(p{item}h{hole}, p{other}h{hole})"
        for hole in holes
        for item in pigeons
        for other in pigeons
        if item < other
    ]
    known = Knowledge(facts)
    verdict = known.judge("empty(w)", budget)
    assert verdict == "unknown"
    assert "budget" in verdict.reason
    assert known.judge("p0h0 <= w | p0h0", budget) == "holds"
    assert known.entails("disjoint(p1h1, p2h1)")


def test_a_verdict_tells_its_reason():
    known = Knowledge(["B <= A"])
    assert known.judge("B <= A").reason == "it is true in every world that the facts allow"
    assert known.judge("not B <= A") == "fails"
    assert "some worlds" in known.judge("A <= B").reason


def test_choices_among_facts_are_followed_up():
    known = Knowledge(["B <= A or B <= C", "not B <= A", "nonempty(B)"])
    assert known.entails("B <= C")
    why = known.explain("B <= C")
    assert why is not None
    assert [type(fact) for fact in why.facts].count(Or) == 1
    assert len(why.facts) == 2


@pytest.mark.parametrize(
    ("labels", "operations", "left", "problem"),
    [
        (["A", "A"], [0, 0], [0, 0], "twice"),
        (["A", "B"], [0, 9], [0, 0], "unknown operation"),
        (["A", "B"], [0, Operation.EQUAL], [0, 1], "does not come before"),
        (["A", "B"], [0, Operation.SUBSET], [0, -1], "does not come before"),
        (["A", "B"], [0], [0, 0], "shape"),
    ],
)
def test_arrays_that_are_no_lineage_are_refused(labels, operations, left, problem):
    with pytest.raises(LabelError, match=problem):
        Lineage(labels, operations, left, np.zeros(2))
