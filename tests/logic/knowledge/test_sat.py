import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic import Budget
from provenn.logic.knowledge.budget import Clock, RanOutError
from provenn.logic.knowledge.sat import Solver

VARIABLES = [3, 7, 1000, 5, 10**6]  # the caller's numbers may be any
literals = st.builds(lambda variable, sign: 2 * variable + sign, st.sampled_from(VARIABLES), st.integers(0, 1))
clause_lists = st.lists(st.lists(literals, min_size=1, max_size=3), max_size=12)


def satisfied(clauses: list[list[int]], true: set[int]) -> bool:
    return all(any((literal >> 1 in true) != bool(literal & 1) for literal in clause) for clause in clauses)


def satisfiable(clauses: list[list[int]]) -> bool:
    return any(
        satisfied(clauses, {variable for place, variable in enumerate(VARIABLES) if choice >> place & 1})
        for choice in range(32)
    )


@settings(max_examples=150, deadline=None)
@given(clause_lists, st.lists(st.lists(literals, max_size=4), min_size=1, max_size=4))
def test_a_solver_finds_a_solution_or_hands_back_the_reasons(clauses, questions):
    solver = Solver()
    solver.add(clauses)
    for assumptions in questions:
        units = [[literal] for literal in assumptions]
        assert solver.solve(assumptions) == satisfiable([*clauses, *units])
        if satisfiable([*clauses, *units]):
            assert satisfied([*clauses, *units], solver.true_variables())
        else:
            assert set(solver.core()) <= set(assumptions)
            assert not satisfiable([*clauses, *([literal] for literal in solver.core())])
    solver.close()


def pigeons(count: int) -> list[list[int]]:
    """One pigeon more than holes: impossible, and hard to see."""
    nests = [[2 * (pigeon * count + hole) for hole in range(count)] for pigeon in range(count + 1)]
    clashes = [[a ^ 1, b ^ 1] for hole in zip(*nests, strict=True) for i, a in enumerate(hole) for b in hole[:i]]
    return [*nests, *clashes]


@pytest.mark.parametrize("budget", [Budget(conflicts=10), Budget(seconds=0.01), Budget(seconds=0.01, conflicts=10)])
def test_a_question_that_is_too_hard_ends_when_the_clock_runs_out_and_does_no_harm(budget):
    solver = Solver()
    solver.add(pigeons(10))
    with pytest.raises(RanOutError):
        solver.solve([], Clock(budget))
    solver.add([[2000], [2001]])
    assert not solver.solve([])


def test_conflicts_are_taken_off_the_clock_and_limits_do_not_outlive_a_question():
    solver = Solver()
    solver.add(pigeons(6))
    clock = Clock(Budget(conflicts=20))
    with pytest.raises(RanOutError):
        solver.solve([], clock)
    assert clock.has_run_out
    with pytest.raises(RanOutError):
        solver.solve([], clock)
    assert not solver.solve([])


@pytest.mark.parametrize("budget", [Budget(seconds=float("inf")), Budget(conflicts=10**30)])
def test_a_budget_beyond_counting_is_no_limit(budget):
    solver = Solver()
    solver.add([[2, 4], [3]])
    assert solver.solve([], Clock(budget))
    assert not solver.solve([5], Clock(budget))
