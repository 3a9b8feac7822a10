"""What Knowledge is told and asked, beyond what `test_truth` holds against all worlds."""

from random import Random

import pytest

from provenn.errors import LabelError, ProvennError, UnknownLabelError
from provenn.logic import (
    Budget,
    Knowledge,
    Relationship,
    disjoint,
    equal,
    intersection,
    nonempty,
    outside,
    proper_subset,
    statement,
    subset,
)

EXAMPLE = [nonempty("A"), proper_subset("B", "A"), equal("C", "A"), intersection("D", "B", "C")]


def test_the_example_of_the_paper():
    """Figures of the paper: two hypercubes of A, B, C, D, with an object outside; four with nothing said of it."""
    known = Knowledge(EXAMPLE)
    assert known.entails("B == D")
    assert len(known.relationship("A", "B", "C", "D")) == 2
    assert len(Knowledge(EXAMPLE, open_universe=False).relationship("A", "B", "C", "D")) == 4
    weaker = [EXAMPLE[0], subset("B", "A"), *EXAMPLE[2:]]
    assert len(Knowledge(weaker).relationship("A", "B", "C", "D")) == 3
    assert known.relationship("D", "B") == Relationship.of("B == D", outside("B"), labels="BD")
    assert known.relationship().kind == "exact"


def test_knowledge_keeps_the_facts_as_they_were_told_and_the_labels_they_mention():
    known = Knowledge(["B <= A"])
    known.add(nonempty("B"), Relationship.of("C == A"))
    known.add()
    assert list(map(str, known.facts)) == ["B <= A", "nonempty(B)", "C == A"]
    assert set(known.labels) == {"A", "B", "C"}
    assert known.open_universe
    assert repr(known) == "<Knowledge of 3 sets from 3 facts>"


def test_a_relationship_mentions_all_the_sets_it_names():
    """Also those it does not restrict: they can be looked up."""
    known = Knowledge([Relationship.of("B <= A", labels="ABC"), Relationship.tautology("D")])
    assert set(known.labels) == {"A", "B", "C", "D"}
    assert known.subsets_of("C") == []
    assert known.relationship("C") == Relationship.of(outside("C"))


def test_a_question_may_be_a_relationship():
    known = Knowledge(["B < A", "C < B"])
    assert known.entails(Relationship.of("C < A"))
    assert known.judge(Relationship.of("A <= C")) == "fails"
    assert known.explain(Relationship.of("C <= B")) is not None
    assert known.counterexample(Relationship.contradiction("A")) is not None
    assert known.entails(Relationship.tautology("Z"))


@pytest.mark.parametrize("alone", ["B <= A", subset("B", "A"), Relationship.of("B <= A")])
def test_a_fact_that_comes_alone_is_refused_with_advice(alone):
    with pytest.raises(LabelError, match="put it in a list"):
        Knowledge(alone)


@pytest.mark.parametrize("label", [3, None, ["A"], ""])
def test_a_look_up_of_what_is_no_label_is_refused(label):
    known = Knowledge(["B <= A"])
    for look_up in (known.equal_to, known.subsets_of, known.supersets_of, known.disjoint_from, known.relationship):
        with pytest.raises(LabelError, match="non-empty string"):
            look_up(label)
    for ask in (known.entails, known.judge, known.explain, known.counterexample):
        with pytest.raises(ProvennError, match=r"expected a fact|statement is empty"):
            ask(label)


def test_a_refused_fact_leaves_knowledge_as_it_was():
    known = Knowledge(["B <= A"])
    with pytest.raises(LabelError):
        known.add("C <= B", 3)
    with pytest.raises(ProvennError, match="ends too early"):
        known.add("C <= B", "D <=")
    assert set(known.labels) == {"A", "B"}
    assert len(known.facts) == 1


def test_a_set_that_was_only_asked_about_is_defined_by_a_later_fact():
    known = Knowledge(["B <= A"])
    assert known.judge("Z <= A") == "unknown"
    assert known.explain("Z & B <= A") is not None
    with pytest.raises(UnknownLabelError):
        known.supersets_of("Z")
    known.add("Z <= B")
    assert known.entails("Z <= A")
    assert known.supersets_of("Z") == ["A", "B"]


def test_facts_that_contradict_each_other_stay_contradictory():
    known = Knowledge(["nonempty(A)"])
    assert known.consistent
    known.add("A <= B")
    assert known.consistent
    known.add("empty(B)", "C <= B")
    assert not known.consistent
    conflict = known.conflict()
    assert conflict is not None
    assert list(map(str, conflict.facts)) == ["nonempty(A)", "A <= B", "empty(B)"]
    known.add("D <= A")
    assert known.conflict() == conflict


def test_choices_about_other_sets_do_not_multiply():
    """Thirty of them leave 2^30 ways or more, and none matters to the sets of another."""
    known = Knowledge([f"A{number} <= B{number} or B{number} <= A{number}" for number in range(30)])
    assert known.relationship("A0", "B0") == Relationship.of("A0 <= B0 or B0 <= A0", outside("A0", "B0"))
    assert known.relationship("B3", "A4") == Relationship.tautology("B3", "A4") & outside("B3", "A4")
    assert known.entails("A0 & B0 == A0 or A0 & B0 == B0")
    assert known.judge("A7 <= B7") == "unknown"
    assert known.supersets_of("A7") == []
    assert all(not parents for parents in known.classify().parents.values())


def test_many_sets_that_are_disjoint_from_each_other():
    sets = [f"s{number}" for number in range(150)]
    known = Knowledge([disjoint(*sets)])
    assert known.entails("disjoint(s3, s149)")
    assert known.judge("s3 <= s149") == "unknown"
    assert known.disjoint_from("s7") == sorted(set(sets) - {"s7"})
    known.add("nonempty(s3)", "s3 <= s4 | s5 | s6")
    assert not known.consistent


def test_the_parts_of_an_enormous_union_are_looked_up_at_once():
    parts = [f"s{number}" for number in range(5000)]
    known = Knowledge([f"U == {' | '.join(parts)}", f"V == {' & '.join(parts)}"])
    assert known.subsets_of("U") == sorted([*parts, "V"])
    assert known.supersets_of("V") == sorted([*parts, "U"])
    assert known.supersets_of("s7") == ["U"]
    assert known.equal_to("U") == []


def test_a_counterexample_of_thousands_of_sets_bears_out_all_facts():
    facts = [subset(f"s{number}", f"s{number + 1}") for number in range(3000)]
    known = Knowledge([*facts, nonempty("s5"), disjoint("s3000", "z")])
    world = known.counterexample("s100 <= s99")
    assert world is not None
    assert all(map(world.satisfies, known.facts))
    assert not world.satisfies(statement("s100 <= s99"))


def pigeonhole(pigeons: int, holes: int) -> list[str]:
    """Objects of `w` are seated by pigeons: each in some hole, no two in one."""
    seats = [[f"p{pigeon}h{hole}" for hole in range(holes)] for pigeon in range(pigeons)]
    every = [f"w <= {' | '.join(row)}" for row in seats]
    return every + [f"disjoint({', '.join(column)})" for column in zip(*seats, strict=True)]


@pytest.mark.parametrize("budget", [Budget(conflicts=30), Budget(seconds=5, conflicts=30), 1e-6, 0])
def test_after_a_used_up_budget_everything_is_answered_as_ever(budget):
    known = Knowledge(pigeonhole(7, 6))
    verdict = known.judge("empty(w)", budget)
    assert verdict == "unknown"
    assert verdict.reason.startswith("the budget of ")
    assert verdict.reason.endswith(" ran out")
    fresh = Knowledge(pigeonhole(7, 6))
    chooser = Random(1)
    for _ in range(20):
        first, other = (f"p{chooser.randrange(7)}h{chooser.randrange(6)}" for _ in range(2))
        for question in (f"disjoint({first}, {other})", f"{first} & w <= {other}", f"nonempty({first})"):
            assert known.entails(question) == fresh.entails(question)
    assert known.entails("empty(w)")
    assert known.judge("empty(w)") == "holds"


def test_a_budget_also_holds_for_finding_that_the_facts_are_contradictory():
    known = Knowledge([*pigeonhole(9, 8), "nonempty(w)"])
    assert known.judge("w <= p0h0", Budget(conflicts=10)) == "unknown"
    easy = Knowledge([*pigeonhole(4, 3), "nonempty(w)"])
    assert not easy.consistent


@pytest.mark.parametrize("budget", ["1", -1, float("nan"), [1]])
def test_what_is_no_budget_is_refused(budget):
    with pytest.raises(ProvennError, match="expected a budget"):
        Knowledge(["B <= A"]).judge("B <= A", budget)


def test_a_generous_budget_is_as_good_as_none():
    known = Knowledge(EXAMPLE)
    for budget in (1e9, float("inf"), Budget(conflicts=10**20), Budget()):
        assert known.judge("B == D", budget) == "holds"
        assert known.judge("B == A", budget) == "fails"
        assert known.judge("B <= E", budget) == "unknown"
