"""Derive a conclusion from its facts step by step: a long proof becomes a chain of short ones.

A proof of many facts is divided: a *lemma*, a simple statement about two sets, follows from fewer facts, and with the
lemma the conclusion follows from fewer facts as well. Both halves are divided in turn, until no step has more premises
than a reader grasps at once. A lemma is told once; later steps refer to it. Each step is found by the same search as an
explanation, so that its premises imply it and none of them can be left out (compare the report tree of PubGrub, where
shared derivations are told once).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations, permutations
from types import MappingProxyType
from typing import Final, NamedTuple

from provenn import display
from provenn.display.text import join_words
from provenn.logic.knowledge.conflicts import Case, Resolution, find_conflict, minimize_conflict
from provenn.logic.knowledge.flat_sets import FlatSets
from provenn.logic.knowledge.formulas import Conjunction, Formula, Inhabited, iterate_conjuncts
from provenn.logic.knowledge.reasoner import Reasoner
from provenn.logic.knowledge.search import WorldSearch
from provenn.logic.statements import (
    Property,
    SetComparison,
    Statement,
    disjoint,
    empty,
    equal,
    nonempty,
    overlapping,
    proper_subset,
    subset,
)
from provenn.logic.terms import Term, term

__all__ = ["MOST_PREMISES", "ChainLine", "Inference", "derive_conclusion", "list_lines", "write_lines"]

MOST_PREMISES: Final = 3
"""The most premises of a step that a reader grasps at once: a proof with at most so many facts has a single step."""

_MOST_FACTS: Final = 60
"""The most facts of a proof that is divided."""

_MOST_TERMS: Final = 16
"""The most sets whose relations are tried as lemmas of a step."""

_MOST_LEMMAS: Final = 6
"""The most lemmas that are compared before the best is taken; the first that halves a step is good enough."""

_MOST_REMEMBERED: Final = 1_000
"""The most long proofs whose steps are remembered."""

_EXISTENTIAL: Final = frozenset({"nonempty", "overlapping", "outside"})


@dataclass(frozen=True, slots=True)
class Inference:
    """A step of a proof.

    Attributes
    ----------
    statement
        The statement that follows.
    premises
        The statements from which it follows, none of which can be left out: facts, and statements of earlier steps.
    open_universe
        Whether the step needs an object outside all sets.
    """

    statement: Statement
    premises: tuple[Statement, ...]
    open_universe: bool = False

    def relabelled(self, translate: Callable[[Statement], Statement]) -> Inference:
        """Return the step with its statements translated."""
        return Inference(translate(self.statement), tuple(map(translate, self.premises)), self.open_universe)


class ChainLine(NamedTuple):
    """A line of a proof: a fact without premises, or a statement that follows from earlier lines.

    Attributes
    ----------
    statement
        The statement; None stands for the open universe.
    premises
        The numbers of the lines from which the statement follows, counted from 1; none for a fact.
    """

    statement: Statement | None
    premises: tuple[int, ...] = ()


def list_lines(steps: Iterable[Inference]) -> list[ChainLine]:
    """Return the lines of a proof in reading order: each fact before its first use, and no statement twice."""
    lines: list[ChainLine] = []
    numbers: dict[Statement | None, int] = {}

    def add_line(statement: Statement | None, premises: tuple[int, ...] = ()) -> int:
        if statement not in numbers:
            lines.append(ChainLine(statement, premises))
            numbers[statement] = len(lines)
        return numbers[statement]

    for step in steps:
        needed = (*step.premises, None) if step.open_universe else step.premises
        add_line(step.statement, tuple(sorted([add_line(premise) for premise in needed])))
    return lines


def write_lines(lines: Sequence[ChainLine]) -> list[str]:
    """Return the lines of a proof as texts; numbered, if some of them follow from others.

    >>> from provenn.logic import statement
    >>> first, second, third = map(statement, ("A <= B", "B <= C", "A <= C"))
    >>> write_lines([ChainLine(first), ChainLine(second), ChainLine(third, (1, 2))])
    ['1. A <= B', '2. B <= C', '3. so A <= C  (from 1 and 2)']
    """
    texts = [display.OPEN_UNIVERSE if line.statement is None else str(line.statement) for line in lines]
    if not any(line.premises for line in lines):
        return texts
    return [
        f"{number}. so {text}  (from {join_words([*map(str, line.premises)])})"
        if line.premises
        else f"{number}. {text}"
        for number, (line, text) in enumerate(zip(lines, texts, strict=True), 1)
    ]


def derive_conclusion(
    facts: Sequence[Statement],
    conclusion: Statement,
    *,
    open_universe: bool,
    grounds: Mapping[Statement, Statement] = MappingProxyType({}),
) -> tuple[Inference, ...]:
    """Return steps that lead from facts to their conclusion; the last step states the conclusion.

    Every fact is a premise of some step, and every step but the last is a premise of a later one. A proof that is
    short, very long, or without a lemma that divides it is a single step.

    Parameters
    ----------
    facts
        A minimal set of facts that implies the conclusion.
    conclusion
        The conclusion.
    open_universe
        Whether the facts need an object outside all sets.
    grounds
        For a fact that holds because another statement holds, that statement. It follows from the other facts, and the
        fact follows from it, though not by this logic.

    Examples
    --------
    >>> from provenn.logic import statement
    >>> facts = [statement(f"{small} <= {large}") for small, large in ("AB", "BC", "CD", "DE")]
    >>> for step in derive_conclusion(facts, statement("A <= E"), open_universe=False):
    ...     print(step.statement, "from", ", ".join(map(str, step.premises)))
    A <= C from A <= B, B <= C
    A <= E from C <= D, D <= E, A <= C
    """
    if not MOST_PREMISES < len(facts) <= _MOST_FACTS:
        return (Inference(conclusion, tuple(facts), open_universe),)
    return _derive(tuple(facts), conclusion, open_universe, tuple(grounds.items()))


@lru_cache(maxsize=_MOST_REMEMBERED)
def _derive(
    facts: tuple[Statement, ...],
    conclusion: Statement,
    open_universe: bool,
    grounds: tuple[tuple[Statement, Statement], ...],
) -> tuple[Inference, ...]:
    """Return the steps of a long proof, which a page shows again after each change of the archive."""
    whole = Inference(conclusion, facts, open_universe)
    ground_by_fact = dict(grounds)
    derivation = _Derivation(open_universe)
    first_facts = [fact for fact in facts if fact not in ground_by_fact]
    for fact in facts:
        if fact in ground_by_fact and not derivation.add_ground(fact, ground_by_fact[fact], first_facts):
            return (whole,)
    needed = derivation.explain(facts, conclusion)
    if needed is None:
        return (whole,)
    derivation.divide(needed)
    steps = tuple(derivation.steps.values())
    used = {premise for step in steps for premise in step.premises}
    return steps if used.issuperset(facts) and used.issuperset(step.statement for step in steps[:-1]) else (whole,)


class _PossibleObject(NamedTuple):
    """An object of a possible world: the parts that it lies in, and where else it lies, as far as that was asked."""

    parts: set[int]
    values: dict[int, bool]


class _Division(NamedTuple):
    """A step divided by a lemma: how the lemma follows (None if it was told before), and what follows from it."""

    lemma: Inference | None
    rest: Inference


@dataclass(slots=True)
class _Derivation:
    """The steps found so far, by their statements, and the search for further steps."""

    open_universe: bool
    steps: dict[Statement, Inference] = field(default_factory=dict)
    _sets: FlatSets = field(default_factory=FlatSets)
    _formulas: dict[Statement, Formula] = field(default_factory=dict)
    _reasoner: Reasoner = field(init=False)

    def __post_init__(self) -> None:
        self._reasoner = Reasoner(self._sets.graph, largest_solver=sys.maxsize)

    def add_ground(self, fact: Statement, ground: Statement, facts: Sequence[Statement]) -> bool:
        """Add the step to a fact from its ground, and the steps to the ground; return whether the ground follows."""
        if ground not in facts:
            step = self.explain(facts, ground)
            if step is None:
                return False
            self.divide(step)
        self.steps[fact] = Inference(fact, (ground,))
        return True

    def divide(self, step: Inference) -> None:
        """Add a step, divided by lemmas as long as it has too many premises."""
        pending = [step]
        while pending:
            step = pending.pop()
            if step.statement in self.steps:
                continue
            division = self._find_division(step) if len(step.premises) > MOST_PREMISES else None
            if division is None:
                self.steps[step.statement] = step
                continue
            pending.append(division.rest)
            if division.lemma is not None:
                pending.append(division.lemma)

    def _find_division(self, step: Inference) -> _Division | None:
        """Return the best division of a step into two with fewer premises; None if no tried lemma divides it."""
        size = len(step.premises)
        best: tuple[tuple[int, ...], _Division] | None = None
        tried = 0
        objects: list[_PossibleObject] = []  # possible objects, with which a lemma would be false
        for rank, statement in enumerate(dict.fromkeys([*self.steps, *_propose_lemmas(step)])):
            if statement == step.statement or statement in step.premises:
                continue
            division = self._divide_by_lemma(step, statement, objects)
            if division is None:
                continue
            sizes = (0 if division.lemma is None else len(division.lemma.premises), len(division.rest.premises))
            cost = (max(sizes), sum(sizes), rank)
            if best is None or cost < best[0]:
                best = cost, division
            tried += 1
            if tried == _MOST_LEMMAS or max(sizes) <= max(MOST_PREMISES, (size + 1) // 2):
                break
        return None if best is None else best[1]

    def _divide_by_lemma(
        self, step: Inference, statement: Statement, objects: list[_PossibleObject]
    ) -> _Division | None:
        """Return a step divided by a lemma; None if the lemma does not follow, or a half has no fewer premises."""
        size, lemma = len(step.premises), None
        if statement not in self.steps:
            if self._is_refuted(statement, objects):
                return None
            lemma = self._find_premises(step.premises, statement, objects)
            if lemma is None:
                return None
            rest = self._find_rest_apart(step, lemma)
            if rest is not None:
                return _Division(lemma, rest)
            lemma = self.explain(lemma.premises, statement)
            if lemma is None or not 1 < len(lemma.premises) < size:
                return None
        rest = self.explain(step.premises, step.statement, lemma=statement)
        return _Division(lemma, rest) if rest is not None and len(rest.premises) < size else None

    def _find_rest_apart(self, step: Inference, lemma: Inference) -> Inference | None:
        """Return how the conclusion of a step follows from a lemma and the premises that the lemma does not need.

        Nothing can be left out of the lemma's premises or of the rest's: without a premise of one half, the other half
        would lead to the conclusion all the same, and so the step would not need this premise.
        """
        others = [premise for premise in step.premises if premise not in lemma.premises]
        if len(lemma.premises) == 1 or not others:
            return None
        rest = self._find_premises(others, step.statement, lemma=lemma.statement)
        if rest is None or not lemma.open_universe == rest.open_universe == step.open_universe:
            return None
        return rest if len(rest.premises) == len(others) + 1 else None

    def explain(
        self,
        premises: Sequence[Statement],
        conclusion: Statement,
        objects: list[_PossibleObject] | None = None,
        lemma: Statement | None = None,
    ) -> Inference | None:
        """Return how a conclusion follows from the premises that it needs beside a lemma.

        If it does not follow, the result is None, and the objects of a world in which it is false are added to
        `objects`: every one of them is possible, if the premises claim nothing of inhabited sets that depends on it.
        """
        return self._find_premises(premises, conclusion, objects, lemma, is_minimal=True)

    def _find_premises(
        self,
        premises: Sequence[Statement],
        conclusion: Statement,
        objects: list[_PossibleObject] | None = None,
        lemma: Statement | None = None,
        *,
        is_minimal: bool = False,
    ) -> Inference | None:
        """Return `explain`; unless it `is_minimal`, some of the premises may not be needed."""
        cases = self._sets.build_cases([self._find_formula(premise) for premise in premises], conclusion)
        if lemma is not None:
            lemma_formula = self._find_formula(lemma)
            cases = [Case(case.formulas, Conjunction((case.always, lemma_formula))) for case in cases]
        for is_open in (False, True) if self.open_universe else (False,):
            search = WorldSearch(self._reasoner, (), (), open_universe=is_open)
            conflict = find_conflict(search, cases, range(len(premises)))
            if isinstance(conflict, Resolution):
                if objects is not None:
                    objects += (_PossibleObject(parts, {}) for parts in search.objects(conflict.claims))
                continue
            if is_minimal:
                conflict = minimize_conflict(search, cases, conflict)
            needed = tuple(premises[place] for place in conflict)
            return Inference(conclusion, needed if lemma is None else (*needed, lemma), is_open)
        return None

    def _find_formula(self, statement: Statement) -> Formula:
        """Return the formula of a statement, built once."""
        if statement not in self._formulas:
            self._formulas[statement] = self._sets.build_formula(statement)
        return self._formulas[statement]

    def _is_refuted(self, statement: Statement, objects: Sequence[_PossibleObject]) -> bool:
        """Return whether a statement says of some sets that they are empty, and one of the objects is in one of them.

        A lemma that is passed over by mistake makes a proof longer, and never wrong.
        """
        holds = self._sets.graph.holds
        forbidden = [
            part.literal
            for part in iterate_conjuncts(self._find_formula(statement))
            if isinstance(part, Inhabited) and not part.holds
        ]
        return any(holds(literal, *possible) for literal in forbidden for possible in objects)


def _propose_lemmas(step: Inference) -> Iterator[Statement]:
    """Yield simple statements about the sets of a step that may follow from some of its premises."""
    statements = (step.statement, *step.premises)
    counts = Counter(label for statement in statements for label in statement.labels)
    # A set of a single statement connects it with no other.
    terms = _spread(term(label) for label, count in counts.items() if count > 1)
    goals = [operand for operand in terms if operand.label in step.statement.labels]
    others = [operand for operand in terms if operand not in goals]
    compounds = _spread(
        dict.fromkeys(operand for statement in statements for operand in statement.terms() if operand.label is None)
    )
    ordered = [*goals, *others]
    for left, right in combinations(ordered, 2):
        yield equal(left, right)
    for left, right in permutations(ordered, 2):
        yield subset(left, right)
    for left, right in combinations(ordered, 2):
        yield disjoint(left, right)
    if any(map(_is_existential, statements)):
        yield from map(nonempty, ordered)
        for left, right in combinations(ordered, 2):
            yield overlapping(left, right)
        for left, right in permutations(ordered, 2):
            yield proper_subset(left, right)
    yield from map(empty, ordered)
    for left in ordered:
        for right in compounds:
            if left not in map(term, right.labels):
                yield equal(left, right)
                yield subset(left, right)
                yield subset(right, left)


def _is_existential(statement: Statement) -> bool:
    """Return whether a statement may claim that some set is inhabited."""
    match statement:
        case SetComparison("==" | "<=" | ">="):
            return False
        case Property(name):
            return name in _EXISTENTIAL
    return True


def _spread(operands: Iterable[Term]) -> list[Term]:
    """Return the operands, or a limited number of them, taken evenly."""
    everything = list(operands)
    if len(everything) <= _MOST_TERMS:
        return everything
    return [everything[place * len(everything) // _MOST_TERMS] for place in range(_MOST_TERMS)]
