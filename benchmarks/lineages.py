"""A seeded generator of lineages, and of questions about them.

A lineage of n sets has 2 % base sets. Of the rest 35 % are selections (some subset of a parent), 30 % are equal to a
parent, 20 % are intersections, 12 % unions and 3 % differences of two related sets. The counts are exact; the order is
random, so that base sets keep coming in as an archive grows. A parent is any earlier set, all equally likely. A
*relative* of a set is found by walking one to three steps up from it and one to three steps down again.

Questions ask, a third each, whether two sets are equal, whether the first is inside the second, whether they are
disjoint. Of the pairs a quarter are a set and an ancestor one to three steps up, a quarter are relatives, a quarter
descend from the same base set, a quarter are any two sets; in half of them the two are swapped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from random import Random

import numpy as np
from numpy.typing import NDArray

from provenn.logic import Statement, difference, disjoint, equal, intersection, subset, union

__all__ = ["SHARES", "Kind", "Lineage", "Operation", "Questions", "ask", "generate", "label", "repeat"]


class Operation(IntEnum):
    """How a set of a lineage is made."""

    BASE = 0
    SELECTION = 1
    EQUAL = 2
    INTERSECTION = 3
    UNION = 4
    DIFFERENCE = 5


class Kind(IntEnum):
    """What a question asks of two sets."""

    EQUAL = 0
    SUBSET = 1
    DISJOINT = 2


BASE_SHARE = 0.02
"""The share of base sets."""

SHARES = {
    Operation.SELECTION: 0.35,
    Operation.EQUAL: 0.30,
    Operation.INTERSECTION: 0.20,
    Operation.UNION: 0.12,
    Operation.DIFFERENCE: 0.03,
}
"""The shares of the sets that are made of others."""


def label(number: int) -> str:
    """Return the label of a set."""
    return f"c{number}"


@dataclass(frozen=True, slots=True, eq=False)
class Lineage:
    """Sets and how they are made; every set is made of earlier ones.

    Parameters
    ----------
    operations
        The `Operation` of each set.
    left, right
        What it is made of, by number; -1 where the operation has no such operand.
    """

    operations: NDArray[np.int8]
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.operations)

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """The operation, left and right of every set, as plain integers."""
        return zip(self.operations.tolist(), self.left.tolist(), self.right.tolist(), strict=True)

    def labels(self) -> list[str]:
        """The labels of the sets."""
        return [label(number) for number in range(len(self))]

    def statements(self) -> list[Statement]:
        """What the lineage states, one fact for every set that is not a base set."""
        return list(self._statements())

    def _statements(self) -> Iterator[Statement]:
        labels = self.labels()
        # Not `rows`: its lists, once freed, would be room for whoever's memory is measured next.
        for name, operation, left, right in zip(labels, self.operations, self.left, self.right, strict=True):
            if operation == Operation.SELECTION:
                yield subset(name, labels[left])
            elif operation == Operation.EQUAL:
                yield equal(name, labels[left])
            elif operation != Operation.BASE:
                yield _MADE_OF_TWO[operation](name, labels[left], labels[right])

    def cone(self, *numbers: int) -> int:
        """Return how many sets the given ones are made of, themselves included."""
        seen: set[int] = set()
        todo = list(numbers)
        while todo:
            number = todo.pop()
            if number >= 0 and number not in seen:
                seen.add(number)
                todo += (int(self.left[number]), int(self.right[number]))
        return len(seen)


_MADE_OF_TWO: dict[int, Callable[[str, str, str], Statement]] = {
    Operation.INTERSECTION: intersection,
    Operation.UNION: union,
    Operation.DIFFERENCE: difference,
}


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """Questions about the sets of one lineage.

    Parameters
    ----------
    kinds
        The `Kind` of each question.
    left, right
        The two sets it is about, by number.
    """

    kinds: NDArray[np.int32]
    left: NDArray[np.int32]
    right: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.kinds)

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """The kind, left and right of every question, as plain integers."""
        return zip(self.kinds.tolist(), self.left.tolist(), self.right.tolist(), strict=True)

    def statements(self) -> list[Statement]:
        """The questions as statements."""
        made = {Kind.EQUAL: equal, Kind.SUBSET: subset, Kind.DISJOINT: disjoint}
        return [made[Kind(kind)](label(left), label(right)) for kind, left, right in self.rows()]


def generate(size: int, seed: int = 0) -> Lineage:
    """Return the lineage of `size` sets that belongs to `seed`."""
    random = Random(seed)
    operations = _operations(size, random)
    family = _Family(random)
    for number, operation in enumerate(operations):
        left = right = -1
        if operation != Operation.BASE:
            left = int(random.random() * number)
        if operation >= Operation.INTERSECTION:
            right = family.relative(left)
        family.add(left, right)
    return Lineage(
        np.array(operations, dtype=np.int8),
        np.array(family.left, dtype=np.int32),
        np.array(family.right, dtype=np.int32),
    )


def ask(lineage: Lineage, count: int = 1000, seed: int = 0) -> Questions:
    """Return the `count` questions about a lineage that belong to `seed`."""
    random = Random(seed)
    family = _Family(random)
    for left, right in zip(lineage.left.tolist(), lineage.right.tolist(), strict=True):
        family.add(left, right)
    partners = (family.ancestor, family.relative, family.cousin, family.anyone)
    rows = []
    for number in range(count):
        one = family.anyone()
        other = partners[number % 4](one)
        if random.random() < 0.5:
            one, other = other, one
        rows.append((int(random.random() * 3), one, other))
    kinds, lefts, rights = zip(*rows, strict=True)
    return Questions(np.array(kinds, dtype=np.int8), np.array(lefts, dtype=np.int32), np.array(rights, dtype=np.int32))


def repeat(lineage: Lineage, questions: Questions, times: int) -> tuple[Lineage, Questions]:
    """Return a lineage many times side by side, without a set in common, and the questions spread over the copies."""
    size = len(lineage)
    starts = np.arange(times, dtype=np.int32)[:, np.newaxis] * size
    left, right = (
        np.where(operands < 0, -1, operands + starts).astype(np.int32).reshape(-1)
        for operands in (lineage.left, lineage.right)
    )
    moved = (np.arange(len(questions), dtype=np.int32) % times) * size
    return (
        Lineage(np.tile(lineage.operations, times), left, right),
        Questions(questions.kinds, questions.left + moved, questions.right + moved),
    )


def _operations(size: int, random: Random) -> list[int]:
    base = max(1, round(BASE_SHARE * size))
    operations = [int(Operation.BASE)] * base
    for operation, share in SHARES.items():
        operations += [int(operation)] * round(share * (size - base))
    # Rounding may leave a set too few or too many; selections, the largest share, make up for it.
    operations = (operations + [int(Operation.SELECTION)] * size)[:size]
    random.shuffle(operations)
    first = operations.index(Operation.BASE)
    operations[0], operations[first] = operations[first], operations[0]
    return operations


class _Family:
    """Who descends from whom, for walking up and down a lineage while it grows."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.left: list[int] = []
        self.right: list[int] = []
        self.children: list[list[int]] = []

    def add(self, left: int, right: int) -> None:
        number = len(self.left)
        self.left.append(left)
        self.right.append(right)
        self.children.append([])
        for parent in {left, right} - {-1}:
            self.children[parent].append(number)

    def anyone(self, _: int = -1) -> int:
        return int(self.random.random() * len(self.left))

    def ancestor(self, number: int) -> int:
        return self._up(number, 1 + int(self.random.random() * 3))

    def relative(self, number: int) -> int:
        for _ in range(4):
            found = self._down(self.ancestor(number), 1 + int(self.random.random() * 3))
            if found != number:
                break
        return found

    def cousin(self, number: int) -> int:
        return self._down(self._up(number, len(self.left)), 1 + int(self.random.random() * 12))

    def _up(self, number: int, steps: int) -> int:
        for _ in range(steps):
            if self.left[number] < 0:
                break
            second = self.right[number] >= 0 and self.random.random() < 0.5
            number = self.right[number] if second else self.left[number]
        return number

    def _down(self, number: int, steps: int) -> int:
        for _ in range(steps):
            children = self.children[number]
            if not children:
                break
            number = children[int(self.random.random() * len(children))]
        return number
