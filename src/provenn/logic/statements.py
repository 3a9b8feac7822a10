"""Statements: what can be said of sets.

Every statement is a Boolean combination of *claims*, and a claim says of one region whether it holds any object.
``B < A`` claims that ``B - A`` is empty and that ``A - B`` is inhabited; nothing more is ever needed.
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
    "Comparison",
    "Not",
    "Or",
    "Property",
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
    """Whether a region holds any object."""

    region: Term
    inhabited: bool


class Statement:
    """Something that can be said of sets. Immutable; compared by how it is written.

    Statements combine with ``&``, ``|`` and ``~``.
    """

    __slots__ = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur, each once, in the order of their first mention."""
        return tuple(dict.fromkeys(label for region in self.terms() for label in region.labels))

    @abstractmethod
    def terms(self) -> Iterable[Term]:
        """The set terms that occur, from left to right."""

    def relabelled(self, name: Callable[[str], str]) -> Statement:
        """Return the same statement of sets with other names.

        >>> equal("A", "B").relabelled(str.lower)
        statement('a == b')
        """
        match self:
            case Comparison(operator, left, right):
                return Comparison(operator, left.relabelled(name), right.relabelled(name))
            case Property(kind, sets):
                return Property(kind, tuple(one.relabelled(name) for one in sets))
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
class Comparison(Statement):
    """Two sets compared: ``== != <= < >= >``."""

    operator: str
    left: Term
    right: Term

    def terms(self) -> Iterable[Term]:
        """The two sides."""
        return (self.left, self.right)

    def claims(self) -> tuple[Claim, ...]:
        """What the comparison claims, all of it together."""
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
        """The arguments."""
        return self.arguments

    def claims(self) -> tuple[Claim, ...]:
        """What the property claims, all of it together."""
        sets = self.arguments
        match self.name:
            case "empty":
                return (Claim(sets[0], False),)
            case "nonempty":
                return (Claim(sets[0], True),)
            case "disjoint":
                return tuple(Claim(one & other, False) for one, other in combinations(sets, 2))
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
        """The terms of the part."""
        return self.part.terms()

    def __str__(self) -> str:
        return f"not {_nested(self.part)}"


@dataclass(frozen=True, slots=True, repr=False)
class And(Statement):
    """Statements that all hold."""

    parts: tuple[Statement, ...]

    @classmethod
    def of(cls, *parts: Statement) -> And:
        """Join statements, flat."""
        return cls(tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, And) else (part,))))

    def terms(self) -> Iterable[Term]:
        """The terms of the parts."""
        return (region for part in self.parts for region in part.terms())

    def __str__(self) -> str:
        return " and ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


@dataclass(frozen=True, slots=True, repr=False)
class Or(Statement):
    """Statements of which at least one holds."""

    parts: tuple[Statement, ...]

    @classmethod
    def of(cls, *parts: Statement) -> Or:
        """Join statements, flat."""
        return cls(tuple(leaf for part in parts for leaf in (part.parts if isinstance(part, Or) else (part,))))

    def terms(self) -> Iterable[Term]:
        """The terms of the parts."""
        return (region for part in self.parts for region in part.terms())

    def __str__(self) -> str:
        return " or ".join(map(str, self.parts))


def _nested(part: Statement) -> str:
    return f"({part})" if isinstance(part, And | Or) else str(part)


def _all_terms(sets: tuple[Term | str, ...], least: int, name: str) -> tuple[Term, ...]:
    if len(sets) < least:
        raise LabelError(f"{name}() speaks of at least {least} sets, not of {len(sets)}")
    return tuple(term(one) for one in sets)


def equal(left: Term | str, right: Term | str) -> Statement:
    """Both sets hold the same objects."""
    return Comparison("==", term(left), term(right))


def subset(part: Term | str, whole: Term | str) -> Statement:
    """Every object of `part` is in `whole`; the two may be equal."""
    return Comparison("<=", term(part), term(whole))


def proper_subset(part: Term | str, whole: Term | str) -> Statement:
    """`part` is strictly inside `whole`, which holds something more. The paper's *subset*."""
    return Comparison("<", term(part), term(whole))


def superset(whole: Term | str, part: Term | str) -> Statement:
    """Every object of `part` is in `whole`; the two may be equal."""
    return Comparison(">=", term(whole), term(part))


def proper_superset(whole: Term | str, part: Term | str) -> Statement:
    """`whole` holds all of `part` and something more. The paper's *superset*."""
    return Comparison(">", term(whole), term(part))


def disjoint(*sets: Term | str) -> Statement:
    """No two of the sets share an object."""
    return Property("disjoint", _all_terms(sets, 2, "disjoint"))


def overlapping(*sets: Term | str) -> Statement:
    """Some object is in all the sets."""
    return Property("overlapping", _all_terms(sets, 2, "overlapping"))


def intersection(result: Term | str, *sets: Term | str) -> Statement:
    """`result` is what all the sets have in common: ``D == B & C``."""
    return Comparison("==", term(result), chain(Op.AND, _all_terms(sets, 1, "intersection")))


def union(result: Term | str, *sets: Term | str) -> Statement:
    """`result` is all the sets together: ``D == B | C``. The union of no sets is empty."""
    return Comparison("==", term(result), chain(Op.OR, _all_terms(sets, 0, "union") or (nothing,)))


def difference(result: Term | str, first: Term | str, *others: Term | str) -> Statement:
    """`result` is what `first` has and none of the others: ``D == B - C``."""
    return Comparison("==", term(result), chain(Op.MINUS, _all_terms((first, *others), 1, "difference")))


def empty(one: Term | str) -> Statement:
    """The set holds nothing."""
    return Property("empty", (term(one),))


def nonempty(one: Term | str) -> Statement:
    """The set holds something."""
    return Property("nonempty", (term(one),))


def outside(*sets: Term | str) -> Statement:
    """Some object is in none of the sets."""
    return Property("outside", _all_terms(sets, 1, "outside"))
