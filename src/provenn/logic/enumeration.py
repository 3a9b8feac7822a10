"""From statements to hypercubes, without ever building the tautology.

The regions come first. Claims that a region is empty rule regions out while sets are added one by one; what is left is
usually little, and every hypercube lies within it. Only then are hypercubes enumerated, and those dropped that miss a
region claimed to be inhabited, or satisfy no part of a disjunction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from provenn.logic.algorithms import any_binary_operator, check_budget
from provenn.logic.hypercubes import Hypercubes, Labelled, every
from provenn.logic.operators import Operator
from provenn.logic.statements import And, Claim, Comparison, Not, Or, Property, Statement
from provenn.logic.terms import Term

__all__ = ["enumerated", "holding"]

_MOST_REGIONS = 1 << 20
_MOST_BRANCHES = 10_000

Flags = NDArray[np.bool_]


def enumerated(statements: Iterable[Statement], labels: tuple[str, ...], budget: int) -> Labelled:
    """The hypercubes in which all the statements hold; `labels` are all the sets they mention, and maybe more."""
    facts = [fact for statement in statements for fact in _conjuncts(_normal(statement))]
    return _enumerated(facts, labels, budget)


def holding(p: Labelled, statement: Statement) -> Labelled:
    """The hypercubes of `p` in which a statement holds that mentions no other sets."""
    rows = np.array([[region >> place & 1 for region in p.regions] for place in range(len(p.labels))], np.bool_)
    regions = _Regions(len(p.regions), dict(zip(p.labels, rows, strict=True)))
    return Labelled.fitted(p.labels, p.regions, regions.holding(p.hypercubes, _normal(statement)))


@dataclass(frozen=True, slots=True)
class _All:
    parts: tuple[_Formula, ...]


@dataclass(frozen=True, slots=True)
class _Any:
    parts: tuple[_Formula, ...]


_Formula = Claim | _All | _Any


def _normal(statement: Statement, *, holds: bool = True) -> _Formula:
    """A statement, or that it does not hold, in claims: negations are pushed inwards until they vanish."""
    match statement:
        case Not(part):
            return _normal(part, holds=not holds)
        case And(parts) | Or(parts):
            join = _All if isinstance(statement, And) is holds else _Any
            return join(tuple(_normal(part, holds=holds) for part in parts))
        case Comparison() | Property():
            claims = statement.claims()
            return _All(claims) if holds else _Any(tuple(Claim(region, not inhabited) for region, inhabited in claims))
        case _:
            raise TypeError(f"not a statement: {statement!r}")


def _conjuncts(formula: _Formula) -> list[_Formula]:
    if isinstance(formula, _All) or (isinstance(formula, _Any) and len(formula.parts) == 1):
        return [fact for part in formula.parts for fact in _conjuncts(part)]
    return [formula]


def _labels(formula: _Formula) -> frozenset[str]:
    if isinstance(formula, Claim):
        return frozenset(formula.region.labels)
    return frozenset().union(*map(_labels, formula.parts))


@dataclass(frozen=True, slots=True)
class _Regions:
    """Some regions: how many, and for each set which of them lie inside it."""

    count: int
    inside: dict[str, Flags]

    def within(self, term: Term) -> Flags:
        """Which regions lie inside a term."""
        return term.evaluate(self.inside.__getitem__, self._flags(False), self._flags(True))

    def possible(self, formula: _Formula) -> Flags:
        """Which regions may be inhabited where the formula holds."""
        if isinstance(formula, Claim):
            return self._flags(True) if formula.inhabited else ~self.within(formula.region)
        if isinstance(formula, _All):
            return reduce(np.logical_and, map(self.possible, formula.parts), self._flags(True))
        return reduce(np.logical_or, map(self.possible, formula.parts), self._flags(False))

    def holding(self, hypercubes: Hypercubes, formula: _Formula) -> Hypercubes:
        """The hypercubes over these regions in which the formula holds."""
        if isinstance(formula, Claim):
            return hypercubes.meeting(_number(self.within(formula.region)), keep=formula.inhabited)
        if isinstance(formula, _All):
            return reduce(self.holding, formula.parts, hypercubes)
        found = hypercubes - hypercubes
        for part in formula.parts:
            found = found | self.holding(hypercubes, part)
        return found

    def split(self, label: str) -> _Regions:
        """These regions outside one more set, then inside it."""
        inside = {one: np.tile(flags, 2) for one, flags in self.inside.items()}
        return _Regions(2 * self.count, inside | {label: np.arange(2 * self.count) >= self.count})

    def taken(self, places: NDArray[np.intp]) -> _Regions:
        """Some of the regions, in the order of `places`."""
        return _Regions(places.size, {label: flags[places] for label, flags in self.inside.items()})

    def numbers(self, labels: Sequence[str]) -> tuple[int, ...]:
        """Each region as a number whose bit i tells whether it lies inside set i."""
        rows = np.array([self.inside[label] for label in labels], np.bool_).reshape(len(labels), self.count)
        return tuple(map(_number, rows.T))

    def _flags(self, value: bool) -> Flags:
        return np.full(self.count, value)


def _number(flags: Flags) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _enumerated(facts: Sequence[_Formula], labels: tuple[str, ...], budget: int) -> Labelled:
    regions = _possible(facts, labels, budget)
    inhabited = [regions.within(fact.region) for fact in facts if isinstance(fact, Claim) and fact.inhabited]
    if not all(map(np.any, inhabited)):
        return Labelled(labels, (), every(0) - every(0))
    # A claim that leaves one region to be inhabited settles that region.
    settled = reduce(np.logical_or, (one for one in inhabited if one.sum() == 1), np.zeros(regions.count, np.bool_))
    free = regions.count - int(settled.sum())
    if 1 << free > budget:
        return _by_cases(facts, labels, budget, 1 << free)
    regions = regions.taken(np.argsort(settled, kind="stable"))
    hypercubes = every(free, regions.count - free)
    for fact in facts:
        if not isinstance(fact, Claim) or fact.inhabited:
            hypercubes = regions.holding(hypercubes, fact)
    return Labelled.fitted(labels, regions.numbers(labels), hypercubes)


def _possible(facts: Sequence[_Formula], labels: Sequence[str], budget: int) -> _Regions:
    """The regions that no fact rules out."""
    regions = _Regions(1, {})
    missing = set(labels)
    waiting = [(_labels(fact), fact) for fact in facts if not isinstance(fact, Claim) or not fact.inhabited]
    while True:
        for mentioned, fact in waiting:
            if not mentioned & missing:
                regions = regions.taken(np.flatnonzero(regions.possible(fact)))
        if not missing:
            return regions
        waiting = [(mentioned, fact) for mentioned, fact in waiting if mentioned & missing]
        # Next the sets of a fact that needs the fewest new ones, so that facts bite early.
        wanted = min((mentioned & missing for mentioned, _ in waiting), key=len, default=frozenset(missing))
        for label in labels:
            if label in wanted:
                if 2 * regions.count > _MOST_REGIONS:
                    check_budget(labels, 1 << _MOST_REGIONS, budget)
                regions = regions.split(label)
        missing -= wanted


def _by_cases(facts: Sequence[_Formula], labels: tuple[str, ...], budget: int, size: int) -> Labelled:
    """Too many hypercubes to try: take the parts of a disjunction one at a time, if there is one."""
    disjunctions = [fact for fact in facts if isinstance(fact, _Any)]
    if not disjunctions or prod(len(fact.parts) for fact in disjunctions) > _MOST_BRANCHES:
        check_budget(labels, size, budget)
    first = min(disjunctions, key=lambda fact: len(fact.parts))
    others = [fact for fact in facts if fact is not first]
    cases = (_enumerated([*others, *_conjuncts(part)], labels, budget) for part in first.parts)
    return reduce(partial(any_binary_operator, operator=Operator.DISJUNCTION, budget=budget), cases)
