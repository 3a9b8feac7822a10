"""Sets that are built when a question needs them, against sets that are built at once, one fact after the other."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lineages import ask, generate
from provenn import deadline
from provenn.errors import DeadlineError
from provenn.logic import (
    Knowledge,
    Lineage,
    Statement,
    difference,
    disjoint,
    empty,
    equal,
    intersection,
    nonempty,
    overlapping,
    proper_subset,
    subset,
    union,
)
from provenn.logic.knowledge.facts import FactBase
from provenn.logic.knowledge.graph import SetGraph
from provenn.logic.terms import Op, Term, chain, nothing, term

LABELS = [f"c{number}" for number in range(9)]
names = st.sampled_from(LABELS)


def _combine(op: Op, labels: list[str]) -> Term:
    return chain(op, tuple(map(term, labels)))


sources = st.one_of(
    st.builds(_combine, st.sampled_from([Op.AND, Op.OR, Op.MINUS, Op.XOR]), st.lists(names, min_size=1, max_size=4)),
    names.map(term),
    names.map(lambda label: ~term(label)),
    st.just(nothing),
)
facts = st.one_of(
    st.builds(subset, names, sources),
    st.builds(equal, names, sources),
    st.builds(intersection, names, names, names),
    st.builds(union, names, names, names),
    st.builds(difference, names, names, names),
    st.builds(subset, names, names),
    st.builds(equal, names, names),
    st.builds(proper_subset, names, sources),
    st.builds(disjoint, names, names),
    st.builds(nonempty, names),
    st.builds(lambda one, other: subset(one, other) | subset(other, one), names, names),
)


@st.composite
def lineages(draw: st.DrawFn, prefix: str = "c") -> Lineage:
    """Draw a lineage, of sets that facts may speak of, too."""
    size = draw(st.integers(0, 9))
    operations = [draw(st.integers(0, 5)) if row else 0 for row in range(size)]
    operands = [[draw(st.integers(0, max(0, row - 1))) for row in range(size)] for _ in range(2)]
    return Lineage([f"{prefix}{row}" for row in range(size)], operations, *operands)


batches = st.lists(
    st.one_of(
        st.lists(facts, min_size=1, max_size=7),
        st.lists(facts, min_size=1, max_size=7),
        lineages(),
        lineages("d"),
    ),
    max_size=4,
)
QUESTIONS = [kind(*pair) for kind, pair in product((equal, subset, disjoint, overlapping), permutations(LABELS, 2))]
QUESTIONS += [kind(label) for kind, label in product((empty, nonempty), LABELS)]


def tell_one_by_one(told: list[list[Statement] | Lineage], *, open_universe: bool) -> Knowledge:
    """Tell each fact alone, and build its sets at once: what defines no set in this order constrains it."""
    known = Knowledge(open_universe=open_universe)
    for batch in told:
        for fact in batch:
            known.add(fact)
            known._base.build_sets()
    return known


def tell_batches(told: list[list[Statement] | Lineage], asked: list[Statement], *, open_universe: bool) -> Knowledge:
    """Tell batches, with questions in between, and build the cone of each question alone."""
    known = Knowledge(open_universe=open_universe)
    known._labels.few = 0
    for batch in told:
        if known.consistent:
            for question in asked:
                known.entails(question)
        known.add(*(batch if isinstance(batch, list) else [batch]))
    return known


@settings(max_examples=60, deadline=None)
@given(batches, st.lists(st.sampled_from(QUESTIONS), max_size=3), st.permutations(QUESTIONS), st.booleans())
def test_what_is_built_when_needed_answers_as_what_is_built_at_once(told, between, questions, is_open):
    """Both agree on every answer, with repeated and circular definitions, forward references and constants."""
    known = tell_batches(told, between, open_universe=is_open)
    single = tell_one_by_one(told, open_universe=is_open)
    assert known.consistent == single.consistent
    if not single.consistent:
        return
    for question in questions[:40]:
        assert known.entails(question) == single.entails(question)
    assert known.judge(questions[0]) == single.judge(questions[0])
    assert (known.counterexample(questions[1]) is None) == (single.counterexample(questions[1]) is None)
    for label in set(single.labels) & set(LABELS):
        for find in (Knowledge.equal_to, Knowledge.subsets_of, Knowledge.supersets_of, Knowledge.disjoint_from):
            assert [other for other in find(known, label) if other in single.labels] == find(single, label)
    if set(known.labels) == set(single.labels):
        assert known.classify() == single.classify()


@settings(max_examples=60, deadline=None)
@given(lineages(), st.permutations(LABELS))
def test_a_cone_is_the_set_that_its_rows_state(lineage, order):
    """Each set, built in any order, holds the same objects as the operations of the rows on sets of objects."""
    graph = SetGraph()
    base = FactBase(None, graph)
    base.take(lineage)
    base.labels.few = 0
    literals = {label: base.labels[label] for label in order if label in lineage.labels}
    rows = list(zip(lineage.operations.tolist(), lineage.left.tolist(), lineage.right.tolist(), strict=True))
    nodes = [literals[label] >> 1 for label, (operation, *_) in zip(lineage.labels, rows, strict=True) if operation < 2]
    for chosen in product((False, True), repeat=len(nodes)):
        parts = {node for node, is_in in zip(nodes, chosen, strict=True) if is_in and node}
        inside: list[bool] = []
        for label, (operation, left, right) in zip(lineage.labels, rows, strict=True):
            match operation:
                case 0:
                    inside.append(literals[label] >> 1 in parts)
                case 1:
                    inside.append(literals[label] >> 1 in parts and inside[left])
                case 2:
                    inside.append(inside[left])
                case 3:
                    inside.append(inside[left] and inside[right])
                case 4:
                    inside.append(inside[left] or inside[right])
                case 5:
                    inside.append(inside[left] and not inside[right])
        if all(is_in or literals[label] >> 1 not in parts for label, is_in in zip(lineage.labels, inside, strict=True)):
            # It is an object of the graph: in the whole of each of its parts.
            assert [graph.holds(literals[label], parts, {}) for label in lineage.labels] == inside


def test_only_the_cones_of_questions_are_built():
    """A question among 5 000 sets builds the sets that it is about, from arrays and from statements."""
    lineage = generate(5_000)
    rows = np.arange(5_000)
    assert (lineage.left < rows).all()
    (question,) = ask(lineage, 1).statements()
    (_, left, right), *_ = ask(lineage, 1).rows()
    for told in (Lineage(lineage.labels(), lineage.operations, lineage.left, lineage.right), lineage.statements()):
        known = Knowledge(told)
        known.entails(question)
        mentioned = int((lineage.operations == 0).sum()) if isinstance(told, list) else 0
        assert 1 < len(known._base.graph) <= lineage.cone(left, right) + mentioned + 1
        known.subsets_of("c0")
        assert len(known._base.graph) > 1_000


def test_a_long_chain_of_definitions_is_built_without_recursion():
    """The cone of the last of 20 000 selections has all of them."""
    size = 20_000
    rows = np.arange(size)
    labels = [f"s{row}" for row in rows]
    chained = Lineage(labels, np.minimum(rows, 1), np.maximum(rows - 1, 0), np.zeros(size, int))
    for told in (chained, list(chained)):
        known = Knowledge(told)
        assert known.entails(subset(labels[-1], labels[-300]))
        assert not known.entails(subset(labels[-300], labels[-1]))


def test_a_caller_may_change_the_arrays_afterwards():
    """A lineage is a copy: what is built later is what was told."""
    labels, operations, left = ["A", "B", "C"], np.array([0, 0, 1]), np.array([0, 0, 0])
    known = Knowledge(Lineage(labels, operations, left, left))
    labels[2], left[2], operations[2] = "A", 1, 2
    assert known.entails("C <= A")
    assert not known.entails("C <= B")
    assert known.labels == ("A", "B", "C")


def test_a_batch_that_is_begun_anew_forgets_the_sets_built_for_it():
    """The first attempt at the second batch builds B, which a fact before it defined; the second attempt anew."""
    known = Knowledge(["B <= A", "Z == B & A"])
    known._labels.few = 0
    known.add("nonempty(B - X)", "X <= Y", "Y == B & W")
    single = Knowledge(["B <= A", "Z == B & A", "nonempty(B - X)", "X <= Y", "Y == B & W"])
    for question in ("X <= B", "nonempty(A)", "Z == B", "nonempty(Z - X)", "X <= A", "A <= B"):
        assert known.entails(question) == single.entails(question)


def test_building_all_sets_obeys_the_deadline():
    """After a deadline has passed while sets were built, the next question goes on where the last one ended."""
    lineage = generate(30_000)
    known = Knowledge(Lineage(lineage.labels(), lineage.operations, lineage.left, lineage.right))
    calls = iter([False, False])
    with pytest.raises(DeadlineError), deadline.limit(lambda: next(calls, True)):
        known.equal_to("c0")
    assert len(known._base.graph) > 1
    assert "c0" in known.supersets_of(str(known.subsets_of("c0")[0]))
