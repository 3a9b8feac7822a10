"""The generator makes what its docstring promises, and always the same."""

from collections import Counter
from hashlib import sha256

import numpy as np
import pytest

from benchmarks.lineages import SHARES, Kind, Operation, ask, generate, label
from benchmarks.peers.reading import read


def digest(*arrays):
    return sha256(b"".join(array.astype(np.int32).tobytes() for array in arrays)).hexdigest()[:12]


def test_a_seed_always_gives_the_same_lineage_and_questions():
    """The digests are pinned: figures that were published stay comparable."""
    lineage = generate(1000, seed=0)
    questions = ask(lineage, seed=0)
    assert digest(lineage.operations, lineage.left, lineage.right) == "9897a535e616"
    assert digest(questions.kinds, questions.left, questions.right) == "c942d4bfec95"


def test_another_seed_gives_another_lineage():
    assert not np.array_equal(generate(100, seed=0).left, generate(100, seed=1).left)


@pytest.mark.parametrize("size", [50, 1000, 10_000])
def test_the_mix_of_operations_is_the_stated_one(size):
    counts = Counter(generate(size).operations.tolist())
    assert counts[Operation.BASE] == size // 50
    for operation, share in SHARES.items():
        assert counts[operation] == pytest.approx(share * size * 0.98, abs=2)
    assert sum(counts.values()) == size


def test_a_set_is_made_of_earlier_sets_and_only_of_as_many_as_its_operation_takes():
    lineage = generate(1000)
    for number, (operation, left, right) in enumerate(lineage.rows()):
        assert (left >= 0) == (operation != Operation.BASE)
        assert (right >= 0) == (operation >= Operation.INTERSECTION)
        assert max(left, right) < number


def test_sets_that_are_combined_share_an_ancestor():
    lineage = generate(1000)
    ancestors: list[set[int]] = []
    for number, (_, left, right) in enumerate(lineage.rows()):
        if right >= 0:
            assert ancestors[left] & ancestors[right]
        ancestors.append({number}.union(*(ancestors[item] for item in (left, right) if item >= 0)))


def test_the_questions_ask_a_third_of_each_kind_and_mostly_about_related_sets():
    lineage = generate(1000)
    questions = ask(lineage, 3000)
    counts = Counter(questions.kinds.tolist())
    assert all(900 < counts[kind] < 1100 for kind in Kind)
    # The first of every four pairs is a set and its ancestor, in either order.
    for _, row, other in list(questions.rows())[::4]:
        assert lineage.cone(row, other) == max(lineage.cone(row), lineage.cone(other))


def test_the_statements_say_what_the_arrays_say():
    lineage = generate(300)
    questions = ask(lineage, 300)
    result = read(lineage.statements(), questions.statements())
    original = {number: int(name.removeprefix("c")) for name, number in result.numbers.items()} | {-1: -1}
    for number, (operation, left, right) in enumerate(result.lineage.rows()):
        row = original[number]
        assert (operation, original[left], original[right]) == (
            lineage.operations[row],
            lineage.left[row],
            lineage.right[row],
        )
    asked = [(kind, label(original[item]), label(original[other])) for kind, item, other in result.questions.rows()]
    assert asked == [(kind, label(item), label(other)) for kind, item, other in questions.rows()]
