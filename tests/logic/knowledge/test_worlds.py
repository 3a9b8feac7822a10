import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.errors import LabelError
from provenn.logic import World
from tests.brute_force import holds, reduced, subsets
from tests.strategies import statements

ALL_REGIONS = list(subsets("ABC"))
worlds = st.frozensets(st.sampled_from(ALL_REGIONS)).map(World)


@settings(max_examples=60, deadline=None)
@given(worlds, statements("ABC", parts=3))
def test_a_statement_is_true_in_a_world_as_python_s_sets_say(world, said):
    assert world.satisfies(said) == holds(said, world.regions)


@settings(max_examples=40, deadline=None)
@given(worlds, st.permutations("ABC"), st.integers(0, 3))
def test_a_hypercube_is_the_world_reduced_to_some_sets(world, order, count):
    labels = order[:count]
    cube = world.hypercube(*labels)
    assert cube.shape == (2,) * count
    expected = reduced(world.regions, labels)
    for region in subsets(labels):
        assert cube[tuple(int(label in region) for label in labels)] == (region in expected)


def test_a_set_that_is_named_twice_or_is_no_statement_is_refused():
    with pytest.raises(LabelError, match="twice"):
        World(frozenset()).hypercube("A", "A")
    with pytest.raises(TypeError, match="not a statement"):
        World(frozenset()).satisfies("A <= B")


def test_a_world_tells_what_is_there():
    assert str(World(frozenset())) == "nothing exists"
    regions = frozenset({frozenset(), frozenset({"B", "x y"}), frozenset({"A"})})
    assert str(World(regions)).splitlines() == [
        "something is in none of the sets",
        "something is in A only",
        'something is in B, "x y" only',
    ]
