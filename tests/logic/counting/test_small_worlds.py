"""Bounds against brute force: in small worlds they are exact, contradictions included."""

from contextlib import suppress
from unittest import mock

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from provenn.errors import ContradictionError
from provenn.logic import Knowledge
from provenn.logic.counting import Count, CountConflict, bound_count, bound_numbers, find_count_conflict
from provenn.logic.counting.bounds import _Branching
from tests.logic.counting.small_worlds import LABELS, all_numbers, bound_by_hand, cells, holds
from tests.strategies import statements, terms


def counts(most: int = 3) -> st.SearchStrategy[Count]:
    bounds = st.tuples(st.integers(0, most), st.integers(0, most)).map(sorted)
    numbers = st.one_of(
        st.integers(0, most).map(lambda number: (number, number)),
        bounds.map(tuple),
        st.integers(0, most).map(lambda number: (number, None)),
    )
    return st.builds(lambda region, number: Count(region, *number), terms(LABELS, 3), numbers)


@settings(max_examples=300)
@given(
    st.lists(statements(LABELS, parts=2), max_size=3),
    st.lists(counts(), max_size=4),
    terms(LABELS),
    st.booleans(),
)
def test_bounds_are_those_of_brute_force(facts, known, region, open_universe):
    numbers = all_numbers(facts, known, open_universe=open_universe)
    knowledge = Knowledge(facts, open_universe=open_universe)
    if not len(numbers):
        event("contradiction")
        with pytest.raises(ContradictionError):
            bound_count(knowledge, region, known)
        return
    bounds = bound_count(knowledge, region, known)
    assert bound_numbers(knowledge, region, known) == (bounds.low, bounds.high, bounds.is_complete)
    assert (bounds.low, bounds.high) == bound_by_hand(region, numbers, known)
    assert bounds.is_complete


@settings(max_examples=150)
@given(st.lists(statements(LABELS, parts=2), max_size=3), st.lists(counts(), max_size=4), terms(LABELS))
def test_without_a_division_into_cases_bounds_hold_and_may_be_wider(facts, known, region):
    numbers = all_numbers(facts, known, open_universe=False)
    with mock.patch.object(_Branching, "_divide", side_effect=AssertionError("cases were distinguished")):
        if not len(numbers):
            with suppress(ContradictionError):
                bound_count(Knowledge(facts, open_universe=False), region, known, is_divided=False)
            return
        bounds = bound_count(Knowledge(facts, open_universe=False), region, known, is_divided=False)
        alone = bound_numbers(Knowledge(facts, open_universe=False), region, known, is_divided=False)
    assert alone[:2] == (bounds.low, bounds.high)
    low, high = bound_by_hand(region, numbers, known)
    assert bounds.low <= low
    assert bounds.high is None or (high is not None and high <= bounds.high)


@settings(max_examples=150)
@given(st.lists(statements(LABELS, parts=1), max_size=3), st.lists(counts(), max_size=4), terms(LABELS))
def test_proofs_need_no_more_than_their_own_facts_and_counts(facts, known, region):
    """The facts and counts that a proof names suffice for the bound, by brute force over them alone."""
    try:
        bounds = bound_count(Knowledge(facts, open_universe=False), region, known)
    except ContradictionError:
        return
    for proof in (bounds.low_proof, bounds.high_proof):
        if proof.cases:
            numbers = all_numbers(proof.facts, proof.counts, open_universe=False)
            low, high = bound_by_hand(region, numbers, proof.counts)
            assert (low if proof.side == "low" else high) == proof.value
            assert set(proof.facts) <= set(facts)


@settings(max_examples=150)
@given(st.lists(statements(LABELS, parts=1), max_size=3), st.lists(counts(), min_size=1, max_size=5))
def test_conflicts_are_contradictions_of_their_own_facts_and_counts(facts, known):
    knowledge = Knowledge(facts, open_universe=False)
    if not knowledge.consistent:
        return
    conflict = find_count_conflict(knowledge, known)
    assert (conflict is not None) == (not len(all_numbers(facts, known, open_universe=False)))
    if conflict is not None:
        assert isinstance(conflict, CountConflict)
        assert not len(all_numbers(conflict.facts, conflict.counts, open_universe=False))


@settings(max_examples=200)
@given(
    st.lists(st.lists(st.booleans(), min_size=3, max_size=3), max_size=60),
    st.lists(statements(LABELS, parts=2), max_size=6),
    st.lists(terms(LABELS), max_size=8),
    terms(LABELS),
)
def test_bounds_hold_for_any_data(rows, said, counted, region):
    """True statements and true counts of random sets: the truth lies between the bounds."""
    numbers = np.zeros((1, 8), dtype=int)
    for a, b, c in rows:
        numbers[0, 4 * a + 2 * b + c] += 1
    facts = [statement for statement in said if holds(statement, numbers)[0]]
    known = [Count(term, int(numbers[0, cells(term)].sum()), int(numbers[0, cells(term)].sum())) for term in counted]
    bounds = bound_count(Knowledge(facts, open_universe=False), region, known)
    truth = int(numbers[0, cells(region)].sum())
    assert bounds.low <= truth
    assert bounds.high is None or truth <= bounds.high
