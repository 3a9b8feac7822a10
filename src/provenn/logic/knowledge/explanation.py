"""Explain a conclusion: find a minimal set of the given facts that implies it.

A proof is a conflict between facts and the negation of their conclusion, so the same search finds proofs and conflicts.
The facts relevant by their labels are laid out flat, with a separate set for every label; `conflicts` finds the
necessary facts among them.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from provenn import display
from provenn.logic.knowledge.conflicts import Case, find_minimal_conflict
from provenn.logic.knowledge.facts import MENTIONED, FactBase
from provenn.logic.knowledge.formulas import TRUE, Conjunction, Disjunction, Formula, Inhabited, build_formula
from provenn.logic.knowledge.graph import EVERYTHING, SetGraph
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import WorldSearch, split_formulas
from provenn.logic.knowledge.theory import Refutation, Theory, TheoryCheck
from provenn.logic.statements import Statement
from provenn.logic.terms import Term, term

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
    """

    facts: tuple[Statement, ...]
    open_universe: bool
    conclusion: Statement | None = None
    from_theory: tuple[Statement, ...] = ()

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
        conclusion = None if self.conclusion is None else str(self.conclusion)
        return display.explanation_html(conclusion, [*map(str, self.facts)], open_universe=self.open_universe)


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
            conflict = find_minimal_conflict(WorldSearch(reasoner, (), (), open_universe=is_open), cases)
            if conflict is not None:
                needed = tuple(facts[place] for place in conflict)
                from_theory = _find_needed_refutations(reasoner, needed, conclusion, is_open)
                return Explanation((*needed, *from_theory), is_open, conclusion, from_theory)
    raise AssertionError(f"nothing explains {conclusion}")


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
    graph = SetGraph()
    literals: dict[str, int] = {}

    def find_literal(operand: Term) -> int:
        for token in operand.postfix:
            if isinstance(token, str) and token not in literals:
                literals[token] = graph.part(EVERYTHING)
        return graph.run(operand.postfix, literals)

    formulas = [build_formula(fact, find_literal) for fact in facts]
    if conclusion is None:
        cases = [Case(formulas, TRUE)]
    else:
        negation = build_formula(conclusion, find_literal, holds=False)
        forbidding = _keep_prohibitions(formulas)
        cases = [
            Case(forbidding if isinstance(denial, Inhabited) and denial.holds else formulas, denial)
            for denial in (negation.parts if isinstance(negation, Disjunction) else (negation,))
        ]
    reasoner = Reasoner(graph, largest_solver=sys.maxsize)  # every question concerns the whole graph
    if theory is not None:
        for refutation in refutations:
            for label in (*refutation.inside, *refutation.outside):
                find_literal(term(label))
        check = TheoryCheck(theory, graph, literals)
        reasoner.consult(check)
        for refutation in refutations:
            reasoner.constrain(check.note_refutation(refutation))
    return reasoner, cases


def _keep_prohibitions(formulas: Sequence[Formula]) -> Sequence[Formula]:
    """Return the formulas that can exclude an additional object.

    If the formulas leave no choice, claims of inhabited sets are dropped: a world of consistent formulas and the
    additional object can coexist.
    """
    certain, choices = split_formulas(formulas)
    if choices or not certain.inhabited:
        return formulas
    return [
        Conjunction(tuple(Inhabited(literal, holds=False) for literal in split_formulas([fact_formula])[0].empty))
        for fact_formula in formulas
    ]


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
