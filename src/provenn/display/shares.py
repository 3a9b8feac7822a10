"""Where numbers lie between two others."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_shares"]

Numbers = NDArray[np.float64]


def find_shares(numbers: Numbers, low: float, high: float) -> Numbers:
    """Return where numbers lie: 0 at `low`, 1 at `high`; all are 0 if both ends are equal.

    >>> find_shares(np.array([0.0, 5e-324]), 0.0, 5e-324).tolist()
    [0.0, 1.0]
    >>> find_shares(np.array([-1e308, 0.0, 1e308]), -1e308, 1e308).tolist()
    [0.0, 0.5, 1.0]
    """
    if low == high:
        return np.zeros_like(numbers)
    if high - low <= np.finfo(float).max:
        return np.asarray((numbers - low) / (high - low))
    return np.asarray(
        (numbers / 2 - low / 2) / (high / 2 - low / 2)
    )  # the difference is infinite, that of halves is not
