import pytest
from hypothesis import given, settings

from provenn.logic import disjoint, statement
from provenn.logic.knowledge.formulas import (
    FALSE,
    TRUE,
    Conjunction,
    Disjunction,
    Formula,
    Inhabited,
    build_formula,
    iterate_conjuncts,
    negate,
)
from provenn.logic.knowledge.graph import EVERYTHING, SetGraph
from tests.logic.knowledge.all_worlds import AllWorlds
from tests.strategies import statements

LABELS = "ABC"
WORLDS = AllWorlds(LABELS)


class Reading:
    """Reads statements as formulas over a graph, and remembers which term a literal stands for."""

    def __init__(self) -> None:
        self.graph = SetGraph()
        self.literals = {label: self.graph.part(EVERYTHING) for label in LABELS}
        self.terms = {}

    def __call__(self, item) -> int:
        literal = self.graph.run(item.postfix, self.literals)
        self.terms.setdefault(literal, item)
        return literal

    def truth(self, path: Formula):
        """In which worlds a formula is true."""
        if isinstance(path, Inhabited):
            return (WORLDS.contents(self.terms[path.literal]) != 0) == path.holds
        truth = WORLDS.truth(statement("{} == {}" if isinstance(path, Conjunction) else "{} != {}"))
        for part in path.parts:
            truth = truth & self.truth(part) if isinstance(path, Conjunction) else truth | self.truth(part)
        return truth


@settings(max_examples=150, deadline=None)
@given(statements(LABELS, parts=4))
def test_a_formula_is_true_where_its_statement_is_and_its_negation_where_it_is_not(said):
    reading = Reading()
    expected = WORLDS.truth(said)
    formula = build_formula(said, reading)
    assert (reading.truth(formula) == expected).all()
    assert (reading.truth(build_formula(said, reading, holds=False)) != expected).all()
    assert (reading.truth(negate(formula)) != expected).all()
    assert (reading.truth(Conjunction(tuple(iterate_conjuncts(formula)))) == expected).all()


@settings(max_examples=150, deadline=None)
@given(statements(LABELS, parts=4))
def test_formulas_are_flat_and_claim_nothing_of_the_empty_set(said):
    stack = [build_formula(said, Reading())]
    while stack:
        path = stack.pop()
        if isinstance(path, Inhabited):
            assert path.literal
        else:
            assert path in (TRUE, FALSE) or len(path.parts) > 1
            assert not any(isinstance(part, type(path)) for part in path.parts)
            stack += path.parts


def test_a_thousand_disjoint_sets_take_a_thousand_claims():
    graph = SetGraph()
    literals = {f"s{number}": graph.part(EVERYTHING) for number in range(1000)}
    formula = build_formula(disjoint(*literals), lambda term: graph.run(term.postfix, literals))
    assert isinstance(formula, Conjunction)
    assert len(formula.parts) == 999
    both = {literals["s3"] >> 1, literals["s700"] >> 1}
    for parts in (both, {literals["s3"] >> 1}, set()):
        violated = [part for part in formula.parts if graph.holds(part.literal, parts, {})]
        assert len(violated) == (parts == both)


def test_what_is_no_statement_is_refused():
    with pytest.raises(TypeError, match="not a statement"):
        build_formula("A <= B", lambda _: 0)
    assert isinstance(build_formula(statement("A != B or empty(C)"), Reading()), Disjunction)
