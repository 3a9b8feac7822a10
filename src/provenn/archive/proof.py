"""The answer to a question about catalogs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from provenn.archive.witnesses import Witness, describe_help
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Explanation, Statement, World
from provenn.words.proof_chains import (
    Reason,
    build_explanation,
    choose_lines,
    name_support,
    number_lines,
    select_declared_facts,
)

__all__ = ["Proof"]

_VERDICTS: Final = {"holds": "holds", "fails": "fails", "unknown": "is not proved"}


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a statement about catalogs holds, and why; as a condition, true if the statement is proved.

    Attributes
    ----------
    statement
        The statement, with names of catalogs.
    verdict
        ``"holds"``, ``"fails"`` (the opposite is proved) or ``"unknown"``.
    reasons
        A minimal set of facts that proves the statement, or its opposite.
    world
        For an unknown statement: a possible world in which it is false, reduced to the catalogs of the statement; None
        if the budget ran out.
    caveats
        The assumptions of the answer about base files, a sentence each.
    closest
        If asked why, for an unknown statement: statements that are proved, and say nearly as much.
    witnesses
        If asked why, for an unknown statement: possible rows, with which the statement would be false.
    chain
        The proof as lines to read from top to bottom: facts, and between them the statements that follow, each once,
        with the numbers of the lines that imply it. The last line is what is proved.
    """

    statement: Statement
    verdict: Literal["holds", "fails", "unknown"]
    reasons: tuple[Reason, ...] = ()
    world: World | None = None
    caveats: tuple[str, ...] = ()
    closest: tuple[Statement, ...] = ()
    witnesses: tuple[Witness, ...] = ()
    chain: tuple[Reason, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the statement is proved."""
        return self.verdict == "holds"

    def __bool__(self) -> bool:
        return self.proved

    @property
    def lines(self) -> tuple[Reason, ...]:
        """The lines of the proof to show: its chain, or for a short proof its facts."""
        return choose_lines(self.reasons, self.chain)

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        """The declared facts on which the proof rests, by number."""
        return select_declared_facts(self.reasons)

    @property
    def why(self) -> Explanation | None:
        """The proof as an explanation, or None if nothing is proved."""
        if self.verdict == "unknown":
            return None
        conclusion = self.statement if self.verdict == "holds" else ~self.statement
        return build_explanation(self.reasons, self.chain, conclusion)

    def __repr__(self) -> str:
        return f"<Proof: {self.statement} {_VERDICTS[self.verdict]}{name_support(self.rests_on)}>"

    def __str__(self) -> str:
        lines = (*number_lines(self.lines), *describe_help(self.closest, self.witnesses), *self.caveats)
        return f"{self.statement}: {self.verdict}" + "".join(f"\n  {line}" for line in lines)

    def _repr_html_(self) -> str:
        from provenn.display.catalog_card import proof_html  # noqa: PLC0415 - only a notebook needs it

        reasons = [(reason.words, reason.because) for reason in self.lines]
        world = "" if self.world is None else self.world._repr_html_()
        remarks = (*describe_help(self.closest, self.witnesses), *self.caveats)
        return proof_html(str(self.statement), self.verdict, reasons, world, remarks)
