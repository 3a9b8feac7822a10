"""The figures of the paper, and of its example worked through."""

import pytest

from provenn.logic import (
    Relationship,
    equal,
    intersection,
    nonempty,
    outside,
    proper_subset,
    proper_superset,
    subset,
    superset,
    union,
)

EXAMPLE = (nonempty("A"), outside("A"), proper_subset("B", "A"), equal("A", "C"), intersection("D", "B", "C"))


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        (equal("A", "B"), 4),
        (proper_subset("B", "A"), 4),
        (proper_superset("A", "B"), 4),
        (subset("B", "A"), 8),
        (superset("A", "B"), 8),
        (intersection("D", "B", "C"), 16),
        (union("D", "B", "C"), 16),
        (nonempty("A"), 2),
    ],
)
def test_the_relations_of_the_paper_have_as_many_hypercubes_as_it_says(statement, count):
    assert len(Relationship.of(statement)) == count


@pytest.mark.parametrize(("sets", "count"), [(0, 2), (1, 4), (2, 16), (3, 256), (4, 65_536)])
def test_the_tautology_of_n_sets_has_all_hypercubes(sets, count):
    tautology = Relationship.tautology(*"ABCD"[:sets])
    assert len(tautology) == count == 2 ** (2**sets)
    assert tautology.kind == "tautology"


def test_the_example_has_exactly_two_hypercubes():
    assert len(Relationship.of(*EXAMPLE)) == 2


def test_the_example_has_the_hypercubes_of_its_figure():
    """Something is outside, something is in A and C only; and something may be in all four sets."""
    least = {(0, 0, 0, 0), (1, 0, 1, 0)}
    arrays = [
        {tuple(index) for index in zip(*array.nonzero(), strict=True)}
        for array in Relationship.of(*EXAMPLE, labels="ABCD").arrays()
    ]
    assert arrays == [least, least | {(1, 1, 1, 1)}]


def test_the_example_step_by_step_by_conjunction():
    a = Relationship.of(nonempty("A"), outside("A"))
    ab, ac, bcd = map(Relationship.of, EXAMPLE[2:])
    assert [len(item) for item in (a, ab, ac, bcd)] == [1, 4, 4, 16]
    assert len(a & ab) == 2
    assert len(a & ab & ac) == 2
    assert len(a & ab & ac & bcd) == 2
    assert a & ab & ac & bcd == Relationship.of(*EXAMPLE)


def test_the_example_with_a_subset_that_may_be_everything_has_three_hypercubes():
    strict = proper_subset("B", "A")
    facts = [subset("B", "A") if fact == strict else fact for fact in EXAMPLE]
    assert len(Relationship.of(*facts)) == 3


def test_the_example_when_nothing_is_said_of_the_outside_has_four_hypercubes():
    assert len(Relationship.of(*(fact for fact in EXAMPLE if fact != outside("A")))) == 4


def test_the_nonimplication_leaves_nothing_so_b_equals_d():
    abcd, bd = Relationship.of(*EXAMPLE), Relationship.of(equal("B", "D"))
    assert len(abcd - bd) == 0
    assert (abcd - bd).kind == "contradiction"
    assert abcd.entails(bd)
    assert abcd.on("B", "D") == bd & outside("B") & "outside(B)"


def test_the_four_classes():
    assert Relationship.of("nonempty(A) and empty(A)").kind == "contradiction"
    assert Relationship.of("nonempty(A) and empty(~A)").kind == "exact"
    assert Relationship.of("nonempty(A)").kind == "inexact"
    assert Relationship.of("A == A").kind == "tautology"


def test_an_empty_universe_says_that_all_sets_are_empty_also_those_it_does_not_name():
    nothing = Relationship.of("empty(~{})")
    assert nothing.labels == ()
    assert nothing.entails("empty(A) and A == B")
    assert len(nothing.including("A", "B", "C", "D", "E", "F", "G", "H")) == 1


def test_the_strict_subset_denies_equality_and_the_other_does_not():
    assert Relationship.of(proper_subset("B", "A")).entails("A != B")
    assert not Relationship.of(subset("B", "A")).entails("A != B")
