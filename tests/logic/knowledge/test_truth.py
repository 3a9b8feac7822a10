"""Knowledge against brute force over all worlds, and against explicit hypercubes: the three never disagree.

Facts are of every kind, given as statements, text or relationships, at once or bit by bit, in any order.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.errors import ContradictionError
from provenn.logic import (
    Explanation,
    Knowledge,
    Relationship,
    Statement,
    disjoint,
    empty,
    equal,
    nonempty,
    outside,
    overlapping,
    proper_subset,
    subset,
)
from provenn.logic.statements import SetComparison
from provenn.logic.terms import nothing, term
from tests.logic.knowledge.all_worlds import AllWorlds
from tests.strategies import statements, terms

LABELS = "ABCD"
WORLDS = AllWorlds(LABELS)
some = settings(max_examples=50, deadline=None)


@dataclass(frozen=True)
class Situation:
    """Facts, and how they are told."""

    facts: list[Statement]
    open_universe: bool
    forms: list[str] = field(compare=False)
    breaks: list[int] = field(compare=False)
    few: int = field(default=0, compare=False)

    def knowledge(self) -> Knowledge:
        """Tell the facts, each in its form; begin anew with `add` at every break.

        From more than `few` sets on, each question builds its cone alone.
        """
        reports = [_told(fact, form) for fact, form in zip(self.facts, self.forms, strict=True)]
        bounds = [0, *sorted(self.breaks), len(reports)]
        first, *others = (reports[start:stop] for start, stop in pairwise(bounds))
        known = Knowledge(first, open_universe=self.open_universe)
        known._labels.few = self.few
        for batch in others:
            known.add(*batch)
        return known

    def allowed(self) -> np.ndarray:
        return WORLDS.allowed(self.facts, open_universe=self.open_universe)


def _told(fact: Statement, form: str) -> Statement | str | Relationship:
    if form == "text":
        return str(fact)
    if form == "relationship" and len(fact.labels) <= 3:
        return Relationship.of(fact)
    return fact


def definitions(labels: str) -> st.SearchStrategy[Statement]:
    """What lineages consist of: a set that is, or lies in, or is apart from something made of others."""
    result = terms(labels, leaves=3)
    return st.one_of(
        st.builds(
            SetComparison, st.sampled_from(["==", "<=", "<", ">=", ">"]), st.sampled_from(labels).map(term), result
        ),
        st.builds(disjoint, st.sampled_from(labels), result),
    )


@st.composite
def situations(draw: st.DrawFn, *, consistent: bool = True, labels: str = LABELS) -> Situation:
    simple = definitions(labels)
    facts = draw(st.lists(st.one_of(simple, simple, statements(labels, parts=3)), max_size=6))
    open_universe = draw(st.booleans())
    if consistent:  # leave out what contradicts the facts before it
        fitting: list[Statement] = []
        for fact in facts:
            if WORLDS.allowed([*fitting, fact], open_universe=open_universe).any():
                fitting.append(fact)
        facts = fitting
    forms = [draw(st.sampled_from(["statement", "text", "relationship"])) for _ in facts]
    breaks = draw(st.lists(st.integers(0, len(facts)), max_size=3))
    return Situation(facts, open_universe, forms, breaks, draw(st.sampled_from([0, 4096])))


def simple_questions(labels: str) -> list[Statement]:
    """Everything that is commonly asked of some sets."""
    questions: list[Statement] = [outside(*labels)]
    for label in labels:
        questions += [empty(label), nonempty(label), outside(label)]
    for element, other in combinations(labels, 2):
        questions += [equal(element, other), disjoint(element, other), overlapping(element, other)]
    for item, other in permutations(labels, 2):
        questions += [subset(item, other), proper_subset(item, other)]
    return questions


SIMPLE = simple_questions(LABELS)


def questions(labels: str = LABELS) -> st.SearchStrategy[list[Statement]]:
    """A few questions of any kind."""
    return st.lists(statements(labels, parts=3), min_size=2, max_size=4)


def entailed(allowed: np.ndarray, question: Statement) -> bool:
    return not (allowed & ~WORLDS.truth(question)).any()


# -- consistency ---------------------------------------------------------------------------------------------------


@some
@given(situations(consistent=False))
def test_consistent_means_that_some_world_bears_out_the_facts(situation: Situation) -> None:
    known = situation.knowledge()
    assert known.consistent == situation.allowed().any()
    assert (known.conflict() is None) == known.consistent


@some
@given(situations(consistent=False), statements(LABELS, parts=2))
def test_a_conflict_is_contradictory_and_minimal_and_nothing_is_proved_from_it(
    situation: Situation, another: Statement
) -> None:
    """The last fact says the opposite of something that the facts before it prove, if they prove anything."""
    allowed = situation.allowed()
    opposite = next((~question for question in SIMPLE if allowed.any() and entailed(allowed, question)), ~another)
    known = situation.knowledge()
    known.add(opposite)
    if known.consistent:
        assert WORLDS.allowed([*situation.facts, opposite], open_universe=situation.open_universe).any()
        return
    conflict = known.conflict()
    assert conflict is not None
    assert conflict.conclusion is None
    assert_minimal(conflict, known, lambda allowed: not allowed.any())
    for ask in (known.entails, known.judge, known.explain, known.counterexample):
        with pytest.raises(ContradictionError) as caught:
            ask(another)
        assert caught.value.conflict == conflict


def assert_minimal(why: Explanation, known: Knowledge, proves: Callable[[np.ndarray], bool]) -> None:
    """The facts given suffice, and none of them, nor the open universe, can be left out."""
    assert set(why.facts) <= set(known.facts)
    assert known.open_universe or not why.open_universe
    assert proves(WORLDS.allowed(why.facts, open_universe=why.open_universe))
    for number in range(len(why.facts)):
        fewer = why.facts[:number] + why.facts[number + 1 :]
        assert not proves(WORLDS.allowed(fewer, open_universe=why.open_universe)), "a fact can be left out"
    if why.open_universe:
        assert not proves(WORLDS.allowed(why.facts, open_universe=False)), "the open universe can be left out"


# -- questions -------------------------------------------------------------------------------------------------------


@some
@given(situations(), questions())
def test_entails_and_judge_say_what_all_worlds_say(situation: Situation, asked: list[Statement]) -> None:
    known, allowed = situation.knowledge(), situation.allowed()
    for question in [*asked, *SIMPLE]:
        expected = entailed(allowed, question)
        assert known.entails(question) == expected, question
        verdict = "holds" if expected else "fails" if entailed(allowed, ~question) else "unknown"
        assert known.judge(question) == verdict, question
        assert known.entails(str(question)) == expected, question


@some
@given(situations(), questions())
def test_an_explanation_is_there_exactly_for_what_follows_and_is_minimal(
    situation: Situation, asked: list[Statement]
) -> None:
    known, allowed = situation.knowledge(), situation.allowed()
    for question in [*asked, *SIMPLE[::3]]:
        why = known.explain(question)
        assert (why is not None) == entailed(allowed, question), question
        if why is not None:
            assert why.conclusion == question
            assert_minimal(why, known, lambda allowed, question=question: entailed(allowed, question))


@some
@given(situations(), questions())
def test_a_counterexample_bears_out_the_facts_and_not_the_question(
    situation: Situation, asked: list[Statement]
) -> None:
    known, allowed = situation.knowledge(), situation.allowed()
    for question in [*asked, *SIMPLE[::2]]:
        world = known.counterexample(question)
        assert (world is None) == entailed(allowed, question), question
        if world is not None:
            number = WORLDS.number(world)
            assert allowed[number], question
            assert not WORLDS.truth(question)[number], question
            assert not world.satisfies(question)
            assert all(map(world.satisfies, known.facts))


# -- look-ups ------------------------------------------------------------------------------------------------------


@some
@given(situations(labels="ABC"), st.permutations("ABC"), st.integers(0, 3))
def test_a_relationship_is_that_of_all_worlds_and_that_of_the_explicit_hypercubes(
    situation: Situation, order: list[str], count: int
) -> None:
    known, allowed = situation.knowledge(), situation.allowed()
    mentioned = dict.fromkeys(label for fact in known.facts for label in fact.labels)
    labels = [label for label in order if label in mentioned][:count]
    result = known.relationship(*labels)
    assert result.labels == tuple(labels)
    assert {array.tobytes() for array in result.arrays()} == WORLDS.hypercubes(allowed, labels)
    standing = [outside(*mentioned)] if situation.open_universe and mentioned else []
    if situation.open_universe and not mentioned:
        standing = [nonempty(~nothing)]
    assert result == Relationship.of(*situation.facts, *standing, labels=mentioned).on(*labels)


@some
@given(situations())
def test_look_ups_name_exactly_the_sets_for_which_it_is_so_in_all_worlds(situation: Situation) -> None:
    known, allowed = situation.knowledge(), situation.allowed()
    for label in known.labels:
        others = sorted(set(known.labels) - {label})
        assert known.equal_to(label) == [other for other in others if entailed(allowed, equal(label, other))]
        assert known.subsets_of(label) == [other for other in others if entailed(allowed, subset(other, label))]
        assert known.supersets_of(label) == [other for other in others if entailed(allowed, subset(label, other))]
        assert known.disjoint_from(label) == [other for other in others if entailed(allowed, disjoint(label, other))]


@some
@given(situations())
def test_the_classification_is_the_order_that_holds_in_all_worlds(situation: Situation) -> None:
    known, allowed = situation.knowledge(), situation.allowed()
    labels = sorted(known.labels)
    inside = {(label, other) for label in labels for other in labels if entailed(allowed, subset(label, other))}
    classes = {tuple(other for other in labels if {(label, other), (other, label)} <= inside) for label in labels}
    classification = known.classify()
    assert classification.classes == tuple(sorted(classes))
    above = {
        class_[0]: {other[0] for other in classes - {class_} if (class_[0], other[0]) in inside} for class_ in classes
    }
    assert classification.parents == {
        item: tuple(sorted(other for other in over if not any(other in above[between] for between in over)))
        for item, over in above.items()
    }


# -- telling more ----------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_what_was_answered_before_more_facts_came_does_no_harm_to_later_answers(data: st.DataObject) -> None:
    situation = data.draw(situations())
    known = Knowledge(open_universe=situation.open_universe)
    for count, fact in enumerate(situation.facts, 1):
        known.add(fact)
        allowed = WORLDS.allowed(situation.facts[:count], open_universe=situation.open_universe)
        asked = [*data.draw(questions()), *SIMPLE[count::4]]
        for question in asked:
            assert known.entails(question) == entailed(allowed, question), question
        why = known.explain(asked[0])
        assert (why is not None) == entailed(allowed, asked[0])
        assert (known.counterexample(asked[0]) is None) == (why is not None)
        for label in known.labels:
            others = sorted(set(known.labels) - {label})
            assert known.subsets_of(label) == [item for item in others if entailed(allowed, subset(item, label))]


@pytest.mark.campaign
@settings(max_examples=3000, deadline=None)
@given(situations(consistent=False), questions())
def test_campaign_of_everything_at_once(situation: Situation, asked: list[Statement]) -> None:
    """All the tests above on one situation after another, many more of them."""
    test_consistent_means_that_some_world_bears_out_the_facts.hypothesis.inner_test(situation)
    test_a_conflict_is_contradictory_and_minimal_and_nothing_is_proved_from_it.hypothesis.inner_test(
        situation, asked[0]
    )
    if situation.allowed().any():
        test_entails_and_judge_say_what_all_worlds_say.hypothesis.inner_test(situation, asked)
        test_an_explanation_is_there_exactly_for_what_follows_and_is_minimal.hypothesis.inner_test(situation, asked)
        test_a_counterexample_bears_out_the_facts_and_not_the_question.hypothesis.inner_test(situation, asked)
        test_look_ups_name_exactly_the_sets_for_which_it_is_so_in_all_worlds.hypothesis.inner_test(situation)
        test_the_classification_is_the_order_that_holds_in_all_worlds.hypothesis.inner_test(situation)
