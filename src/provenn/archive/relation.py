"""The relation of two catalogs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from provenn.archive.witnesses import Witness, describe_help
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Explanation, Relationship, Statement, disjoint, equal, overlapping, subset, superset
from provenn.words.proof_chains import (
    Reason,
    build_explanation,
    choose_lines,
    name_support,
    number_lines,
    select_declared_facts,
)

__all__ = ["RELATIONS", "WORDS", "Relation", "Summary"]

Summary = Literal["equal", "subset", "superset", "disjoint", "overlapping", "unknown"]

RELATIONS: Final[Mapping[Summary, Callable[[str, str], Statement]]] = {
    "equal": equal,
    "subset": subset,
    "superset": superset,
    "disjoint": disjoint,
    "overlapping": overlapping,
}
"""The relations of two catalogs, in the order in which they are tried."""

WORDS: Final[Mapping[Summary, str]] = {
    "equal": "has the same sources as",
    "subset": "lies inside",
    "superset": "covers",
    "disjoint": "shares no source with",
    "overlapping": "shares sources with",
    "unknown": "may or may not overlap with",
}
"""The words between the names of two catalogs."""


@dataclass(frozen=True, slots=True)
class Relation:
    """The relation of two catalogs, known without reading their sources.

    Attributes
    ----------
    left, right
        The names of the catalogs.
    summary
        The first proved relation of ``"equal"``, ``"subset"`` (left inside right), ``"superset"``, ``"disjoint"``,
        ``"overlapping"``; or ``"unknown"`` if none is proved.
    hypercubes
        The exact relationship: all possible worlds.
    statement
        The summary as a statement; None if unknown.
    reasons
        A minimal set of facts that proves the relation.
    caveats
        The assumptions of the answer about base files, a sentence each.
    closest
        If asked why, and equality is not proved: statements that are proved, and say nearly as much.
    witnesses
        If asked why: possible rows, one in the first catalog alone, one in the second alone, and one in both unless
        that is known.
    chain
        The proof as lines to read from top to bottom: facts, and between them the statements that follow, each once,
        with the numbers of the lines that imply it. The last line is what is proved.
    """

    left: str
    right: str
    summary: Summary
    hypercubes: Relationship
    statement: Statement | None = None
    reasons: tuple[Reason, ...] = ()
    caveats: tuple[str, ...] = ()
    closest: tuple[Statement, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    chain: tuple[Reason, ...] = ()

    @property
    def why(self) -> Explanation | None:
        """The proof as an explanation, or None if nothing is proved."""
        if self.statement is None:
            return None
        return build_explanation(self.reasons, self.chain, self.statement)

    @property
    def lines(self) -> tuple[Reason, ...]:
        """The lines of the proof to show: its chain, or for a short proof its facts."""
        return choose_lines(self.reasons, self.chain)

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        """The declared facts on which the proof rests, by number."""
        return select_declared_facts(self.reasons)

    @property
    def words(self) -> str:
        """The summary in words."""
        return f"{self.left} {WORDS[self.summary]} {self.right}"

    def __repr__(self) -> str:
        return f"<Relation: {self.words}{name_support(self.rests_on)}>"

    def __str__(self) -> str:
        lines = (*number_lines(self.lines), *describe_help(self.closest, self.witnesses), *self.caveats)
        return self.words + "".join(f"\n  {line}" for line in lines)

    def _repr_html_(self) -> str:
        from provenn.display.catalog_card import relation_html  # noqa: PLC0415 - only a notebook needs it

        reasons = [(reason.words, reason.because) for reason in self.lines]
        remarks = (*describe_help(self.closest, self.witnesses), *self.caveats)
        return relation_html(self.words, reasons, self.hypercubes._repr_html_(), remarks)
