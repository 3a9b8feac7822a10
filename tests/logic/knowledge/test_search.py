"""The search for worlds, against all worlds: formulas over the regions of three sets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic import statement
from provenn.logic.knowledge.budget import Budget, Clock, RanOutError
from provenn.logic.knowledge.formulas import Formula, build_formula
from provenn.logic.knowledge.graph import EVERYTHING, SetGraph
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import Claims, WorldSearch, select_justified, split_formulas
from tests.logic.knowledge.all_worlds import AllWorlds
from tests.strategies import statements

LABELS = "ABC"
WORLDS = AllWorlds(LABELS)
some = settings(max_examples=100, deadline=None)
several = st.lists(statements(LABELS, parts=3), min_size=1, max_size=4)


class Stage:
    """A search over the labels alone."""

    def __init__(self, *, open_universe: bool) -> None:
        self.graph = SetGraph()
        self.literals = {label: self.graph.part(EVERYTHING) for label in LABELS}
        self.search = WorldSearch(Reasoner(self.graph), (), (), open_universe)

    def formula(self, said) -> Formula:
        return build_formula(said, lambda term: self.graph.run(term.postfix, self.literals))

    def world(self, claims: Claims) -> int:
        """The number of the world of the objects found for claims."""
        regions = {
            sum(1 << place for place, label in enumerate(LABELS) if self.graph.holds(self.literals[label], parts, {}))
            for parts in self.search.objects(claims)
        }
        return sum(1 << region for region in regions)


@some
@given(several, st.booleans())
def test_claims_are_found_exactly_if_a_world_bears_out_the_formulas(said, open_universe):
    stage = Stage(open_universe=open_universe)
    allowed = WORLDS.allowed(said, open_universe=open_universe)
    claims = stage.search.find_claims([stage.formula(item) for item in said])
    assert (claims is not None) == allowed.any()
    if claims is not None:
        assert allowed[stage.world(claims)]


@some
@given(several, st.booleans())
def test_the_formulas_that_are_blamed_cannot_all_be_true(said, open_universe):
    stage = Stage(open_universe=open_universe)
    result = stage.search.conflict([stage.formula(item) for item in said])
    if isinstance(result, Claims):
        assert WORLDS.allowed(said, open_universe=open_universe)[stage.world(result)]
    else:
        assert not WORLDS.allowed([said[number] for number in result], open_universe=open_universe).any()


@some
@given(statements(LABELS, parts=4), several, st.booleans())
def test_choices_among_the_facts_are_part_of_every_search(question, facts, open_universe):
    stage = Stage(open_universe=open_universe)
    search = WorldSearch(stage.search.reasoner, (), [stage.formula(fact) for fact in facts], open_universe)
    claims = search.find_claims([stage.formula(question)])
    allowed = WORLDS.allowed([question, *facts], open_universe=open_universe)
    assert (claims is not None) == allowed.any()
    if claims is not None:
        assert allowed[stage.world(claims)]


@some
@given(several)
def test_justified_claims_are_enough_and_no_more_than_were_given(said):
    stage = Stage(open_universe=False)
    formulas = [stage.formula(item) for item in said]
    claims = stage.search.find_claims(formulas)
    if claims is not None:
        fewer = select_justified(formulas, claims)
        assert set(fewer.empty) <= set(claims.empty)
        assert set(fewer.inhabited) <= set(claims.inhabited)
        assert WORLDS.allowed(said, open_universe=False)[stage.world(fewer)]


def test_what_is_certain_is_parted_from_what_leaves_a_choice():
    stage = Stage(open_universe=True)
    item = stage.formula(statement("A <= B and nonempty(C) and (A == C or empty(B))"))
    certain, choices = split_formulas([item])
    assert (len(certain.empty), len(certain.inhabited), len(choices)) == (1, 1, 1)


def test_a_search_may_run_out_of_time():
    stage = Stage(open_universe=True)
    with pytest.raises(RanOutError):
        stage.search.find_claims([stage.formula(statement("A == B or B == C"))], Clock(Budget(seconds=0)))
