"""How two catalogs relate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from provenn.archive.words import Reason, declared_in
from provenn.logic import Explanation, Relationship, Statement, disjoint, equal, overlapping, subset, superset
from provenn.store.facts import Fact

__all__ = ["RELATIONS", "WORDS", "Relation", "Summary"]

Summary = Literal["equal", "subset", "superset", "disjoint", "overlapping", "unknown"]

RELATIONS: Final[Mapping[Summary, Callable[[str, str], Statement]]] = {
    "equal": equal,
    "subset": subset,
    "superset": superset,
    "disjoint": disjoint,
    "overlapping": overlapping,
}
"""What can be proved of two catalogs, in the order in which it is tried."""

WORDS: Final[Mapping[Summary, str]] = {
    "equal": "has the same sources as",
    "subset": "lies inside",
    "superset": "covers",
    "disjoint": "shares no source with",
    "overlapping": "shares sources with",
    "unknown": "may or may not overlap with",
}
"""What stands between the names of two catalogs."""


@dataclass(frozen=True, slots=True)
class Relation:
    """What is known of two catalogs, without looking at their sources.

    Attributes
    ----------
    left, right
        The two, by name.
    summary
        The first that is proved of ``"equal"``, ``"subset"`` (left inside right), ``"superset"``, ``"disjoint"``,
        ``"overlapping"``; or ``"unknown"``, which is none of them.
    hypercubes
        All that is possible, exactly.
    statement
        The summary as a statement; None if unknown.
    reasons
        The facts that prove it; none of them can be left out.
    caveats
        What the answer takes on trust of base files, a sentence each.
    """

    left: str
    right: str
    summary: Summary
    hypercubes: Relationship
    statement: Statement | None = None
    reasons: tuple[Reason, ...] = ()
    caveats: tuple[str, ...] = ()

    @property
    def why(self) -> Explanation | None:
        """The proof as an explanation, or None if nothing is proved."""
        if self.statement is None:
            return None
        facts = tuple(one.statement for one in self.reasons)
        return Explanation(facts, open_universe=False, conclusion=self.statement)

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        """The declared facts on which the proof rests, by number."""
        return declared_in(self.reasons)

    @property
    def words(self) -> str:
        """The summary in words."""
        return f"{self.left} {WORDS[self.summary]} {self.right}"

    def __str__(self) -> str:
        return self.words + "".join(f"\n  {one}" for one in (*self.reasons, *self.caveats))

    def _repr_html_(self) -> str:
        from provenn.display.catalog import relation_html  # noqa: PLC0415 - only a notebook needs it

        reasons = [(str(one.statement), one.because) for one in self.reasons]
        return relation_html(self.words, reasons, self.hypercubes._repr_html_(), self.caveats)
