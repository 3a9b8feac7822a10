"""Proofs as chains: each step against brute force over all worlds, or over all regions; and the smallest proofs."""

from collections.abc import Iterable, Sequence
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.logic import (
    Explanation,
    Knowledge,
    Statement,
    disjoint,
    empty,
    equal,
    intersection,
    nonempty,
    outside,
    overlapping,
    proper_subset,
    statement,
    subset,
    union,
)
from provenn.logic.knowledge.derivation import MOST_PREMISES, Inference, derive_conclusion, list_lines
from provenn.logic.terms import Op, Term
from tests.logic.knowledge.all_worlds import AllWorlds
from tests.strategies import statements

LABELS = "ABCD"
WORLDS = AllWorlds(LABELS)
SETS = [f"s{number}" for number in range(8)]


def check_chain(why: Explanation) -> tuple[Inference, ...]:
    """Assert that a chain leads from exactly the facts to the conclusion; return its steps."""
    chain = why.chain
    assert chain[-1].statement == why.conclusion
    known = set(why.facts)
    for step in chain:
        assert known.issuperset(step.premises)
        known.add(step.statement)
    used = {premise for step in chain for premise in step.premises}
    assert used == {*why.facts, *(step.statement for step in chain[:-1])}
    assert len({step.statement for step in chain}) == len(chain)
    return chain


@st.composite
def situations(draw: st.DrawFn) -> tuple[list[Statement], list[Statement], bool]:
    """Draw facts of every kind without a contradiction, and simple statements that follow from them."""
    open_universe = draw(st.booleans())
    facts: list[Statement] = []
    for fact in draw(st.lists(statements(LABELS, parts=2, leaves=3), min_size=4, max_size=7, unique=True)):
        if WORLDS.allowed([*facts, fact], open_universe=open_universe).any():
            facts.append(fact)
    allowed = WORLDS.allowed(facts, open_universe=open_universe)
    pairs = list(permutations(LABELS, 2))
    questions = [
        *(relate(*pair) for relate in (subset, disjoint, overlapping, proper_subset) for pair in pairs),
        *(make(label) for make in (empty, nonempty, outside) for label in LABELS),
    ]
    return facts, [question for question in questions if WORLDS.truth(question)[allowed].all()][:6], open_universe


@settings(max_examples=40, deadline=None)
@given(situations())
def test_every_step_holds_in_all_worlds_of_its_premises(situation):
    """Facts of every kind over four sets, and all their 65 536 worlds."""
    facts, questions, open_universe = situation
    known = Knowledge(facts, open_universe=open_universe)
    for question in questions:
        why = known.explain(question)
        assert why is not None
        for step in check_chain(why):
            allowed = WORLDS.allowed(step.premises, open_universe=step.open_universe)
            assert WORLDS.truth(step.statement)[allowed].all()
            assert open_universe or not step.open_universe


def find_regions(operand: Term) -> int:
    """Return the regions of a term over `SETS` as a mask: evaluated here, and not by the logic."""
    regions = range(2 ** len(SETS))
    everything = (1 << len(regions)) - 1
    stack: list[int] = []
    for token in operand.postfix:
        if isinstance(token, str):
            bit = SETS.index(token)
            stack.append(sum(1 << region for region in regions if region >> bit & 1))
        elif token is Op.EMPTY:
            stack.append(0)
        elif token is Op.NOT:
            stack.append(everything ^ stack.pop())
        else:
            right, left = stack.pop(), stack.pop()
            stack.append(
                {Op.AND: left & right, Op.OR: left | right, Op.MINUS: left & ~right, Op.XOR: left ^ right}[token]
            )
    return stack[0]


def find_excluded(facts: Iterable[Statement]) -> int:
    """Return the regions that facts exclude, each of which compares sets or states that they are apart or empty."""
    excluded = 0
    for fact in facts:
        for claim in fact.claims():  # type: ignore[attr-defined]
            assert not claim.inhabited
            excluded |= find_regions(claim.region)
    return excluded


@st.composite
def lineages(draw: st.DrawFn) -> list[Statement]:
    """Draw facts that make most sets from others, as catalogs do."""
    facts: list[Statement] = []
    for place in range(2, len(SETS)):
        left, right = draw(st.sampled_from(SETS[:place])), draw(st.sampled_from(SETS[:place]))
        make = draw(
            st.sampled_from(
                [
                    intersection,
                    union,
                    lambda new, a, _: subset(new, a),
                    lambda new, a, _: equal(new, a),
                ]
            )
        )
        facts.append(make(SETS[place], left, right))
    left, right = draw(st.lists(st.sampled_from(SETS), min_size=2, max_size=2, unique=True))
    return [*facts, draw(st.sampled_from([subset, disjoint]))(left, right)]


@settings(max_examples=60, deadline=None)
@given(lineages())
def test_steps_of_long_proofs_exclude_only_regions_that_their_premises_exclude(facts):
    """Definitions over eight sets: every proved relation of two sets, over all 256 regions."""
    known = Knowledge(facts, open_universe=False)
    for left, right in combinations(SETS, 2):
        for question in (subset(left, right), subset(right, left), disjoint(left, right)):
            if known.entails(question):
                why = known.explain(question)
                assert why is not None
                for step in check_chain(why):
                    excluded = find_excluded(step.premises)
                    assert find_excluded([step.statement]) & ~excluded == 0
                    for premise in step.premises:
                        fewer = find_excluded(other for other in step.premises if other != premise)
                        assert find_excluded([step.statement]) & ~fewer != 0, "a premise is superfluous"


@settings(max_examples=30, deadline=None)
@given(situations())
def test_no_fewer_facts_prove_it(situation):
    """A small proof is the smallest of all, by trying all smaller sets of facts in all worlds."""
    facts, questions, _ = situation
    known = Knowledge(facts, open_universe=False)
    for question in questions:
        why = known.explain(question)
        for size in range(0 if why is None else len(why.facts)):
            for fewer in combinations(facts, size):
                assert not WORLDS.truth(question)[WORLDS.allowed(fewer, open_universe=False)].all()


def prove(facts: Sequence[str], question: str) -> Explanation:
    why = Knowledge(facts).explain(question)
    assert why is not None
    return why


def test_the_shorter_of_two_ways_is_shown():
    """Seven facts lead around, and two lead straight."""
    around = ["A <= B", "B <= C", "C <= D", "D <= E", "E <= F", "F <= G", "G <= H"]
    assert [*map(str, prove([*around, "A <= X", "X <= H"], "A <= H").facts)] == ["A <= X", "X <= H"]


def test_a_short_proof_is_its_facts():
    """Up to three facts are read at once: no step is put between."""
    why = prove(["B <= A", "C == A", "D == B & C"], "B == D")
    assert [step.statement for step in why.chain] == [statement("B == D")]
    assert str(why) == "B == D, because\n  B <= A\n  C == A\n  D == B & C"


def test_a_long_proof_reads_from_top_to_bottom():
    """Facts come where they are used, and each step names its lines."""
    why = prove(["D <= E", "A <= B", "E <= F", "B <= C", "C <= D"], "A <= F")
    assert str(why).splitlines() == [
        "A <= F, because",
        "  1. A <= B",
        "  2. B <= C",
        "  3. C <= D",
        "  4. so A <= D  (from 1, 2 and 3)",
        "  5. D <= E",
        "  6. E <= F",
        "  7. so A <= F  (from 4, 5 and 6)",
    ]
    assert "so A &lt;= D" in why._repr_html_()


def test_the_open_universe_is_a_line():
    """A step that needs an object outside all sets names it."""
    why = prove(["A <= B", "B <= C", "C <= D", "D <= E"], "outside(A, B, C, D, E)")
    assert why.open_universe
    lines = list_lines(prove(["A <= B", "B <= C", "C <= D", "D <= E", "E <= F"], "A <= F").chain)
    assert all(line.statement is not None for line in lines)
    (step,) = why.chain
    assert [line.statement for line in list_lines([step])] == [None, why.conclusion]


def test_a_result_that_two_steps_need_is_told_once():
    """That B is D is needed for both sides of the last equality."""
    facts = [
        "a == s & p",
        "b == a & q",
        "c == s & q",
        "d == c & p",
        "e == d | x",
        "f == b | x",
        "g == e & y",
        "h == f & y",
    ]
    chain = check_chain(prove(facts, "g == h"))
    assert len(chain) > 1
    assert all(len(step.premises) <= len(facts) // 2 + 1 for step in chain)


def test_a_fact_with_a_ground_follows_from_the_steps_to_it():
    """A fact about partners holds because of a statement about the sources: the chain leads there first."""
    facts = [*map(statement, ("A <= B", "B <= C", "pA <= pC", "x == pA & y"))]
    chain = derive_conclusion(facts, statement("x <= pC"), open_universe=False, grounds={facts[2]: statement("A <= C")})
    assert [str(step.statement) for step in chain] == ["A <= C", "pA <= pC", "x <= pC"]
    assert chain[1].premises == (statement("A <= C"),)


def test_facts_that_prove_nothing_stay_one_step():
    """What the logic cannot retrace is told as it was: a list of facts."""
    facts = tuple(map(statement, ("A <= B", "B <= C", "C <= D", "X <= Y")))
    assert derive_conclusion(facts, statement("D <= A"), open_universe=False) == (
        Inference(statement("D <= A"), facts),
    )


@pytest.mark.parametrize("length", [10, 40])
def test_the_steps_of_a_chain_are_short(length):
    """A long chain of subsets is divided until every step has few premises."""
    chain = check_chain(prove([f"s{number} <= s{number + 1}" for number in range(length)], f"s0 <= s{length}"))
    assert max(len(step.premises) for step in chain) <= MOST_PREMISES
