"""Each algorithm of the paper against brute force over hypercubes."""

from itertools import product
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.errors import BudgetError
from provenn.logic import Relationship, algorithms
from provenn.logic.hypercubes import WideHypercubes
from provenn.logic.operators import Operator
from tests.brute_force import extended, hypercubes, read, reduced, subsets, written
from tests.strategies import label_lists, relationships

some = settings(max_examples=40, deadline=None)


def result(form) -> set:
    return read(Relationship(form))


def joined(p: Relationship, q: Relationship) -> tuple[str, ...]:
    return tuple(dict.fromkeys(p.labels + q.labels))


def test_all_eight_are_found_by_name_and_say_which_they_are():
    names = [
        "removing_a_set",
        "adding_a_set_naively",
        "negation",
        "any_binary_operator",
        "entailment",
        "adding_a_set",
        "enhanced_conjunction",
        "enhanced_nonimplication",
    ]
    for number, name in enumerate(names, start=1):
        assert getattr(algorithms, name).__doc__.startswith(f"Algorithm {number}: ")
        assert name in algorithms.__all__


def test_every_hypercube_of_three_sets_is_rightly_reduced_and_extended():
    """All 256, one at a time: without each set, without each two, and with one more."""
    for hypercube in hypercubes("ABC"):
        p = written("ABC", [hypercube])
        for gone in subsets("ABC"):
            left = [label for label in "ABC" if label not in gone]
            assert result(algorithms.removing_a_set(p.form, *gone)) == {reduced(hypercube, left)}
        assert algorithms.adding_a_set(p.form, "D").labels == ("A", "B", "C", "D")
        assert len(algorithms.adding_a_set(p.form, "D")) == 3 ** len(hypercube)


def test_every_two_relationships_of_one_set_are_rightly_combined_by_every_operator():
    """All 16 relationships, all 16 operators, on the same set and on different ones."""
    everything = list(subsets(hypercubes("A")))
    for left, right in product(everything, everything):
        p, q = written("A", left), written("A", right)
        for operator in Operator:
            expected = {hypercube for hypercube in hypercubes("A") if operator(hypercube in left, hypercube in right)}
            assert result(algorithms.any_binary_operator(p.form, q.form, operator)) == expected
        expected = extended(set(left), "A", "AB") & extended(read(written("B", renamed(right))), "B", "AB")
        other = written("B", renamed(right))
        assert result(algorithms.enhanced_conjunction(p.form, other.form)) == expected


def renamed(some_hypercubes):
    return [frozenset(frozenset("B" for _ in region) for region in hypercube) for hypercube in some_hypercubes]


@some
@given(relationships(), st.data())
def test_removing_sets_reduces_every_hypercube(p, data):
    gone = data.draw(label_lists(p.labels)) if p.labels else ()
    left = [label for label in p.labels if label not in gone]
    assert result(algorithms.removing_a_set(p.form, *gone)) == {reduced(item, left) for item in read(p)}


@some
@given(relationships("ABC", most=2))
def test_adding_a_set_naively_and_better_give_all_consistent_hypercubes(p):
    labels = (*p.labels, "N")
    expected = extended(read(p), p.labels, labels)
    assert result(algorithms.adding_a_set_naively(p.form, "N")) == expected
    assert result(algorithms.adding_a_set(p.form, "N")) == expected


@some
@given(relationships("ABC", most=1))
def test_adding_several_sets_at_once_is_adding_them_one_by_one(p):
    at_once = algorithms.adding_a_set(p.form, "M", "N")
    assert result(at_once) == extended(read(p), p.labels, (*p.labels, "M", "N"))
    assert result(algorithms.adding_a_set(algorithms.adding_a_set(p.form, "M"), "N")) == result(at_once)


@some
@given(relationships("ABC", most=3))
def test_removing_after_adding_is_the_identity(p):
    added = algorithms.adding_a_set(p.form, "N")
    assert result(algorithms.removing_a_set(added, "N")) == read(p)


@some
@given(relationships())
def test_negation_gives_all_other_hypercubes(p):
    assert result(algorithms.negation(p.form)) == hypercubes(p.labels) - read(p)


@some
@given(relationships("ABC", most=2), relationships("ABC", most=2), st.sampled_from(Operator))
def test_any_binary_operator_on_any_sets(p, q, operator):
    labels = joined(p, q)
    left, right = extended(read(p), p.labels, labels), extended(read(q), q.labels, labels)
    expected = {hypercube for hypercube in hypercubes(labels) if operator(hypercube in left, hypercube in right)}
    combined = algorithms.any_binary_operator(p.form, q.form, operator)
    assert combined.labels == labels
    assert result(combined) == expected


@some
@given(relationships("ABC"), relationships("ABC"))
def test_the_enhanced_algorithms_do_what_the_plain_ones_do(p, q):
    labels = joined(p, q)
    left, right = extended(read(p), p.labels, labels), extended(read(q), q.labels, labels)
    conjunction = algorithms.enhanced_conjunction(p.form, q.form)
    assert conjunction.labels == labels
    assert result(conjunction) == left & right
    assert result(algorithms.enhanced_nonimplication(p.form, q.form)) == left - right


@settings(max_examples=2, deadline=None)
@given(relationships("ABCD", least=2), relationships("ABCD", least=2))
def test_the_enhanced_algorithms_on_four_sets(p, q):
    labels = joined(p, q)
    left, right = extended(read(p), p.labels, labels), extended(read(q), q.labels, labels)
    assert result(algorithms.enhanced_conjunction(p.form, q.form)) == left & right
    assert Relationship(p.form).entails(q) == (left <= right)


@some
@given(st.lists(relationships("AB"), max_size=3), relationships("BN"))
def test_entailment_holds_if_no_consistent_hypercube_refutes_it(premises, conclusion):
    labels = tuple(dict.fromkeys(label for item in (*premises, conclusion) for label in item.labels))
    known = hypercubes(labels)
    for premise in premises:
        known &= extended(read(premise), premise.labels, labels)
    expected = known <= extended(read(conclusion), conclusion.labels, labels)
    assert algorithms.entailment([item.form for item in premises], conclusion.form) == expected


@pytest.mark.parametrize("text", ["N == A", "N == A & B", "N == A | B", "N == A - B", "N == A ^ ~B", "N == {}"])
def test_a_set_that_is_a_function_of_others_adds_no_hypercube_and_touches_none(text):
    p, q = Relationship.tautology("A", "B"), Relationship.of(text)
    conjunction = algorithms.enhanced_conjunction(p.form, q.form, budget=16)
    assert len(conjunction) == len(p)
    assert list(conjunction.hypercubes) == list(p.form.hypercubes)


def test_the_conjunction_starts_from_the_side_that_takes_fewer_hypercubes():
    """Adding A and B to the nine possible regions on the right would take far more than adding C to the left."""
    p, q = Relationship.of("A < B"), Relationship.tautology("B", "C")
    assert algorithms.enhanced_conjunction(p.form, q.form, budget=500).labels == ("A", "B", "C")
    assert result(algorithms.enhanced_conjunction(q.form, p.form, budget=500)) == result(
        algorithms.enhanced_conjunction(p.form, q.form, budget=500)
    )


def test_hypercubes_that_the_other_side_refutes_are_dropped_before_any_is_added():
    """Of the 16 on the left only the 7 with nothing inside A, or nothing outside it, have an extension: 31 in all."""
    p, q = Relationship.tautology("A", "B"), Relationship.of("empty(A) or empty(~A)", labels="AN")
    assert len(algorithms.enhanced_conjunction(p.form, q.form, budget=31)) == 31


def test_a_budget_is_checked_before_anything_is_built():
    p = Relationship.tautology("A", "B", "C").form
    with pytest.raises(BudgetError) as raised:
        algorithms.adding_a_set(p, "D", budget=65_535)
    assert raised.value.size == 65_536
    assert raised.value.labels == ("A", "B", "C", "D")
    with pytest.raises(BudgetError) as raised:
        algorithms.adding_a_set(p, "D", "E", "F", "G")
    assert raised.value.size == 2 ** (2**7)
    with pytest.raises(BudgetError) as raised:
        algorithms.negation(Relationship.of("A == B", "B == C", "C == D", "D == E").form)
    assert raised.value.size == 2**32
    assert len(algorithms.adding_a_set(p, "D", budget=65_536)) == 65_536


def test_beyond_64_regions_the_results_are_those_of_few():
    """All regions of seven sets are inhabited, or all but those inside A: wide hypercubes, and what they reduce to."""
    everywhere = np.ones((2,) * 7, bool)
    outside = everywhere & (np.arange(2) == 0).reshape(2, *[1] * 6)
    seven = Relationship.from_arrays("ABCDEFG", [everywhere, outside]).form
    assert isinstance(seven.hypercubes, WideHypercubes)
    two = Relationship.from_arrays("AB", [everywhere[..., 0, 0, 0, 0, 0], outside[..., 0, 0, 0, 0, 0]]).form
    assert result(algorithms.removing_a_set(seven, *"CDEFG")) == result(two)
    assert result(algorithms.enhanced_conjunction(two, seven)) == result(seven)
    assert len(algorithms.enhanced_nonimplication(seven, two)) == 0
    assert len(algorithms.enhanced_nonimplication(seven, Relationship.of("empty(A)").form)) == 1
    assert len(algorithms.enhanced_conjunction(seven, Relationship.of("H == A & G").form)) == 2


@some
@given(relationships("ABC", most=2), relationships("ABC", most=2), st.sampled_from(Operator))
def test_wide_hypercubes_lead_to_the_same_results_as_packed_ones(p, q, operator):
    packed = [
        algorithms.any_binary_operator(p.form, q.form, operator),
        algorithms.enhanced_conjunction(p.form, q.form),
        algorithms.enhanced_nonimplication(p.form, q.form),
        algorithms.adding_a_set(p.form, "N"),
    ]
    with patch("provenn.logic.hypercubes.labelled.WIDTH", -1):
        wide_p, wide_q = written(p.labels, read(p)).form, written(q.labels, read(q)).form
        assert isinstance(wide_p.hypercubes, WideHypercubes)
        wide = [
            algorithms.any_binary_operator(wide_p, wide_q, operator),
            algorithms.enhanced_conjunction(wide_p, wide_q),
            algorithms.enhanced_nonimplication(wide_p, wide_q),
            algorithms.adding_a_set(wide_p, "N"),
        ]
        assert [result(item) for item in wide] == [result(element) for element in packed]
