"""Why something is so: a minimal set of the facts given, from which it follows.

A proof is a conflict between facts and the negation of what they prove, so proofs and conflicts are found alike. The
facts that are relevant by their labels are laid out flat, every label a set of its own; `conflicts` finds there what
is needed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from provenn import display
from provenn.logic.knowledge.conflicts import Case, minimal_conflict
from provenn.logic.knowledge.facts import MENTIONED, FactBase
from provenn.logic.knowledge.formulas import TRUE, All, Formula, Inhabited, Some, formula
from provenn.logic.knowledge.graph import EVERYTHING, Graph
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import Search, split
from provenn.logic.statements import Statement
from provenn.logic.terms import Term

__all__ = ["Explanation", "explanation", "relevant_facts"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Facts from which a conclusion follows, none of which can be left out.

    Attributes
    ----------
    facts
        The facts, in the order they were given.
    open_universe
        Whether the proof needs that some object is outside all sets.
    conclusion
        What follows; None if the facts contradict each other.
    """

    facts: tuple[Statement, ...]
    open_universe: bool
    conclusion: Statement | None = None

    def __str__(self) -> str:
        lines = [f"  {fact}" for fact in self.facts]
        if self.open_universe:
            lines.append(f"  {display.OPEN_UNIVERSE}")
        if self.conclusion is None:
            return "\n".join(lines)
        if not lines:
            return f"{self.conclusion}, whatever the sets are"
        return "\n".join([f"{self.conclusion}, because", *lines])

    def _repr_html_(self) -> str:
        said = None if self.conclusion is None else str(self.conclusion)
        return display.explanation_html(said, [*map(str, self.facts)], open_universe=self.open_universe)


def explanation(
    base: FactBase, about: Iterable[str], conclusion: Statement | None, *, open_universe: bool
) -> Explanation:
    """Return why the facts imply the conclusion, or where there is none, why they contradict each other.

    They must do so. Looked for first among the facts relevant to the labels `about`, then among all.
    """
    for numbers in (relevant_facts(base, about), range(len(base.facts))):
        reasoner, cases = _laid_out([base.facts[number] for number in numbers], conclusion)
        for is_open in (False, True) if open_universe else (False,):
            found = minimal_conflict(Search(reasoner, (), (), open_universe=is_open), cases)
            if found is not None:
                return Explanation(tuple(base.facts[numbers[one]] for one in found), is_open, conclusion)
    raise AssertionError(f"there is nothing to explain about {conclusion}")


def _laid_out(facts: Sequence[Statement], conclusion: Statement | None) -> tuple[Reasoner, list[Case]]:
    """Lay out facts side by side, over labels of which nothing else is known; and each way to deny the conclusion."""
    graph = Graph()
    literals: dict[str, int] = {}

    def literal(term: Term) -> int:
        for token in term.postfix:
            if isinstance(token, str) and token not in literals:
                literals[token] = graph.part(EVERYTHING)
        return graph.run(term.postfix, literals)

    formulas = [formula(fact, literal) for fact in facts]
    if conclusion is None:
        cases = [Case(formulas, TRUE)]
    else:
        denied = formula(conclusion, literal, holds=False)
        forbidding = _forbidding(formulas)
        cases = [
            Case(forbidding if isinstance(one, Inhabited) and one.holds else formulas, one)
            for one in (denied.parts if isinstance(denied, Some) else (denied,))
        ]
    return Reasoner(graph, largest_solver=sys.maxsize), cases  # every question will be about all of it


def _forbidding(formulas: Sequence[Formula]) -> Sequence[Formula]:
    """Return what consistent formulas say against one more object: that sets are inhabited, if there is no choice, not.

    The world they allow, and the object, can stand side by side.
    """
    certain, choices = split(formulas)
    if choices or not certain.inhabited:
        return formulas
    return [All(tuple(Inhabited(literal, holds=False) for literal in split([one])[0].empty)) for one in formulas]


def relevant_facts(base: FactBase, about: Iterable[str]) -> list[int]:
    """Return the facts that define the labels and what these are made of, and transitively all that constrain those.

    A definition of something else out of these sets says nothing of them and is not among them.
    """
    definer = {label: base.definers[row] for row, label in enumerate(base.labels) if base.definers[row] != MENTIONED}
    loose = {number for record in (base.constraints, base.inhabited, base.choices) for _, number in record}
    speakers: dict[str, list[int]] = {}  # label -> the loose facts that name it
    for number in loose:
        for label in base.facts[number].labels:
            speakers.setdefault(label, []).append(number)
    below: dict[str, list[str]] = {}  # label -> the labels defined by it, as far as loose facts reach
    for label in _ancestors(base, definer, speakers, set()):
        if label in definer:
            for source in base.facts[definer[label]].labels:
                below.setdefault(source, []).append(label)
    labels: set[str] = set()
    descendants: set[str] = set()
    facts: set[int] = set()
    fresh = list(about)
    while fresh:
        added = _ancestors(base, definer, fresh, labels)
        facts.update(definer[label] for label in added if label in definer)
        fresh = []
        while added:
            label = added.pop()
            if label not in descendants:
                descendants.add(label)
                added.extend(below.get(label, ()))
                found = [number for number in speakers.get(label, ()) if number not in facts]
                facts.update(found)
                fresh.extend(other for number in found for other in base.facts[number].labels)
    return sorted(facts)


def _ancestors(base: FactBase, definer: dict[str, int], labels: Iterable[str], known: set[str]) -> list[str]:
    """Return the labels and those they are defined by, as far as not yet `known`, and make them known."""
    found: list[str] = []
    stack = list(labels)
    while stack:
        label = stack.pop()
        if label not in known:
            known.add(label)
            found.append(label)
            number = definer.get(label)
            if number is not None:
                stack.extend(base.facts[number].labels)
    return found
