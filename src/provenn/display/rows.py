"""A number of rows, as far as it is known: counted, bounded or estimated. How it is written says which."""

from dataclasses import dataclass
from typing import Self

__all__ = ["Rows"]


@dataclass(frozen=True, slots=True)
class Rows:
    """A number of rows, as far as it is known.

    A number that was counted is written as it is, ``1,234``; a guess has a mark, ``~1,200``; a bound says so.

    Parameters
    ----------
    low, high
        There are at least and at most so many; `high` is None where no bound is known. Equal bounds are a count.
    estimate
        A guess, which lies between the bounds; None where there is nothing to guess from.
    """

    low: int = 0
    high: int | None = None
    estimate: int | None = None

    @classmethod
    def counted(cls, number: int) -> Self:
        """Return a number that is known exactly."""
        return cls(number, number, number)

    @classmethod
    def between(cls, low: int, high: int | None, guess: float | None = None) -> Self:
        """Return a number between bounds, and a guess, which is moved between them."""
        if high is not None and low >= high:
            return cls.counted(high)
        if guess is None:
            return cls(low, high)
        rounded = int(float(f"{guess:.2g}"))
        return cls(low, high, max(low, rounded if high is None else min(rounded, high)))

    @property
    def exact(self) -> bool:
        """Whether the number is known exactly."""
        return self.low == self.high

    @property
    def bound(self) -> str:
        """The number for a sentence on all that is known of it: with its bound, where it was not counted.

        >>> Rows.counted(1234).bound, Rows.between(0, 5000, 330.3).bound, Rows(high=5000).bound, Rows().bound
        ('1,234', '~330, at most 5,000', 'at most 5,000', 'not counted yet')
        """
        most = "" if self.exact or self.high is None else f"at most {self.high:,}"
        return ", ".join(filter(None, (str(self), most))) or "not counted yet"

    def of(self, noun: str) -> str:
        """Return the number before a noun in the singular; nothing, if nobody can tell.

        >>> Rows.counted(1).of("source"), Rows.between(0, None, 1234).of("source"), Rows().of("source")
        ('1 source', '~1,200 sources', '')
        """
        return f"{self} {noun}{'' if self == Rows.counted(1) else 's'}" if str(self) else ""

    def __str__(self) -> str:
        if self.estimate is None:
            return ""
        return f"{self.estimate:,}" if self.exact else f"~{self.estimate:,}"

    def __add__(self, other: "Rows") -> "Rows":
        """Return how many there are together, of sets that share nothing."""
        high = None if self.high is None or other.high is None else self.high + other.high
        guess = None if self.estimate is None or other.estimate is None else self.estimate + other.estimate
        return Rows(self.low + other.low, high, guess)
