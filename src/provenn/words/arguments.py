"""The arguments of a plan: why its executed steps give the same answer as its literal steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from provenn.logic import Statement, equal
from provenn.logic.statements import SetComparison

if TYPE_CHECKING:
    from provenn.knowledge.consequences import TracedKnowledge
    from provenn.targets.plan import Plan
    from provenn.words.step_words import Words

__all__ = ["Argument", "list_arguments"]


@dataclass(frozen=True, slots=True)
class Argument:
    """The reason why a rule could be applied.

    Attributes
    ----------
    rule
        The name of the rule.
    because
        The reason, in words.
    statements
        The proved statements that justify the rule, with names instead of digests.
    """

    rule: str
    because: str
    statements: tuple[Statement, ...]
    _digest_statements: tuple[Statement, ...] = field(repr=False)
    _known: TracedKnowledge = field(repr=False, compare=False)
    _words: Words = field(repr=False, compare=False)

    @property
    def proof(self) -> tuple[str, ...]:
        """The facts that imply the statements, one line each, with origins. Each access searches for the proof."""
        lines: dict[str, None] = {}
        for statement in self._digest_statements:
            because = sorted(self._known.because(statement), key=lambda cited: cited[1].kind != "definition")
            lines |= dict.fromkeys(self._words.describe_proof(because, statement))
        return tuple(lines)

    def __str__(self) -> str:
        statements = "; ".join(map(str, self.statements))
        return f"{statements}: {self.because}" if statements else self.because


def list_arguments(plan: Plan, words: Words) -> tuple[Argument, ...]:
    """Return the reasons for the changes from the literal to the executed steps, each once, in order of use."""
    arguments: dict[tuple[object, ...], Argument] = {}
    same_sources = _state_same_sources(plan, words)
    if same_sources is not None:
        arguments[()] = _make_argument(plan, words, "same_sources", "it has the same sources", (same_sources,))
    for applied in plan.applied:
        argument_key = (applied.rule, applied.because, tuple(map(str, applied.statements)))
        if argument_key not in arguments:
            arguments[argument_key] = _make_argument(plan, words, applied.rule, applied.because, applied.statements)
    return tuple(arguments.values())


def _make_argument(plan: Plan, words: Words, rule: str, because: str, statements: tuple[Statement, ...]) -> Argument:
    renamed = (statement.relabelled(words.word) for statement in statements)
    distinct = {
        str(statement): statement
        for statement in renamed
        if not (isinstance(statement, SetComparison) and statement.left == statement.right)
    }
    return Argument(rule, because, tuple(distinct.values()), statements, plan.scene.known, words)


def _state_same_sources(plan: Plan, words: Words) -> Statement | None:
    """Return the statement that the request has the same sources as a catalog with another definition, or None."""
    other = None if plan.catalog is None else plan.scene.build_term(plan.catalog.extent).label
    if plan.catalog is None or other is None or words.word(other) == words.word(plan.catalog.digest):
        return None
    return equal(plan.catalog.digest, other)
