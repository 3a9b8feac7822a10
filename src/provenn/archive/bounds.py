"""The least and the most sources of a set of sources, with the proofs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from provenn.knowledge.stored_facts import Fact
from provenn.words.proof_chains import Reason, name_support, select_declared_facts

if TYPE_CHECKING:
    from provenn.logic.counting import Count

__all__ = ["Bounds", "KnownCount"]


@dataclass(frozen=True, slots=True)
class KnownCount:
    """A count used in a proof.

    Attributes
    ----------
    count
        The count, with names of catalogs.
    because
        Where it is known from, in words.
    """

    count: Count
    because: str

    def __str__(self) -> str:
        return f"{self.count}  ({self.because})"


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many sources a set has, at least and at most, by all knowledge without reading data.

    Attributes
    ----------
    expression
        The set, with names of catalogs.
    low, high
        The bounds; `high` is None if nothing bounds the set.
    low_why, high_why
        Each bound with the inequality that proves it.
    counts
        The counts in the proofs.
    reasons
        The facts in the proofs; no fact can be left out.
    caveats
        The assumptions of the answer about base files, a sentence each.
    is_complete
        Whether no better bounds follow from what is known. If not, the search stopped at a limit.
    """

    expression: str
    low: int
    high: int | None
    low_why: str = ""
    high_why: str = ""
    counts: tuple[KnownCount, ...] = ()
    reasons: tuple[Reason, ...] = ()
    caveats: tuple[str, ...] = ()
    is_complete: bool = True

    @property
    def why(self) -> str:
        """The inequality that proves each bound, a line each."""
        return f"{self.low_why}\n{self.high_why}"

    @property
    def is_exact(self) -> bool:
        """Whether the number is proved."""
        return self.low == self.high

    @property
    def words(self) -> str:
        """The bounds in words.

        >>> Bounds("A", 3, 5).words, Bounds("A", 0, 5).words, Bounds("A", 1, None).words, Bounds("A", 2, 2).words
        ('A has 3 to 5 sources', 'A has at most 5 sources', 'A has at least 1 source', 'A has 2 sources')
        """
        if self.is_exact:
            number = f"{self.low:,}" if self.low else "no"
        elif self.high is None:
            number = f"at least {self.low:,}" if self.low else "any number of"
        else:
            number = f"{self.low:,} to {self.high:,}" if self.low else f"at most {self.high:,}"
        last = self.low if self.high is None else self.high
        return f"{self.expression} has {number} source{'' if last == 1 else 's'}"

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        """The declared facts on which the bounds rest, by number."""
        return select_declared_facts(self.reasons)

    def __repr__(self) -> str:
        return f"<Bounds: {self.words}{name_support(self.rests_on)}>"

    def __str__(self) -> str:
        lines = (*self.why.splitlines(), *self.counts, *self.reasons, *self.caveats)
        return self.words + "".join(f"\n  {line}" for line in lines)

    def _repr_html_(self) -> str:
        from provenn.display.catalog_card import bounds_html  # noqa: PLC0415 - only a notebook needs it

        reasons = [
            *((str(known.count), known.because) for known in self.counts),
            *((str(reason.statement), reason.because) for reason in self.reasons),
        ]
        return bounds_html(self.words, self.why.splitlines(), reasons, self.caveats)
