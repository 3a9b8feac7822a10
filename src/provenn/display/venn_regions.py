"""The regions of a hypercube in words, and the check of its shape."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from provenn.errors import HypercubeError

__all__ = ["MOST_DRAWN", "Cells", "check_hypercube", "describe_hypercube", "list_inhabited_regions", "name_region"]

Cells = NDArray[np.bool_]
"""A hypercube: Booleans of shape ``(2,) * n``, index 1 = inside."""

MOST_DRAWN = 6
"""A hypercube of more sets is not drawn; its regions are named instead."""


def check_hypercube(labels: Sequence[str], array: Cells) -> Cells:
    """Return `array` if it is a hypercube of `labels`; otherwise raise HypercubeError."""
    if array.dtype != np.bool_ or array.shape != (2,) * len(labels):
        raise HypercubeError(
            f"a hypercube of {len(labels)} sets has Booleans of shape {(2,) * len(labels)}, "
            f"not {array.dtype} of shape {array.shape}"
        )
    return array


def list_inhabited_regions(array: Cells) -> list[tuple[int, ...]]:
    """Return the indices of the inhabited regions, sorted by the number of containing sets."""
    return sorted((tuple(map(int, index)) for index in np.argwhere(array)), key=lambda index: (sum(index), index[::-1]))


def name_region(labels: Sequence[str], index: Sequence[int]) -> str:
    """Return the name of a region, by the sets that contain it.

    >>> name_region(["A", "B", "C"], (1, 0, 1)), name_region(["A"], (1,)), name_region(["A"], (0,))
    ('in A and C only', 'in A', 'outside')
    """
    inside = [label for label, is_inside in zip(labels, index, strict=True) if is_inside]
    if not inside:
        return "outside"
    names = f"{', '.join(inside[:-1])} and {inside[-1]}" if len(inside) > 1 else inside[0]
    return f"in {names}{'' if all(index) else ' only'}"


def describe_hypercube(labels: Sequence[str], array: Cells) -> str:
    """Return a hypercube in words.

    >>> describe_hypercube(["A", "B"], np.array([[True, False], [False, True]]))
    'Something is outside; in A and B. Nothing is elsewhere.'
    """
    names = [name_region(labels, index) for index in list_inhabited_regions(array)]
    return f"Something is {'; '.join(names)}. Nothing is elsewhere." if names else "Nothing is anywhere."
