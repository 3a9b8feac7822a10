"""Knowledge against z3, on random lineages with random facts besides."""

from collections.abc import Sequence
from random import Random

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.lineages import generate, label
from provenn.logic import (
    Knowledge,
    Lineage,
    Statement,
    disjoint,
    empty,
    equal,
    nonempty,
    overlapping,
    subset,
)
from provenn.logic.statements import And, Not, Or
from tests.logic.z3_formulas import build_formula
from tests.repetitions import repeat_a_few

QUESTIONS = 40
EXPLAINED = 3


class Oracle:
    """Worlds as z3 sees them: claims are Booleans, and each claim that something is there has an object of its own."""

    def __init__(self, facts: Sequence[Statement], *, open_universe: bool) -> None:
        certain = [claim for fact in facts if not isinstance(fact, Or | Not) for claim in claims(fact)]
        self.choices = [fact for fact in facts if isinstance(fact, Or | Not)]
        self.inhabited = [build_formula(region) for region, inhabited in certain if inhabited]
        self.labels = {label for fact in facts for label in fact.labels} if open_universe else None
        self.solver = z3.Solver()
        self.solver.add(*(z3.Not(build_formula(region)) for region, inhabited in certain if not inhabited))

    def entails(self, question: Statement) -> bool:
        """Whether no world has the facts and not the question."""
        return not any(self._possible(chosen, question.labels) for chosen in _ways(Not(question), self.choices))

    @property
    def consistent(self) -> bool:
        """Whether some world has the facts."""
        return not self.entails(empty("x") & nonempty("x"))

    def _possible(self, chosen: list, labels: Sequence[str]) -> bool:
        wanted = [*self.inhabited, *(build_formula(region) for region, inhabited in chosen if inhabited)]
        if self.labels is not None:
            wanted.append(z3.And([z3.Not(z3.Bool(label)) for label in self.labels.union(labels)]))
        self.solver.push()
        self.solver.add(*(z3.Not(build_formula(region)) for region, inhabited in chosen if not inhabited))
        possible = all(self.solver.check(item) == z3.sat for item in wanted)
        self.solver.pop()
        return possible


def claims(path: Statement) -> list:
    """What a statement without choices claims."""
    return [claim for part in path.parts for claim in claims(part)] if isinstance(path, And) else list(path.claims())


def _ways(message: Statement, choices: list[Statement]) -> list:
    """All ways to make statements true, as claims: the disjunctive normal form."""
    methods = [[]]
    for choice in [message, *choices]:
        methods = [[*method, *more] for method in methods for more in _dnf(choice, holds=True)]
    return methods


def _dnf(message: Statement, *, holds: bool) -> list:
    match message:
        case Not(part):
            return _dnf(part, holds=not holds)
        case And(parts) | Or(parts):
            if isinstance(message, And) == holds:
                methods = [[]]
                for part in parts:
                    methods = [[*method, *more] for method in methods for more in _dnf(part, holds=holds)]
                return methods
            return [method for part in parts for method in _dnf(part, holds=holds)]
    result = list(message.claims())
    return [result] if holds else [[(region, not inhabited)] for region, inhabited in result]


def some_statement(random: Random, size: int) -> Statement:
    """One of the simple statements about two or three sets, near each other more often than not."""
    item = random.randrange(size)
    other = min(size - 1, max(0, item + random.randint(-12, 12))) if random.random() < 0.6 else random.randrange(size)
    a, b = label(item), label(other)
    return random.choice([equal, subset, disjoint, overlapping, lambda x, _: nonempty(x), lambda x, _: empty(x)])(a, b)


def some_facts(seed: int, size: int, extra: int) -> Knowledge:
    """A lineage, and facts besides that do not contradict it."""
    random = Random(seed)
    known = Knowledge(generate(size, seed).statements(), open_universe=random.random() < 0.5)
    for _ in range(extra):
        more = some_statement(random, size)
        if random.random() < 0.2:
            more = Or((more, some_statement(random, size)))
        if Knowledge([*known.facts, more], open_universe=known.open_universe).consistent:
            known.add(more)
    return known


def assert_agreement(seed: int, size: int, extra: int) -> None:
    """Ask z3, and Knowledge in two orders, the same questions; look at every world, and at some explanations."""
    known = some_facts(seed, size, extra)
    is_open = known.open_universe
    random = Random(seed)
    shuffled = Knowledge(random.sample(list(known.facts), len(known.facts)), open_universe=is_open)
    oracle = Oracle(known.facts, open_universe=is_open)
    assert oracle.consistent
    explained = 0
    for _ in range(QUESTIONS):
        question = some_statement(random, size)
        expected = oracle.entails(question)
        assert known.entails(question) == shuffled.entails(question) == expected, str(question)
        if not expected:
            world = shuffled.counterexample(question)
            assert world is not None
            assert not world.satisfies(question)
            assert all(map(world.satisfies, known.facts))
        elif explained < EXPLAINED:
            explained += 1
            why = shuffled.explain(question)
            assert why is not None
            assert set(why.facts) <= set(known.facts)
            assert Oracle(why.facts, open_universe=why.open_universe).entails(question)
            for number in range(len(why.facts)):
                fewer = why.facts[:number] + why.facts[number + 1 :]
                assert not Oracle(fewer, open_universe=why.open_universe).entails(question), "a fact can be left out"


def assert_same_conflict(seed: int, size: int, extra: int) -> None:
    """Deny one thing after another, until it contradicts the facts: z3 sees that too, and that all of it is needed."""
    known = some_facts(seed, size, extra)
    random = Random(seed)
    for _ in range(QUESTIONS):
        opposite = Not(some_statement(random, size))
        output = Knowledge([*known.facts, opposite], open_universe=known.open_universe)
        assert output.consistent == Oracle(output.facts, open_universe=output.open_universe).consistent
        conflict = output.conflict()
        if conflict is not None:
            assert not Oracle(conflict.facts, open_universe=conflict.open_universe).consistent
            for number in range(len(conflict.facts)):
                fewer = conflict.facts[:number] + conflict.facts[number + 1 :]
                assert Oracle(fewer, open_universe=conflict.open_universe).consistent, "a fact can be left out"
            return


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 200), st.integers(0, 8))
def test_knowledge_and_z3_give_the_same_answers(seed, size, extra):
    assert_agreement(seed, size, extra)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 100), st.integers(0, 6))
def test_knowledge_and_z3_see_the_same_contradictions(seed, size, extra):
    assert_same_conflict(seed, size, extra)


@pytest.mark.campaign
@settings(max_examples=1000, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 200), st.integers(0, 12))
def test_knowledge_and_z3_agree_in_the_long_run(seed, size, extra):
    assert_agreement(seed, size, extra)
    assert_same_conflict(seed, size, extra)


@pytest.mark.parametrize("seed", repeat_a_few(range(5), 2))
def test_arrays_say_what_statements_say(seed):
    lineage = generate(400, seed)
    left, right = lineage.left.clip(0), lineage.right.clip(0)
    bulk = Knowledge(Lineage(lineage.labels(), lineage.operations, left, right))
    single = Knowledge(lineage.statements())
    assert list(bulk.facts) == list(single.facts)
    random = Random(seed)
    for _ in range(300):
        question = some_statement(random, 400)
        assert bulk.entails(question) == single.entails(question)
        assert bulk.explain(question) == single.explain(question)
    single.add(*(equal(name, name) for name in lineage.labels()))  # base sets of which nothing is made
    assert bulk.classify() == single.classify()
