"""Knowledge against z3, on random lineages with random facts besides."""

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
from provenn.logic.terms import Op, Term

QUESTIONS = 40


class Oracle:
    """Worlds as z3 sees them: claims are Booleans, and each claim that something is there has an object of its own."""

    def __init__(self, facts: list[Statement], open_universe: bool) -> None:
        self.certain = [claim for fact in facts if not isinstance(fact, Or | Not) for claim in claims(fact)]
        self.choices = [fact for fact in facts if isinstance(fact, Or | Not)]
        self.open_universe = open_universe

    def possible(self, negated: Statement) -> bool:
        """Whether some world has the facts and not the question."""
        return any(self._possible(chosen) for chosen in _ways(Not(negated), self.choices))

    def _possible(self, chosen: list) -> bool:
        every = [*self.certain, *chosen]
        empties = [region for region, inhabited in every if not inhabited]
        solver = z3.Solver()
        solver.add(*(z3.Not(formula(region)) for region in empties))
        wanted = [formula(region) for region, inhabited in every if inhabited]
        if self.open_universe:
            names = {name for region, _ in every for name in region.labels}
            wanted.append(z3.And([z3.Not(z3.Bool(name)) for name in names]))
        return all(solver.check(one) == z3.sat for one in wanted)


def claims(said: Statement) -> list:
    """What a statement without choices claims."""
    return [one for part in said.parts for one in claims(part)] if isinstance(said, And) else list(said.claims())


def _ways(said: Statement, choices: list[Statement]) -> list:
    """All ways to make statements true, as claims: the disjunctive normal form."""
    ways = [[]]
    for one in [said, *choices]:
        ways = [[*way, *more] for way in ways for more in _dnf(one, holds=True)]
    return ways


def _dnf(said: Statement, *, holds: bool) -> list:
    match said:
        case Not(part):
            return _dnf(part, holds=not holds)
        case And(parts) | Or(parts):
            if isinstance(said, And) == holds:
                ways = [[]]
                for part in parts:
                    ways = [[*way, *more] for way in ways for more in _dnf(part, holds=holds)]
                return ways
            return [way for part in parts for way in _dnf(part, holds=holds)]
    found = list(said.claims())
    return [found] if holds else [[(region, not inhabited)] for region, inhabited in found]


def formula(region: Term) -> z3.BoolRef:
    stack = []
    for token in region.postfix:
        if isinstance(token, str):
            stack.append(z3.Bool(token))
        elif token is Op.EMPTY:
            stack.append(z3.BoolVal(False))
        elif token is Op.NOT:
            stack.append(z3.Not(stack.pop()))
        else:
            right, left = stack.pop(), stack.pop()
            join = {Op.AND: z3.And, Op.OR: z3.Or, Op.XOR: z3.Xor, Op.MINUS: lambda a, b: z3.And(a, z3.Not(b))}
            stack.append(join[token](left, right))
    return stack[0]


def some_statement(random: Random, size: int) -> Statement:
    """One of the simple statements about two or three sets, near each other more often than not."""
    one = random.randrange(size)
    other = min(size - 1, max(0, one + random.randint(-12, 12))) if random.random() < 0.6 else random.randrange(size)
    a, b = label(one), label(other)
    return random.choice([equal, subset, disjoint, overlapping, lambda x, _: nonempty(x), lambda x, _: empty(x)])(a, b)


def agree(seed: int, size: int, extra: int) -> int:
    """Ask z3 and Knowledge the same questions; return how many were asked."""
    random = Random(seed)
    open_universe = random.random() < 0.5
    facts: list[Statement] = generate(size, seed).statements()
    known = Knowledge(facts, open_universe=open_universe)
    for _ in range(extra):
        more = some_statement(random, size)
        if random.random() < 0.2:
            more = Or((more, some_statement(random, size)))
        if Knowledge([*known.facts, more], open_universe=open_universe).consistent:
            known.add(more)
            facts.append(more)
    random.shuffle(facts)
    shuffled = Knowledge(facts, open_universe=open_universe)
    oracle = Oracle(facts, open_universe)
    for _ in range(QUESTIONS):
        question = some_statement(random, size)
        expected = not oracle.possible(question)
        assert known.entails(question) == expected, (seed, str(question))
        assert shuffled.entails(question) == expected, (seed, str(question))
    return QUESTIONS


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 120), st.integers(0, 6))
def test_knowledge_and_z3_give_the_same_answers(seed, size, extra):
    assert agree(seed, size, extra) == QUESTIONS


@pytest.mark.campaign
@settings(max_examples=600, deadline=None)
@given(st.integers(0, 10**9), st.integers(2, 200), st.integers(0, 10))
def test_knowledge_and_z3_give_the_same_answers_in_the_long_run(seed, size, extra):
    assert agree(seed, size, extra) == QUESTIONS


@pytest.mark.parametrize("seed", range(5))
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
