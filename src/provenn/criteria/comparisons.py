"""Conditions put together from values: comparisons, tests for NULL, choices, patterns."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from itertools import chain

from provenn.criteria.conditions import all_of, any_of, flag, is_null, is_true, leaf, negated
from provenn.criteria.domains import OUTCOMES, domain
from provenn.criteria.folding import evaluate
from provenn.criteria.nodes import Call, Condition, Constant, Leaf, Node, Nulls, Test, Truth, walk
from provenn.criteria.operations import together
from provenn.criteria.ranges import Ranges, compared, points
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import BOOLEAN, ORDER, STRING
from provenn.criteria.writing import CANONICAL, write

__all__ = [
    "as_node",
    "choice",
    "comparison",
    "first_present",
    "membership",
    "null_safe_equal",
    "null_test",
    "pattern_match",
]

_MIRROR = {"<": ">", "<=": ">=", "=": "=", "<>": "<>", ">=": "<=", ">": "<"}
_MEANT = {"<": [0], "<=": [0, 1], "=": [1], "<>": [0, 2], ">=": [1, 2], ">": [2]}
_HEAVIEST = 1_000
# The parts of a regular expression; the last is what Python takes for a character, or for its own, and Java refuses.
_REGULAR = re.compile(
    r"\\N\{[^}]*\}|\\.|\[\^?\]?(?:[^\]\\]|\\.)*\]|\{\d+(?:,\d*)?\}|(\(\?P|\(\?[imsux]*[aL]|\{)", re.DOTALL
)


def as_node(condition: Condition) -> Node:
    """Return a condition as a value."""
    match condition:
        case Truth(value):
            return Constant(BOOLEAN, None if value is None else int(not value))
        case Leaf(term, where, None) if term.type == BOOLEAN and where == Ranges(True, (1,)):
            return term
    return Test(condition)


def comparison(operator: str, left: Node, right: Node) -> Condition:
    """Return ``left operator right`` for ``< <= = <> >= >``."""
    left, right = together([left, right], operator)
    if left.type == BOOLEAN:
        return _boolean_comparison(operator, flag(left), flag(right))
    constants = [evaluate(left), evaluate(right)]
    within = domain(left.type)
    if within is None or any(constant and constant.key is None for constant in constants):
        return Truth(None)
    one, other = (None if constant is None else constant.key for constant in constants)
    if one is not None and other is not None:
        return Truth(one in compared(operator, other, within))
    if other is not None:
        return leaf(left, compared(operator, other, within))
    if one is not None:
        return leaf(right, compared(_MIRROR[operator], one, within))
    return _opaque_comparison(operator, left, right)


def _opaque_comparison(operator: str, left: Node, right: Node) -> Condition:
    texts = write(left, CANONICAL), write(right, CANONICAL)
    if texts[0] == texts[1]:  # a cast that is written, and one that Spark makes by itself, differ as nodes alone
        return leaf(left, Ranges(first=1 in _MEANT[operator]))
    if texts[1] < texts[0]:
        operator, left, right = _MIRROR[operator], right, left
    return leaf(Call("compare", (left, right), ORDER, Nulls.ANY), points(_MEANT[operator], OUTCOMES))


def _boolean_comparison(operator: str, left: Condition, right: Condition) -> Condition:
    if isinstance(left, Truth):
        operator, left, right = _MIRROR[operator], right, left
    either = any_of([left, negated(left)])  # TRUE, but NULL where it is NULL
    if left == right:
        return either if 1 in _MEANT[operator] else negated(either)
    if not isinstance(right, Truth):
        return _opaque_comparison(operator, as_node(left), as_node(right))
    value = right.value
    if value is None:
        return right
    # What comes of TRUE, and what comes of FALSE; NULL stays NULL.
    holds = [1 + (one > value) - (one < value) in _MEANT[operator] for one in (True, False)]
    match holds:
        case [True, False]:
            return left
        case [False, True]:
            return negated(left)
        case [True, True]:
            return either
        case _:
            return negated(either)


def null_safe_equal(left: Node, right: Node) -> Condition:
    """Return ``left <=> right``: NULL equals NULL and nothing else."""
    both = [null_test(left), null_test(right)]
    return any_of([is_true(comparison("=", left, right)), all_of(both)])


def null_test(node: Node) -> Condition:
    """Return ``node IS NULL``."""
    if isinstance(node, Test):
        return is_null(_light(node.condition))
    constant = evaluate(node)
    if constant:
        return Truth(constant.key is None)
    return leaf(node, Ranges(first=False), at_null=True)


def _light(condition: Condition) -> Condition:
    """Return a condition that will be used more than once: nested often enough, it would have no end."""
    if sum(1 for _ in walk(condition)) > _HEAVIEST:
        raise Refusal("this condition is nested too often", "split the criterion in two selections")
    return condition


def membership(value: Node, items: Sequence[Node]) -> Condition:
    """Return ``value IN (items)``; all are compared in one type."""
    value, *items = together([value, *items], "IN")
    within = domain(value.type)
    if value.type == BOOLEAN or within is None or evaluate(value):
        return any_of(comparison("=", value, item) for item in items)
    # Constants are one set of values: a condition for each would have to be merged with all the others.
    constants = [constant for item in items if (constant := evaluate(item)) and constant.key is not None]
    others = [item for item in items if (constant := evaluate(item)) is None or constant.key is None]
    listed = leaf(value, points([one.key for one in constants if one.key is not None], within))
    return any_of([*([listed] if constants else []), *(comparison("=", value, item) for item in others)])


def choice(tests: Sequence[Condition], values: Sequence[Node], otherwise: Node) -> Node | Condition:
    """Return ``CASE WHEN … THEN … ELSE … END``; a choice between conditions is a condition."""
    *values, otherwise = together([*values, otherwise], "CASE")
    if otherwise.type == BOOLEAN:
        result = flag(otherwise)
        for test, value in zip(reversed(tests), reversed(values), strict=True):
            chosen = is_true(_light(test))
            result = any_of([all_of([chosen, flag(value)]), all_of([negated(chosen), result])])
        return result
    branches = chain.from_iterable(zip(map(as_node, tests), values, strict=True))
    return Call("case", (*branches, otherwise), otherwise.type, Nulls.UNKNOWN)


def first_present(nodes: Sequence[Node]) -> Node | Condition:
    """Return ``coalesce(nodes)``; that of conditions is a condition."""
    *firsts, last = together(nodes, "coalesce")
    if last.type == BOOLEAN:
        result = flag(last)
        for one in reversed(firsts):
            condition = _light(flag(one))
            result = any_of([is_true(condition), all_of([is_null(condition), result])])
        return result
    return Call("coalesce", (*firsts, last), last.type, Nulls.ALL)


def pattern_match(operator: str, value: Node, pattern: Node, escape: str | None = None) -> Condition:
    """Return ``value LIKE pattern``, ILIKE or RLIKE: opaque, the pattern is a constant."""
    name = operator.upper()
    if value.type != STRING or not (isinstance(pattern, Constant) and isinstance(pattern.key, str)):
        raise Refusal(f"{name} compares a string with a pattern between quotes")
    if operator == "rlike":
        _check_regular(pattern.key)
    elif not re.fullmatch(_like_syntax(escape or "\\"), pattern.key, re.DOTALL):
        raise Refusal(f"the pattern {pattern.key!r} escapes what needs no escape")
    arguments = (value, pattern) if escape is None else (value, pattern, Constant(STRING, escape))
    return flag(Call(operator, arguments, BOOLEAN, Nulls.ANY))


def _check_regular(pattern: str) -> None:
    """Refuse what Spark would fail on. Java and Python agree on nearly all; on the rest there is no telling."""
    problem = "not a regular expression that Java and Python both read"
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except re.error as error:
        raise Refusal(f"{pattern!r} is {problem}: {error}") from None
    foreign = next(filter(None, _REGULAR.findall(pattern)), None)
    if foreign:
        raise Refusal(f"{pattern!r} is {problem}: {foreign}", "a brace that is meant as such has a backslash before it")


def _like_syntax(escape: str) -> str:
    one = re.escape(escape)
    return f"(?:[^{one}]|{one}[{one}%_])*"
