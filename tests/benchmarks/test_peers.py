"""Every peer that is installed, and the harness around Knowledge, answers as brute force does."""

from functools import cache

import pytest

from benchmarks import classify, knowledge
from benchmarks.lineages import Kind, Lineage, Operation, ask, generate
from benchmarks.peers import CLASSIFIERS, PEERS, Hierarchy
from benchmarks.peers.reading import read

LINEAGE = generate(60, seed=1)
QUESTIONS = ask(LINEAGE, 100, seed=1)


def alternating(bit: int, bits: int) -> int:
    """Return the integer of ``2 ** bits`` bits of which those are set whose number has `bit` set."""
    width = 2 << bit
    pattern = (1 << width) - (1 << (width >> 1))
    while width < 1 << bits:
        pattern |= pattern << width
        width *= 2
    return pattern


@cache
def worlds(lineage: Lineage) -> list[int]:
    """Every set as an integer with one bit for each way to be in or out of the base sets and the criteria."""
    inputs = sum(operation <= Operation.SELECTION for operation, _, _ in lineage.rows())
    fresh = (alternating(bit, inputs) for bit in range(inputs))
    sets: list[int] = []
    for operation, left, right in lineage.rows():
        match operation:
            case Operation.BASE:
                result = next(fresh)
            case Operation.SELECTION:
                result = sets[left] & next(fresh)
            case Operation.EQUAL:
                result = sets[left]
            case Operation.INTERSECTION:
                result = sets[left] & sets[right]
            case Operation.UNION:
                result = sets[left] | sets[right]
            case _:
                result = sets[left] & ~sets[right]
        sets.append(result)
    return sets


def true_answers() -> list[bool]:
    sets = worlds(LINEAGE)
    holds = {
        Kind.EQUAL: lambda item, other: item == other,
        Kind.SUBSET: lambda element, other: element & ~other == 0,
        Kind.DISJOINT: lambda member, other: member & other == 0,
    }
    return [holds[Kind(kind)](sets[left], sets[right]) for kind, left, right in QUESTIONS.rows()]


def true_hierarchy(lineage: Lineage) -> Hierarchy:
    sets = worlds(lineage)
    classes: dict[int, list[int]] = {}
    for number, item in enumerate(sets):
        classes.setdefault(item, []).append(number)
    above = {group: {other for other in classes if other != group and group & ~other == 0} for group in classes}
    parents = {
        classes[element][0]: [classes[other][0] for other in over if not any(other in above[third] for third in over)]
        for element, over in above.items()
    }
    return Hierarchy.of(len(lineage), classes.values(), parents)


def test_brute_force_finds_some_of_either_answer():
    answers = true_answers()
    assert 10 < sum(answers) < 90


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_answers_as_brute_force_does(peer):
    if peer.missing():
        pytest.skip(peer.missing())
    assert peer.answers(LINEAGE, QUESTIONS) == true_answers()


@pytest.mark.parametrize("peer", CLASSIFIERS, ids=lambda peer: peer.name)
def test_a_peer_finds_the_order_that_brute_force_finds(peer):
    if peer.missing():
        pytest.skip(peer.missing())
    assert peer.classify(LINEAGE) == true_hierarchy(LINEAGE)


@pytest.mark.parametrize("start", knowledge.STARTS.values(), ids=knowledge.STARTS)
def test_knowledge_is_asked_the_same_questions(start):
    assert knowledge.prepare_provenn(start, LINEAGE, QUESTIONS)().answers == true_answers()


def test_knowledge_is_given_the_same_sets_to_order():
    hierarchy = classify.prepare_provenn(LINEAGE)().hierarchy
    assert hierarchy == true_hierarchy(read(LINEAGE.statements()).lineage)


def test_empty_sets_lie_below_all_that_have_nothing_below_them():
    """The form in which reasoners that call the empty set ``Nothing`` are compared with those that do not."""
    assert Hierarchy.of(4, [], {1: [0], 2: [0]}, empty=[3]) == Hierarchy.of(4, [], {1: [0], 2: [0], 3: [1, 2]})
