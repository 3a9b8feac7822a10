"""Labels of sets that statements may force an object into.

A statement that a region is empty forces an object into a set only if the region lies outside that set: `A <= B` forces
the objects of A into B, and nothing into A. An object of a possible world can be left out of all other sets, and the
world with this further object is possible as well. A set that is defined by other sets follows these.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from provenn.logic.statements import And, Property, SetComparison, Statement
from provenn.logic.terms import Op, Term

__all__ = ["find_forced_labels"]

Occurrence = tuple[str, bool]
"""A label, and whether leaving an object out of the set can put the object into a region that must be empty."""


def find_forced_labels(statements: Iterable[object], leaves: Collection[str]) -> frozenset[str]:
    """Return the labels of the sets that some statements may force an object into.

    Parameters
    ----------
    statements
        The statements, or relationships. Those that define sets come first.
    leaves
        The labels of interest. Any other set may be defined by a statement, and then follows the sets that define it.

    Examples
    --------
    >>> from provenn.logic import disjoint, subset, union
    >>> sorted(find_forced_labels([subset("A", "B"), disjoint("C", "D")], "ABCD"))
    ['B']
    >>> sorted(find_forced_labels([union("U", "A", "B")], "AB"))
    []
    >>> sorted(find_forced_labels([union("U", "A", "B"), subset("C", "U")], "ABC"))
    ['A', 'B', 'U']
    """
    definitions: dict[str, Term] = {}
    waiting: list[Occurrence] = []
    for fact in statements:
        for part in fact.parts if isinstance(fact, And) else (fact,):
            for label, formula in _read_definitions(part):
                if label not in leaves and label not in definitions:
                    definitions[label] = formula
                    break
            else:
                waiting.extend(_list_occurrences(part))
    seen: set[Occurrence] = set()
    while waiting:
        occurrence = waiting.pop()
        if occurrence in seen:
            continue
        seen.add(occurrence)
        label, is_forced = occurrence
        if label in definitions:
            waiting.extend(_walk(definitions[label], is_outside=is_forced))
    return frozenset(label for label, is_forced in seen if is_forced)


def _read_definitions(part: object) -> Iterator[tuple[str, Term]]:
    """Yield the labels of sets that a statement may define, with the terms that they equal."""
    if isinstance(part, SetComparison) and part.operator == "==":
        for side, other in ((part.left, part.right), (part.right, part.left)):
            if side.label is not None and side.label not in other.labels:
                yield side.label, other


def _list_occurrences(part: object) -> Iterator[Occurrence]:
    """Yield the labels of a statement, each with whether the statement may force an object into the set."""
    if isinstance(part, Property) and part.name == "disjoint":  # of all pairs of sets
        for argument in part.arguments:
            yield from _walk(argument, is_outside=False)
    elif isinstance(part, SetComparison | Property):
        for region, is_inhabited in part.claims():
            if not is_inhabited:  # an object more leaves inhabited regions inhabited
                yield from _walk(region, is_outside=False)
    elif isinstance(part, Statement):
        for label in part.labels:
            yield from ((label, True), (label, False))
    else:
        for label in getattr(part, "labels", ()):
            yield from ((label, True), (label, False))


def _walk(term: Term, *, is_outside: bool) -> Iterator[Occurrence]:
    """Yield the labels of a term, each with whether leaving an object out of the set can put it into the term.

    With `is_outside`, into the complement of the term.
    """
    pending: list[bool | None] = [is_outside]  # None: either way
    for token in reversed(term.postfix):
        flag = pending.pop()
        if isinstance(token, str):
            yield from ((token, True), (token, False)) if flag is None else ((token, flag),)
        elif token is Op.NOT:
            pending.append(None if flag is None else not flag)
        elif token is Op.XOR:
            pending += [None, None]
        elif token is Op.MINUS:
            pending += [flag, None if flag is None else not flag]
        elif token is not Op.EMPTY:
            pending += [flag, flag]
