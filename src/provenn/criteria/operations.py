"""Combine values with their types: coercion, arithmetic, casts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from provenn.criteria.conversions import convert_operands, convert_to_common_unit
from provenn.criteria.domains import find_monotone_cast
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
    decimal,
    find_arithmetic_types,
    find_common_type,
)
from provenn.criteria.writing import CANONICAL, write

__all__ = [
    "build_arithmetic",
    "build_bitwise",
    "build_cast",
    "build_negative",
    "check_digits",
    "coerce",
    "unify_operands",
]

_COMPARING = frozenset(["<", "<=", "=", "<>", ">=", ">", "IN"])
_MOMENTS = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
_FORMS = {DATE: "yyyy-mm-dd", TIMESTAMP: "yyyy-mm-dd hh:mm:ss", TIMESTAMP_NTZ: "yyyy-mm-dd hh:mm:ss"}


def coerce(node: Node, kind: Type) -> Node:
    """Return a node in another type, as Spark converts implicitly; the conversion never fails on a value."""
    if node.type == kind:
        return node
    if node.type == VOID:
        return Constant(kind, None)
    if isinstance(node, Constant) and isinstance(node.key, str) and kind in _MOMENTS:
        key = parse_constant(node.key, kind)
        if key is None:
            raise Refusal(f"{node.key!r} is not a {kind}", f"write it as '{_FORMS[kind]}'")
        return Constant(kind, key)
    call = Call("coerce", (node,), kind, _classify_cast_nulls(node.type, kind))
    if isinstance(node, Constant):
        constant = evaluate(call)
        if constant and constant.key is not None:
            return replace(node, type=kind, key=constant.key)
    if find_monotone_cast(node.type, kind) is None:
        raise Refusal(f"a {kind} is needed here, not a {node.type}", "convert it with CAST")
    return call


def unify_operands(nodes: Sequence[Node], what: str) -> list[Node]:
    """Return the nodes in Spark's type for the comparison, and in a common unit.

    A comparison uses the finest unit, and so is the same from both sides; a choice uses the unit of the first value. A
    string constant may represent a date.
    """
    nodes = convert_to_common_unit(nodes, finest=what in _COMPARING)
    kinds = [node.type for node in nodes]
    if any(kind in _MOMENTS for kind in kinds):
        kinds = [node.type for node in nodes if not (isinstance(node, Constant) and isinstance(node.key, str))]
    common = find_common_type(*kinds)
    if common is None or not common.scalar:
        names = " with ".join(dict.fromkeys(str(node.type) for node in nodes))
        raise Refusal(f"{what} does not take {names}", _suggest_types(nodes))
    return [coerce(node, common) for node in nodes]


def _suggest_types(nodes: Sequence[Node]) -> str:
    """Return a hint for operands without a common type."""
    kinds = {node.type for node in nodes}
    if STRING in kinds and any(kind.numeric for kind in kinds):
        return "write numbers without quotes, names with odd characters in `backquotes`, or use CAST"
    if any(not kind.scalar for kind in kinds):
        return "compare an element or a field of it: l[0], s.name, m['key'], size(l)"
    return "convert one of them with CAST"


def build_arithmetic(operator: str, left: Node, right: Node) -> Node:
    """Return ``left operator right`` for ``+ - * / %``."""
    left, right = convert_operands(operator, left, right)
    kinds = find_arithmetic_types(operator, _find_operand_type(left, right), _find_operand_type(right, left))
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


def _find_operand_type(node: Node, other: Node) -> Type:
    """Return the type in which Spark uses an operand of arithmetic."""
    if node.type == VOID:
        return DOUBLE if other.type == VOID else other.type
    if isinstance(node, Constant) and node.type in INTEGRAL and other.type.name == "decimal":
        return decimal(len(str(node.key).lstrip("-")))  # Spark uses the narrowest decimal for the number
    return node.type


def build_negative(node: Node) -> Node:
    """Return the negative of a number."""
    if not node.type.numeric:
        raise Refusal(f"- takes a number, not a {node.type}")
    check_digits("-", node.type)
    return Call("-", (node,), node.type, Nulls.ANY_OR_FAILED if node.type in INTEGRAL else Nulls.ANY)


def check_digits(operator: str, kind: Type) -> None:
    """Refuse a decimal type whose widest values make Spark fail."""
    if kind.precision >= 38:
        raise Refusal(f"{operator} can fail on a {kind}", "cast it to a narrower decimal, or to double")


def build_bitwise(operator: str, *nodes: Node) -> Node:
    """Return a bitwise operation on integers: ``& | ^ ~``."""
    operands = unify_operands(nodes, operator)
    kind = operands[0].type
    if kind not in INTEGRAL:
        raise Refusal(f"{operator} takes integers, not {kind}", "a power is power(x, 2)" if operator == "^" else "")
    return Call(operator, tuple(sorted(operands, key=lambda node: write(node, CANONICAL))), kind, Nulls.ANY)


def build_cast(node: Node, kind: Type) -> Node:
    """Return an explicit cast; a value without a counterpart becomes NULL."""
    source = node.type
    if source == kind and not (isinstance(node, Constant) and kind in INTEGRAL):
        return node  # keep the cast of an integer constant: the result is not as narrow as the literal
    if source == VOID:
        return Constant(kind, None)
    plain = {"number" if side.numeric else "moment" if side in _MOMENTS else str(side) for side in (source, kind)}
    possible = len(plain) == 1 or "string" in plain or plain == {"number", "boolean"}
    if not (possible and source.scalar and kind.scalar and kind != VOID):
        hint = "use unix_date, unix_seconds, date_from_unix_date or timestamp_micros" if "moment" in plain else ""
        raise Refusal(f"a {source} cannot be cast to {kind}", hint)
    return Call("cast", (node,), kind, _classify_cast_nulls(source, kind))


def _classify_cast_nulls(source: Type, kind: Type) -> Nulls:
    """Return when the result of a cast is NULL.

    The range of dates exceeds the range of timestamps by millions of years.
    """
    if source == STRING or (source == DATE and kind in _MOMENTS):
        return Nulls.ANY_OR_FAILED
    always = kind in (STRING, BOOLEAN, FLOAT) or find_monotone_cast(source, kind)
    return Nulls.ANY if always else Nulls.ANY_OR_FAILED
