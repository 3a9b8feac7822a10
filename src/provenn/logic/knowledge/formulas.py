"""Statements as Boolean formulas over claims of one kind: that a literal of the graph is inhabited, or is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from provenn.logic.knowledge.graph import EMPTY
from provenn.logic.statements import And, Comparison, Not, Or, Property, Statement
from provenn.logic.terms import Op, Term, chain

__all__ = ["FALSE", "TRUE", "All", "Formula", "Inhabited", "Some", "conjuncts", "formula", "negated"]


@dataclass(frozen=True, slots=True)
class Inhabited:
    """Whether some object is in a literal."""

    literal: int
    holds: bool


@dataclass(frozen=True, slots=True)
class All:
    """All the parts hold. All of no parts is true."""

    parts: tuple[Formula, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of the parts holds. Some of no parts is false."""

    parts: tuple[Formula, ...]


Formula = Inhabited | All | Some
TRUE = All(())
FALSE = Some(())


def formula(said: Statement, literal: Callable[[Term], int], *, holds: bool = True) -> Formula:
    """Return the formula of a statement, or of its negation."""
    match said:
        case Not(part):
            return formula(part, literal, holds=not holds)
        case And(parts):
            return _joined([formula(part, literal, holds=holds) for part in parts], conjunction=holds)
        case Or(parts):
            return _joined([formula(part, literal, holds=holds) for part in parts], conjunction=not holds)
        case Property("disjoint", sets):
            return _joined([_claim(literal(one), not holds) for one in _shared(sets)], conjunction=holds)
        case Comparison() | Property():
            claims = [_claim(literal(region), inhabited == holds) for region, inhabited in said.claims()]
            return _joined(claims, conjunction=holds)
        case _:
            raise TypeError(f"not a statement: {said!r}")


def _shared(sets: Sequence[Term]) -> Iterator[Term]:
    """Regions that are all empty if no two of the sets share an object: one for each set, not for each pair."""
    stack = [sets]
    while stack:
        some = stack.pop()
        if len(some) > 1:
            half = len(some) // 2
            yield chain(Op.OR, tuple(some[:half])) & chain(Op.OR, tuple(some[half:]))
            stack += (some[half:], some[:half])


def _claim(literal: int, holds: bool) -> Formula:
    if literal == EMPTY:
        return FALSE if holds else TRUE
    return Inhabited(literal, holds)


def _joined(parts: list[Formula], *, conjunction: bool) -> Formula:
    kind, absorbing = (All, FALSE) if conjunction else (Some, TRUE)
    flat = [leaf for part in parts for leaf in (part.parts if isinstance(part, kind) else (part,))]
    if absorbing in flat:
        return absorbing
    return flat[0] if len(flat) == 1 else kind(tuple(flat))


def negated(one: Formula) -> Formula:
    """Return the formula that holds exactly when this one does not."""
    if isinstance(one, Inhabited):
        return Inhabited(one.literal, not one.holds)
    return (Some if isinstance(one, All) else All)(tuple(negated(part) for part in one.parts))


def conjuncts(one: Formula) -> Iterator[Formula]:
    """The formulas that must all hold for this one to hold."""
    if isinstance(one, All):
        yield from one.parts
    else:
        yield one
