"""The meaning of statements and relationships, spelt out: the oracle of the logic's tests.

A region is the set of labels of the sets it lies in, a hypercube the set of its inhabited regions. To see whether a
statement holds in a hypercube, put one object into each inhabited region, and ask Python's own sets.
"""

import operator
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations

import numpy as np

from provenn.logic import Relationship, Statement
from provenn.logic.statements import And, Not, Or, Property, SetComparison
from provenn.logic.terms import Term

Region = frozenset[str]
Hypercube = frozenset[Region]

COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
}


def subsets(things: Iterable) -> Iterator[frozenset]:
    things = tuple(things)
    return map(frozenset, chain.from_iterable(combinations(things, size) for size in range(len(things) + 1)))


@cache
def hypercubes(labels: Sequence[str]) -> frozenset[Hypercube]:
    """All the hypercubes of these sets."""
    return frozenset(subsets(subsets(labels)))


def reduced(hypercube: Hypercube, labels: Iterable[str]) -> Hypercube:
    """What the hypercube says of these sets alone."""
    return frozenset(region & frozenset(labels) for region in hypercube)


def extended(known: set[Hypercube], labels: Sequence[str], more: Sequence[str]) -> set[Hypercube]:
    """All the hypercubes of the sets `more` that are consistent with those known of `labels`."""
    return {hypercube for hypercube in hypercubes(more) if reduced(hypercube, labels) in known}


def contents(region: Term, hypercube: Hypercube) -> frozenset[Region]:
    """The objects in a term; there is one object in each inhabited region, named after it."""
    return region.evaluate(lambda label: frozenset(item for item in hypercube if label in item), frozenset(), hypercube)


def holds(statement: Statement, hypercube: Hypercube) -> bool:
    match statement:
        case Not(part):
            return not holds(part, hypercube)
        case And(parts):
            return all(holds(part, hypercube) for part in parts)
        case Or(parts):
            return any(holds(part, hypercube) for part in parts)
        case SetComparison(compare, left, right):
            return COMPARE[compare](contents(left, hypercube), contents(right, hypercube))
        case Property(name, arguments):
            sets = [contents(argument, hypercube) for argument in arguments]
            match name:
                case "empty":
                    return not sets[0]
                case "nonempty":
                    return bool(sets[0])
                case "disjoint":
                    return all(item.isdisjoint(other) for item, other in combinations(sets, 2))
                case "overlapping":
                    return bool(frozenset.intersection(*sets))
                case "outside":
                    return bool(hypercube.difference(*sets))
    raise AssertionError(statement)


def models(statement: Statement, labels: Sequence[str]) -> set[Hypercube]:
    """The hypercubes of these sets in which the statement holds."""
    return {hypercube for hypercube in hypercubes(labels) if holds(statement, hypercube)}


def read(relationship: Relationship) -> set[Hypercube]:
    """The hypercubes of a relationship."""
    labels = relationship.labels
    return {
        frozenset(
            frozenset(label for label, inside in zip(labels, index, strict=True) if inside)
            for index in np.argwhere(array).tolist()
        )
        for array in relationship.arrays()
    }


def written(labels: Sequence[str], known: Iterable[Hypercube]) -> Relationship:
    """A relationship with these hypercubes."""
    arrays = []
    for hypercube in known:
        array = np.zeros((2,) * len(labels), bool)
        for region in hypercube:
            array[tuple(int(label in region) for label in labels)] = True
        arrays.append(array)
    return Relationship.from_arrays(labels, arrays)
