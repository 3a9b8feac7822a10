"""Operators put together with their types: coercion, arithmetic, casts, comparison, tests for NULL, choices."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from itertools import chain

from provenn.criteria.conditions import (
    all_of,
    any_of,
    flag,
    is_null,
    is_true,
    leaf,
    negated,
)
from provenn.criteria.domains import domain, monotone
from provenn.criteria.folding import evaluate, parse_constant
from provenn.criteria.nodes import Call, Condition, Constant, Leaf, Node, Nulls, Test, Truth, walk
from provenn.criteria.ranges import Ranges, compared, points
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGRAL,
    ORDER,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    VOID,
    Type,
    arithmetic_type,
    common_type,
    decimal,
)
from provenn.criteria.writing import CANONICAL, write

__all__ = [
    "arithmetic",
    "as_node",
    "bitwise",
    "cast",
    "check_digits",
    "choice",
    "coerce",
    "comparison",
    "first_present",
    "membership",
    "negative",
    "null_safe_equal",
    "null_test",
    "pattern_match",
    "together",
]

_MOMENTS = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
_MIRROR = {"<": ">", "<=": ">=", "=": "=", "<>": "<>", ">=": "<=", ">": "<"}
_OUTCOMES = {"<": [0], "<=": [0, 1], "=": [1], "<>": [0, 2], ">=": [1, 2], ">": [2]}
_HEAVIEST = 1_000
_FORMS = {DATE: "yyyy-mm-dd", TIMESTAMP: "yyyy-mm-dd hh:mm:ss", TIMESTAMP_NTZ: "yyyy-mm-dd hh:mm:ss"}


def as_node(condition: Condition) -> Node:
    """Return a condition as a value."""
    match condition:
        case Truth(value):
            return Constant(BOOLEAN, None if value is None else int(not value))
        case Leaf(term, where, None) if term.type == BOOLEAN and where == Ranges(True, (1,)):
            return term
    return Test(condition)


def coerce(node: Node, kind: Type) -> Node:
    """Return a node in another type, as Spark would do it unasked. It never fails on a value."""
    if node.type == kind:
        return node
    if node.type == VOID:
        return Constant(kind, None)
    if isinstance(node, Constant) and isinstance(node.key, str) and kind in _MOMENTS:
        key = parse_constant(node.key, kind)
        if key is None:
            raise Refusal(f"{node.key!r} is not a {kind}", f"write it as '{_FORMS[kind]}'")
        return Constant(kind, key)
    call = Call("coerce", (node,), kind, _failing(node.type, kind))
    if isinstance(node, Constant):
        constant = evaluate(call)
        if constant and constant.key is not None:
            return Constant(kind, constant.key, node.written)
    if monotone(node.type, kind) is None:
        raise Refusal(f"a {kind} is needed here, not a {node.type}", "convert it with CAST")
    return call


def together(nodes: Sequence[Node], what: str) -> list[Node]:
    """Return the nodes in the one type in which Spark compares them. A string constant may stand for a date."""
    kinds = [node.type for node in nodes]
    if any(kind in _MOMENTS for kind in kinds):
        kinds = [node.type for node in nodes if not (isinstance(node, Constant) and isinstance(node.key, str))]
    common = common_type(*kinds)
    if common is None or not common.scalar:
        names = " with ".join(dict.fromkeys(str(node.type) for node in nodes))
        raise Refusal(f"{what} does not take {names}", _mixing_hint(nodes))
    return [coerce(node, common) for node in nodes]


def _mixing_hint(nodes: Sequence[Node]) -> str:
    kinds = {node.type for node in nodes}
    if STRING in kinds and any(kind.numeric for kind in kinds):
        return "write numbers without quotes, names with odd characters in `backquotes`, or use CAST"
    if any(not kind.scalar for kind in kinds):
        return "only IS NULL and IS NOT NULL can be asked of such an attribute"
    return "convert one of them with CAST"


def arithmetic(operator: str, left: Node, right: Node) -> Node:
    """Return ``left operator right`` for ``+ - * / %``."""
    kinds = arithmetic_type(operator, _operand_type(left, right), _operand_type(right, left))
    if kinds is None:
        hint = "convert strings with CAST" if STRING in (left.type, right.type) else ""
        if {left.type, right.type} & set(_MOMENTS):
            hint = "use date_add, date_sub or datediff for dates"
        raise Refusal(f"{operator} takes numbers, not {left.type} and {right.type}", hint)
    *operand_kinds, kind = kinds
    operands = [coerce(node, to) for node, to in zip((left, right), operand_kinds, strict=True)]
    if operator in "+*":
        operands.sort(key=lambda node: write(node, CANONICAL))
    total = operator in "+-*" and kind in (FLOAT, DOUBLE)
    return Call(operator, tuple(operands), kind, Nulls.ANY if total else Nulls.ANY_OR_FAILED)


def _operand_type(node: Node, other: Node) -> Type:
    if node.type == VOID:
        return DOUBLE if other.type == VOID else other.type
    if isinstance(node, Constant) and node.type in INTEGRAL and other.type.name == "decimal":
        return decimal(len(str(node.key).lstrip("-")))  # as narrow as the number is, says Spark
    return node.type


def negative(node: Node) -> Node:
    """Return the negative of a number."""
    if not node.type.numeric:
        raise Refusal(f"- takes a number, not a {node.type}")
    check_digits("-", node.type)
    return Call("-", (node,), node.type, Nulls.ANY_OR_FAILED if node.type in INTEGRAL else Nulls.ANY)


def check_digits(operator: str, kind: Type) -> None:
    """Refuse a decimal so wide that Spark fails on its widest values."""
    if kind.precision >= 38:
        raise Refusal(f"{operator} can fail on a {kind}", "cast it to a narrower decimal, or to double")


def bitwise(operator: str, *nodes: Node) -> Node:
    """Return a bitwise operation on integers: ``& | ^ ~``."""
    operands = together(nodes, operator)
    kind = operands[0].type
    if kind not in INTEGRAL:
        raise Refusal(f"{operator} takes integers, not {kind}")
    return Call(operator, tuple(sorted(operands, key=lambda node: write(node, CANONICAL))), kind, Nulls.ANY)


def cast(node: Node, kind: Type) -> Node:
    """Return an explicit cast; a value that has no counterpart becomes NULL."""
    source = node.type
    if source == kind and not (isinstance(node, Constant) and kind in INTEGRAL):
        return node  # an integer stays: once cast, it is no longer as narrow as it is written
    if source == VOID:
        return Constant(kind, None)
    plain = {"number" if one.numeric else "moment" if one in _MOMENTS else str(one) for one in (source, kind)}
    possible = len(plain) == 1 or "string" in plain or plain == {"number", "boolean"}
    if not (possible and source.scalar and kind.scalar and kind != VOID):
        hint = "use unix_date, unix_seconds, date_from_unix_date or timestamp_micros" if "moment" in plain else ""
        raise Refusal(f"a {source} cannot be cast to {kind}", hint)
    return Call("cast", (node,), kind, _failing(source, kind))


def _failing(source: Type, kind: Type) -> Nulls:
    """Return when a cast is NULL. Dates go further than timestamps, by millions of years."""
    if source == STRING or (source == DATE and kind in _MOMENTS):
        return Nulls.ANY_OR_FAILED
    always = kind in (STRING, BOOLEAN, FLOAT) or monotone(source, kind)
    return Nulls.ANY if always else Nulls.ANY_OR_FAILED


def comparison(operator: str, left: Node, right: Node) -> Condition:
    """Return ``left operator right`` for ``< <= = <> >= >``."""
    left, right = together([left, right], operator)
    kind = left.type
    if kind == BOOLEAN:
        return _boolean_comparison(operator, flag(left), flag(right))
    one, other = evaluate(left), evaluate(right)
    within = domain(kind)
    if within is None or (one and one.key is None) or (other and other.key is None):
        return Truth(None)
    if one and other and one.key is not None and other.key is not None:
        return Truth(one.key in compared(operator, other.key, within))
    if other and other.key is not None:
        return leaf(left, compared(operator, other.key, within))
    if one and one.key is not None:
        return leaf(right, compared(_MIRROR[operator], one.key, within))
    return _opaque_comparison(operator, left, right)


def _opaque_comparison(operator: str, left: Node, right: Node) -> Condition:
    if left == right:
        return leaf(left, Ranges(first=1 in _OUTCOMES[operator]))
    if write(right, CANONICAL) < write(left, CANONICAL):
        operator, left, right = _MIRROR[operator], right, left
    outcomes = domain(ORDER)
    if outcomes is None:
        raise TypeError("comparisons have no outcomes")
    return leaf(Call("compare", (left, right), ORDER, Nulls.ANY), points(_OUTCOMES[operator], outcomes))


def _boolean_comparison(operator: str, left: Condition, right: Condition) -> Condition:
    if isinstance(left, Truth):
        operator, left, right = _MIRROR[operator], right, left
    either = any_of([left, negated(left)])  # TRUE, but NULL where it is NULL
    if left == right:
        return either if 1 in _OUTCOMES[operator] else negated(either)
    if not isinstance(right, Truth):
        return _opaque_comparison(operator, as_node(left), as_node(right))
    value = right.value
    if value is None:
        return right
    # What comes of TRUE, and what comes of FALSE; NULL stays NULL.
    holds = [1 + (one > value) - (one < value) in _OUTCOMES[operator] for one in (True, False)]
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
    return any_of(comparison("=", value, item) for item in items)


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
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except re.error as error:
        raise Refusal(f"{pattern!r} is not a regular expression that Java and Python both read: {error}") from None


def _like_syntax(escape: str) -> str:
    one = re.escape(escape)
    return f"(?:[^{one}]|{one}[{one}%_])*"
