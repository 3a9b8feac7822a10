"""The algebra of conditions, exact in SQL's three-valued logic.

AND, OR, NOT and IS TRUE are pushed down to leaves, and leaves on one term are merged into one: a Boolean combination
of comparisons of one term with constants is always a single leaf, and equal ones are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from provenn.criteria.domains import Domain, Key, domain, monotone
from provenn.criteria.nodes import Call, Column, Condition, Constant, Junction, Leaf, Node, Nulls, Test, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.writing import CANONICAL, write

__all__ = ["all_of", "any_of", "flag", "is_null", "is_true", "leaf", "negated", "nullable"]


def nullable(node: Node) -> bool:
    """Tell whether a node can be NULL."""
    match node:
        case Column():
            return node.nullable
        case Constant():
            return node.key is None
        case Test(condition):
            return not _two_valued(condition)
        case Call(nulls=Nulls.ANY):
            return any(map(nullable, node.arguments))
        case Call(nulls=Nulls.ALL):
            return all(map(nullable, node.arguments))
        case Call(nulls=nulls):
            return nulls is not Nulls.NEVER


def leaf(term: Node, where: Ranges, at_null: bool | None = None) -> Condition:
    """Return the condition that a term lies in some ranges.

    A cast that keeps the order is undone: a cut in the type of the cast is exactly one cut of what was cast.
    """
    match term:
        case Call("coerce", (inner,)) | Call("cast", (inner,), _, Nulls.ANY):
            convert, within = monotone(inner.type, term.type), domain(inner.type)
            if convert and within:
                return leaf(inner, where.moved(lambda cut: _least(cut, convert, within), within), at_null)
    if not nullable(term):
        at_null = None
        if not where.cuts:
            return Truth(where.first)
    elif not where.cuts and where.first == at_null:
        return Truth(at_null)
    return Leaf(term, where, at_null)


def _least(cut: Key, convert: Callable[[int], int], within: Domain) -> Key:
    """Return the least key that a cast takes to `cut` or above it: by bisection, for the cast keeps the order."""
    low, high = within.lowest, (within.highest or 0) + 1
    if not (isinstance(low, int) and isinstance(cut, int)):
        raise TypeError(f"{cut!r} is no key that a cast can reach")
    while low < high:
        middle = (low + high) // 2
        if convert(middle) < cut:
            low = middle + 1
        else:
            high = middle
    return low


def flag(node: Node) -> Condition:
    """Return a node of Boolean type as a condition."""
    match node:
        case Test(condition):
            return condition
        case Constant(key=key):
            return Truth(None if key is None else key == 0)
    return leaf(node, Ranges(True, (1,)))


def negated(condition: Condition) -> Condition:
    """Return NOT of a condition."""
    match condition:
        case Truth(value):
            return Truth(_not(value))
        case Leaf(term, where, at_null):
            return Leaf(term, ~where, _not(at_null))
        case Junction(operator, parts):
            return _joined("OR" if operator == "AND" else "AND", map(negated, parts))


def is_true(condition: Condition) -> Condition:
    """Return IS TRUE of a condition: FALSE where it was NULL."""
    match condition:
        case Truth(value):
            return Truth(value is True)
        case Leaf(term, where, None):
            return leaf(term, where, at_null=False)
        case Leaf():
            return condition
        case Junction(operator, parts):
            return _joined(operator, map(is_true, parts))


def is_null(condition: Condition) -> Condition:
    """Return IS NULL of a condition."""
    if _two_valued(condition):
        return Truth(False)
    return all_of([negated(is_true(condition)), negated(is_true(negated(condition)))])


def all_of(parts: Iterable[Condition]) -> Condition:
    """Join conditions by AND."""
    return _joined("AND", parts)


def any_of(parts: Iterable[Condition]) -> Condition:
    """Join conditions by OR."""
    return _joined("OR", parts)


def _joined(operator: str, parts: Iterable[Condition]) -> Condition:
    absorbing = operator == "OR"
    leaves: dict[Node, list[Leaf]] = {}
    others: dict[Condition, None] = {}
    queue = list(parts)
    for part in queue:
        match part:
            case Junction(same, inner) if same == operator:
                queue.extend(inner)
            case Leaf():
                leaves.setdefault(part.term, []).append(part)
            case _:
                others[part] = None
    for term, same_term in leaves.items():
        others[_merged(operator, term, same_term)] = None
    if Truth(absorbing) in others:
        return Truth(absorbing)
    others.pop(Truth(not absorbing), None)
    if len(others) < 2:
        return next(iter(others), Truth(not absorbing))
    return Junction(operator, tuple(sorted(others, key=lambda part: write(part, CANONICAL))))


def _merged(operator: str, term: Node, leaves: list[Leaf]) -> Condition:
    values = {one.at_null for one in leaves}
    absorbing = operator == "OR"
    at_null = absorbing if absorbing in values else None if None in values else not absorbing
    if operator == "OR":
        return leaf(term, Ranges.union(one.where for one in leaves), at_null)
    return leaf(term, ~Ranges.union(~one.where for one in leaves), at_null)


def _not(value: bool | None) -> bool | None:
    return None if value is None else not value


def _two_valued(condition: Condition) -> bool:
    match condition:
        case Truth(value):
            return value is not None
        case Leaf(term, _, at_null):
            return at_null is not None or not nullable(term)
        case Junction(_, parts):
            return all(map(_two_valued, parts))
