"""The algebra of conditions, exact in SQL's three-valued logic.

AND, OR, NOT and IS TRUE are pushed down to leaves, and the leaves on a term are merged into a single leaf. So a Boolean
combination of comparisons of a term with constants is always a single leaf, and equal combinations give equal leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from provenn import deadline
from provenn.criteria.domains import Domain, Key, find_monotone_cast, get_domain
from provenn.criteria.nodes import Call, ColumnNode, Condition, Constant, Junction, Leaf, Node, Nulls, Test, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.writing import CANONICAL, write

__all__ = [
    "build_is_null",
    "build_is_true",
    "build_leaf",
    "convert_to_condition",
    "is_nullable",
    "join_by_and",
    "join_by_or",
    "negate_condition",
]


def is_nullable(node: Node) -> bool:
    """Tell whether a node can be NULL."""
    match node:
        case ColumnNode():
            return node.nullable
        case Constant():
            return node.key is None
        case Test(condition):
            return not _is_two_valued(condition)
        case Call(nulls=Nulls.ANY):
            return any(map(is_nullable, node.arguments))
        case Call(nulls=Nulls.ALL):
            return all(map(is_nullable, node.arguments))
        case Call(nulls=nulls):
            return nulls is not Nulls.NEVER


def build_leaf(term: Node, where: Ranges, at_null: bool | None = None) -> Condition:
    """Return the condition that a term lies in some ranges.

    A cast that keeps the order is undone: a cut in the target type corresponds to exactly one cut in the source type.
    """
    match term:
        case Call("coerce", (inner,)) | Call("cast", (inner,), _, Nulls.ANY):
            convert, within = find_monotone_cast(inner.type, term.type), get_domain(inner.type)
            if convert and within:
                return build_leaf(
                    inner, where.move_cuts(lambda cut: _find_least_key(cut, convert, within), within), at_null
                )
    if not is_nullable(term):
        at_null = None
        if not where.cuts:
            return Truth(where.first)
    elif not where.cuts and where.first == at_null:
        return Truth(at_null)
    return Leaf(term, where, at_null)


def _find_least_key(cut: Key, convert: Callable[[int], int], within: Domain) -> Key:
    """Return the least key that a cast maps to `cut` or above, by bisection, because the cast keeps the order."""
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


def convert_to_condition(node: Node) -> Condition:
    """Return a node of Boolean type as a condition."""
    match node:
        case Test(condition):
            return condition
        case Constant(key=key):
            return Truth(None if key is None else key == 0)
    return build_leaf(node, Ranges(True, (1,)))


def negate_condition(condition: Condition) -> Condition:
    """Return NOT of a condition."""
    match condition:
        case Truth(value):
            return Truth(_negate_truth(value))
        case Leaf(term, where, at_null):
            return Leaf(term, ~where, _negate_truth(at_null))
        case Junction(operator, parts):
            result = condition.negation
            if result is None:
                result = _join_conditions("OR" if operator == "AND" else "AND", map(negate_condition, parts))
                object.__setattr__(condition, "negation", result)
            return result


def build_is_true(condition: Condition) -> Condition:
    """Return IS TRUE of a condition: FALSE where the condition is NULL."""
    match condition:
        case Truth(value):
            return Truth(value is True)
        case Leaf(term, where, None):
            return build_leaf(term, where, at_null=False)
        case Leaf():
            return condition
        case Junction(operator, parts):
            result = condition.certainty
            if result is None:
                result = _join_conditions(operator, map(build_is_true, parts))
                object.__setattr__(condition, "certainty", result)
            return result


def build_is_null(condition: Condition) -> Condition:
    """Return IS NULL of a condition."""
    if _is_two_valued(condition):
        return Truth(False)
    return join_by_and(
        [negate_condition(build_is_true(condition)), negate_condition(build_is_true(negate_condition(condition)))]
    )


def join_by_and(parts: Iterable[Condition]) -> Condition:
    """Join conditions by AND."""
    return _join_conditions("AND", parts)


def join_by_or(parts: Iterable[Condition]) -> Condition:
    """Join conditions by OR."""
    return _join_conditions("OR", parts)


def _join_conditions(operator: str, parts: Iterable[Condition]) -> Condition:
    """Join conditions by AND or OR; flatten nested junctions and merge the leaves of each term."""
    absorbing = operator == "OR"
    leaves: dict[Node, list[Leaf]] = {}
    others: dict[Condition, None] = {}
    queue = list(parts)
    for part in queue:
        deadline.check()
        match part:
            case Junction(same, inner) if same == operator:
                queue.extend(inner)
            case Leaf():
                leaves.setdefault(part.term, []).append(part)
            case _:
                others[part] = None
    for term, same_term in leaves.items():
        others[_merge_leaves(operator, term, same_term)] = None
    if Truth(absorbing) in others:
        return Truth(absorbing)
    others.pop(Truth(not absorbing), None)
    if len(others) < 2:
        return next(iter(others), Truth(not absorbing))
    return Junction(operator, tuple(sorted(others, key=lambda part: write(part, CANONICAL))))


def _merge_leaves(operator: str, term: Node, leaves: list[Leaf]) -> Condition:
    """Return a single leaf for several leaves on the same term."""
    values = {leaf.at_null for leaf in leaves}
    absorbing = operator == "OR"
    at_null = absorbing if absorbing in values else None if None in values else not absorbing
    if operator == "OR":
        return build_leaf(term, Ranges.union(leaf.where for leaf in leaves), at_null)
    return build_leaf(term, ~Ranges.union(~leaf.where for leaf in leaves), at_null)


def _negate_truth(value: bool | None) -> bool | None:
    return None if value is None else not value


def _is_two_valued(condition: Condition) -> bool:
    """Tell whether a condition is never NULL."""
    match condition:
        case Truth(value):
            return value is not None
        case Leaf(term, _, at_null):
            return at_null is not None or not is_nullable(term)
        case Junction(_, parts):
            return all(map(_is_two_valued, parts))
