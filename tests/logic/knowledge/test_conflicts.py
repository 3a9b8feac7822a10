import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic import Statement, equal, intersection, statement, subset, union
from provenn.logic.knowledge.conflicts import Case, find_minimal_conflict
from provenn.logic.knowledge.formulas import TRUE, build_formula
from provenn.logic.knowledge.graph import EVERYTHING, SetGraph
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import WorldSearch
from tests.logic.knowledge.all_worlds import AllWorlds
from tests.strategies import statements

LABELS = "ABC"
WORLDS = AllWorlds(LABELS)


def laid_out(message: list[Statement], *, open_universe: bool = False):
    """A search over the labels of statements, and the statements as formulas."""
    graph = SetGraph()
    literals = {label: graph.part(EVERYTHING) for item in message for label in item.labels}
    formulas = [build_formula(item, lambda term: graph.run(term.postfix, literals)) for item in message]
    return WorldSearch(Reasoner(graph), (), (), open_universe), formulas


def assert_minimal(result: list[int] | None, message: list[Statement], always: list[Statement], *, open_universe: bool):
    """Some of what is said conflicts with what always holds, exactly if all of it does; and none can be left out."""

    def possible(some) -> bool:
        return WORLDS.allowed([*always, *some], open_universe=open_universe).any()

    assert (result is None) == possible(message)
    if result is not None:
        conflict = [message[number] for number in result]
        assert not possible(conflict)
        for number in range(len(conflict)):
            assert possible(conflict[:number] + conflict[number + 1 :])


@settings(max_examples=120, deadline=None)
@given(st.lists(statements(LABELS, parts=2), min_size=2, max_size=7), st.booleans())
def test_a_minimal_conflict_is_one_and_is_minimal(said, open_universe):
    search, (always, *formulas) = laid_out(said, open_universe=open_universe)
    minimal_conflict = find_minimal_conflict(search, [Case(formulas, always)])
    assert_minimal(minimal_conflict, said[1:], said[:1], open_universe=open_universe)
    minimal_conflict = find_minimal_conflict(search, [Case([always, *formulas], TRUE)])
    assert_minimal(minimal_conflict, said, [], open_universe=open_universe)


@settings(max_examples=100, deadline=None)
@given(st.lists(statements(LABELS, parts=2), min_size=3, max_size=7), st.booleans())
def test_a_conflict_in_every_case_is_one_and_is_minimal(said, open_universe):
    search, (first, other, *formulas) = laid_out(said, open_universe=open_universe)
    minimal_conflict = find_minimal_conflict(search, [Case(formulas, first), Case(formulas, other)])
    assert_minimal(minimal_conflict, said[2:], [said[0] | said[1]], open_universe=open_universe)


def test_no_case_at_all_is_a_conflict_of_nothing():
    search, _ = laid_out([statement("A <= B")])
    assert find_minimal_conflict(search, []) == []


@pytest.mark.parametrize(
    "link", [subset, equal, lambda a, b: intersection(a, b, f"t{a}"), lambda a, b: union(b, a, f"t{a}")]
)
def test_a_chain_is_minimised_by_few_searches(link, monkeypatch):
    """Three hundred facts, all of them necessary, which the rotation of a few worlds shows."""
    facts = [link(f"s{number}", f"s{number + 1}") for number in range(300)]
    search, (always, *formulas) = laid_out([statement("nonempty(s0 - s300)"), *facts])
    calls = []
    conflict = WorldSearch.conflict
    monkeypatch.setattr(WorldSearch, "conflict", lambda *arguments: calls.append(1) or conflict(*arguments))
    assert find_minimal_conflict(search, [Case(formulas, always)]) == list(range(300))
    assert len(calls) <= 12
