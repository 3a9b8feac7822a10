"""The graph against sets of objects spelt out: an object is any choice of parts, and is in a part if in its whole."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic.knowledge.graph import EMPTY, EVERYTHING, PART, SetGraph
from provenn.logic.terms import term
from tests.strategies import terms

PARTS = 5
CHOICES = range(2**PARTS)
ALL = 2 ** len(CHOICES) - 1
CHOSEN = [sum(1 << choice for choice in CHOICES if choice >> part & 1) for part in range(PARTS)]
some = settings(max_examples=80, deadline=None)


@dataclass
class Spelt:
    """A graph, and beside it what every literal must hold: bit i for the object that is chosen for the parts of i."""

    graph: SetGraph = field(default_factory=SetGraph)
    contents: dict[int, int] = field(default_factory=lambda: {EMPTY: 0, EVERYTHING: ALL})
    parts: list[int] = field(default_factory=list)

    def note(self, literal: int, contents: int) -> None:
        """Note what a literal holds; one that was there before must hold the same."""
        assert self.contents.setdefault(literal, contents) == contents
        assert self.contents.setdefault(literal ^ 1, ALL ^ contents) == ALL ^ contents

    def object(self, choice: int) -> set[int]:
        """The part nodes of an object."""
        return {literal >> 1 for literal in self.parts if self.contents[literal] >> choice & 1}


@st.composite
def graphs(draw: st.DrawFn) -> Spelt:
    """Parts of everything and of what was made before, intersections, unions, symmetric differences."""
    spelt = Spelt()
    graph = spelt.graph
    for step in draw(st.lists(st.integers(0, 7), min_size=3, max_size=16)):
        literals = sorted(spelt.contents)
        a, b = draw(st.sampled_from(literals)), draw(st.sampled_from(literals))
        x, y = spelt.contents[a], spelt.contents[b]
        if step <= 2 and len(spelt.parts) < PARTS:
            whole = a if step else EVERYTHING
            literal = graph.part(whole)
            if whole != EMPTY:
                spelt.note(literal, spelt.contents[whole] & CHOSEN[len(spelt.parts)])
                spelt.parts.append(literal)
        elif step <= 4:
            spelt.note(graph.meet(a, b), x & y)
        elif step <= 6:
            spelt.note(graph.join(a, b), x | y)
        else:
            spelt.note(graph.differ(a, b), x ^ y)
    return spelt


@some
@given(graphs())
def test_every_literal_holds_what_it_was_made_to_hold(spelt):
    """Rewriting and hashing included: two sets that became one literal hold the same."""
    for choice in CHOICES:
        parts, values = spelt.object(choice), {}
        for literal, contents in spelt.contents.items():
            assert spelt.graph.holds(literal, parts, values) == bool(contents >> choice & 1)


@some
@given(graphs(), st.integers(1, 20))
def test_conjuncts_contain_the_literal_and_what_is_obviously_disjoint_is(spelt, limit):
    graph = spelt.graph
    inner = {2 * node + sign for node in range(len(graph)) for sign in (0, 1)} - spelt.contents.keys()
    for literal, contents in spelt.contents.items():
        for conjunct in graph.conjuncts(literal, limit) - inner:
            assert not contents & ~spelt.contents[conjunct]
        for other, more in spelt.contents.items():
            if EMPTY not in (literal, other) and graph.obviously_disjoint(literal, other):
                assert not contents & more


@some
@given(graphs())
def test_a_cone_is_all_that_a_literal_is_made_of_and_is_found_once(spelt):
    graph = spelt.graph
    for literal in spelt.contents:
        known: set[int] = set()
        cone = graph.cone([literal], known)
        assert set(cone) == known
        assert len(cone) == len(known)
        for node in cone:
            made_of = {graph.left[node] >> 1} | ({graph.right[node] >> 1} if graph.right[node] != PART else set())
            assert made_of - {0} <= known
        assert graph.cone([literal], known) == []


@some
@given(graphs())
def test_an_object_that_is_made_up_is_where_it_should_be_if_it_can_be_at_all(spelt):
    """It may violate something it was not made up for; if it does not, it is in the literal."""
    graph = spelt.graph
    for literal in spelt.contents.keys() - {EMPTY}:
        for parts in graph.invent_objects(literal):
            assert all(graph.right[node] == PART for node in parts)
            values = {}
            if all(graph.holds(graph.left[node], parts, values) for node in parts) and not _has_unions(graph, literal):
                assert graph.holds(literal, parts, values) or not spelt.contents[literal]


def _has_unions(graph: SetGraph, literal: int) -> bool:
    return bool(literal & 1) or any(
        item & 1 for node in graph.cone([literal], set()) for item in (graph.left[node], graph.right[node])
    )


def test_making_up_an_object_takes_no_longer_than_the_sets_are_deep():
    """Each set is made twice of the one before; sixty of them have 2^60 ways down."""
    graph = SetGraph()
    deep = graph.part(EVERYTHING)
    for _ in range(60):
        first, other = graph.part(EVERYTHING), graph.part(EVERYTHING)
        deep = graph.meet(graph.join(deep, first), graph.join(deep, other))
    assert len(graph.invent_objects(deep)) == 2
    assert len(graph.invent_objects(deep ^ 1)) >= 1


@some
@given(terms("ABCDE", leaves=6))
def test_a_term_runs_to_the_literal_of_its_meaning(one):
    graph = SetGraph()
    literals = {label: graph.part(EVERYTHING) for label in "ABCDE"}
    literal = graph.run(one.postfix, literals)
    meaning = one.evaluate(lambda label: CHOSEN["ABCDE".index(label)], 0, ALL)
    for choice in CHOICES:
        parts = {literals[label] >> 1 for place, label in enumerate("ABCDE") if choice >> place & 1}
        assert graph.holds(literal, parts, {}) == bool(meaning >> choice & 1)


def test_sets_that_are_equal_by_construction_are_the_same_literal():
    graph = SetGraph()
    a, b, c = (graph.part(EVERYTHING) for _ in range(3))
    selection = graph.part(graph.meet(a, b))
    assert graph.meet(a, b) == graph.meet(b, a) == graph.meet(a, graph.meet(a, b))
    assert graph.meet(selection, a) == selection
    assert graph.meet(selection, b ^ 1) == EMPTY
    assert graph.join(selection, a) == a
    assert graph.meet(a, graph.join(b, a)) == a
    assert graph.meet(a, graph.meet(a, b) ^ 1) == graph.meet(a, b ^ 1)
    assert graph.differ(c, c) == EMPTY
    assert graph.part(EMPTY) == EMPTY


def test_a_graph_that_is_cut_back_makes_the_same_literals_again():
    graph = SetGraph()
    a, b = graph.part(EVERYTHING), graph.part(EVERYTHING)
    graph.meet(a, b)
    size = graph.size()
    c = graph.part(a)
    results = [graph.meet(c, b), graph.join(b, c), graph.differ(a, b)]
    graph.cut_back(size)
    assert len(graph) == size.nodes
    assert graph.part(a) == c
    assert [graph.meet(c, b), graph.join(b, c), graph.differ(a, b)] == results


def test_a_union_of_ten_thousand_sets_needs_no_recursion():
    graph = SetGraph()
    literals = {f"s{number}": graph.part(EVERYTHING) for number in range(10_000)}
    item = term("s0")
    postfix = list(item.postfix)
    for label in list(literals)[1:]:
        postfix += [label, (item | item).postfix[-1]]
    whole = graph.run(postfix, literals)
    last = literals["s9999"]
    assert graph.holds(whole, {last >> 1}, {})
    assert not graph.holds(whole, set(), {})
    assert len(graph.cone([whole], set())) == 19_999
