"""Find the definitions in facts, and the order in which a batch of facts defines the most labels."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from provenn.logic.statements import And, Property, SetComparison, Statement
from provenn.logic.terms import Term, nothing

__all__ = ["LabelDefinition", "find_definitions", "order_by_dependencies"]


class LabelDefinition(NamedTuple):
    """A label as the same set as a source, or as some part of the source."""

    label: str
    source: Term
    whole: bool


def find_definitions(fact: Statement) -> Iterator[LabelDefinition]:
    """Yield the ways to read all claims of emptiness in a fact as a definition of a label."""
    match fact:
        case SetComparison("==", left, right):
            if left.label:
                yield LabelDefinition(left.label, right, whole=True)
            if right.label:
                yield LabelDefinition(right.label, left, whole=True)
        case SetComparison("<=" | "<", part, whole) | SetComparison(">=" | ">", whole, part):
            if part.label:
                yield LabelDefinition(part.label, whole, whole=False)
        case Property("empty", (only,)):
            if only.label:
                yield LabelDefinition(only.label, nothing, whole=True)
        case Property("disjoint", (left, right)):
            if right.label:
                yield LabelDefinition(right.label, ~left, whole=False)
            if left.label:
                yield LabelDefinition(left.label, ~right, whole=False)


def order_by_dependencies(batch: Sequence[Statement], known: Container[str]) -> list[int]:
    """Return the numbers of the facts, with the definition of a set before its uses.

    Each label is defined by the first possible fact; a circle of definitions is cut.
    """
    definer: dict[str, tuple[int, tuple[str, ...]]] = {}
    for number, fact in enumerate(batch):
        for part in fact.parts if isinstance(fact, And) else (fact,):
            for label, source, _ in find_definitions(part):
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
