"""Values put together with their types: coercion, arithmetic, casts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provenn.criteria.conversions import alike, beside
from provenn.criteria.domains import monotone
from provenn.criteria.folding import evaluate, parse_constant
from provenn.criteria.nodes import Call, Constant, Node, Nulls
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INTEGRAL,
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

__all__ = ["arithmetic", "bitwise", "cast", "check_digits", "coerce", "negative", "together"]

_COMPARING = frozenset(["<", "<=", "=", "<>", ">=", ">", "IN"])
_MOMENTS = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
_FORMS = {DATE: "yyyy-mm-dd", TIMESTAMP: "yyyy-mm-dd hh:mm:ss", TIMESTAMP_NTZ: "yyyy-mm-dd hh:mm:ss"}


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
            return replace(node, type=kind, key=constant.key)
    if monotone(node.type, kind) is None:
        raise Refusal(f"a {kind} is needed here, not a {node.type}", "convert it with CAST")
    return call


def together(nodes: Sequence[Node], what: str) -> list[Node]:
    """Return the nodes in the one type in which Spark compares them, and in one unit.

    A comparison is in the finest unit, so that it is the same from both sides; a choice in that of the first value.
    A string constant may stand for a date.
    """
    nodes = alike(nodes, finest=what in _COMPARING)
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
    left, right = beside(operator, left, right)
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
