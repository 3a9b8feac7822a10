"""An index of sets answers as `Knowledge` of the same definitions and facts."""

from random import Random

import numpy as np
import pytest

from benchmarks.lineages import generate
from provenn.logic import Knowledge, Statement, disjoint, equal, nonempty, overlapping, subset
from provenn.logic.knowledge import set_index
from provenn.logic.knowledge.lineage import Lineage, Operation
from provenn.logic.knowledge.set_index import SetIndex
from provenn.logic.knowledge.signatures import Signatures

RELATIONS = ("equal_to", "subsets_of", "supersets_of", "disjoint_from")


def make_definitions(size: int, seed: int) -> tuple[list[str], list[Statement]]:
    """Return the labels and statements of a random lineage."""
    rows = list(generate(size, seed).rows())
    labels = [f"s{number}" for number in range(size)]
    operations, left, right = (list(column) for column in zip(*rows, strict=True))
    return labels, list(Lineage(labels, [Operation(operation) for operation in operations], left, right))


def choose_fact(random: Random, labels: list[str]) -> Statement:
    one, other = random.sample(labels, 2)
    return random.choice([disjoint, subset, equal, overlapping, lambda one, _: nonempty(one)])(one, other)


@pytest.mark.parametrize("seed", range(12))
def test_an_index_answers_as_knowledge_whatever_the_facts(seed, monkeypatch):
    random = Random(seed)
    monkeypatch.setattr(set_index, "_MANY", random.choice([0, 128]))  # with random objects of each set, or without
    labels, statements = make_definitions(random.choice([8, 40, 120]), seed)
    cut = random.randrange(len(statements) + 1)
    index = SetIndex()
    for part in (statements[:cut], statements[cut:]):
        index.add(part)
        index.mention(label for label in labels if label in index.labels)
    index.mention(labels)
    empty = index.find_empty(index.labels.values())
    literals = np.array([0 if index.labels[label] in empty else index.labels[label] for label in labels])
    facts: list[Statement] = []
    for _ in range(3):
        knowledge = Knowledge([*statements, *facts], open_universe=False)
        view = index.open_view(facts)
        if view is None:
            assert not knowledge.consistent, "these facts leave no choice"
            return
        known = set(knowledge.labels)
        for label in random.sample(sorted(known), min(12, len(known))):
            for relation in RELATIONS:
                related = view.find_related(relation, int(literals[labels.index(label)]), literals)
                found = sorted(other for other, holds in zip(labels, related, strict=True) if holds)
                expected = getattr(knowledge, relation)(label)
                assert [other for other in found if other in known and other != label] == expected, (relation, label)
        facts.append(choose_fact(random, labels))


def test_facts_with_a_choice_or_unknown_sets_open_no_view():
    index = SetIndex()
    index.add([subset("b", "a")])
    assert index.open_view([subset("a", "b") | nonempty("b")]) is None
    assert index.open_view([subset("a", "c")]) is None
    assert index.open_view([subset("a", "b")]) is not None


def test_signatures_hold_the_objects_that_each_set_holds():
    """By level, and one node after the other."""
    _, statements = make_definitions(300, 5)
    index = SetIndex()
    index.add(statements)
    graph = index.graph
    objects = [graph.invent_objects(literal)[0] for literal in list(index.labels.values())[:700]]
    signatures = Signatures(graph)
    first = signatures.objects
    signatures.learn(objects)
    bits_by_part: dict[int, int] = {}
    for place, parts in enumerate(objects):
        for part in parts:
            bits_by_part[part] = bits_by_part.get(part, 0) | 1 << place
    values = graph.spread(bits_by_part)
    assert signatures.objects == first + len(objects)
    mask = (1 << len(objects)) - 1
    for node in range(len(graph)):
        assert signatures[node] >> first & mask == values[node] & mask
    again = Signatures(graph, [block[: signatures.nodes] for block in signatures.blocks], signatures.objects)
    node = graph.meet(2 * (len(graph) - 1), 2 * (len(graph) - 2)) >> 1
    again.refresh()
    signatures.refresh()
    assert again[node] >> first == signatures[node] >> first
