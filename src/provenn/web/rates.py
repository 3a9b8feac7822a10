"""How often somebody may do something."""

from collections import OrderedDict
from time import monotonic
from typing import Final

__all__ = ["Rate"]

_MOST: Final = 10_000


class Rate:
    """How often each of many may do something: a number of times at once, and then so many times a second.

    Parameters
    ----------
    per_second, at_once
        How often.
    """

    def __init__(self, per_second: float, at_once: int) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str) -> bool:
        """Whether somebody may do it now; it counts if so."""
        now = monotonic()
        left, since = self._left.pop(who, (float(self._at_once), now))
        left = min(float(self._at_once), left + (now - since) * self._per_second)
        allowed = left >= 1
        self._left[who] = (left - 1 if allowed else left, now)
        if len(self._left) > _MOST:
            self._left.popitem(last=False)  # who was not seen for longest
        return allowed
