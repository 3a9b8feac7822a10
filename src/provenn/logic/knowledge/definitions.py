"""What a fact could define, and the order in which a batch of facts defines the most."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from provenn.logic.statements import And, Comparison, Property, Statement
from provenn.logic.terms import Term, nothing

__all__ = ["Definition", "definitions", "dependencies_first"]


class Definition(NamedTuple):
    """A label as the same set as a source, or as some part of it."""

    label: str
    source: Term
    whole: bool


def definitions(fact: Statement) -> Iterator[Definition]:
    """The ways in which all that a fact says of emptiness can be read as a definition of one label."""
    match fact:
        case Comparison("==", left, right):
            if left.label:
                yield Definition(left.label, right, whole=True)
            if right.label:
                yield Definition(right.label, left, whole=True)
        case Comparison("<=" | "<", part, whole) | Comparison(">=" | ">", whole, part):
            if part.label:
                yield Definition(part.label, whole, whole=False)
        case Property("empty", (only,)):
            if only.label:
                yield Definition(only.label, nothing, whole=True)
        case Property("disjoint", (one, other)):
            if other.label:
                yield Definition(other.label, ~one, whole=False)
            if one.label:
                yield Definition(one.label, ~other, whole=False)


def dependencies_first(batch: Sequence[Statement], known: Container[str]) -> list[int]:
    """Return the numbers of the facts, those that define a set before those that make use of it.

    Each label is defined by the first fact that can; where definitions go round in a circle, it is cut.
    """
    definer: dict[str, tuple[int, tuple[str, ...]]] = {}
    for number, fact in enumerate(batch):
        for part in fact.parts if isinstance(fact, And) else (fact,):
            for label, source, _ in definitions(part):
                if label not in known and label not in definer and label not in source.labels:
                    definer[label] = (number, source.labels)
                    break
    order: dict[int, None] = {}
    visited: set[str] = set()
    for root in definer:
        stack = [(root, False)]
        while stack:
            label, done = stack.pop()
            if done:
                order[definer[label][0]] = None
            elif label not in visited and label in definer:
                visited.add(label)
                stack.append((label, True))
                stack.extend((source, False) for source in definer[label][1])
    order.update(dict.fromkeys(range(len(batch))))
    return list(order)
