"""Build conditions from values: comparisons, tests for NULL, choices, patterns."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from itertools import chain

from provenn.criteria.conditions import (
    build_is_null,
    build_is_true,
    build_leaf,
    convert_to_condition,
    join_by_and,
    join_by_or,
    negate_condition,
)
from provenn.criteria.domains import OUTCOMES, get_domain
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Leaf, Node, Nulls, Test, Truth
from provenn.criteria.operations import unify_operands
from provenn.criteria.ranges import Ranges, build_comparison_ranges, build_point_ranges
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import BOOLEAN, ORDER, STRING
from provenn.criteria.writing import CANONICAL, write

__all__ = [
    "build_choice",
    "build_coalesce",
    "build_comparison",
    "build_membership",
    "build_null_safe_equal",
    "build_null_test",
    "build_pattern_match",
    "convert_to_node",
]

_MIRROR = {"<": ">", "<=": ">=", "=": "=", "<>": "<>", ">=": "<=", ">": "<"}
_OUTCOMES_OF = {"<": [0], "<=": [0, 1], "=": [1], "<>": [0, 2], ">=": [1, 2], ">": [2]}
# The parts of a regular expression. The last group is syntax that Python accepts and Java refuses.
_REGULAR_PART = re.compile(
    r"\\N\{[^}]*\}|\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|\{\d+(?:,\d*)?\}|(\(\?P|\(\?[imsux]*[aL]|\{)", re.DOTALL
)


def convert_to_node(condition: Condition) -> Node:
    """Return a condition as a Boolean value."""
    match condition:
        case Truth(value):
            return Constant(BOOLEAN, None if value is None else int(not value))
        case Leaf(term, where, None) if term.type == BOOLEAN and where == Ranges(True, (1,)):
            return term
    return Test(condition)


def build_comparison(operator: str, left: Node, right: Node) -> Condition:
    """Return ``left operator right`` for ``< <= = <> >= >``."""
    left, right = unify_operands([left, right], operator)
    if left.type == BOOLEAN:
        return _build_boolean_comparison(operator, convert_to_condition(left), convert_to_condition(right))
    constants = [evaluate(left), evaluate(right)]
    within = get_domain(left.type)
    if within is None or any(constant and constant.key is None for constant in constants):
        return Truth(None)
    left_key, right_key = (None if constant is None else constant.key for constant in constants)
    if left_key is not None and right_key is not None:
        return Truth(left_key in build_comparison_ranges(operator, right_key, within))
    if right_key is not None:
        return build_leaf(left, build_comparison_ranges(operator, right_key, within))
    if left_key is not None:
        return build_leaf(right, build_comparison_ranges(_MIRROR[operator], left_key, within))
    return _build_opaque_comparison(operator, left, right)


def _build_opaque_comparison(operator: str, left: Node, right: Node) -> Condition:
    """Return a comparison of two terms, neither constant, with the sides in canonical order."""
    texts = write(left, CANONICAL), write(right, CANONICAL)
    if texts[0] == texts[1]:  # an explicit cast and Spark's implicit cast differ as nodes, but not as text
        return build_leaf(left, Ranges(first=1 in _OUTCOMES_OF[operator]))
    if texts[1] < texts[0]:
        operator, left, right = _MIRROR[operator], right, left
    return build_leaf(
        Call("compare", (left, right), ORDER, Nulls.ANY), build_point_ranges(_OUTCOMES_OF[operator], OUTCOMES)
    )


def _build_boolean_comparison(operator: str, left: Condition, right: Condition) -> Condition:
    """Return a comparison of two conditions."""
    if isinstance(left, Truth):
        operator, left, right = _MIRROR[operator], right, left
    either = join_by_or(
        [left, negate_condition(left)]
    )  # TRUE where the condition is TRUE or FALSE, NULL where it is NULL
    if left == right:
        return either if 1 in _OUTCOMES_OF[operator] else negate_condition(either)
    if not isinstance(right, Truth):
        return _build_opaque_comparison(operator, convert_to_node(left), convert_to_node(right))
    value = right.value
    if value is None:
        return right
    # Whether TRUE and whether FALSE on the left fulfil the comparison; NULL stays NULL.
    holds = [1 + (truth > value) - (truth < value) in _OUTCOMES_OF[operator] for truth in (True, False)]
    match holds:
        case [True, False]:
            return left
        case [False, True]:
            return negate_condition(left)
        case [True, True]:
            return either
        case _:
            return negate_condition(either)


def build_null_safe_equal(left: Node, right: Node) -> Condition:
    """Return ``left <=> right``: NULL equals only NULL."""
    both = [build_null_test(left), build_null_test(right)]
    return join_by_or([build_is_true(build_comparison("=", left, right)), join_by_and(both)])


def build_null_test(node: Node) -> Condition:
    """Return ``node IS NULL``."""
    if isinstance(node, Test):
        return build_is_null(node.condition)
    constant = evaluate(node)
    if constant:
        return Truth(constant.key is None)
    return build_leaf(node, Ranges(first=False), at_null=True)


def build_membership(value: Node, items: Sequence[Node]) -> Condition:
    """Return ``value IN (items)``; all operands are compared in a single type."""
    value, *items = unify_operands([value, *items], "IN")
    within = get_domain(value.type)
    if value.type == BOOLEAN or within is None or evaluate(value):
        return join_by_or(build_comparison("=", value, item) for item in items)
    # All constants become a single set of values: separate conditions would have to be merged pairwise.
    constants = [constant for item in items if (constant := evaluate(item)) and constant.key is not None]
    others = [item for item in items if (constant := evaluate(item)) is None or constant.key is None]
    listed = build_leaf(
        value, build_point_ranges([constant.key for constant in constants if constant.key is not None], within)
    )
    return join_by_or([*([listed] if constants else []), *(build_comparison("=", value, item) for item in others)])


def build_choice(tests: Sequence[Condition], values: Sequence[Node], otherwise: Node) -> Node | Condition:
    """Return ``CASE WHEN … THEN … ELSE … END``; a choice between conditions is a condition."""
    *values, otherwise = unify_operands([*values, otherwise], "CASE")
    if otherwise.type == BOOLEAN:
        result = convert_to_condition(otherwise)
        for test, value in zip(reversed(tests), reversed(values), strict=True):
            selected = build_is_true(test)
            result = join_by_or(
                [
                    join_by_and([selected, convert_to_condition(value)]),
                    join_by_and([negate_condition(selected), result]),
                ]
            )
        return result
    branches = chain.from_iterable(zip(map(convert_to_node, tests), values, strict=True))
    return Call("case", (*branches, otherwise), otherwise.type, Nulls.UNKNOWN)


def build_coalesce(nodes: Sequence[Node]) -> Node | Condition:
    """Return ``coalesce(nodes)``; the result for conditions is a condition."""
    *firsts, last = unify_operands(nodes, "coalesce")
    if last.type == BOOLEAN:
        result = convert_to_condition(last)
        for node in reversed(firsts):
            condition = convert_to_condition(node)
            result = join_by_or([build_is_true(condition), join_by_and([build_is_null(condition), result])])
        return result
    return Call("coalesce", (*firsts, last), last.type, Nulls.ALL)


def build_pattern_match(operator: str, value: Node, pattern: Node, escape: str | None = None) -> Condition:
    """Return ``value LIKE pattern``, ILIKE or RLIKE as an opaque condition.

    The pattern must be a constant.
    """
    name = operator.upper()
    if value.type != STRING or not (isinstance(pattern, Constant) and isinstance(pattern.key, str)):
        raise Refusal(f"{name} compares a string with a quoted pattern")
    if operator == "rlike":
        _check_regular_expression(pattern.key)
    elif not re.fullmatch(_write_like_syntax(escape or "\\"), pattern.key, re.DOTALL):
        raise Refusal(f"the pattern {pattern.key!r} escapes a character that needs no escape")
    arguments = (value, pattern) if escape is None else (value, pattern, Constant(STRING, escape))
    return convert_to_condition(Call(operator, arguments, BOOLEAN, Nulls.ANY))


def _check_regular_expression(pattern: str) -> None:
    """Refuse a regular expression that Spark may fail on.

    Java and Python agree on nearly all syntax; the few differences are refused, because their result is uncertain.
    """
    problem = "not a regular expression that Java and Python both read"
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except re.error as error:
        raise Refusal(f"{pattern!r} is {problem}: {error}") from None
    foreign = next(filter(None, _REGULAR_PART.findall(pattern)), None)
    if foreign:
        raise Refusal(f"{pattern!r} is {problem}: {foreign}", "write a literal brace with a backslash before it")


def _write_like_syntax(escape: str) -> str:
    """Return a regular expression for valid LIKE patterns with an escape character."""
    character = re.escape(escape)
    return f"(?:[^{character}]|{character}[{character}%_])*"
