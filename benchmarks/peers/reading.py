"""From statements to arrays: what a peer needs first, if its user has statements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from benchmarks.lineages import Kind, Lineage, Operation, Questions
from provenn.logic.terms import Op

__all__ = ["Reading", "read"]

# Plain integers: an enumeration is slow to look up.
_MADE_BY = {
    Op.AND: int(Operation.INTERSECTION),
    Op.OR: int(Operation.UNION),
    Op.MINUS: int(Operation.DIFFERENCE),
}
_BASE, _SELECTION, _EQUAL = int(Operation.BASE), int(Operation.SELECTION), int(Operation.EQUAL)


class Reading(NamedTuple):
    """What was read, and the numbers that the sets were given."""

    lineage: Lineage
    questions: Questions
    numbers: dict[str, int]


def read(facts: Sequence[Any], questions: Sequence[Any] = ()) -> Reading:
    """Return the arrays of generated statements. The sets are numbered in the order they are mentioned.

    One pass that looks straight into the statements, with no more care than the generator's need: this is counted as
    the peer's time.
    """
    numbers: dict[str, int] = {}
    operations: list[int] = []
    lefts: list[int] = []
    rights: list[int] = []

    def number(label: str, operation: int = _BASE, left: int = -1, right: int = -1) -> int:
        numbers[label] = position = len(operations)
        operations.append(operation)
        lefts.append(left)
        rights.append(right)
        return position

    for fact in facts:
        label, postfix = fact.left.postfix[0], fact.right.postfix
        first = postfix[0]
        left = numbers[first] if first in numbers else number(first)
        if len(postfix) == 1:
            number(label, _EQUAL if fact.operator == "==" else _SELECTION, left)
        else:
            second = postfix[1]
            right = numbers[second] if second in numbers else number(second)
            number(label, _MADE_BY[postfix[2]], left, right)

    kind_of = {"==": Kind.EQUAL, "<=": Kind.SUBSET, None: Kind.DISJOINT}
    asked = []
    for question in questions:
        labels = [one.postfix[0] for one in question.terms()]
        sets = [numbers[label] if label in numbers else number(label) for label in labels]
        asked.append((kind_of[getattr(question, "operator", None)], *sets))

    kinds, ones, others = np.array(asked, np.int32).reshape(-1, 3).T
    return Reading(
        Lineage(np.array(operations, np.int8), np.array(lefts, np.int32), np.array(rights, np.int32)),
        Questions(kinds, ones, others),
        numbers,
    )
