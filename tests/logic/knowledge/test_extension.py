"""Knowledge that is extended answers as knowledge of all facts, and the knowledge that it extends stays as it was."""

from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic import Knowledge
from tests.logic.knowledge.test_truth import SIMPLE, WORLDS, Situation, situations


@settings(max_examples=60, deadline=None)
@given(situations(), st.data())
def test_extended_knowledge_answers_as_brute_force_over_all_facts(situation: Situation, data: st.DataObject):
    """Whether or not the first knowledge was asked before; two extensions do not disturb each other."""
    facts, is_open = situation.facts, situation.open_universe
    place = data.draw(st.integers(0, len(facts)))
    first = Knowledge(facts[:place], open_universe=is_open)
    if data.draw(st.booleans()):
        assert [first.entails(question) for question in SIMPLE]
    extensions = [first.extend(facts[place:]), first.extend(facts[place:][::-1])]
    allowed, allowed_before = (WORLDS.allowed(part, open_universe=is_open) for part in (facts, facts[:place]))
    for question in SIMPLE:
        truth = WORLDS.truth(question)
        for extended in extensions:
            assert extended.entails(question) == bool(truth[allowed].all())
        assert first.entails(question) == bool(truth[allowed_before].all())
    assert list(first.facts) == facts[:place]
    assert list(extensions[0].facts) == facts
    assert first.extend(()).labels == first.labels


def test_an_extension_explains_by_the_facts_of_both():
    first = Knowledge(["B <= A", "C == A"])
    extended = first.extend(["D == B & C"])
    explanation = extended.explain("B == D")
    assert explanation is not None
    assert sorted(map(str, explanation.facts)) == ["B <= A", "C == A", "D == B & C"]
    assert first.explain("B == D") is None


def test_a_contradiction_in_an_extension_is_not_one_before_it():
    first = Knowledge(["nonempty(A)", "A <= B"])
    assert first.consistent
    assert not first.extend(["empty(B)"]).consistent
    assert first.consistent
