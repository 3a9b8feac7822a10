"""Enumerate the hypercubes of statements, without ever building the tautology.

The regions come first. The sets are added in turn, and claims of emptiness rule out regions early; usually few regions
remain, and every hypercube lies within them. Only then are hypercubes enumerated. A hypercube is dropped if it misses a
region claimed to be inhabited, or if it satisfies no part of a disjunction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from provenn.logic.algorithms import any_binary_operator, check_budget
from provenn.logic.hypercubes import Hypercubes, LabelledHypercubes, build_all_hypercubes
from provenn.logic.operators import Operator
from provenn.logic.statements import And, Claim, Not, Or, Property, SetComparison, Statement
from provenn.logic.terms import Term

__all__ = ["enumerate_hypercubes", "select_holding"]

_MOST_REGIONS = 1 << 20
_MOST_BRANCHES = 10_000

Flags = NDArray[np.bool_]


def enumerate_hypercubes(statements: Iterable[Statement], labels: tuple[str, ...], budget: int) -> LabelledHypercubes:
    """Return the hypercubes in which all the statements hold; `labels` include all sets in the statements."""
    facts = [fact for statement in statements for fact in _split_conjuncts(_normalise(statement))]
    return _enumerate_facts(facts, labels, budget)


def select_holding(p: LabelledHypercubes, statement: Statement) -> LabelledHypercubes:
    """Return the hypercubes of `p` in which a statement holds; `p` has all sets of the statement."""
    rows = np.array([[region >> place & 1 for region in p.regions] for place in range(len(p.labels))], np.bool_)
    regions = _Regions(len(p.regions), dict(zip(p.labels, rows, strict=True)))
    return LabelledHypercubes.fit_regions(
        p.labels, p.regions, regions.select_hypercubes(p.hypercubes, _normalise(statement))
    )


@dataclass(frozen=True, slots=True)
class _All:
    parts: tuple[_Formula, ...]


@dataclass(frozen=True, slots=True)
class _Any:
    parts: tuple[_Formula, ...]


_Formula = Claim | _All | _Any


def _normalise(statement: Statement, *, holds: bool = True) -> _Formula:
    """Return a statement, or its negation, as a formula of claims; negations are pushed inwards until they vanish."""
    match statement:
        case Not(part):
            return _normalise(part, holds=not holds)
        case And(parts) | Or(parts):
            join = _All if isinstance(statement, And) is holds else _Any
            return join(tuple(_normalise(part, holds=holds) for part in parts))
        case SetComparison() | Property():
            claims = statement.claims()
            return _All(claims) if holds else _Any(tuple(Claim(region, not inhabited) for region, inhabited in claims))
        case _:
            raise TypeError(f"not a statement: {statement!r}")


def _split_conjuncts(formula: _Formula) -> list[_Formula]:
    if isinstance(formula, _All) or (isinstance(formula, _Any) and len(formula.parts) == 1):
        return [fact for part in formula.parts for fact in _split_conjuncts(part)]
    return [formula]


def _find_labels(formula: _Formula) -> frozenset[str]:
    if isinstance(formula, Claim):
        return frozenset(formula.region.labels)
    return frozenset().union(*map(_find_labels, formula.parts))


@dataclass(frozen=True, slots=True)
class _Regions:
    """A number of regions, and for each set the flags of the regions inside the set."""

    count: int
    inside: dict[str, Flags]

    def find_inside(self, term: Term) -> Flags:
        """Return a flag for each region: whether it lies inside a term."""
        return term.evaluate(self.inside.__getitem__, self._fill_flags(False), self._fill_flags(True))

    def find_possible(self, formula: _Formula) -> Flags:
        """Return a flag for each region: whether it may be inhabited if the formula holds."""
        if isinstance(formula, Claim):
            return self._fill_flags(True) if formula.inhabited else ~self.find_inside(formula.region)
        if isinstance(formula, _All):
            return reduce(np.logical_and, map(self.find_possible, formula.parts), self._fill_flags(True))
        return reduce(np.logical_or, map(self.find_possible, formula.parts), self._fill_flags(False))

    def select_hypercubes(self, hypercubes: Hypercubes, formula: _Formula) -> Hypercubes:
        """Return the hypercubes over these regions in which the formula holds."""
        if isinstance(formula, Claim):
            return hypercubes.select_meeting(_pack_flags(self.find_inside(formula.region)), keep=formula.inhabited)
        if isinstance(formula, _All):
            return reduce(self.select_hypercubes, formula.parts, hypercubes)
        selected = hypercubes - hypercubes
        for part in formula.parts:
            selected = selected | self.select_hypercubes(hypercubes, part)
        return selected

    def add_set(self, label: str) -> _Regions:
        """Return these regions outside a new set, followed by these regions inside the new set."""
        inside = {known_label: np.tile(flags, 2) for known_label, flags in self.inside.items()}
        return _Regions(2 * self.count, inside | {label: np.arange(2 * self.count) >= self.count})

    def select_regions(self, places: NDArray[np.intp]) -> _Regions:
        """Return the regions at `places`, in the order of `places`."""
        return _Regions(places.size, {label: flags[places] for label, flags in self.inside.items()})

    def number_regions(self, labels: Sequence[str]) -> tuple[int, ...]:
        """Return each region as a number; bit i is set if the region lies inside set i."""
        rows = np.array([self.inside[label] for label in labels], np.bool_).reshape(len(labels), self.count)
        return tuple(map(_pack_flags, rows.T))

    def _fill_flags(self, value: bool) -> Flags:
        return np.full(self.count, value)


def _pack_flags(flags: Flags) -> int:
    return int.from_bytes(np.packbits(flags, bitorder="little").tobytes(), "little")


def _enumerate_facts(facts: Sequence[_Formula], labels: tuple[str, ...], budget: int) -> LabelledHypercubes:
    regions = _find_possible_regions(facts, labels, budget)
    candidates = [regions.find_inside(fact.region) for fact in facts if isinstance(fact, Claim) and fact.inhabited]
    if not all(map(np.any, candidates)):
        return LabelledHypercubes(labels, (), build_all_hypercubes(0) - build_all_hypercubes(0))
    # A claim with a single possible region settles that region: it is inhabited.
    settled = reduce(
        np.logical_or, (flags for flags in candidates if flags.sum() == 1), np.zeros(regions.count, np.bool_)
    )
    free = regions.count - int(settled.sum())
    if 1 << free > budget:
        return _enumerate_cases(facts, labels, budget, 1 << free)
    regions = regions.select_regions(np.argsort(settled, kind="stable"))
    hypercubes = build_all_hypercubes(free, regions.count - free)
    for fact in facts:
        if not isinstance(fact, Claim) or fact.inhabited:
            hypercubes = regions.select_hypercubes(hypercubes, fact)
    return LabelledHypercubes.fit_regions(labels, regions.number_regions(labels), hypercubes)


def _find_possible_regions(facts: Sequence[_Formula], labels: Sequence[str], budget: int) -> _Regions:
    """Return the regions that no fact rules out."""
    regions = _Regions(1, {})
    missing = set(labels)
    waiting = [(_find_labels(fact), fact) for fact in facts if not isinstance(fact, Claim) or not fact.inhabited]
    while True:
        for mentioned, fact in waiting:
            if not mentioned & missing:
                regions = regions.select_regions(np.flatnonzero(regions.find_possible(fact)))
        if not missing:
            return regions
        waiting = [(mentioned, fact) for mentioned, fact in waiting if mentioned & missing]
        # The next sets are those of the fact with the fewest missing sets, so that facts rule out regions early.
        wanted = min((mentioned & missing for mentioned, _ in waiting), key=len, default=frozenset(missing))
        for label in labels:
            if label in wanted:
                if 2 * regions.count > _MOST_REGIONS:
                    check_budget(labels, 1 << _MOST_REGIONS, budget)
                regions = regions.add_set(label)
        missing -= wanted


def _enumerate_cases(facts: Sequence[_Formula], labels: tuple[str, ...], budget: int, size: int) -> LabelledHypercubes:
    """Return the hypercubes of each part of a disjunction united, where enumerating them at once exceeds the budget."""
    disjunctions = [fact for fact in facts if isinstance(fact, _Any)]
    if not disjunctions or prod(len(fact.parts) for fact in disjunctions) > _MOST_BRANCHES:
        check_budget(labels, size, budget)
    first = min(disjunctions, key=lambda fact: len(fact.parts))
    others = [fact for fact in facts if fact is not first]
    cases = (_enumerate_facts([*others, *_split_conjuncts(part)], labels, budget) for part in first.parts)
    return reduce(partial(any_binary_operator, operator=Operator.DISJUNCTION, budget=budget), cases)
