"""Both representations fulfil one contract, and agree where they meet."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic.hypercubes import (
    LabelledHypercubes,
    PackedHypercubes,
    WideHypercubes,
    build_all_hypercubes,
    build_hypercubes,
)
from tests.contracts.hypercubes import HypercubesContract


class TestPacked(HypercubesContract):
    of = PackedHypercubes.of
    build_all = PackedHypercubes.build_all
    most = 64


class TestWide(HypercubesContract):
    of = WideHypercubes.of
    build_all = WideHypercubes.build_all
    most = 80


def test_up_to_64_regions_are_packed_and_more_are_wide():
    assert isinstance(build_hypercubes(64, [2**64 - 1]), PackedHypercubes)
    assert isinstance(build_hypercubes(65, [2**65 - 1]), WideHypercubes)
    assert isinstance(build_all_hypercubes(3, 61), PackedHypercubes)
    assert isinstance(build_all_hypercubes(3, 62), WideHypercubes)


def test_a_packed_relationship_is_one_sorted_array_of_unsigned_64_bit_numbers_that_cannot_be_changed():
    packed = PackedHypercubes.of(64, [2**63, 5, 5, 1])
    assert packed.values.dtype == np.uint64
    assert packed.values.tolist() == [1, 5, 2**63]
    with pytest.raises(ValueError, match="read-only"):
        packed.values[0] = 7


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 2**70 - 1), max_size=20), st.sets(st.integers(0, 2**70 - 1), max_size=20))
def test_packed_and_wide_hypercubes_can_be_combined(left, right):
    """What is left of 70 regions when 10 are dropped is the same, packed or wide."""
    targets = [*range(60), *[None] * 10]
    first, other = (
        WideHypercubes.of(70, left).move_regions(targets, 60),
        WideHypercubes.of(70, right).move_regions(targets, 60),
    )
    assert list(PackedHypercubes.of(60, first) & other) == list(first & PackedHypercubes.of(60, other))
    assert list(PackedHypercubes.of(60, first) - other) == list(first - PackedHypercubes.of(60, other))
    back = [*range(60)]
    assert list(PackedHypercubes.of(60, first).move_regions(back, 70)) == list(first)
    assert list(PackedHypercubes.of(60, first).select_matching(back, WideHypercubes.of(70, other))) == list(
        first & other
    )


def test_regions_that_no_hypercube_inhabits_get_no_bit():
    fitted = LabelledHypercubes.fit_regions(("A", "B"), (0, 1, 2, 3), build_hypercubes(4, [0b1001, 0b1000]))
    assert fitted.regions == (0, 3)
    assert list(fitted.hypercubes) == [0b10, 0b11]


def test_few_regions_of_very_many_sets_are_packed():
    """A hypercube of 100 sets has 2^100 regions; four of them, inhabited or not, are a packed hypercube."""
    labels = tuple(f"S{i}" for i in range(100))
    fitted = LabelledHypercubes.fit_regions(labels, (0, 1, 2**99, 2**100 - 1), WideHypercubes.of(4, range(16)))
    assert isinstance(fitted.hypercubes, PackedHypercubes)
    assert fitted.equal_sets() == [["S0"], list(labels[1:-1]), ["S99"]]
