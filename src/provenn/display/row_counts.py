"""A number of rows, as far as known: counted, bounded or estimated, each in a notation of its own."""

from dataclasses import dataclass
from typing import Self

__all__ = ["Rows"]


@dataclass(frozen=True, slots=True)
class Rows:
    """A number of rows, as far as known.

    A counted number is written plainly, ``1,234``; an estimate has a mark, ``~1,200``; a bound says so.

    Parameters
    ----------
    low, high
        The bounds of the number; `high` is None if no upper bound is known. Equal bounds are a count.
    estimate
        An estimate between the bounds; None without any basis for one.
    """

    low: int = 0
    high: int | None = None
    estimate: int | None = None

    @classmethod
    def exactly(cls, number: int) -> Self:
        """Return a number that is known exactly."""
        return cls(number, number, number)

    @classmethod
    def between(cls, low: int, high: int | None, guess: float | None = None) -> Self:
        """Return a number between bounds, with an estimate from a guess, which is moved between the bounds."""
        if high is not None and low >= high:
            return cls.exactly(high)
        if guess is None:
            return cls(low, high)
        rounded = int(float(f"{guess:.2g}"))
        return cls(low, high, max(low, rounded if high is None else min(rounded, high)))

    @property
    def is_exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.low == self.high

    @property
    def bound(self) -> str:
        """The number for a sentence: the count, or what is proved and then the estimate.

        >>> Rows.exactly(1234).bound, Rows.between(0, 5000, 330.3).bound, Rows(high=5000).bound, Rows().bound
        ('1,234', 'at most 5,000, ~330', 'at most 5,000', 'not counted yet')
        """
        return self.describe() or "not counted yet"

    def describe(self, noun: str = "") -> str:
        """Return what is proved about the number, before a noun in the singular if given, and then the estimate.

        >>> Rows.between(20, 5000, 330.3).describe("source"), Rows.between(0, 1, 1).describe("source")
        ('between 20 and 5,000 sources, ~330', 'at most 1 source, ~1')
        >>> Rows(low=3).describe("source"), Rows.between(0, None, 330.3).describe("source"), Rows().describe("source")
        ('at least 3 sources', '~330 sources', '')
        """
        if self.is_exact or (not self.low and self.high is None):
            return self.with_noun(noun) if noun else str(self)
        if self.high is None:
            proved = f"at least {self.low:,}"
        else:
            proved = f"between {self.low:,} and {self.high:,}" if self.low else f"at most {self.high:,}"
        last = self.low if self.high is None else self.high
        phrase = f"{proved} {noun}{'' if last == 1 else 's'}" if noun else proved
        return ", ".join(filter(None, (phrase, str(self))))

    def with_noun(self, noun: str) -> str:
        """Return the number before a noun given in the singular; empty if there is no estimate.

        >>> Rows.exactly(1).with_noun("row"), Rows.between(0, None, 1234).with_noun("row"), Rows().with_noun("row")
        ('1 row', '~1,200 rows', '')
        """
        return f"{self} {noun}{'' if self == Rows.exactly(1) else 's'}" if str(self) else ""

    def __str__(self) -> str:
        if self.estimate is None:
            return ""
        return f"{self.estimate:,}" if self.is_exact else f"~{self.estimate:,}"

    def __add__(self, other: "Rows") -> "Rows":
        """Return the number of rows of two disjoint sets together."""
        high = None if self.high is None or other.high is None else self.high + other.high
        guess = None if self.estimate is None or other.estimate is None else self.estimate + other.estimate
        return Rows(self.low + other.low, high, guess)
