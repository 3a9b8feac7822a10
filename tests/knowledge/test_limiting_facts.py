"""Facts that other sets have objects prove nothing about what limits a set; brute force over worlds agrees."""

from datetime import UTC, datetime
from itertools import combinations

from hypothesis import assume, given
from hypothesis import strategies as st

from provenn.knowledge.limiting_facts import find_limiting_facts
from provenn.knowledge.stored_facts import Fact, excludes_objects
from provenn.logic import Knowledge, Statement, disjoint, empty, equal, nonempty, outside, subset
from provenn.logic.statements import Or
from tests.brute_force import Hypercube, holds, hypercubes
from tests.strategies import simple_statements

OWN = ("A", "B")
NAMES = (*OWN, "C")


def note(statements: list[Statement]) -> list[Fact]:
    """Return statements as facts."""
    return [Fact(i, said, "", "observed", "", datetime(2026, 1, 1, tzinfo=UTC)) for i, said in enumerate(statements, 1)]


def keep_limiting(statements: list[Statement]) -> list[Statement]:
    return [fact.statement for fact in find_limiting_facts(note(statements), OWN)]


def choose_consistent(statements: list[Statement]) -> tuple[list[Statement], list[Hypercube]]:
    """Return the statements without those that contradict earlier ones, and the worlds that fulfil all of them."""
    chosen: list[Statement] = []
    worlds = [world for world in hypercubes(NAMES) if holds(outside(*NAMES), world)]
    for statement in statements:
        fewer = [world for world in worlds if holds(statement, world)]
        if fewer:
            chosen, worlds = [*chosen, statement], fewer
    return chosen, worlds


@given(st.lists(simple_statements(NAMES), max_size=6))
def test_what_limits_a_set_is_proved_without_facts_that_others_have_objects(statements):
    chosen, worlds = choose_consistent(statements)
    limiting = Knowledge(keep_limiting(chosen))
    for question in (
        *(empty(name) for name in NAMES),
        *(relation(*pair) for relation in (subset, equal, disjoint) for pair in combinations(NAMES, 2)),
    ):
        assert limiting.entails(question) == all(holds(question, world) for world in worlds), question


@given(st.lists(simple_statements(NAMES), max_size=4), simple_statements(NAMES))
def test_a_fact_that_a_set_has_objects_contradicts_only_what_limits_sets(statements, new):
    assume(not excludes_objects(new))
    chosen, worlds = choose_consistent(statements)
    assert Knowledge([*keep_limiting(chosen), new]).consistent == any(holds(new, world) for world in worlds)


def test_facts_are_left_out_unless_one_offers_a_choice():
    statements = [nonempty("C"), nonempty("A"), disjoint("A", "C")]
    assert keep_limiting(statements) == statements[1:]
    choice = [nonempty("C"), Or.of(empty("A"), empty("C"))]
    assert keep_limiting(choice) == choice
    assert Knowledge(choice).entails(empty("A"))
