"""Both representations fulfil one contract, and agree where they meet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic.hypercubes import Labelled, Packed, Wide, every, made
from tests.contracts.hypercubes import HypercubesContract


class TestPacked(HypercubesContract):
    of = Packed.of
    every = Packed.every
    most = 64


class TestWide(HypercubesContract):
    of = Wide.of
    every = Wide.every
    most = 80


def test_up_to_64_regions_are_packed_and_more_are_wide():
    assert isinstance(made(64, [2**64 - 1]), Packed)
    assert isinstance(made(65, [2**65 - 1]), Wide)
    assert isinstance(every(3, 61), Packed)
    assert isinstance(every(3, 62), Wide)


def test_a_packed_relationship_is_one_sorted_array_of_unsigned_64_bit_numbers_that_cannot_be_changed():
    packed = Packed.of(64, [2**63, 5, 5, 1])
    assert packed.values.dtype == np.uint64
    assert packed.values.tolist() == [1, 5, 2**63]
    with pytest.raises(ValueError, match="read-only"):
        packed.values[0] = 7


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 2**70 - 1), max_size=20), st.sets(st.integers(0, 2**70 - 1), max_size=20))
def test_packed_and_wide_hypercubes_can_be_combined(left, right):
    """What is left of 70 regions when 10 are dropped is the same, packed or wide."""
    targets = [*range(60), *[None] * 10]
    one, other = Wide.of(70, left).carried(targets, 60), Wide.of(70, right).carried(targets, 60)
    assert list(Packed.of(60, one) & other) == list(one & Packed.of(60, other))
    assert list(Packed.of(60, one) - other) == list(one - Packed.of(60, other))
    back = [*range(60)]
    assert list(Packed.of(60, one).carried(back, 70)) == list(one)
    assert list(Packed.of(60, one).matching(back, Wide.of(70, other))) == list(one & other)


def test_regions_that_no_hypercube_inhabits_get_no_bit():
    fitted = Labelled.fitted(("A", "B"), (0, 1, 2, 3), made(4, [0b1001, 0b1000]))
    assert fitted.regions == (0, 3)
    assert list(fitted.hypercubes) == [0b10, 0b11]


def test_few_regions_of_very_many_sets_are_packed():
    """A hypercube of 100 sets has 2^100 regions; four of them, inhabited or not, are a packed hypercube."""
    labels = tuple(f"S{i}" for i in range(100))
    fitted = Labelled.fitted(labels, (0, 1, 2**99, 2**100 - 1), Wide.of(4, range(16)))
    assert isinstance(fitted.hypercubes, Packed)
    assert fitted.equal_sets() == [["S0"], list(labels[1:-1]), ["S99"]]
