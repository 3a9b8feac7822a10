"""Lineages as arrays: the fast input for millions of sets, without an object per set."""

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
    """The operation that makes a set of a lineage."""

    BASE = 0
    """A set that is not made of other sets."""
    SUBSET = 1
    """Some subset of `left`."""
    EQUAL = 2
    """The same set as `left`."""
    INTERSECTION = 3
    """The intersection of `left` and `right`."""
    UNION = 4
    """The union of `left` and `right`."""
    DIFFERENCE = 5
    """`left` without `right`."""


_BINARY_STATEMENTS: dict[Operation, Callable[[str, str, str], Statement]] = {
    Operation.INTERSECTION: intersection,
    Operation.UNION: union,
    Operation.DIFFERENCE: difference,
}


class Lineage(Sequence[Statement]):
    """A lineage in arrays; as a sequence, its facts, built only when they are accessed.

    Parameters
    ----------
    labels
        The names of the sets, without repeats.
    operations
        The `Operation` of each set.
    left, right
        The rows of the operands, before the row of the set; ignored if the operation has no such operand.

    Examples
    --------
    >>> list(Lineage(["A", "B"], [Operation.BASE, Operation.SUBSET], [0, 0], [0, 0]))
    [statement('B <= A')]
    """

    __slots__ = ("_rows", "labels", "left", "operations", "right")

    def __init__(self, labels: Sequence[str], operations: ArrayLike, left: ArrayLike, right: ArrayLike) -> None:
        self.labels = labels
        self.operations = _read_whole_numbers("operations", operations)
        self.left = _read_whole_numbers("left", left)
        self.right = _read_whole_numbers("right", right)
        self._check_arrays()
        self._rows = np.flatnonzero(self.operations != Operation.BASE)

    def _check_arrays(self) -> None:
        size = len(self.labels)
        for name in ("operations", "left", "right"):
            shape = getattr(self, name).shape
            if shape != (size,):
                raise LabelError(f"{size} labels need {name} of shape ({size},), not {shape}")
        if not all(type(label) is str and label for label in self.labels):
            for label in self.labels:
                check_label(label)
        if len(set(self.labels)) != size:
            raise LabelError("a label of the lineage occurs twice")
        unknown = (self.operations < Operation.BASE) | (self.operations > Operation.DIFFERENCE)
        if unknown.any():
            raise LabelError(f"{self.labels[int(unknown.argmax())]!r} has an unknown operation")
        rows = np.arange(size)
        for name, least in (("left", Operation.SUBSET), ("right", Operation.INTERSECTION)):
            operands = getattr(self, name)
            wrong = (self.operations >= least) & ((operands < 0) | (operands >= rows))
            if wrong.any():
                raise LabelError(
                    f"{self.labels[int(wrong.argmax())]!r} is made from a set that does not come before it"
                )

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | Sequence[Statement]:
        if isinstance(index, slice):
            return [self._build_statement(row) for row in self._rows[index].tolist()]
        return self._build_statement(int(self._rows[index]))

    def _build_statement(self, row: int) -> Statement:
        label, left = self.labels[row], self.labels[int(self.left[row])]
        operation = Operation(int(self.operations[row]))
        if operation is Operation.SUBSET:
            return subset(label, left)
        if operation is Operation.EQUAL:
            return equal(label, left)
        return _BINARY_STATEMENTS[operation](label, left, self.labels[int(self.right[row])])

    def rows(self) -> Iterator[tuple[int, int, int]]:
        """Yield the operation, left and right of every row."""
        return zip(self.operations.tolist(), self.left.tolist(), self.right.tolist(), strict=True)


def _read_whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    try:
        array = np.asarray(values)
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64, copy=False)
        exact = bool((whole == array).all())
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise LabelError(f"{name} of a lineage are whole numbers, not {values!r:.100}")
    return whole
