"""Knowledge with a theory, against brute force over all worlds, and against the same knowledge with eager facts.

A theory here is a set of combinations that no object has, of which it tells one part at a time.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import chain, combinations, pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.errors import ContradictionError
from provenn.logic import Knowledge, Statement, disjoint, equal, statement, subset
from provenn.logic.knowledge import Refutation
from tests.logic.knowledge.all_worlds import AllWorlds
from tests.strategies import statements

LABELS = "ABCD"
WORLDS = AllWorlds(LABELS)
some = settings(max_examples=100, deadline=None)


@dataclass(frozen=True)
class FiniteTheory:
    """All values that objects can have: each is the labels of the sets with this value."""

    labels: tuple[str, ...]
    values: frozenset[frozenset[str]]
    questions: list[tuple[frozenset[str], frozenset[str]]] = field(default_factory=list, compare=False)

    def refute(self, inside: Collection[str], outside: Collection[str]) -> Refutation | None:
        self.questions.append((frozenset(inside), frozenset(outside)))
        assert not set(inside) & set(outside)
        assert {*inside, *outside} <= set(self.labels)
        if self.allows(inside, outside):
            return None
        within, without = sorted(inside), sorted(outside)
        for label in (*within, *without):
            fewer = [[item for item in side if item != label] for side in (within, without)]
            if not self.allows(*fewer):
                within, without = fewer
        return Refutation(tuple(within), tuple(without))

    def allows(self, inside: Collection[str], outside: Collection[str]) -> bool:
        return any(value.issuperset(inside) and value.isdisjoint(outside) for value in self.values)

    def facts(self) -> list[Statement]:
        """The statements of all combinations that no object has."""
        combinations_ = map(frozenset, chain.from_iterable(combinations(self.labels, n) for n in range(5)))
        return [
            Refutation(tuple(sorted(item)), tuple(sorted({*self.labels} - item))).build_statement()
            for item in combinations_
            if item not in self.values
        ]


regions = st.sets(st.sampled_from(LABELS)).map(frozenset)
theories = st.builds(
    lambda labels, values: FiniteTheory(tuple(sorted(labels)), frozenset(value & labels for value in values)),
    st.sets(st.sampled_from(LABELS), min_size=1),
    st.one_of(st.sets(regions, min_size=1, max_size=4), st.sets(regions, min_size=8, max_size=15)),
)
facts_of_sets = st.lists(statements(LABELS), max_size=4)


def test_a_refutation_is_stated_briefly():
    assert str(Refutation(("a", "b"), ("c",)).build_statement()) == "a & b <= c"
    assert str(Refutation(("a", "b"), ()).build_statement()) == "disjoint(a, b)"
    assert str(Refutation(("a",), ("b", "c")).build_statement()) == "a <= b | c"
    assert str(Refutation(("a",), ()).build_statement()) == "empty(a)"
    assert str(Refutation((), ("a", "b")).build_statement()) == "empty(~a & ~b)"


@pytest.mark.parametrize("clause", [c for c in product([(), ("a",), ("a", "b")], [(), ("c",), ("c", "d")]) if any(c)])
def test_the_statement_of_a_refutation_says_the_same(clause):
    alone = Knowledge([Refutation(*clause).build_statement()], open_universe=False)
    whole = " & ".join([*clause[0], *(f"~{label}" for label in clause[1])])
    assert alone.entails(f"empty({whole})")
    assert Knowledge([f"empty({whole})"], open_universe=False).entails(Refutation(*clause).build_statement())


@some
@given(theories, facts_of_sets, st.booleans(), statements(LABELS))
def test_answers_are_those_of_brute_force(theory, facts, open_universe, question):
    allowed = WORLDS.allowed([*facts, *theory.facts()], open_universe=open_universe)
    known = Knowledge(facts, open_universe=open_universe, theory=theory)
    assert known.consistent == allowed.any()
    if not known.consistent:
        with pytest.raises(ContradictionError):
            known.entails(question)
        conflict = known.conflict()
        assert not WORLDS.allowed(conflict.facts, open_universe=open_universe).any()
        return
    truth = WORLDS.truth(question)
    assert known.entails(question) == truth[allowed].all()
    expected = "holds" if truth[allowed].all() else "fails" if not truth[allowed].any() else "unknown"
    assert known.judge(question) == expected
    counterexample = known.counterexample(question)
    assert (counterexample is None) == (expected == "holds")
    if counterexample is not None:
        number = WORLDS.number(counterexample)
        assert allowed[number]
        assert not truth[number]
    assert known.entails(question) == truth[allowed].all()  # refutations learned meanwhile change nothing


@some
@given(theories, facts_of_sets, st.booleans())
def test_look_ups_are_those_of_eager_facts(theory, facts, open_universe):
    lazy = Knowledge(facts, open_universe=open_universe, theory=theory)
    mentions = [equal(label, label) for label in theory.labels]
    eager = Knowledge([*facts, *theory.facts(), *mentions], open_universe=open_universe)
    assert lazy.consistent == eager.consistent
    if not eager.consistent:
        return
    labels = sorted({*eager.labels})
    assert sorted(lazy.labels) == labels
    for label in labels:
        assert lazy.equal_to(label) == eager.equal_to(label)
        assert lazy.subsets_of(label) == eager.subsets_of(label)
        assert lazy.supersets_of(label) == eager.supersets_of(label)
        assert lazy.disjoint_from(label) == eager.disjoint_from(label)
    for pair in combinations(labels, min(2, len(labels))):
        assert lazy.relationship(*pair) == eager.relationship(*pair)
    assert lazy.relationship(*labels) == eager.relationship(*labels)
    assert lazy.classify() == eager.classify()
    assert Knowledge(facts, open_universe=open_universe, theory=theory).classify() == eager.classify()


@some
@given(theories, facts_of_sets, facts_of_sets, st.booleans(), statements(LABELS))
def test_facts_can_be_added_to_a_theory(theory, first, more, open_universe, question):
    known = Knowledge(first, open_universe=open_universe, theory=theory)
    known.consistent  # noqa: B018 - settles the first facts
    known.add(*more)
    allowed = WORLDS.allowed([*first, *more, *theory.facts()], open_universe=open_universe)
    assert known.consistent == allowed.any()
    if known.consistent:
        assert known.entails(question) == WORLDS.truth(question)[allowed].all()


@some
@given(theories, facts_of_sets, st.booleans(), statements(LABELS))
def test_explanations_cite_the_theory_and_are_minimal(theory, facts, open_universe, question):
    known = Knowledge(facts, open_universe=open_universe, theory=theory)
    if not known.consistent or not known.entails(question):
        return
    why = known.explain(question)
    worlds = WORLDS.allowed(why.facts, open_universe=why.open_universe)
    assert WORLDS.truth(question)[worlds].all()
    lazy_facts = Knowledge(theory.facts(), open_universe=False)
    assert all(map(lazy_facts.entails, why.from_theory))
    assert set(why.facts) <= {*known.facts, *why.from_theory}
    given_facts = why.facts[: len(why.facts) - len(why.from_theory)]
    for place in range(len(why.facts)):
        fewer = [*why.facts[:place], *why.facts[place + 1 :]]
        with_theory = theory.facts() if place < len(given_facts) else []
        worlds = WORLDS.allowed([*fewer, *with_theory], open_universe=why.open_universe)
        if worlds.any():  # contradictory facts prove everything, and are no proof
            assert not WORLDS.truth(question)[worlds].all()


def test_a_theory_is_asked_only_about_sets_that_matter():
    values = frozenset(frozenset(value) for n in range(7) for value in combinations("abcxyz", n) if value != ("a", "b"))
    theory = FiniteTheory(tuple("abcxyz"), values)
    known = Knowledge(["S == P & a", "T == P & x", "U == Q & b"], open_universe=False, theory=theory)
    assert not known.entails("S <= U")
    assert {label for inside, outside in theory.questions for label in inside | outside} == {"a", "b"}
    assert not known.entails("P <= Q")
    assert {label for inside, outside in theory.questions for label in inside | outside} == {"a", "b"}


def test_a_theory_is_asked_once_whether_it_knows_a_fact():
    """Many sets may be made of the same parts, as counted selections of a catalog are."""
    labels = [f"s{number}" for number in range(12)]
    theory = FiniteTheory(tuple(sorted(labels)), frozenset(frozenset(labels[place:]) for place in range(13)))
    facts = [subset(*pair) for pair in pairwise(labels)]
    facts += [statement(f"d{number} == s{number} & e") for number in range(12)]
    facts += [statement(f"d{number} <= g | h{number}") for number in range(12)]
    knowledge = Knowledge(facts, open_universe=False, theory=theory)
    assert not any(knowledge.entails(f"d{number} <= g") for number in range(12))
    assert len(theory.questions) == len(set(theory.questions)) > 10


def test_an_order_of_many_terms_is_found_lazily():
    names = [f"t{number}" for number in range(12)]
    theory = OrderTheory(tuple(names))
    known = Knowledge(theory=theory, open_universe=False)
    chain_ = " & ".join(f'"{low}<{high}"' for low, high in pairwise(names))
    assert known.entails(f'{chain_} <= "t0<t11"')
    assert known.entails(f'empty({chain_} & "t11<t0")')
    assert not known.entails(f'{chain_} <= "t11<t0"')
    assert len(theory.labels) == 132


@dataclass(frozen=True)
class OrderTheory:
    """The labels ``a<b`` of all pairs of names, as a strict total order."""

    names: tuple[str, ...]

    @property
    def labels(self) -> Collection[str]:
        return {f"{a}<{b}" for a in self.names for b in self.names if a != b}

    def refute(self, inside: Collection[str], outside: Collection[str]) -> Refutation | None:
        edges: dict[str, list[str]] = {}
        for label in inside:
            low, high = label.split("<")
            edges.setdefault(low, []).append(high)
        reached = {start: self._find_paths(start, edges) for start in edges}
        for label in sorted(outside):
            low, high = label.split("<")
            path = reached.get(low, {}).get(high)
            if path:
                return Refutation(path, (label,))
        for start, paths in reached.items():
            if start in paths:
                return Refutation(paths[start], ())
        return None

    @staticmethod
    def _find_paths(start: str, edges: dict[str, list[str]]) -> dict[str, tuple[str, ...]]:
        paths: dict[str, tuple[str, ...]] = {}
        queue = [(start, ())]
        for name, path in queue:
            for after in edges.get(name, ()):
                if after not in paths:
                    paths[after] = (*path, f"{name}<{after}")
                    queue.append((after, paths[after]))
        return paths


def test_without_a_theory_nothing_is_checked():
    known = Knowledge([subset("B", "A"), equal("C", "A")])
    assert known.theory is None
    assert known.explain(disjoint("B", "D")) is None
    assert known.explain(statement("B <= C")).from_theory == ()
