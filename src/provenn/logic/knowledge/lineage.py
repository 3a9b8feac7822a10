"""Lineages as arrays: the fast input for millions of sets, without an object per set."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from provenn.errors import LabelError
from provenn.logic.statements import Statement, difference, equal, intersection, subset, union
from provenn.logic.terms import check_label

__all__ = ["Lineage", "Operation", "release_numbers"]

Number = TypeVar("Number", bound=np.integer[Any])


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
        The rows of the operands, before the row of the set; ignored, and kept as 0, if the operation has no such
        operand.

    The arrays and the list of labels are copied, 17 bytes for each set.

    Examples
    --------
    >>> list(Lineage(["A", "B"], [Operation.BASE, Operation.SUBSET], [0, 0], [0, 0]))
    [statement('B <= A')]
    """

    __slots__ = ("_numbers", "_rows", "labels", "left", "operations", "right")

    def __init__(self, labels: Sequence[str], operations: ArrayLike, left: ArrayLike, right: ArrayLike) -> None:
        self.labels = tuple(labels)
        self._numbers: dict[str, int] | None = None
        self._rows: NDArray[np.int64] | None = None
        self._check_labels()
        arrays = [
            _read_whole_numbers(name, values)
            for name, values in (("operations", operations), ("left", left), ("right", right))
        ]
        for name, array in zip(("operations", "left", "right"), arrays, strict=True):
            if array.shape != (len(self.labels),):
                size = len(self.labels)
                raise LabelError(f"{size} labels need {name} of shape ({size},), not {array.shape}")
        self.operations = self._read_operations(arrays[0])
        self.left = self._read_operands(arrays[1], Operation.SUBSET)
        self.right = self._read_operands(arrays[2], Operation.INTERSECTION)

    def _check_labels(self) -> None:
        if not set(map(type, self.labels)) <= {str} or not all(self.labels):
            for label in self.labels:
                check_label(label)
        self._numbers = self._number_labels()
        if len(self._numbers) != len(self.labels):
            raise LabelError("a label of the lineage occurs twice")

    def _read_operations(self, operations: NDArray[np.integer[Any]]) -> NDArray[np.int8]:
        unknown = (operations < Operation.BASE) | (operations > Operation.DIFFERENCE)
        if unknown.any():
            raise LabelError(f"{self.labels[int(unknown.argmax())]!r} has an unknown operation")
        return _copy_array(operations, np.int8)

    def _read_operands(self, operands: NDArray[np.integer[Any]], least: Operation) -> NDArray[np.int32]:
        """Return a copy of the operands of the operations from `least` on; all others are 0."""
        is_used = self.operations >= least
        wrong = ((operands < 0) | (operands >= np.arange(len(operands), dtype=np.int32))) & is_used
        if wrong.any():
            raise LabelError(f"{self.labels[int(wrong.argmax())]!r} is made from a set that does not come before it")
        return _copy_array(np.where(is_used, operands, 0), np.int32)

    def _number_labels(self) -> dict[str, int]:
        return dict(zip(self.labels, range(-1, -1 - len(self.labels), -1), strict=True))

    def __len__(self) -> int:
        return int(np.count_nonzero(self.operations))

    @overload
    def __getitem__(self, index: int) -> Statement: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Statement]: ...
    def __getitem__(self, index: int | slice) -> Statement | Sequence[Statement]:
        if self._rows is None:
            self._rows = np.flatnonzero(self.operations)
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


def release_numbers(lineage: Lineage) -> dict[str, Any]:
    """Return ``~row`` for each label of a lineage; the caller owns the mapping."""
    numbers, lineage._numbers = lineage._numbers, None  # noqa: SLF001 - a function of this module, not of its users
    return lineage._number_labels() if numbers is None else numbers  # noqa: SLF001 - as above


def _read_whole_numbers(name: str, values: ArrayLike) -> NDArray[np.integer[Any]]:
    try:
        array = np.asarray(values)
        if array.dtype.kind in "iu":
            return array
        with np.errstate(invalid="ignore"):
            whole = array.astype(np.int64)
        exact = bool((whole == array).all())
    except (TypeError, ValueError, OverflowError):
        exact = False
    if not exact:
        raise LabelError(f"{name} of a lineage are whole numbers, not {values!r:.100}")
    return whole


def _copy_array(values: NDArray[Any], kind: type[Number]) -> NDArray[Number]:
    """Return a copy that nobody can change: a knowledge reads it when a question needs it."""
    copy = values.astype(kind)
    copy.flags.writeable = False
    return copy
