"""The regions of a hypercube in words, and the check that it is one."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from provenn.errors import HypercubeError

__all__ = ["MOST_DRAWN", "Cells", "checked", "description", "inhabited", "region_name"]

Cells = NDArray[np.bool_]
"""A hypercube: Booleans of shape ``(2,) * n``, index 1 = inside."""

MOST_DRAWN = 6
"""The most sets of which a hypercube is drawn; beyond, its regions are named."""


def checked(labels: Sequence[str], array: Cells) -> Cells:
    """Return `array` if it is a hypercube of `labels`."""
    if array.dtype != np.bool_ or array.shape != (2,) * len(labels):
        raise HypercubeError(
            f"a hypercube of {len(labels)} sets has Booleans of shape {(2,) * len(labels)}, "
            f"not {array.dtype} of shape {array.shape}"
        )
    return array


def inhabited(array: Cells) -> list[tuple[int, ...]]:
    """Return the indices of the regions that hold something: those in fewest sets first."""
    return sorted((tuple(map(int, index)) for index in np.argwhere(array)), key=lambda index: (sum(index), index[::-1]))


def region_name(labels: Sequence[str], index: Sequence[int]) -> str:
    """Return what a region is called, by the sets it lies in.

    >>> region_name(["A", "B", "C"], (1, 0, 1)), region_name(["A"], (1,)), region_name(["A"], (0,))
    ('in A and C only', 'in A', 'outside')
    """
    inside = [label for label, one in zip(labels, index, strict=True) if one]
    if not inside:
        return "outside"
    names = f"{', '.join(inside[:-1])} and {inside[-1]}" if len(inside) > 1 else inside[0]
    return f"in {names}{'' if all(index) else ' only'}"


def description(labels: Sequence[str], array: Cells) -> str:
    """Return a hypercube in words.

    >>> description(["A", "B"], np.array([[True, False], [False, True]]))
    'Something is outside; in A and B. Nothing is elsewhere.'
    """
    names = [region_name(labels, index) for index in inhabited(array)]
    return f"Something is {'; '.join(names)}. Nothing is elsewhere." if names else "Nothing is anywhere."
