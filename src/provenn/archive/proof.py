"""The answer to a question about catalogs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from provenn.archive.words import Reason, declared_in
from provenn.logic import Explanation, Statement, World
from provenn.store.facts import Fact

__all__ = ["Proof"]


@dataclass(frozen=True, slots=True)
class Proof:
    """Whether a statement about catalogs holds, and why. It is true, as a condition, if the statement is proved.

    Attributes
    ----------
    statement
        What was asked, in names.
    verdict
        ``"holds"``, ``"fails"`` (the opposite is proved) or ``"unknown"``.
    reasons
        The facts that prove it, or its opposite; none of them can be left out.
    world
        If it is unknown: a possible world in which it is false, reduced to the catalogs asked about; None if the
        budget ran out.
    caveats
        What the answer takes on trust of base files, a sentence each.
    """

    statement: Statement
    verdict: Literal["holds", "fails", "unknown"]
    reasons: tuple[Reason, ...] = ()
    world: World | None = None
    caveats: tuple[str, ...] = ()

    @property
    def proved(self) -> bool:
        """Whether the statement is proved."""
        return self.verdict == "holds"

    def __bool__(self) -> bool:
        return self.proved

    @property
    def rests_on(self) -> tuple[Fact, ...]:
        """The declared facts on which the proof rests, by number."""
        return declared_in(self.reasons)

    @property
    def why(self) -> Explanation | None:
        """The proof as an explanation, or None if there is none."""
        if self.verdict == "unknown":
            return None
        conclusion = self.statement if self.verdict == "holds" else ~self.statement
        return Explanation(tuple(one.statement for one in self.reasons), open_universe=False, conclusion=conclusion)

    def __str__(self) -> str:
        return f"{self.statement}: {self.verdict}" + "".join(f"\n  {line}" for line in (*self.reasons, *self.caveats))

    def _repr_html_(self) -> str:
        from provenn.display.catalog import proof_html  # noqa: PLC0415 - only a notebook needs it

        reasons = [(str(one.statement), one.because) for one in self.reasons]
        world = "" if self.world is None else self.world._repr_html_()
        return proof_html(str(self.statement), self.verdict, reasons, world, self.caveats)
