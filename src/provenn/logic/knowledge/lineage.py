"""The bulk way in: a lineage given as arrays, for those who have a million sets and would not make as many objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from typing import overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provenn.errors import LabelError
from provenn.logic.statements import Statement, difference, equal, intersection, subset, union
from provenn.logic.terms import check_label

__all__ = ["Lineage", "Operation"]


class Operation(IntEnum):
    """How a set of a lineage is made."""

    BASE = 0
    """It is not made of others."""
    SUBSET = 1
    """Some subset of `left`."""
    EQUAL = 2
    """The same as `left`."""
    INTERSECTION = 3
    """`left` and `right` in common."""
    UNION = 4
    """`left` and `right` together."""
    DIFFERENCE = 5
    """`left` without `right`."""


_MADE_OF_TWO: dict[Operation, Callable[[str, str, str], Statement]] = {
    Operation.INTERSECTION: intersection,
    Operation.UNION: union,
    Operation.DIFFERENCE: difference,
}


class Lineage(Sequence[Statement]):
    """A lineage in arrays; as a sequence, the facts it states, made only when they are looked at.

    Parameters
    ----------
    labels
        The names of the sets, each once.
    operations
        One `Operation` for each set.
    left, right
        The rows of the sets it is made of, each before its own row; not read where the operation has none.

    Examples
    --------
    >>> list(Lineage(["A", "B"], [Operation.BASE, Operation.SUBSET], [0, 0], [0, 0]))
    [statement('B <= A')]
    """

    __slots__ = ("_rows", "labels", "left", "operations", "right")

    def __init__(self, labels: Sequence[str], operations: ArrayLike, left: ArrayLike, right: ArrayLike) -> None:
        self.labels = labels
        self.operations = _whole_numbers("operations", operations)
        self.left = _whole_numbers("left", left)
        self.right = _whole_numbers("right", right)
        self._check()
        self._rows = np.flatnonzero(self.operations != Operation.BASE)

    def _check(self) -> None:
        size = len(self.labels)
        for name in ("operations", "left", "right"):
            shape = getattr(self, name).shape
            if shape != (size,):
                raise LabelError(f"{size} labels need {name} of shape ({size},), not {shape}")
        if not all(type(label) is str and label for label in self.labels):
            for label in self.labels:
                check_label(label)
        if len(set(self.labels)) != size:
            raise LabelError("a label of the lineage is there twice")
        unknown = (self.operations < Operation.BASE) | (self.operations > Operation.DIFFERENCE)
        if unknown.any():
            raise LabelError(f"{self.labels[int(unknown.argmax())]!r} is made by no operation there is")
        rows = np.arange(size)
        for name, least in (("left", Operation.SUBSET), ("right", Operation.INTERSECTION)):
            made_of = getattr(self, name)
            wrong = (self.operations >= least) & ((made_of < 0) | (made_of >= rows))
            if wrong.any():
                raise LabelError(f"{self.labels[int(wrong.argmax())]!r} is made of a set that does not come before it")

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | Sequence[Statement]:
        if isinstance(index, slice):
            return [self._statement(row) for row in self._rows[index].tolist()]
        return self._statement(int(self._rows[index]))

    def _statement(self, row: int) -> Statement:
        label, left = self.labels[row], self.labels[int(self.left[row])]
        operation = Operation(int(self.operations[row]))
        if operation is Operation.SUBSET:
            return subset(label, left)
        if operation is Operation.EQUAL:
            return equal(label, left)
        return _MADE_OF_TWO[operation](label, left, self.labels[int(self.right[row])])

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """The operation, left and right of every row."""
        return zip(self.operations.tolist(), self.left.tolist(), self.right.tolist(), strict=True)


def _whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    try:
        given = np.asarray(values)
        with np.errstate(invalid="ignore"):
            whole = given.astype(np.int64, copy=False)
        exact = bool((whole == given).all())
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise LabelError(f"{name} of a lineage are whole numbers, not {values!r:.100}")
    return whole
