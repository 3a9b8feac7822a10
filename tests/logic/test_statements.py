"""Statements: what they claim, by an oracle that looks at every object of small worlds."""

from itertools import product

import pytest

from provenn.errors import LabelError
from provenn.logic import (
    Relationship,
    difference,
    disjoint,
    empty,
    equal,
    intersection,
    nonempty,
    outside,
    overlapping,
    proper_subset,
    proper_superset,
    statement,
    subset,
    superset,
    union,
)
from provenn.logic.statements import And, Or

UNIVERSE = range(3)
SUBSETS = [
    frozenset(item for item, inside in zip(UNIVERSE, bits, strict=True) if inside) for bits in product((0, 1), repeat=3)
]


@pytest.mark.parametrize(
    ("message", "true_of"),
    [
        (equal("A", "B"), lambda a, b, _: a == b),
        (subset("A", "B"), lambda a, b, _: a <= b),
        (proper_subset("A", "B"), lambda a, b, _: a < b),
        (superset("A", "B"), lambda a, b, _: a >= b),
        (proper_superset("A", "B"), lambda a, b, _: a > b),
        (disjoint("A", "B"), lambda a, b, _: not a & b),
        (disjoint("A", "B", "C"), lambda a, b, c: not (a & b or b & c or a & c)),
        (overlapping("A", "B"), lambda a, b, _: bool(a & b)),
        (overlapping("A", "B", "C"), lambda a, b, c: bool(a & b & c)),
        (intersection("A", "B", "C"), lambda a, b, c: a == b & c),
        (union("A", "B", "C"), lambda a, b, c: a == b | c),
        (union("A"), lambda a, _, __: not a),
        (difference("A", "B", "C"), lambda a, b, c: a == b - c),
        (empty("A"), lambda a, _, __: not a),
        (nonempty("A"), lambda a, _, __: bool(a)),
        (outside("A", "B"), lambda a, b, _: len(a | b) < 3),
        (statement("A != B"), lambda a, b, _: a != b),
        (statement("not A <= B"), lambda a, b, _: not a <= b),
        (statement("A <= B or B <= A"), lambda a, b, _: a <= b or b <= a),
    ],
    ids=lambda value: "" if callable(value) else str(value),
)
def test_a_statement_says_of_python_sets_what_it_should(message, true_of):
    """Every world of three objects: a statement is a relationship, and its hypercubes are those of the sets it fits."""
    known = Relationship.of(message, labels="ABC")
    cubes = {cube.tobytes() for cube in known.arrays()}
    for a, b, c in product(SUBSETS, repeat=3):
        world = Relationship.from_arrays("ABC", [_cube(a, b, c)])
        (cube,) = world.arrays()
        assert (cube.tobytes() in cubes) == true_of(a, b, c)


def _cube(*sets):
    inhabited = {tuple(int(item in members) for members in sets) for item in UNIVERSE}
    return [[[(i, j, k) in inhabited for k in (0, 1)] for j in (0, 1)] for i in (0, 1)]


def test_connectives_join_flat():
    a, b, c = equal("A", "B"), empty("A"), empty("B")
    assert a & b & c == And((a, b, c))
    assert a | b | c == Or((a, b, c))
    assert str(~(a | b) & c) == "not (A == B or empty(A)) and empty(B)"


@pytest.mark.parametrize(("make", "least"), [(disjoint, 2), (overlapping, 2), (outside, 1)])
def test_too_few_sets_are_refused(make, least):
    with pytest.raises(LabelError, match=f"at least {least}"):
        make(*"A" * (least - 1))


def test_relabelling_reaches_every_part():
    message = statement("A <= B and not (disjoint(A, C) or nonempty(A - B))")
    assert str(message.relabelled(str.lower)) == "a <= b and not (disjoint(a, c) or nonempty(a - b))"
