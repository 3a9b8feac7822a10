"""Constant expressions evaluated, as Spark would: so that ``vmag < 5 + 1`` is a comparison with a constant.

Only what is sure to come out as in Spark is evaluated; the rest is left as it is, and is then one opaque term.
"""

from __future__ import annotations

import operator as operators
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from provenn.criteria.domains import INFINITY, Key, domain, double_key, float_key, monotone, nearest_float, number
from provenn.criteria.literals import date_key, timestamp_key
from provenn.criteria.nodes import Call, Constant, Node
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import BIGINT, DOUBLE, FLOAT, INT, INTEGRAL, STRING, TIMESTAMP, Type, decimal

__all__ = ["evaluate", "parse_constant", "read_number"]

_LONGEST_NUMBER = 1000
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "/": operators.truediv,
}
_SPECIAL = {"nan": "nan", "infinity": "inf", "inf": "inf", "-infinity": "-inf", "-inf": "-inf"}


def evaluate(node: Node) -> Constant | None:
    """Return the value of a node that reads no attribute, or None where it is not known here."""
    match node:
        case Constant():
            return node
        case Call("cast" | "coerce", (argument,), kind):
            constant = evaluate(argument)
            return constant and _cast(constant, kind)
        case Call("-", (argument,), kind):
            constant = evaluate(argument)
            return constant and _negative(constant)
        case Call("+" | "-" | "*" | "/" as operator, (left, right), kind):
            one, other = evaluate(left), evaluate(right)
            return _calculated(operator, one, other, kind) if one and other else None
    return None


def parse_constant(text: str, kind: Type) -> Key | None:
    """Return the key of the value of a type that a string stands for, or None if that is not sure."""
    if kind == STRING:
        return text
    if kind.name == "date":
        return date_key(text)
    if kind.name in ("timestamp", "timestamp_ntz"):
        return timestamp_key(text, zoned=kind == TIMESTAMP)
    if kind in (FLOAT, DOUBLE) and text.lower() in _SPECIAL:
        special = float(_SPECIAL[text.lower()])
        return double_key(special) if kind == DOUBLE else float_key(special)
    if not kind.numeric or not _NUMBER.fullmatch(text):
        return None
    if kind == DOUBLE:
        return double_key(float(text))
    if kind == FLOAT:
        return float_key(nearest_float(Decimal(text)))
    if kind in INTEGRAL and "e" in text.lower():
        return None  # CAST('1e2' AS int) is NULL
    exact = Fraction(text) * 10**kind.scale
    return _fitting(exact.numerator, kind) if exact.denominator == 1 else None


def read_number(text: str, sign: str = "") -> Constant:
    """Return a number as it is written, in the type that Spark gives it."""
    if len(text) > _LONGEST_NUMBER:
        raise Refusal("this has more digits than any number here", "write it as a double: 1.5e0")
    if "e" in text.lower():
        key = parse_constant(text, DOUBLE)
        if key is None or abs(int(key)) >= INFINITY[DOUBLE]:
            raise Refusal(f"{text} is too large a number")
        return Constant(DOUBLE, -int(key) if sign else key, sign + text)
    for kind in (INT, BIGINT):
        key = parse_constant(sign + text, kind)
        if key is not None and "." not in text:
            return Constant(kind, key, sign + text)
    value = Decimal(text)
    scale = -int(value.as_tuple().exponent)
    kind = decimal(max(len(value.as_tuple().digits), scale), scale)
    if kind.precision > 38:
        raise Refusal(f"{text} has more than 38 digits", "write it as a double: 1.5e0")
    return Constant(kind, parse_constant(sign + text, kind), sign + text)


def _cast(constant: Constant, kind: Type) -> Constant | None:
    source, key = constant.type, constant.key
    if key is None:
        return Constant(kind, None)
    if isinstance(key, str):
        parsed = parse_constant(key, kind)
        return None if parsed is None else Constant(kind, parsed)
    convert = monotone(source, kind)
    if convert:
        return Constant(kind, _fitting(convert(key), kind))  # dates go further than timestamps
    exact = source in INTEGRAL or source.name == "decimal"
    if exact and kind in INTEGRAL:
        return Constant(kind, _fitting(int(number(source, key)), kind))
    if exact and kind.name == "decimal":
        return Constant(kind, _fitting(_rounded(Fraction(number(source, key)), kind.scale), kind))
    return None


def _negative(constant: Constant) -> Constant:
    kind, key = constant.type, constant.key
    if not isinstance(key, int) or (kind in INFINITY and key > INFINITY[kind]):
        return constant  # NULL and NaN
    return Constant(kind, _fitting(-key, kind))


def _calculated(operator: str, one: Constant, other: Constant, kind: Type) -> Constant | None:
    if one.key is None or other.key is None:
        return Constant(kind, None)
    left, right = number(one.type, one.key), number(other.type, other.key)
    if operator == "/" and right == 0:
        return Constant(kind, None)
    if kind == DOUBLE and isinstance(left, float) and isinstance(right, float):
        return Constant(kind, double_key(float(_OPERATORS[operator](left, right))))
    if isinstance(left, float) or isinstance(right, float):
        return None
    exact = Fraction(_OPERATORS[operator](Fraction(left), Fraction(right)))
    if operator == "/":
        exact = Fraction(_rounded(exact, 38), 10**38)  # Spark rounds a quotient twice
    return Constant(kind, _fitting(_rounded(exact, kind.scale), kind))


def _rounded(value: Fraction, scale: int) -> int:
    """Return the value in units of the last digit, halves rounded away from zero."""
    units = abs(value) * 10**scale
    whole = int(units + Fraction(1, 2))
    return whole if value >= 0 else -whole


def _fitting(key: int, kind: Type) -> int | None:
    within = domain(kind)
    if within is None or within.highest is None or isinstance(within.lowest, str):
        return None
    return key if within.lowest <= key <= within.highest else None
