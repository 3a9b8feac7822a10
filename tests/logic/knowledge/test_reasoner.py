"""Whether objects are possible, against all the objects there are; and how little of the graph a question touches."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lineages import Operation, generate
from provenn.logic import Knowledge, disjoint, equal, subset
from provenn.logic.knowledge import reasoner as reasoner_module
from provenn.logic.knowledge.graph import EMPTY, EVERYTHING, PART, SetGraph
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.sat import Solver
from provenn.logic.terms import Op, chain, term
from tests.logic.knowledge.test_graph import ALL, Spelt, graphs


@st.composite
def constrained(draw: st.DrawFn) -> tuple[Spelt, list[int], list[list[int]]]:
    """A graph, literals to constrain it by, and literals to ask about."""
    spelt = draw(graphs())
    literal = st.sampled_from(sorted(spelt.contents))
    return (
        spelt,
        draw(st.lists(literal.filter(lambda item: item != EMPTY), max_size=4)),
        draw(st.lists(st.lists(literal, min_size=1, max_size=3), min_size=3, max_size=8)),
    )


@settings(max_examples=150, deadline=None)
@given(constrained(), st.sampled_from([0, 3, 1000]))
def test_an_object_is_possible_exactly_if_there_is_one(given_, largest_solver):
    """Also while constraints keep coming, and however often the solver begins anew."""
    spelt, constraints, questions = given_
    reasoner = Reasoner(spelt.graph, largest_solver=largest_solver)
    allowed = ALL
    for constraint in [EVERYTHING, *constraints]:
        reasoner.constrain(constraint)
        allowed &= spelt.contents[constraint]
        for literals in questions:
            there = allowed
            for literal in literals:
                there &= spelt.contents[literal]
            assert reasoner.possible(*literals) == bool(there)
            parts = reasoner.find(literals)
            assert (parts is not None) == bool(there)
            if parts is None:
                assert reasoner.core == [EMPTY] or set(reasoner.core) <= set(literals)
            else:
                assert is_object(spelt.graph, parts)
                assert all(spelt.graph.holds(item, parts, {}) for item in [*literals, *reasoner.constraints])


def is_object(graph: SetGraph, parts: set[int]) -> bool:
    return all(graph.right[node] == PART and graph.holds(graph.left[node], parts, {}) for node in parts)


@settings(max_examples=80, deadline=None)
@given(constrained())
def test_a_core_is_impossible_by_itself(given_):
    spelt, constraints, questions = given_
    reasoner = Reasoner(spelt.graph)
    allowed = ALL
    for constraint in constraints:
        reasoner.constrain(constraint)
        allowed &= spelt.contents[constraint]
    for literals in questions:
        if reasoner.find(literals) is None:
            there = allowed
            for literal in reasoner.core:
                there &= spelt.contents[literal]
            assert not there


def test_the_object_in_no_base_set_is_where_nothing_needs_to_be_chosen():
    graph = SetGraph()
    a = graph.part(EVERYTHING)
    b = graph.part(a ^ 1)
    reasoner = Reasoner(graph)
    assert [reasoner.on_ground(item) for item in (a, a ^ 1, b, graph.join(a, b) ^ 1, EMPTY, EVERYTHING)] == [
        False,
        True,
        False,
        True,
        False,
        True,
    ]
    assert reasoner.first_on_ground([("A", a), ("not B", b ^ 1), ("B", b)]) == "not B"
    assert reasoner.first_on_ground([("A", a)]) is None


def test_many_found_objects_are_learned_and_do_not_change_answers():
    graph = SetGraph()
    parts = [graph.part(EVERYTHING) for _ in range(12)]
    reasoner = Reasoner(graph)
    before = reasoner.simulation.everything
    for number in range(2**8):
        wanted = [literal ^ (number >> place & 1) for place, literal in enumerate(parts[:8])]
        assert reasoner.find(wanted) is not None
    assert reasoner.simulation.everything > before
    reasoner.constrain(graph.meet(parts[0], parts[1]) ^ 1)
    assert not reasoner.possible(parts[0], parts[1])
    assert reasoner.possible(parts[0], parts[2])


# -- the cone ------------------------------------------------------------------------------------------------------


@pytest.fixture
def looked_at(monkeypatch) -> set[int]:
    """The literals that any object is checked against."""
    literals: set[int] = set()
    holds = SetGraph.holds

    def noting(self, literal, parts, values):
        literals.add(literal)
        return holds(self, literal, parts, values)

    monkeypatch.setattr(SetGraph, "holds", noting)
    return literals


def test_a_question_leaves_unrelated_constraints_alone(looked_at):
    """20 000 sets, 2 000 constraints on sets that the question has nothing to do with but a common base."""
    lineage = generate(20_000, 3)
    labels = lineage.labels()
    base = next(number for number, operation in enumerate(lineage.operations) if operation == Operation.BASE)
    known = Knowledge(lineage.statements())
    pairs = [(f"x{number}", f"y{number}") for number in range(2000)] + [("p", "q")]
    known.add(*(subset(name, labels[base]) for pair in pairs for name in pair))
    known.add(*(disjoint(*pair) for pair in pairs))
    known.add(subset("r", term("p") & "s"))
    assert len(known._reasoner.constraints) == 2001
    assert known.consistent
    looked_at.clear()
    assert known.entails("disjoint(r, q)")
    assert not known.entails("disjoint(r, s)")
    assert not known.entails("p <= s")
    assert known.entails("r <= p")
    assert len(looked_at & set(known._reasoner.constraints)) <= 10
    assert len(known._reasoner._encoded) <= 100


def test_a_chain_of_constraints_is_followed_in_few_rounds(monkeypatch):
    """Each constraint brings the next, so one at a time would be a thousand calls of the solver."""
    known = Knowledge()
    for number in range(1000):
        known.add(subset(f"s{number}", f"s{number + 1}"))
    assert len(known._reasoner.constraints) == 999
    calls = []
    solver = type(known._reasoner._solver)
    solve = solver.solve
    monkeypatch.setattr(solver, "solve", lambda *arguments: calls.append(1) or solve(*arguments))
    assert known.entails("s0 <= s1000")
    assert not known.entails("s1000 <= s0")
    assert len(calls) <= 30


def test_a_solver_that_one_question_needs_as_a_whole_is_kept_for_the_next(monkeypatch):
    """Otherwise each question about a union of hundreds of sets would begin with a solver for all of them."""
    solvers = []
    make = reasoner_module._new_solver
    monkeypatch.setattr(reasoner_module, "_new_solver", lambda: solvers.append(make()) or solvers[-1])
    files = [f"file {number}" for number in range(600)]
    days = [subset(f"file {number}", f"below {number}") for number in range(0, 600, 20)]
    version = equal("version", chain(Op.OR, tuple(map(term, files))))
    knowledge = Knowledge([version, disjoint(*files), *days])
    for number in range(0, 600, 20):
        assert not knowledge.entails(subset("version", f"file {number}"))
        assert knowledge.entails(subset(f"file {number}", "version"))
        assert not knowledge.entails(disjoint("version", f"below {number}"))
        assert knowledge.entails(disjoint(f"file {number}", f"file {number + 1}"))
    assert len(solvers) <= 4


def test_ranges_in_any_order_are_apart_by_as_many_questions_as_there_are_sets(monkeypatch):
    """Each set lies between two cuts, as the keys of files do, and the cuts lie in one another."""
    questions = []
    solve = Solver.solve
    monkeypatch.setattr(Solver, "solve", lambda *arguments: questions.append(arguments) or solve(*arguments))

    def count_questions(size: int) -> int:
        numbers = sorted(range(size), key=lambda number: number * 7919 % 1009)
        cuts = [f"below {number}" for number in range(size + 1)]
        knowledge = Knowledge(
            [
                *(disjoint(f"set {number}", cuts[number]) for number in numbers),
                *(subset(f"set {number}", cuts[number + 1]) for number in numbers),
                *(subset(cuts[number], cuts[number + 1]) for number in range(size)),
            ]
        )
        questions.clear()
        assert knowledge.entails(disjoint(*(f"set {number}" for number in numbers)))
        assert not knowledge.entails(disjoint(*(f"set {number}" for number in numbers), cuts[size]))
        return len(questions)

    for size in (8, 32, 128):
        assert count_questions(size) < 8 * size
