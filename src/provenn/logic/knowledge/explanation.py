"""Why something is so: a minimal set of the facts given, from which it follows.

A proof is a conflict between facts and the negation of what they prove, so proofs and conflicts are found alike. The
facts that are relevant by their labels are laid out flat, every label a set of its own; the conflict that is found
there names the facts it needs, and each of these is then tried without.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from provenn import display
from provenn.logic.knowledge.facts import MENTIONED, FactBase
from provenn.logic.knowledge.formulas import Inhabited, conjuncts, formula
from provenn.logic.knowledge.graph import EVERYTHING, Graph
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import Search, split
from provenn.logic.statements import Statement
from provenn.logic.terms import Term

__all__ = ["Explanation", "minimal_conflict", "relevant_facts"]


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


class _Flat:
    """Facts laid out side by side, as formulas over labels of which nothing else is known."""

    def __init__(self, facts: Sequence[Statement], conclusion: Statement | None) -> None:
        graph = Graph()
        literals: dict[str, int] = {}

        def literal(term: Term) -> int:
            for token in term.postfix:
                if isinstance(token, str) and token not in literals:
                    literals[token] = graph.part(EVERYTHING)
            return graph.run(term.postfix, literals)

        self.reasoner = Reasoner(graph)
        self.formulas = [formula(fact, literal) for fact in facts]
        self.negated = [] if conclusion is None else [formula(conclusion, literal, holds=False)]

    def conflict(self, numbers: Sequence[int], *, open_universe: bool) -> list[int] | None:
        """Return those of the facts that conflict with each other (and the negation), or None if they do not."""
        search = Search(self.reasoner, (), (), open_universe=open_universe)
        wanted = [self.formulas[number] for number in numbers] + self.negated
        certain, choices = split(wanted)
        if choices:
            return None if search.claims(wanted) is not None else list(numbers)
        reason = search.refused(certain)
        if reason is None:
            return None
        blamed = {Inhabited(literal, holds=False) for literal in reason.empty}
        blamed |= {Inhabited(literal, holds=True) for literal in reason.inhabited}
        return [number for number in numbers if blamed.intersection(conjuncts(self.formulas[number]))]


def minimal_conflict(
    base: FactBase, about: Iterable[str], conclusion: Statement | None, *, open_universe: bool
) -> Explanation:
    """Return why the facts imply the conclusion, or where there is none, why they contradict each other.

    They must do so. Looked for first among the facts relevant to the labels `about`, then among all.
    """
    for numbers in (relevant_facts(base, about), range(len(base.facts))):
        flat = _Flat([base.facts[number] for number in numbers], conclusion)
        for is_open in (False, True) if open_universe else (False,):
            found = flat.conflict(range(len(numbers)), open_universe=is_open)
            if found is not None:
                kept = _minimal(flat, found, open_universe=is_open)
                return Explanation(tuple(base.facts[numbers[one]] for one in kept), is_open, conclusion)
    raise AssertionError(f"there is nothing to explain about {conclusion}")


def relevant_facts(base: FactBase, about: Iterable[str]) -> list[int]:
    """Return the facts that define the labels and what these are made of, and transitively all that constrain those.

    A definition of something else out of these sets says nothing of them and is not among them.
    """
    definer = {label: base.definers[row] for row, label in enumerate(base.labels) if base.definers[row] != MENTIONED}
    loose = {number for record in (base.constraints, base.inhabited, base.choices) for _, number in record}
    touching: dict[str, list[int]] = {}
    for number in loose:
        for label in _ancestors(base, definer, base.facts[number].labels, set()):
            touching.setdefault(label, []).append(number)
    labels: set[str] = set()
    facts: set[int] = set()
    fresh = list(about)
    while fresh:
        added = _ancestors(base, definer, fresh, labels)
        facts.update(definer[label] for label in added if label in definer)
        found = {number for label in added for number in touching.get(label, ())} - facts
        facts |= found
        fresh = [label for number in found for label in base.facts[number].labels]
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


def _minimal(flat: _Flat, numbers: list[int], *, open_universe: bool) -> list[int]:
    """Try without each fact in turn, many at once at first."""
    size = max(1, len(numbers) // 2)
    while True:
        start = 0
        while start < len(numbers):
            fewer = flat.conflict(numbers[:start] + numbers[start + size :], open_universe=open_universe)
            if fewer is None:
                start += size
            else:
                kept_before = set(numbers[:start])
                numbers = fewer
                start = sum(number in kept_before for number in fewer)
        if size == 1:
            return numbers
        size //= 2
