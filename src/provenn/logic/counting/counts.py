"""Known counts: how many objects a set holds, at least and at most."""

from __future__ import annotations

from dataclasses import dataclass

from provenn.errors import CountError
from provenn.logic.terms import Term, term

__all__ = ["Count", "count"]


@dataclass(frozen=True, slots=True)
class Count:
    """The number of objects of a set, as far as known.

    Parameters
    ----------
    region
        The set.
    low, high
        The least and the most objects; `high` is None without an upper bound. Equal bounds are an exact count.
    source
        Where the count is known from, for explanations; the empty text by default.
    """

    region: Term
    low: int = 0
    high: int | None = None
    source: str = ""

    def __post_init__(self) -> None:
        for bound in (self.low, self.high):
            if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool) or bound < 0):
                raise CountError(f"expected a number of objects, 0 or more, got {bound!r}")
        if self.high is not None and self.low > self.high:
            raise CountError(f"at least {self.low:,} and at most {self.high:,} objects cannot both be")

    @property
    def is_exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.low == self.high

    def __str__(self) -> str:
        if self.is_exact:
            return f"|{self.region}| = {self.low:,}"
        high = "" if self.high is None else f" <= {self.high:,}"
        low = f"{self.low:,} <= " if self.low and high else ""
        return f"{low}|{self.region}|{high}" if high else f"|{self.region}| >= {self.low:,}"


def count(region: Term | str, low: int, high: int | None = None) -> Count:
    """Return an exact count of a set (a label or a term), or its bounds if `high` is given.

    >>> print(count("A", 12))
    |A| = 12
    >>> print(count("A", 3, 5))
    3 <= |A| <= 5
    """
    return Count(term(region), low, low if high is None else high)
