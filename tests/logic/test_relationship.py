"""Relationship as its users meet it: operators and laws, equality by meaning, arrays, budget, bad input, display."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.errors import BudgetError, HypercubeError, LabelError, StatementError, UnknownLabelError
from provenn.logic import Relationship, equal, intersection, proper_subset, statement, subset
from provenn.logic.operators import Operator
from tests.brute_force import extended, holds, hypercubes, read, reduced, written
from tests.strategies import label_lists, relationships, statements

some = settings(max_examples=40, deadline=None)
pairs = given(relationships("ABC", most=2), relationships("ABC", most=2))


# --- operators against brute force ---


@some
@pairs
def test_the_operators_are_those_of_logic_on_all_hypercubes_of_all_sets(p, q):
    labels = tuple(dict.fromkeys(p.labels + q.labels))
    left, right, all_ = extended(read(p), p.labels, labels), extended(read(q), q.labels, labels), hypercubes(labels)
    expected = {
        Operator.CONJUNCTION: (p & q, left & right),
        Operator.DISJUNCTION: (p | q, left | right),
        Operator.EXCLUSIVE_OR: (p ^ q, left ^ right),
        Operator.NONIMPLICATION: (p - q, left - right),
        Operator.IMPLICATION: (p >> q, (all_ - left) | right),
        Operator.EQUIVALENCE: (p.equivalent(q), all_ - (left ^ right)),
    }
    for operator, (result, truth) in expected.items():
        assert result.labels == labels
        assert read(result) == truth
        assert read(p.combine(q, operator)) == read(p.combine(q, operator.value)) == truth
    assert read(~p) == hypercubes(p.labels) - read(p)


@some
@given(relationships("ABC", most=2), statements("ABC"))
def test_a_statement_on_the_right_means_what_its_relationship_means(p, said):
    q = Relationship.of(said)
    assert p & said == p & str(said) == p & q
    assert p - said == p - q
    assert p | said == p | q
    assert p ^ said == p ^ q
    assert p >> said == p >> q
    assert p.entails(said) == p.entails(q)


def test_text_on_the_right_means_what_it_says():
    p, message = Relationship.of("B <= A"), "A <= B and C == B"
    q = Relationship.of(message)
    assert p & message == p & q == Relationship.of("A == B", "B == C")
    assert (p - message, p | message, p ^ message, p >> message) == (p - q, p | q, p ^ q, p >> q)
    assert p.equivalent(message) == p.equivalent(q)
    assert not p.entails(message)


@some
@given(relationships("ABC"), st.data())
def test_reducing_to_some_sets_in_any_order(p, data):
    kept = data.draw(label_lists(p.labels)) if p.labels else ()
    result = p.on(*kept)
    assert result.labels == kept
    assert read(result) == {reduced(item, kept) for item in read(p)}
    assert p.without(*(label for label in p.labels if label not in kept)) == result


@some
@given(relationships("AB"), relationships("ABC", most=2))
def test_entailment_is_refuted_by_a_hypercube_if_at_all(p, q):
    labels = tuple(dict.fromkeys(p.labels + q.labels))
    assert p.entails(q) == (extended(read(p), p.labels, labels) <= extended(read(q), q.labels, labels))


# --- laws ---


@some
@pairs
def test_de_morgan(p, q):
    assert ~(p & q) == ~p | ~q
    assert ~(p | q) == ~p & ~q


@some
@pairs
def test_absorption_although_the_labels_differ(p, q):
    assert p & (p | q) == p
    assert p | (p & q) == p


@some
@pairs
def test_conjunction_and_disjunction_commute(p, q):
    assert p & q == q & p
    assert p | q == q | p


@settings(max_examples=40, deadline=None)
@given(relationships("AB"), relationships("BC", most=2), relationships("CA", most=2))
def test_conjunction_is_associative_and_distributes(p, q, r):
    assert (p & q) & r == p & (q & r)
    assert p & (q | r) == (p & q) | (p & r)


@some
@pairs
def test_the_nonimplication_is_empty_exactly_where_one_entails_the_other(p, q):
    assert (len(p - q) == 0) == p.entails(q)
    assert ((p >> q).kind == "tautology") == p.entails(q)


@some
@given(relationships("ABC"))
def test_removing_what_was_added_changes_nothing(p):
    wider = p.including("N")
    assert wider.without("N") == p
    assert wider == p, "nothing was said of N"
    assert read(wider.without("N")) == read(p)


@some
@given(relationships("ABC"))
def test_double_negation_and_excluded_middle(p):
    assert ~~p == p
    assert (p | ~p).kind == "tautology"
    assert (p & ~p).kind == "contradiction"


# --- equality ---


@some
@pairs
def test_equality_is_equality_of_all_hypercubes_of_all_sets(p, q):
    labels = tuple(dict.fromkeys(p.labels + q.labels))
    same = extended(read(p), p.labels, labels) == extended(read(q), q.labels, labels)
    assert (p == q) == same
    assert not same or hash(p) == hash(q)


@some
@given(relationships("ABC", most=2), st.data())
def test_what_is_equal_hashes_alike_in_whatever_order_and_with_whatever_sets(p, data):
    other = p.on(*data.draw(st.permutations(p.labels))).including("N")
    assert p == other
    assert hash(p) == hash(other)
    assert len({p, other}) == 1


def test_all_contradictions_are_equal_and_so_are_all_tautologies():
    assert Relationship.contradiction("A") == Relationship.contradiction("B", "C") == Relationship.contradiction()
    assert Relationship.tautology("A") == Relationship.tautology("B", "C") == Relationship.tautology()
    assert hash(Relationship.contradiction("A")) == hash(Relationship.contradiction("B"))
    assert Relationship.tautology("A") != Relationship.contradiction("A")


def test_a_relationship_equals_nothing_that_is_not_one():
    assert Relationship.of("A == B") != "A == B"
    assert Relationship.of("A == B") != equal("A", "B")


def test_a_copy_is_equal():
    p = Relationship.of("A <= B", "C == A", budget=1000)
    hash(p)
    for other in (copy.copy(p), copy.deepcopy(p), pickle.loads(pickle.dumps(p))):  # noqa: S301
        assert other == p
        assert other.budget == 1000
        assert hash(other) == hash(p)


# --- equal sets, and lineage ---


def test_a_set_known_to_be_equal_to_one_that_is_there_costs_no_hypercubes():
    p = Relationship.tautology("A", "B", "D", budget=256)
    q = p & equal("C", "A")
    assert q.labels == ("A", "B", "D", "C")
    assert len(q) == len(p) == 256
    assert q.entails("C == A")
    assert q.kind == "inexact"


def test_thirty_sets_can_be_made_equal_one_after_the_other():
    p = Relationship.of("nonempty(S0)", budget=10)
    for i in range(29):
        p = p & equal(f"S{i + 1}", f"S{i}")
    assert len(p.labels) == 30
    assert len(p) == 2
    assert p.entails("nonempty(S29)")
    assert p.on("S29", "S3") == Relationship.of("S29 == S3", "nonempty(S3)")


def test_sets_that_are_functions_of_others_cost_no_hypercubes():
    p = Relationship.of("B <= A", "C <= A", budget=100)
    count, last = len(p), "B"
    for i in range(40):
        p = p & intersection(f"D{i}", last, "C")
        last = f"D{i}"
        assert len(p) == count
    assert p.entails("D39 == B & C")


def test_removing_sets_in_the_middle_of_a_lineage_keeps_the_relationship_at_its_ends():
    """A selection of a selection, joined with derived attributes: what is in between can go as soon as it is used."""
    facts = [
        subset("bright", "survey"),
        equal("calibrated", "survey"),
        subset("near", "bright"),
        intersection("joined", "near", "calibrated"),
        equal("renamed", "joined"),
        proper_subset("chosen", "renamed"),
    ]
    whole = Relationship.of(*facts)
    early = Relationship.of(facts[0], facts[1]) & facts[2]
    early = (early.without("bright") & facts[3]).without("calibrated")
    early = (early & facts[4]).without("joined") & facts[5]
    ends = early.without("renamed").on("survey", "near", "chosen")
    assert ends == whole.on("survey", "near", "chosen")
    assert ends.entails("chosen < near and near <= survey")
    assert ends.entails("chosen < survey")


def test_a_statement_about_many_known_sets_needs_no_hypercubes_of_its_own():
    """Alone it would need 2^63 of them."""
    p = Relationship.of("B == A", "C == A", "D == A", "E == A", "F == A")
    assert p.entails("A <= B & C | D & E | F")
    assert p - "A <= B & C | D & E | F" == Relationship.contradiction()
    with pytest.raises(BudgetError):
        Relationship.of("A <= B & C | D & E | F")


# --- arrays ---


@some
@given(relationships("ABC"))
def test_arrays_out_and_in_again(p):
    arrays = list(p.arrays())
    assert len(arrays) == len(p)
    assert all(array.dtype == np.bool_ and array.shape == (2,) * len(p.labels) for array in arrays)
    assert Relationship.from_arrays(p.labels, arrays) == p


def test_axes_are_in_the_order_of_the_labels_and_index_1_is_inside():
    (array,) = Relationship.of("nonempty(B - A)", "empty(~(B - A))", labels="ABC").without("C").arrays()
    assert array.tolist() == [[False, True], [False, False]]


def test_the_same_array_twice_is_one_hypercube():
    array = np.array([True, False])
    assert len(Relationship.from_arrays("A", [array, array.tolist()])) == 1


def test_the_hypercubes_of_no_sets():
    assert [array.tolist() for array in Relationship.tautology().arrays()] == [False, True]
    assert Relationship.from_arrays([], [np.array(True)]).kind == "exact"


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        ([np.array([1, 0])], "an array of Booleans, not of int64"),
        ([["yes", "no"]], "an array of Booleans, not of <U3"),
        ([np.array([1.0, np.nan])], "an array of Booleans, not of float64"),
        ([[]], "not of float64"),
        ([np.array([[True, False], [True, True]])], r"of 1 sets is an array of shape \(2,\), not \(2, 2\)"),
        ([np.array([True, True, True])], r"not \(3,\)"),
        ([[[True], [True, False]]], r"expected an array of shape \(2,\)"),
    ],
)
def test_an_array_that_is_no_hypercube_is_refused(arrays, problem):
    with pytest.raises(HypercubeError, match=problem):
        Relationship.from_arrays("A", arrays)


def test_an_array_of_very_many_sets_is_refused():
    p = Relationship.of(*(f"S{i} == S{i + 1}" for i in range(29)))
    with pytest.raises(HypercubeError, match=r"30 sets has 2\*\*30 cells"):
        p.arrays()
    assert len(list(p.on("S0", "S29").arrays())) == 4


# --- budget ---


def test_the_default_budget_is_ten_million():
    assert Relationship.of("A == B").budget == 10_000_000
    assert Relationship.tautology("A").budget == 10_000_000


def test_a_budget_travels_with_the_left_side_and_is_no_part_of_the_meaning():
    p, q = Relationship.of("A <= B", budget=1000), Relationship.of("B <= C")
    assert p == Relationship.of("A <= B")
    assert (p & q).budget == 1000
    assert (q & p).budget == 10_000_000
    assert (p & "B <= C").without("A").including("D").budget == 1000
    with pytest.raises(BudgetError, match="A, B, M, N, O would need"):
        p.including("M", "N", "O")


@pytest.mark.parametrize(
    ("make", "size"),
    [
        (lambda: Relationship.tautology(*"ABCDE"), 2**32),
        (lambda: Relationship.of("A == B", labels="ABC", budget=15), 16),
        (lambda: ~Relationship.of("A == B", "B == C", "C == D", "D == E"), 2**32),
        (lambda: Relationship.tautology(*"ABCD").including("E"), 2**32),
        (lambda: Relationship.tautology(*"ABCD").including(*"EFG"), 2**128),
        (lambda: Relationship.tautology(*"ABCD") & Relationship.of("E <= F"), 2**48),
        (lambda: Relationship.from_arrays("A", [[True, False], [True, True]], budget=1), 2),
    ],
)
def test_what_would_exceed_the_budget_is_refused_and_its_size_is_exact(make, size):
    with pytest.raises(BudgetError) as raised:
        make()
    assert raised.value.size == size


# --- bad input ---


def test_an_unknown_set_is_named_and_the_nearest_one_suggested():
    p = Relationship.of("bright < survey")
    for ask in (p.on, p.without):
        with pytest.raises(UnknownLabelError, match="no fact mentions a set 'brigth'\ndid you mean bright"):
            ask("brigth")


def test_a_set_named_twice_is_refused():
    p = Relationship.of("A < B")
    for ask in (
        lambda: p.on("A", "A"),
        lambda: p.without("A", "A"),
        lambda: p.including("C", "C"),
        lambda: Relationship.of("A < B", labels=["A", "A"]),
        lambda: Relationship.from_arrays("AA", []),
        lambda: Relationship.tautology("A", "A"),
        lambda: Relationship.contradiction("A", "A"),
    ):
        with pytest.raises(LabelError, match="named twice"):
            ask()


def test_what_cannot_name_a_set_is_refused():
    with pytest.raises(LabelError, match="non-empty string"):
        Relationship.tautology("")
    with pytest.raises(LabelError, match="non-empty string"):
        Relationship.of("A < B").including(3)


def test_a_malformed_statement_is_refused_wherever_it_is_given():
    p = Relationship.of("A < B")
    for ask in (Relationship.of, p.__and__, p.__or__, p.__sub__, p.entails):
        with pytest.raises(StatementError, match="column"):
            ask("A <")


def test_what_is_no_statement_at_all_is_refused():
    p = Relationship.of("A < B")
    for ask in (Relationship.of, p.__and__, p.__xor__, p.entails):
        with pytest.raises(TypeError, match="expected a statement or its text, got 7"):
            ask(7)


def test_what_is_no_operator_is_refused():
    with pytest.raises(ValueError, match="'10' is not a valid Operator"):
        Relationship.of("A < B").combine("B < C", "10")


def test_including_a_set_that_is_there_changes_nothing():
    p = Relationship.of("A < B")
    assert p.including("A", "B").labels == ("A", "B")
    assert len(p.including("B")) == len(p)


def test_a_relationship_cannot_be_changed():
    with pytest.raises(AttributeError):
        Relationship.of("A < B").budget = 3


# --- kind, and order of labels ---


def test_labels_are_in_the_order_of_their_first_mention_unless_told_otherwise():
    assert Relationship.of("D == B & C", "B < A").labels == ("D", "B", "C", "A")
    assert Relationship.of("D == B & C", labels="ABCD").labels == ("A", "B", "C", "D")
    assert (Relationship.of("B < A") & Relationship.of("C == A")).labels == ("B", "A", "C")


@some
@given(relationships("ABC"))
def test_the_kind_follows_from_the_number_of_hypercubes(p):
    count = len(p)
    kinds = {0: "contradiction", 1: "exact", 2**2 ** len(p.labels): "tautology"}
    assert p.kind == kinds.get(count, "inexact")


# --- showing ---


@some
@given(relationships("ABC"))
def test_every_relationship_shows_itself(p):
    assert str(p).startswith("Relationship of ")
    assert p.kind in str(p)
    assert p.kind in repr(p)
    assert "<svg" in p._repr_svg_()
    assert "<svg" in p._repr_html_()


def test_a_representation_fits_on_a_line():
    assert repr(Relationship.of("B < A")) == "<Relationship of B, A: inexact, 4 hypercubes>"
    assert repr(Relationship.contradiction()) == "<Relationship of no sets: contradiction, 0 hypercubes>"
    assert repr(Relationship.of("empty(~{})")) == "<Relationship of no sets: exact, 1 hypercube>"


def test_of_a_large_relationship_only_the_first_hypercubes_are_shown():
    assert "and 65,472 more" in str(Relationship.tautology(*"ABCD"))


def test_of_very_many_sets_the_equal_ones_are_shown_as_one():
    p = Relationship.of(*(f"S{i} == S{i + 2}" for i in range(28)))
    assert "S0 = S2 = S4" in str(p)
    assert "S1 = S3 = S5" in p._repr_html_()


def test_of_very_many_different_sets_no_hypercube_is_shown():
    """Each of thirty sets holds the one before, and something more."""
    p = Relationship.of(*(f"S{i} < S{i + 1}" for i in range(29)))
    assert len(p.form.equal_sets()) == 30
    assert "hypercubes" in str(p)
    assert "<svg" in p._repr_svg_()


def test_a_hypercube_holds_what_its_relationship_says():
    """The oracle and the statement's own relationship agree on the paper's example."""
    message = statement("nonempty(A) and outside(A) and B < A and C == A and D == B & C")
    p = Relationship.of(message)
    assert all(holds(message, item) for item in read(p))
    assert written(p.labels, read(p)) == p
