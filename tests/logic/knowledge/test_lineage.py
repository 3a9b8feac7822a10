import numpy as np
import pytest

from provenn.errors import LabelError
from provenn.logic import Knowledge, Lineage, Operation, statement

LABELS = ["A", "B", "C", "D", "E", "F", "G"]
OPERATIONS = [0, Operation.SUBSET, Operation.EQUAL, 3, 4, 5, 0]
LEFT = [9, 0, 1, 2, 3, 4, -7]  # where the operation has no such operand, any number will do
RIGHT = [9, 9, 9, 1, 0, 3, -7]
FACTS = ["B <= A", "C == B", "D == C & B", "E == D | A", "F == E - D"]


def test_a_lineage_is_the_sequence_of_the_facts_it_states():
    lineage = Lineage(LABELS, OPERATIONS, LEFT, RIGHT)
    assert list(map(str, lineage)) == FACTS
    assert len(lineage) == 5
    assert str(lineage[-1]) == FACTS[-1]
    assert list(map(str, lineage[1:3])) == FACTS[1:3]
    assert statement("C == B") in lineage
    with pytest.raises(IndexError):
        lineage[5]


def test_a_lineage_tells_knowledge_what_its_facts_would_and_names_all_its_sets():
    known = Knowledge(Lineage(LABELS, OPERATIONS, LEFT, RIGHT))
    single = Knowledge(FACTS)
    assert list(known.facts) == list(single.facts)
    assert known.labels == tuple(LABELS)
    for question in ("F == A - B", "D == B", "E <= B", "G <= A", "E == A"):
        assert known.explain(question) == single.explain(question)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.int64, float, object])
def test_whole_numbers_of_any_kind_will_do(kind):
    shown = [np.array([abs(number) for number in numbers], kind) for numbers in (OPERATIONS, LEFT, RIGHT)]
    assert list(map(str, Lineage(LABELS, *shown))) == FACTS


def test_an_empty_lineage_says_nothing():
    assert list(Lineage([], [], [], [])) == []
    assert Knowledge(Lineage([], [], [], [])).consistent


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"operations": [0.5, 1]}, "operations of a lineage are whole numbers"),
        ({"operations": np.array([0, 256])}, "'B' has an unknown operation"),
        ({"operations": [0, -1]}, "'B' has an unknown operation"),
        ({"operations": ["base", "subset"]}, "operations of a lineage are whole numbers"),
        ({"operations": [[0, 1]]}, "shape"),
        ({"left": [0, float("nan")]}, "left of a lineage are whole numbers"),
        ({"left": [0, 2**70]}, "left of a lineage are whole numbers"),
        ({"left": [0, [0]]}, "left of a lineage are whole numbers"),
        ({"left": None}, "left of a lineage are whole numbers"),
        ({"left": [0, 1]}, "'B' is made from a set that does not come before it"),
        ({"operations": [0, 4], "right": [0, 5]}, "'B' is made from a set that does not come before it"),
        ({"labels": ["A", ""]}, "non-empty string as the name of a set, got ''"),
        ({"labels": ["A", 3]}, "non-empty string as the name of a set, got 3"),
        ({"labels": ["A", ["B"]]}, "non-empty string"),
        ({"labels": ["A", "A"]}, "twice"),
        ({"labels": ["A"]}, "1 labels need operations of shape"),
    ],
)
def test_arrays_that_make_no_lineage_are_refused_by_name(changed, problem):
    sound = {"labels": ["A", "B"], "operations": [0, 1], "left": [0, 0], "right": [0, 0]}
    assert len(Lineage(**sound)) == 1
    with pytest.raises(LabelError, match=problem):
        Lineage(**sound | changed)
