"""Facts laid out flat: an independent set for every label, so that each fact can be kept or left out by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from provenn.logic.knowledge.conflicts import Case
from provenn.logic.knowledge.formulas import TRUE, Conjunction, Disjunction, Formula, Inhabited, build_formula
from provenn.logic.knowledge.graph import EVERYTHING, SetGraph
from provenn.logic.knowledge.search import split_formulas
from provenn.logic.statements import Statement
from provenn.logic.terms import Term

__all__ = ["FlatSets"]


@dataclass(frozen=True, slots=True)
class FlatSets:
    """A graph in which no label is defined by others, and the literals of its labels."""

    graph: SetGraph = field(default_factory=SetGraph)
    literals: dict[str, int] = field(default_factory=dict)

    def find_literal(self, operand: Term) -> int:
        """Return the literal of a term; labels that are new get a set of their own."""
        for token in operand.postfix:
            if isinstance(token, str) and token not in self.literals:
                self.literals[token] = self.graph.part(EVERYTHING)
        return self.graph.run(operand.postfix, self.literals)

    def build_formula(self, fact: Statement) -> Formula:
        """Return the formula of a fact."""
        return build_formula(fact, self.find_literal)

    def build_cases(self, formulas: Sequence[Formula], conclusion: Statement | None) -> list[Case]:
        """Return a case for each way to deny the conclusion; without a conclusion, a single case with the formulas."""
        if conclusion is None:
            return [Case(formulas, TRUE)]
        negation = build_formula(conclusion, self.find_literal, holds=False)
        forbidding = _keep_prohibitions(formulas)
        return [
            Case(forbidding if isinstance(denial, Inhabited) and denial.holds else formulas, denial)
            for denial in (negation.parts if isinstance(negation, Disjunction) else (negation,))
        ]


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
