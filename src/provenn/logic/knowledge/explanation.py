"""Explain a conclusion: find a minimal set of the given facts that implies it, the smallest where that is affordable.

A proof is a conflict between facts and the negation of their conclusion, so the same search finds proofs and conflicts.
The facts relevant by their labels are laid out flat, with a separate set for every label; `conflicts` finds the
necessary facts among them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from provenn import display
from provenn.logic.knowledge.conflicts import Case, find_minimal_conflict
from provenn.logic.knowledge.derivation import ChainLine, Inference, derive_conclusion, list_lines, write_lines
from provenn.logic.knowledge.facts import MENTIONED, FactBase
from provenn.logic.knowledge.flat_sets import FlatSets
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import WorldSearch
from provenn.logic.knowledge.smallest_conflicts import find_smallest_conflict
from provenn.logic.knowledge.theory import Refutation, Theory, TheoryCheck
from provenn.logic.statements import Statement
from provenn.logic.terms import term

__all__ = ["Explanation", "find_explanation", "find_relevant_facts"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Facts that imply a conclusion; no fact can be left out.

    Attributes
    ----------
    facts
        The facts, in the order in which they were added, and then the needed consequences of the theory.
    open_universe
        Whether the proof needs an object outside all sets.
    conclusion
        The conclusion; None if the facts contradict each other.
    from_theory
        The facts that follow from the theory alone, among `facts`.
    steps
        The steps of the proof, if they are known; `chain` finds them otherwise.
    """

    facts: tuple[Statement, ...]
    open_universe: bool
    conclusion: Statement | None = None
    from_theory: tuple[Statement, ...] = ()
    steps: tuple[Inference, ...] = field(default=(), compare=False, repr=False)

    @property
    def chain(self) -> tuple[Inference, ...]:
        """The proof step by step: each step follows from facts and earlier steps, and the last is the conclusion.

        A proof of few facts has a single step; a contradiction has none.
        """
        if self.steps or self.conclusion is None:
            return self.steps
        return derive_conclusion(self.facts, self.conclusion, open_universe=self.open_universe)

    @property
    def lines(self) -> tuple[ChainLine, ...]:
        """The lines of the proof to show: if it has steps between, facts and what follows; otherwise the facts."""
        chain = self.chain
        if len(chain) > 1:
            return tuple(list_lines(chain))
        return (*map(ChainLine, self.facts), *[ChainLine(None)] * self.open_universe)

    def __str__(self) -> str:
        lines = [f"  {line}" for line in write_lines(self.lines)]
        if self.conclusion is None:
            return "\n".join(lines)
        if not lines:
            return f"{self.conclusion}, whatever the sets are"
        return "\n".join([f"{self.conclusion}, because", *lines])

    def _repr_html_(self) -> str:
        conclusion = None if self.conclusion is None else str(self.conclusion)
        return display.explanation_html(conclusion, write_lines(self.lines))


def find_explanation(
    base: FactBase,
    about: Iterable[str],
    conclusion: Statement | None,
    *,
    open_universe: bool,
    theory: Theory | None = None,
    refutations: Collection[Refutation] = (),
) -> Explanation:
    """Return why the facts imply the conclusion, or without a conclusion, why the facts contradict each other.

    The caller has proved the implication or the contradiction, with the help of some `refutations` of the theory. The
    search first uses the facts relevant to the labels `about` and to the refutations, then all facts.
    """
    about = {*about, *(label for refutation in refutations for label in (*refutation.inside, *refutation.outside))}
    for numbers in (find_relevant_facts(base, about), range(len(base.facts))):
        facts = [base.facts[number] for number in numbers]
        reasoner, cases = _lay_out(facts, conclusion, theory, refutations)
        for is_open in (False, True) if open_universe else (False,):
            search = WorldSearch(reasoner, (), (), open_universe=is_open)
            conflict = find_minimal_conflict(search, cases)
            if conflict is not None:
                return _choose_shortest(search, cases, conflict, facts, conclusion)
    raise AssertionError(f"nothing explains {conclusion}")


def _choose_shortest(
    search: WorldSearch,
    cases: Sequence[Case],
    conflict: Sequence[int],
    facts: Sequence[Statement],
    conclusion: Statement | None,
) -> Explanation:
    """Return the explanation by a minimal conflict, or by a smaller conflict that makes it shorter."""

    def build_explanation(places: Sequence[int]) -> Explanation:
        needed = tuple(facts[place] for place in places)
        from_theory = _find_needed_refutations(search.reasoner, needed, conclusion, search.open_universe)
        return Explanation((*needed, *from_theory), search.open_universe, conclusion, from_theory)

    minimal = build_explanation(conflict)
    smallest = find_smallest_conflict(search, cases, conflict)
    if len(smallest) >= len(conflict):
        return minimal
    return min(minimal, build_explanation(smallest), key=lambda explanation: len(explanation.facts))


def _find_needed_refutations(
    reasoner: Reasoner, facts: Sequence[Statement], conclusion: Statement | None, is_open: bool
) -> tuple[Statement, ...]:
    """Return refutations of a theory that, together with some facts, imply the conclusion without the theory.

    The reasoner has proved the implication with the refutations that it knows, so that these suffice.
    """
    if reasoner.check is None or not reasoner.check.refutations:
        return ()
    refutations = [refutation.build_statement() for refutation in reasoner.check.refutations.values()]
    flat_reasoner, cases = _lay_out([*facts, *refutations], conclusion)
    conflict = find_minimal_conflict(WorldSearch(flat_reasoner, (), (), open_universe=is_open), cases)
    return tuple(refutations[place - len(facts)] for place in conflict or () if place >= len(facts))


def _lay_out(
    facts: Sequence[Statement],
    conclusion: Statement | None,
    theory: Theory | None = None,
    refutations: Iterable[Refutation] = (),
) -> tuple[Reasoner, list[Case]]:
    """Return a reasoner with the facts over independent labels, and a case for each way to deny the conclusion.

    A theory is asked about its labels in the facts, in the conclusion and in the refutations, which it has stated.
    """
    sets = FlatSets()
    formulas = [sets.build_formula(fact) for fact in facts]
    cases = sets.build_cases(formulas, conclusion)
    reasoner = Reasoner(sets.graph, largest_solver=sys.maxsize)  # every question concerns the whole graph
    if theory is not None:
        for refutation in refutations:
            for label in (*refutation.inside, *refutation.outside):
                sets.find_literal(term(label))
        check = TheoryCheck(theory, sets.graph, sets.literals)
        reasoner.consult(check)
        for refutation in refutations:
            reasoner.constrain(check.note_refutation(refutation))
    return reasoner, cases


def find_relevant_facts(base: FactBase, about: Iterable[str]) -> list[int]:
    """Return the facts that define the labels and their ancestors, and transitively all facts that constrain them.

    A fact that only defines another set from these sets does not constrain them, and is left out.
    """
    definer = {label: base.definers[row] for row, label in enumerate(base.labels) if base.definers[row] != MENTIONED}
    loose = {number for record in (base.constraints, base.inhabited, base.choices) for _, number in record}
    speakers: dict[str, list[int]] = {}  # label -> the loose facts with this label
    for number in loose:
        for label in base.facts[number].labels:
            speakers.setdefault(label, []).append(number)
    below: dict[str, list[str]] = {}  # label -> the labels defined by this label, as far as loose facts reach
    for label in _collect_ancestors(base, definer, speakers, set()):
        if label in definer:
            for source in base.facts[definer[label]].labels:
                below.setdefault(source, []).append(label)
    labels: set[str] = set()
    descendants: set[str] = set()
    facts: set[int] = set()
    fresh = list(about)
    while fresh:
        added = _collect_ancestors(base, definer, fresh, labels)
        facts.update(definer[label] for label in added if label in definer)
        fresh = []
        while added:
            label = added.pop()
            if label not in descendants:
                descendants.add(label)
                added.extend(below.get(label, ()))
                new_facts = [number for number in speakers.get(label, ()) if number not in facts]
                facts.update(new_facts)
                fresh.extend(other for number in new_facts for other in base.facts[number].labels)
    return sorted(facts)


def _collect_ancestors(base: FactBase, definer: dict[str, int], labels: Iterable[str], known: set[str]) -> list[str]:
    """Return the labels and their ancestors by definition that are not yet `known`, and add them to `known`."""
    new_labels: list[str] = []
    stack = list(labels)
    while stack:
        label = stack.pop()
        if label not in known:
            known.add(label)
            new_labels.append(label)
            number = definer.get(label)
            if number is not None:
                stack.extend(base.facts[number].labels)
    return new_labels
