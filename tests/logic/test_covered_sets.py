"""Sets that can be left out of a union: all at once as one after the other, with far fewer steps."""

from hypothesis import given
from hypothesis import strategies as st

from provenn.logic import Knowledge, subset
from provenn.logic.covered_sets import find_covered_sets
from provenn.logic.terms import Op, Term, chain, term
from tests.effort import assert_far_from_quadratic
from tests.strategies import statements, terms


def find_covered_one_by_one(knowledge: Knowledge, sets: list[Term], *, by_later: bool) -> tuple[int, ...]:
    """Return what `find_covered_sets` promises, by a question about all other sets for each set."""
    kept = list(range(len(sets)))
    for place in reversed(range(len(sets))):
        others = tuple(sets[other] for other in kept if other != place and (by_later or other < place))
        if others and knowledge.entails(subset(sets[place], chain(Op.OR, others))):
            kept.remove(place)
    return tuple(place for place in range(len(sets)) if place not in kept)


@given(st.lists(statements("ABCDE", parts=3), max_size=5), st.lists(terms("ABCDEF"), min_size=1, max_size=6))
def test_the_same_sets_are_covered_as_by_one_question_for_each(facts, sets):
    if not Knowledge(facts).consistent:
        return
    for by_later in (True, False):
        expected = find_covered_one_by_one(Knowledge(facts), sets, by_later=by_later)
        assert find_covered_sets(Knowledge(facts), sets, by_later=by_later) == expected


def test_the_last_set_stays_even_if_all_are_empty():
    nothing = Knowledge(["empty(A)", "empty(B)"])
    assert find_covered_sets(nothing, [term("A"), term("B")]) == (1,)
    assert find_covered_sets(nothing, [term("A"), term("B")], by_later=False) == (1,)
    assert find_covered_sets(nothing, [term("A")]) == ()
    assert find_covered_sets(nothing, []) == ()


def test_equal_sets_leave_the_first():
    known = Knowledge(["A == B", "B == C"])
    assert find_covered_sets(known, [term("A"), term("B"), term("C")]) == (1, 2)


def test_many_sets_take_far_fewer_steps_than_all_pairs():
    def find_covered_selections(size: int) -> None:
        facts = [f"S{number} <= A" for number in range(size)]
        chained = [f"S{number} & A <= S{number + 1}" for number in range(0, size - 1, 2)]
        covered = find_covered_sets(Knowledge([*facts, *chained]), [term(f"S{number}") for number in range(size)])
        assert covered == tuple(range(0, size - 1, 2))

    assert_far_from_quadratic(find_covered_selections, 16)
