"""Proofs as chains: facts in the order in which they are used, and between them the statements that follow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from provenn.digests import CatalogDigest
from provenn.display.text import join_words
from provenn.knowledge.stored_facts import Fact

if TYPE_CHECKING:
    from collections.abc import Callable

    from provenn.logic import Explanation, Statement

__all__ = [
    "Reason",
    "build_chain",
    "build_explanation",
    "choose_lines",
    "name_support",
    "number_lines",
    "select_declared_facts",
]


@dataclass(frozen=True, slots=True)
class Reason:
    """A line of a proof: a fact, or a statement that follows from earlier lines.

    Attributes
    ----------
    statement
        The statement, with names.
    because
        The origin of the fact, in words; or the lines from which the statement follows.
    catalogs
        The names and digests of the mentioned catalogs.
    fact
        The recorded fact, with names in its statement, if it was declared or observed.
    premises
        The numbers of the lines of a chain from which the statement follows, counted from 1.
    is_inferred
        Whether the statement is no fact, but follows from its premises.
    """

    statement: Statement
    because: str
    catalogs: tuple[tuple[str, CatalogDigest], ...] = ()
    fact: Fact | None = None
    premises: tuple[int, ...] = ()
    is_inferred: bool = False

    @property
    def words(self) -> str:
        """The statement; a statement that follows from earlier lines begins with "so"."""
        return f"so {self.statement}" if self.is_inferred else str(self.statement)

    def __repr__(self) -> str:
        return f"<Reason: {self.words} ({self.because})>"

    def __str__(self) -> str:
        return f"{self.words}  ({self.because})"

    def _repr_html_(self) -> str:
        from provenn.display.catalog_card import reason_html  # noqa: PLC0415 - only a notebook needs it

        return reason_html(self.words, self.because)


def build_chain(
    reasons: Mapping[Statement, Reason],
    conclusion: Statement,
    grounds: Mapping[Statement, Statement],
    describe: Callable[[Statement], Reason],
) -> tuple[Reason, ...]:
    """Return a proof as a chain, whose last line is the conclusion.

    Parameters
    ----------
    reasons
        The facts of the proof in words, by their statements over labels.
    conclusion
        The conclusion over labels.
    grounds
        For a fact that holds because of another statement, that statement, over labels.
    describe
        How a statement over labels is put into words.
    """
    from provenn.logic.knowledge.derivation import derive_conclusion, list_lines  # noqa: PLC0415 - slow to import

    chain: list[Reason] = []
    for line in list_lines(derive_conclusion([*reasons], conclusion, open_universe=False, grounds=grounds)):
        if line.statement is None:
            continue  # there is none: a proof about catalogs has the object outside of them as a fact
        from_lines = f"from {join_words([*map(str, line.premises)])}"
        if line.statement in reasons:
            fact = reasons[line.statement]
            grounded = replace(fact, because=f"{fact.because}; {from_lines}", premises=line.premises)
            chain.append(grounded if line.premises else fact)
        else:
            because = from_lines if line.premises else "whatever the sets are"
            chain.append(replace(describe(line.statement), because=because, premises=line.premises, is_inferred=True))
    return tuple(chain)


def build_explanation(reasons: Iterable[Reason], chain: Sequence[Reason], conclusion: Statement) -> Explanation:
    """Return a proof in words as an explanation."""
    from provenn.logic import Explanation  # noqa: PLC0415 - as above
    from provenn.logic.knowledge.derivation import Inference  # noqa: PLC0415 - as above

    steps = tuple(
        Inference(line.statement, tuple(chain[number - 1].statement for number in line.premises))
        for line in chain
        if line.premises
    )
    facts = tuple(reason.statement for reason in reasons)
    return Explanation(facts, open_universe=False, conclusion=conclusion, steps=steps)


def choose_lines(reasons: tuple[Reason, ...], chain: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Return the lines of a proof to show: the chain if it has steps between; for a short proof, its facts alone."""
    return chain if sum(line.is_inferred for line in chain) > 1 else reasons


def number_lines(lines: Sequence[Reason]) -> list[str]:
    """Return lines as texts; numbered, if some of them follow from others."""
    if not any(line.is_inferred for line in lines):
        return list(map(str, lines))
    return [f"{number}. {line}" for number, line in enumerate(lines, 1)]


def name_support(facts: Sequence[Fact]) -> str:
    """Return the words by which a short answer names the declared facts on which it rests."""
    numbers = join_words([f"#{fact.id}" for fact in facts])
    return f", by the declared fact{'s' * (len(facts) > 1)} {numbers}" if facts else ""


def select_declared_facts(reasons: Iterable[Reason]) -> tuple[Fact, ...]:
    """Return the declared facts among reasons, sorted by number."""
    facts = {
        reason.fact.id: reason.fact
        for reason in reasons
        if reason.fact is not None and reason.fact.origin == "declared"
    }
    return tuple(facts[number] for number in sorted(facts))
