"""Statements about sets.

Every statement is a Boolean combination of *claims*, and a claim states whether a region holds any object. ``B < A``
claims that ``B - A`` is empty and that ``A - B`` is inhabited; no other kind of claim is ever needed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from provenn.errors import LabelError
from provenn.logic.terms import Op, Term, chain, nothing, term

__all__ = [
    "And",
    "Claim",
    "Not",
    "Or",
    "Property",
    "SetComparison",
    "Statement",
    "difference",
    "disjoint",
    "empty",
    "equal",
    "intersection",
    "nonempty",
    "outside",
    "overlapping",
    "proper_subset",
    "proper_superset",
    "subset",
    "superset",
    "union",
]


class Claim(NamedTuple):
    """A claim that a region holds an object, or that it holds none."""

    region: Term
    inhabited: bool


class Statement:
    """A statement about sets. Immutable; compared by its written form.

    Statements combine with ``&``, ``|`` and ``~``.
    """

    __slots__ = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the statement, without repeats, in the order of their first mention."""
        return tuple(dict.fromkeys(label for region in self.terms() for label in region.labels))

    @abstractmethod
    def terms(self) -> Iterable[Term]:
        """Return the set terms in the statement, from left to right."""

    def relabelled(self, name: Callable[[str], str]) -> Statement:
        """Return the statement with other labels.

        >>> equal("A", "B").relabelled(str.lower)
        statement('a == b')
        """
        match self:
            case SetComparison(operator, left, right):
                return SetComparison(operator, left.relabelled(name), right.relabelled(name))
            case Property(kind, sets):
                return Property(kind, tuple(operand.relabelled(name) for operand in sets))
            case Not(part):
                return Not(part.relabelled(name))
            case And(parts) | Or(parts):
                return type(self)(tuple(part.relabelled(name) for part in parts))
        raise AssertionError(self)

    def __and__(self, other: Statement) -> Statement:
        return And.of(self, other)

    def __or__(self, other: Statement) -> Statement:
        return Or.of(self, other)

    def __invert__(self) -> Statement:
        return Not(self)

    def __repr__(self) -> str:
        return f"statement({str(self)!r})"


@dataclass(frozen=True, slots=True, repr=False)
class SetComparison(Statement):
    """A comparison of two sets: ``== != <= < >= >``."""

    operator: str
    left: Term
    right: Term

    def terms(self) -> Iterable[Term]:
        """Return the two sides."""
        return (self.left, self.right)

    def claims(self) -> tuple[Claim, ...]:
        """Return the claims whose conjunction is the comparison."""
        left, right = self.left, self.right
        match self.operator:
            case "==":
                return (Claim(left ^ right, False),)
            case "!=":
                return (Claim(left ^ right, True),)
            case "<=":
                return (Claim(left - right, False),)
            case ">=":
                return (Claim(right - left, False),)
            case "<":
                return (Claim(left - right, False), Claim(right - left, True))
            case _:
                return (Claim(right - left, False), Claim(left - right, True))

    def __str__(self) -> str:
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True, slots=True, repr=False)
class Property(Statement):
    """A named property of sets: empty, nonempty, disjoint, overlapping, outside."""

    name: str
    arguments: tuple[Term, ...]

    def terms(self) -> Iterable[Term]:
        """Return the arguments."""
        return self.arguments

    def claims(self) -> tuple[Claim, ...]:
        """Return the claims whose conjunction is the property."""
        sets = self.arguments
        match self.name:
            case "empty":
                return (Claim(sets[0], False),)
            case "nonempty":
                return (Claim(sets[0], True),)
            case "disjoint":
                return tuple(Claim(left & right, False) for left, right in combinations(sets, 2))
            case "overlapping":
                return (Claim(chain(Op.AND, sets), True),)
            case _:
                return (Claim(~chain(Op.OR, sets), True),)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True, slots=True, repr=False)
class Not(Statement):
    """The negation of a statement."""

    part: Statement

    def terms(self) -> Iterable[Term]:
        """Return the terms of the part."""
        return self.part.terms()

    def __str__(self) -> str:
        return f"not {_parenthesise(self.part)}"


@dataclass(frozen=True, slots=True, repr=False)
class And(Statement):
    """The conjunction of statements."""

    parts: tuple[Statement, ...]

    @classmethod
    def of(cls, *parts: Statement) -> And:
        """Return the statements joined, with nested joins flattened."""
        return cls(tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, And) else (part,))))

    def terms(self) -> Iterable[Term]:
        """Return the terms of the parts."""
        return (region for part in self.parts for region in part.terms())

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True, repr=False)
class Or(Statement):
    """The disjunction of statements."""

    parts: tuple[Statement, ...]

    @classmethod
    def of(cls, *parts: Statement) -> Or:
        """Return the statements joined, with nested joins flattened."""
        return cls(tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, Or) else (part,))))

    def terms(self) -> Iterable[Term]:
        """Return the terms of the parts."""
        return (region for part in self.parts for region in part.terms())

    def __str__(self) -> str:
        return " or ".join(map(str, self.parts))


def _parenthesise(part: Statement) -> str:
    return f"({part})" if isinstance(part, And | Or) else str(part)


def _build_terms(sets: tuple[Term | str, ...], least: int, name: str) -> tuple[Term, ...]:
    if len(sets) < least:
        raise LabelError(f"{name}() needs at least {least} sets, got {len(sets)}")
    return tuple(term(operand) for operand in sets)


def equal(left: Term | str, right: Term | str) -> Statement:
    """State that both sets hold the same objects."""
    return SetComparison("==", term(left), term(right))


def subset(part: Term | str, whole: Term | str) -> Statement:
    """State that every object of `part` is in `whole`; the two may be equal."""
    return SetComparison("<=", term(part), term(whole))


def proper_subset(part: Term | str, whole: Term | str) -> Statement:
    """State that `part` is strictly inside `whole`: the paper's *subset*."""
    return SetComparison("<", term(part), term(whole))


def superset(whole: Term | str, part: Term | str) -> Statement:
    """State that every object of `part` is in `whole`; the two may be equal."""
    return SetComparison(">=", term(whole), term(part))


def proper_superset(whole: Term | str, part: Term | str) -> Statement:
    """State that `whole` holds all of `part` and a further object: the paper's *superset*."""
    return SetComparison(">", term(whole), term(part))


def disjoint(*sets: Term | str) -> Statement:
    """State that no two of the sets share an object."""
    return Property("disjoint", _build_terms(sets, 2, "disjoint"))


def overlapping(*sets: Term | str) -> Statement:
    """State that some object is in all the sets."""
    return Property("overlapping", _build_terms(sets, 2, "overlapping"))


def intersection(result: Term | str, *sets: Term | str) -> Statement:
    """State that `result` is the intersection of the sets: ``D == B & C``."""
    return SetComparison("==", term(result), chain(Op.AND, _build_terms(sets, 1, "intersection")))


def union(result: Term | str, *sets: Term | str) -> Statement:
    """State that `result` is the union of the sets: ``D == B | C``. The union of no sets is empty."""
    return SetComparison("==", term(result), chain(Op.OR, _build_terms(sets, 0, "union") or (nothing,)))


def difference(result: Term | str, first: Term | str, *others: Term | str) -> Statement:
    """State that `result` is `first` without the objects of `others`: ``D == B - C``."""
    return SetComparison("==", term(result), chain(Op.MINUS, _build_terms((first, *others), 1, "difference")))


def empty(region: Term | str) -> Statement:
    """State that the set holds no object."""
    return Property("empty", (term(region),))


def nonempty(region: Term | str) -> Statement:
    """State that the set holds an object."""
    return Property("nonempty", (term(region),))


def outside(*sets: Term | str) -> Statement:
    """State that some object is in none of the sets."""
    return Property("outside", _build_terms(sets, 1, "outside"))
