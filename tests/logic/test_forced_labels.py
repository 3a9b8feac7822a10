"""Labels that nothing forces an object into: sets inside them are not needed to cover another set."""

from hypothesis import given
from hypothesis import strategies as st

from provenn.logic import Knowledge, difference, disjoint, equal, nonempty, statement, subset, union
from provenn.logic.forced_labels import find_forced_labels
from provenn.logic.terms import Op, chain, term
from tests.strategies import statements, terms

LEAVES = "ABCD"

definitions = terms(LEAVES).map(lambda formula: equal("U", formula))


@given(definitions, st.lists(statements("ABCDU", parts=2), max_size=4), st.sampled_from(LEAVES))
def test_a_set_is_covered_by_the_forced_sets_if_it_is_covered_at_all(definition, further, label):
    facts = [definition, *further]
    knowledge = Knowledge(facts)
    if not knowledge.consistent or knowledge.entails(statement(f"empty({label})")):
        return
    others = [other for other in LEAVES if other != label]
    forced = [other for other in others if other in find_forced_labels(facts, LEAVES)]
    if knowledge.entails(subset(label, chain(Op.OR, tuple(map(term, others))))):
        assert forced
        assert knowledge.entails(subset(label, chain(Op.OR, tuple(map(term, forced)))))


def test_the_forms_of_facts_in_an_archive():
    assert find_forced_labels([difference("D", "A", "B"), disjoint("A", "C"), nonempty("A")], "ABC") == frozenset()
    assert find_forced_labels([difference("D", "A", "B"), subset("C", "D")], "ABC") == {"D", "A"}
    assert find_forced_labels([difference("D", "A", "B"), subset("D", "C")], "ABC") == {"B", "C"}
    assert find_forced_labels([equal("K", "A"), equal("L", "K")], "AB") == frozenset()
    assert find_forced_labels([equal("A", "B")], "AB") == {"A", "B"}
    assert find_forced_labels([equal("K", "A"), equal("L", "B"), equal("K", "L")], "AB") == {"A", "B", "K", "L"}
    assert find_forced_labels([union("U", "A", "B"), union("U", "C", "D")], "ABCD") == {"A", "B", "C", "D", "U"}
    assert find_forced_labels([statement("A <= B or B <= A")], "AB") == {"A", "B"}
