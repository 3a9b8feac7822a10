import pytest

from provenn.logic import Knowledge, proper_subset, statement, subset
from provenn.logic.knowledge.explanation import find_relevant_facts

LINEAGE = ["B <= A", "C == A", "D == B & C", "E <= D", "F == A | G", "H <= F"]


@pytest.mark.parametrize(
    ("question", "facts"),
    [
        ("B == D", ["B <= A", "C == A", "D == B & C"]),
        ("E <= B", ["D == B & C", "E <= D"]),
        ("C <= F", ["C == A", "F == A | G"]),
        ("C == A", ["C == A"]),
        ("A <= A | Z", []),
    ],
)
def test_an_explanation_names_the_facts_in_the_order_they_were_given(question, facts):
    why = Knowledge(LINEAGE).explain(question)
    assert why is not None
    assert list(map(str, why.facts)) == facts
    assert why.conclusion == statement(question)


def test_an_explanation_reads_as_a_sentence():
    known = Knowledge([*LINEAGE, "nonempty(E)"])
    assert str(known.explain("C == A")) == "C == A, because\n  C == A"
    assert str(known.explain("A <= A")) == "A <= A, whatever the sets are"
    assert str(known.explain("outside(A)")) == "outside(A), because\n  some object is outside all sets (open universe)"
    assert known.explain("A <= B") is None
    assert str(Knowledge(["empty(A)", "nonempty(A)"]).conflict()) == "  empty(A)\n  nonempty(A)"


def relevant(known: Knowledge, *labels: str) -> list[str]:
    return [str(known.facts[number]) for number in find_relevant_facts(known._base, labels)]


def test_facts_are_relevant_if_they_define_or_constrain_and_not_if_they_only_make_use():
    known = Knowledge(LINEAGE)
    assert relevant(known, "A") == []
    assert relevant(known, "D") == LINEAGE[:3]
    assert relevant(known, "H") == ["F == A | G", "H <= F"]
    assert relevant(known, "elsewhere") == []


def test_what_is_said_of_a_descendant_is_relevant():
    """That D = A & B holds something proves that A and B overlap."""
    known = Knowledge(["D == A & B", "E == D", "nonempty(E)", "X <= Y", "nonempty(X)"])
    assert relevant(known, "A") == ["D == A & B", "E == D", "nonempty(E)"]
    why = known.explain("overlapping(A, B)")
    assert why is not None
    assert list(map(str, why.facts)) == ["D == A & B", "E == D", "nonempty(E)"]


def test_relevance_spreads_from_constraint_to_constraint():
    known = Knowledge(["A <= A", "B <= B", "C <= C", "D <= D", "Z <= Z"])
    known.add("A <= B", "C <= B", "C <= D")
    assert relevant(known, "A") == ["A <= B", "C <= B", "C <= D"]
    assert relevant(known, "Z") == []


def test_a_question_without_labels_is_explained_by_whatever_it_takes():
    known = Knowledge(["B <= A", "nonempty(B)", "C <= A"], open_universe=False)
    why = known.explain("~{} != {}")
    assert why is not None
    assert list(map(str, why.facts)) == ["nonempty(B)"]


@pytest.mark.parametrize("backwards", [False, True])
def test_a_conclusion_of_two_parts_takes_the_facts_of_both(backwards):
    """A chain of strict subsets: that the ends are one inside the other, and that there is something between."""
    facts = [proper_subset(f"s{number}", f"s{number + 1}") for number in range(200)]
    known = Knowledge(facts[::-1] if backwards else facts)
    why = known.explain("s0 < s200")
    assert why is not None
    assert set(why.facts) == set(facts)
    part = known.explain("nonempty(s20 - s0)")
    assert part is not None
    assert set(part.facts) == set(facts[:20])


def test_what_is_inhabited_is_left_out_where_it_does_not_matter_and_kept_where_it_does():
    known = Knowledge(["B < A", "C < B", "nonempty(C)", "not nonempty(D) or C <= D", "nonempty(D)"])
    why = known.explain("C <= A")
    assert why is not None
    assert list(map(str, why.facts)) == ["B < A", "C < B"]
    why = known.explain("C <= D")
    assert why is not None
    assert list(map(str, why.facts)) == ["not nonempty(D) or C <= D", "nonempty(D)"]


@pytest.mark.parametrize("one_by_one", [False, True])
def test_ten_thousand_facts_are_explained_by_all_of_them(one_by_one):
    facts = [subset(f"s{number}", f"s{number + 1}") for number in range(10_000)]
    known = Knowledge([] if one_by_one else facts)
    for fact in facts if one_by_one else ():
        known.add(fact)
    why = known.explain("s0 <= s10000")
    assert why is not None
    assert list(why.facts) == facts
