"""Statements as Boolean formulas over a single kind of claim: a literal of the graph is inhabited, or is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from provenn.logic.knowledge.graph import EMPTY
from provenn.logic.statements import And, Not, Or, Property, SetComparison, Statement
from provenn.logic.terms import Op, Term, chain

__all__ = [
    "FALSE",
    "TRUE",
    "Conjunction",
    "Disjunction",
    "Formula",
    "Inhabited",
    "build_formula",
    "iterate_conjuncts",
    "negate",
]


@dataclass(frozen=True, slots=True)
class Inhabited:
    """The claim that some object is in a literal, or that none is."""

    literal: int
    holds: bool


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The conjunction of the parts. Without parts it is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    """The disjunction of the parts. Without parts it is false."""

    parts: tuple[Formula, ...]


Formula = Inhabited | Conjunction | Disjunction
TRUE = Conjunction(())
FALSE = Disjunction(())


def build_formula(statement: Statement, find_literal: Callable[[Term], int], *, holds: bool = True) -> Formula:
    """Return the formula of a statement, or of its negation."""
    match statement:
        case Not(part):
            return build_formula(part, find_literal, holds=not holds)
        case And(parts):
            return _join_parts([build_formula(part, find_literal, holds=holds) for part in parts], conjunction=holds)
        case Or(parts):
            return _join_parts(
                [build_formula(part, find_literal, holds=holds) for part in parts], conjunction=not holds
            )
        case Property("disjoint", sets):
            return _join_parts(
                [_build_claim(find_literal(region), not holds) for region in _iterate_overlaps(sets)], conjunction=holds
            )
        case SetComparison() | Property():
            claims = [
                _build_claim(find_literal(region), inhabited == holds) for region, inhabited in statement.claims()
            ]
            return _join_parts(claims, conjunction=holds)
        case _:
            raise TypeError(f"not a statement: {statement!r}")


def _iterate_overlaps(sets: Sequence[Term]) -> Iterator[Term]:
    """Yield regions that are all empty if no two sets share an object; their number is linear in the number of sets.

    The union of some sets is made from the unions of its halves, so that a graph of all regions is linear as well.
    """
    level = list(sets)
    while len(level) > 1:
        yield from (left & right for left, right in zip(level[::2], level[1::2], strict=False))
        level = [chain(Op.OR, tuple(level[place : place + 2])) for place in range(0, len(level), 2)]


def _build_claim(literal: int, holds: bool) -> Formula:
    if literal == EMPTY:
        return FALSE if holds else TRUE
    return Inhabited(literal, holds)


def _join_parts(parts: list[Formula], *, conjunction: bool) -> Formula:
    kind, absorbing = (Conjunction, FALSE) if conjunction else (Disjunction, TRUE)
    flat = [leaf for part in parts for leaf in (part.parts if isinstance(part, kind) else (part,))]
    if absorbing in flat:
        return absorbing
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def negate(formula: Formula) -> Formula:
    """Return the negation of a formula."""
    if isinstance(formula, Inhabited):
        return Inhabited(formula.literal, not formula.holds)
    return (Disjunction if isinstance(formula, Conjunction) else Conjunction)(
        tuple(negate(part) for part in formula.parts)
    )


def iterate_conjuncts(formula: Formula) -> Iterator[Formula]:
    """Yield the formulas whose conjunction is the given formula."""
    if isinstance(formula, Conjunction):
        yield from formula.parts
    else:
        yield formula
