"""Rate limits."""

from collections import OrderedDict
from time import monotonic
from typing import Final

__all__ = ["Rate"]

_MOST: Final = 10_000


class Rate:
    """A rate limit per key: a burst of actions at once, then a number of actions per second.

    Parameters
    ----------
    per_second, at_once
        The steady rate, and the size of the burst.
    """

    def __init__(self, per_second: float, at_once: int) -> None:
        self._per_second = per_second
        self._at_once = at_once
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, who: str, *, per_minute: int | None = None) -> bool:
        """Return whether an action is permitted now; a permitted action is counted.

        Parameters
        ----------
        who
            The key of the person or address.
        per_minute
            A separate limit for this key, both the burst and the rate per minute; by default the usual limit.
        """
        now = monotonic()
        at_once = self._at_once if per_minute is None else per_minute
        per_second = self._per_second if per_minute is None else per_minute / 60
        left, since = self._left.pop(who, (float(at_once), now))
        left = min(float(at_once), left + (now - since) * per_second)
        allowed = left >= 1
        self._left[who] = (left - 1 if allowed else left, now)
        if len(self._left) > _MOST:
            self._left.popitem(last=False)  # the key with the oldest action
        return allowed
