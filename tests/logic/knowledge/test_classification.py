import random

import pytest

from benchmarks.lineages import generate
from provenn.logic import Classification, Knowledge, disjoint, empty, equal, nonempty, subset
from tests.repetitions import repeat_a_few


def test_equal_sets_are_one_class_under_its_first_label_with_what_lies_directly_above():
    classification = Knowledge(["B <= A", "C == A", "D == B & C", "E <= D", "F == E & B"]).classify()
    assert classification == Classification((("A", "C"), ("B", "D"), ("E", "F")), {"A": (), "B": ("A",), "E": ("B",)})


def test_only_direct_supersets_are_parents_also_of_unions():
    """A union is not a superset of itself: counted so, it once came before its own subset Y as a parent of Z."""
    classification = Knowledge(["A <= A", "B <= B", "X <= X", "U == A | B", "Y <= U", "Z <= Y"]).classify()
    assert classification.parents == {"A": ("U",), "B": ("U",), "U": (), "X": (), "Y": ("U",), "Z": ("Y",)}


def test_a_set_that_is_empty_for_reasons_far_away_is_found_to_be():
    """The two chains that Z is made of begin in B and outside B; nothing near Z shows it."""
    facts = ["X0 <= A - B", "W0 <= B", "Z == X19 & W19", "E == Z | {}", "Q <= Q"]
    facts += [f"{name}{number} <= {name}{number - 1}" for name in "XW" for number in range(1, 20)]
    classification = Knowledge(facts).classify()
    assert ("E", "Z") in classification.classes
    assert classification.parents["E"] == ("Q", "W19", "X19")


def test_sets_made_twice_of_one_another_are_classified():
    """Forty levels, each with two ways down: walked through one by one that would be 2^40."""
    facts = [f"X{number + 1} == (X{number} | A{number}) & (X{number} | B{number})" for number in range(40)]
    classification = Knowledge(facts).classify()
    assert len(classification.classes) == 121
    assert classification.parents["X39"] == ("X40",)
    assert classification.parents["X40"] == ()


def test_what_is_empty_lies_in_everything():
    assert Knowledge().classify() == Classification((), {})
    assert Knowledge(["A == {}", "B == {}"]).classify() == Classification((("A", "B"),), {"A": ()})
    assert Knowledge(["A == ~{}", "B <= A"], open_universe=False).classify().parents == {"A": (), "B": ("A",)}


def some_facts(seed: int, size: int, *, choices: int) -> Knowledge:
    """A lineage with constraints, and with facts that leave a choice."""
    chooser = random.Random(seed)
    known = Knowledge(generate(size, seed).statements(), open_universe=bool(seed % 2))

    def two() -> list[str]:
        return [f"c{number}" for number in chooser.sample(range(size), 2)]

    more = [chooser.choice([subset, disjoint, equal])(*two()) for _ in range(4)]
    more += [nonempty(two()[0]) | empty(two()[0]), *(nonempty(two()[0]) for _ in range(3))]
    more += [subset(*two()) | disjoint(*two()) for _ in range(choices)]
    for fact in more:
        if Knowledge([*known.facts, fact], open_universe=known.open_universe).consistent:
            known.add(fact)
    return known


@pytest.mark.parametrize("choices", [0, 3])
@pytest.mark.parametrize("seed", repeat_a_few(range(6), 2))
def test_the_classification_agrees_with_the_look_ups(seed, choices):
    known = some_facts(seed, 60, choices=choices)
    classification = known.classify()
    first = {label: members[0] for members in classification.classes for label in members}
    assert sorted(first) == sorted(known.labels)
    above = {
        parent: {first[other] for other in known.supersets_of(parent)} - {parent} for parent in classification.parents
    }
    for members in classification.classes:
        assert known.equal_to(members[0]) == list(members[1:])
        over = above[members[0]]
        assert set(classification.parents[members[0]]) == {
            item for item in over if not any(item in above[other] for other in over - {item})
        }
