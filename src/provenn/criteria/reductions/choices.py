"""Split choices into cases: CASE, ``if``, ``nullif``, ``nvl2``, ``coalesce``, ``greatest`` and ``least``.

A choice anywhere in a term takes the value of one of its branches. So the term lies in some ranges exactly if, for some
branch, the branch is taken and the term with the branch's value in place of the choice lies there. This holds for any
function of the choice, because functions are deterministic, and the cases exclude each other and leave no row out.
"""

from __future__ import annotations

from collections.abc import Sequence

from provenn.criteria.conditions import build_is_true, convert_to_condition, join_by_and, join_by_or, negate_condition
from provenn.criteria.domains import INFINITY, OUTCOMES
from provenn.criteria.nodes import Call, Condition, Constant, Node, Nulls, Truth
from provenn.criteria.operations import coerce
from provenn.criteria.ranges import Ranges, build_point_ranges
from provenn.criteria.reductions.memberships import (
    ANY_VALUE,
    build_absent,
    build_inside,
    build_order,
    build_present,
    mirror_outcomes,
)
from provenn.criteria.types import ORDER
from provenn.criteria.writing import CANONICAL, write

__all__ = ["reduce_choice"]

_MOST_CASES = 16
"""The maximum number of cases of a choice that are split."""
_MOST_RANKED = 4
"""The maximum number of arguments of ``greatest`` or ``least`` inside another term: all are compared in pairs."""
_MOST_CUTS = 40
"""The maximum number of cuts of the ranges of ``greatest`` and ``least``: each repeats all arguments."""
_MOST_NODES = 2_000
"""The maximum size of all cases together."""

_CHOICES = frozenset(["case", "coalesce", "greatest", "least"])
_COMMUTATIVE = frozenset(["+", "*", "&", "|", "^"])
_BLIND_TO_SIGN = frozenset(["+", "-", "*", "/", "abs", "cast", "ceil", "coerce", "compare", "floor", "round", "sqrt"])
_LESS, _LESS_OR_EQUAL = (build_point_ranges(outcomes, OUTCOMES) for outcomes in ([0], [0, 1]))
_Case = tuple[Condition, Node]


def reduce_choice(term: Node, where: Ranges) -> Condition | None:
    """Return the condition, without the first choice in a term, that the term lies in some ranges.

    Sound for the reason above. NULL is skipped by ``greatest`` and ``least``, and a choice without a branch is NULL.
    """
    if not isinstance(term, Call):
        return None
    extreme = _reduce_extreme(term, where)
    if extreme is not None:
        return extreme
    choice = _find_choice(term)
    cases = None if choice is None else _split_choice(term, choice)
    if choice is None or cases is None or len(cases) * term.extent[0] > _MOST_NODES:
        return None
    parts = []
    for guard, value in cases:
        changed = _replace_node(term, choice, value)
        parts.append(join_by_and([guard, _build_case(changed, where)]))
    return join_by_or(parts)


def _build_case(term: Node, where: Ranges) -> Condition:
    """Return the condition that a term, after a choice was replaced, lies in some ranges."""
    match term:
        case Call("compare", (left, right)):
            return build_order(left, right, where)
    return build_inside(term, where)


def _find_choice(term: Call) -> Call | None:
    """Return the first choice in a term, the term itself first; conditions inside the term are not searched."""
    stack: list[Node] = [term]
    while stack:
        node = stack.pop()
        if isinstance(node, Call):
            if node.operator in _CHOICES:
                return node
            stack.extend(reversed(node.arguments))
    return None


def _split_choice(term: Call, choice: Call) -> list[_Case] | None:
    """Return the cases of a choice inside a term, or None if they are too many: when each is taken, and its value.

    The conditions of the cases are never NULL, exclude each other, and leave no row out.
    """
    arguments = choice.arguments
    match choice.operator:
        case "case":
            guards = [build_is_true(convert_to_condition(test)) for test in arguments[:-1:2]]
            values = [*arguments[1::2], arguments[-1]]
        case "coalesce":
            guards = [build_present(node) for node in arguments[:-1]]
            values = [*arguments]
        case _:
            ranked = len(arguments) <= _MOST_RANKED and (choice.type not in INFINITY or _is_blind_to_sign(term, choice))
            return _rank_arguments(choice) if ranked else None
    if len(values) > _MOST_CASES:
        return None
    cases: list[_Case] = []
    before: list[Condition] = []
    for guard, value in zip([*guards, Truth(True)], values, strict=True):
        cases.append((join_by_and([*before, guard]), value))
        before.append(negate_condition(guard))
    return cases


def _is_blind_to_sign(term: Call, choice: Call) -> bool:
    """Tell whether all calls around a choice treat 0.0 and -0.0 alike, up to the sign of a zero in the result.

    Which of these equal numbers ``greatest`` and ``least`` return differs between evaluations of Spark.
    """
    stack: list[Node] = [term]
    while stack:
        node = stack.pop()
        if isinstance(node, Call) and node != choice:
            if node.operator not in _BLIND_TO_SIGN or not (node.type.numeric or node.type == ORDER):
                return False
            stack.extend(node.arguments)
    return True


def _rank_arguments(choice: Call) -> list[_Case]:
    """Return the cases of ``greatest`` or ``least``: the first of equal values is taken."""
    arguments = choice.arguments
    beats, ties = (2, [1, 2]) if choice.operator == "greatest" else (0, [0, 1])
    cases: list[_Case] = []
    for number, node in enumerate(arguments):
        guards = [build_present(node)]
        for other_number, other in enumerate(arguments):
            outcomes = build_point_ranges([beats] if other_number < number else ties, OUTCOMES)
            if other_number != number:
                guards.append(join_by_or([build_absent(other), build_order(node, other, outcomes)]))
        cases.append((join_by_and(guards), node))
    return [*cases, (join_by_and(map(build_absent, arguments)), Constant(choice.type, None))]


def _replace_node(term: Node, old: Node, new: Node) -> Node:
    """Return a term with a part replaced; a call of NULL that is NULL becomes NULL."""
    if term is old or term == old:
        return new
    if not isinstance(term, Call):
        return term
    arguments = tuple(_replace_node(argument, old, new) for argument in term.arguments)
    if arguments == term.arguments:
        return term
    strict = term.nulls in (Nulls.ANY, Nulls.ANY_OR_FAILED) and term.operator != "compare"
    if strict and any(isinstance(argument, Constant) and argument.key is None for argument in arguments):
        return Constant(term.type, None)
    if term.operator == "coerce":
        return coerce(arguments[0], term.type)
    if term.operator in _COMMUTATIVE:
        arguments = tuple(sorted(arguments, key=lambda node: write(node, CANONICAL)))
    return Call(term.operator, arguments, term.type, term.nulls)


def _reduce_extreme(term: Call, where: Ranges) -> Condition | None:
    """Return the condition that ``greatest`` or ``least``, or its comparison with another term, lies in some ranges."""
    if len(term.arguments) > _MOST_CASES or len(where.cuts) > _MOST_CUTS:
        return None
    match term:
        case Call("greatest" | "least" as name, arguments):
            present = join_by_or(map(build_present, arguments))
            return join_by_or(
                join_by_and(
                    [
                        present,
                        Truth(True) if high is None else _bound_extreme(name, arguments, high),
                        Truth(True) if low is None else negate_condition(_bound_extreme(name, arguments, low)),
                    ]
                )
                for low, high in where.intervals()
            )
        case Call("compare", (Call("greatest" | "least" as name, arguments), other)):
            return _compare_extreme(name, arguments, other, where)
        case Call("compare", (other, Call("greatest" | "least" as name, arguments))):
            return _compare_extreme(name, arguments, other, mirror_outcomes(where))
    return None


def _bound_extreme(name: str, arguments: Sequence[Node], key: int | str) -> Condition:
    """Return the condition, for rows with an argument that is not NULL, that the extreme lies below a key."""
    if name == "least":
        return join_by_or(build_inside(node, Ranges(True, (key,))) for node in arguments)
    return join_by_and(negate_condition(build_inside(node, Ranges(False, (key,)))) for node in arguments)


def _compare_extreme(name: str, arguments: Sequence[Node], other: Node, outcomes: Ranges) -> Condition:
    """Return the condition that an extreme compares with another term with some of the outcomes."""
    present = join_by_and([join_by_or(map(build_present, arguments)), build_present(other)])
    less, less_or_equal = (_order_extreme(name, arguments, other, ranges) for ranges in (_LESS, _LESS_OR_EQUAL))
    parts = [
        [less],
        [less_or_equal, negate_condition(less)],
        [negate_condition(less_or_equal)],
    ]
    if outcomes == ANY_VALUE:
        return present
    chosen = [part for number, part in enumerate(parts) if number in outcomes]
    if chosen == parts[:2]:
        chosen = [[less_or_equal]]
    elif chosen == parts[1:]:
        chosen = [[negate_condition(less)]]
    return join_by_and([present, join_by_or(join_by_and(part) for part in chosen)])


def _order_extreme(name: str, arguments: Sequence[Node], other: Node, outcomes: Ranges) -> Condition:
    """Return the condition, for rows without NULL on either side, that an extreme is below another term, or at most."""
    if name == "least":
        return join_by_or(build_order(node, other, outcomes) for node in arguments)
    return join_by_and(negate_condition(build_order(node, other, ~outcomes)) for node in arguments)
