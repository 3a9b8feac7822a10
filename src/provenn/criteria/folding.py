"""Evaluate constant expressions as Spark does, so that ``vmag < 5 + 1`` is a comparison with a constant.

Only expressions with a certain result are evaluated. All others stay unevaluated, as opaque terms.
"""

from __future__ import annotations

import operator as operators
import re
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from provenn.criteria.domains import (
    INFINITY,
    Key,
    decode_number,
    encode_double,
    encode_float,
    find_monotone_cast,
    get_domain,
    round_to_float,
)
from provenn.criteria.literals import parse_date, parse_timestamp
from provenn.criteria.nodes import Call, Constant, Node
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import BIGINT, DOUBLE, FLOAT, INT, INTEGRAL, STRING, TIMESTAMP, Type, decimal

__all__ = ["evaluate", "parse_constant", "read_number", "round_to_scale", "round_twice"]

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
    """Return the value of a node that reads no attribute, or None if the value is not known."""
    match node:
        case Constant():
            return node
        case Call("cast" | "coerce", (argument,), kind):
            constant = evaluate(argument)
            return constant and _cast_constant(constant, kind)
        case Call("-", (argument,), kind):
            constant = evaluate(argument)
            return constant and _negate(constant)
        case Call("+" | "-" | "*" | "/" as operator, (left, right), kind):
            left_constant, right_constant = evaluate(left), evaluate(right)
            return (
                _calculate(operator, left_constant, right_constant, kind) if left_constant and right_constant else None
            )
    return None


def parse_constant(text: str, kind: Type) -> Key | None:
    """Return the key of the value that a string represents in a type, or None if the value is uncertain."""
    if kind == STRING:
        return text
    if kind.name == "date":
        return parse_date(text)
    if kind.name in ("timestamp", "timestamp_ntz"):
        return parse_timestamp(text, zoned=kind == TIMESTAMP)
    if kind in (FLOAT, DOUBLE) and text.lower() in _SPECIAL:
        special = float(_SPECIAL[text.lower()])
        return encode_double(special) if kind == DOUBLE else encode_float(special)
    if not kind.numeric or not _NUMBER.fullmatch(text):
        return None
    if kind == DOUBLE:
        return encode_double(float(text))
    if kind == FLOAT:
        return encode_float(round_to_float(Decimal(text)))
    if kind in INTEGRAL and "e" in text.lower():
        return None  # CAST('1e2' AS int) is NULL
    exact = Fraction(text) * 10**kind.scale
    return _fit_key(exact.numerator, kind) if exact.denominator == 1 else None


def read_number(text: str, sign: str = "") -> Constant:
    """Return a number literal as a constant, in the type that Spark assigns to the literal."""
    if len(text) > _LONGEST_NUMBER:
        raise Refusal("this number has too many digits", "write it as a double: 1.5e0")
    if "e" in text.lower():
        key = parse_constant(text, DOUBLE)
        if key is None or abs(int(key)) >= INFINITY[DOUBLE]:
            raise Refusal(f"{text} is too large")
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


def _cast_constant(constant: Constant, kind: Type) -> Constant | None:
    """Return a constant cast to a type, or None if Spark's result is uncertain."""
    source, key = constant.type, constant.key
    if key is None:
        return Constant(kind, None)
    if isinstance(key, str):
        parsed = parse_constant(key, kind)
        return None if parsed is None else Constant(kind, parsed)
    convert = find_monotone_cast(source, kind)
    if convert:
        return Constant(kind, _fit_key(convert(key), kind))  # the range of dates is wider than the range of timestamps
    exact = source in INTEGRAL or source.name == "decimal"
    if exact and kind in INTEGRAL:
        return Constant(kind, _fit_key(int(decode_number(source, key)), kind))
    if exact and kind.name == "decimal":
        return Constant(kind, _fit_key(round_to_scale(Fraction(decode_number(source, key)), kind.scale), kind))
    return None


def _negate(constant: Constant) -> Constant:
    kind, key = constant.type, constant.key
    if not isinstance(key, int) or (kind in INFINITY and key > INFINITY[kind]):
        return constant  # NULL and NaN
    return Constant(kind, _fit_key(-key, kind))


def _calculate(operator: str, left_constant: Constant, right_constant: Constant, kind: Type) -> Constant | None:
    """Return the result of an arithmetic operation on constants, or None if Spark's result is uncertain."""
    if left_constant.key is None or right_constant.key is None:
        return Constant(kind, None)
    left, right = (
        decode_number(left_constant.type, left_constant.key),
        decode_number(right_constant.type, right_constant.key),
    )
    if operator == "/" and right == 0:
        return Constant(kind, None)
    if kind == DOUBLE and isinstance(left, float) and isinstance(right, float):
        return Constant(kind, encode_double(float(_OPERATORS[operator](left, right))))
    if isinstance(left, float) or isinstance(right, float):
        return None
    exact = Fraction(_OPERATORS[operator](Fraction(left), Fraction(right)))
    result = round_to_scale(exact, kind.scale)
    if operator == "/" and result != round_twice(exact, kind.scale):
        return None
    return Constant(kind, _fit_key(result, kind))


def round_to_scale(value: Fraction, scale: int) -> int:
    """Return a value in units of the last digit, with halves rounded away from zero."""
    units = abs(value) * 10**scale
    whole = int(units + Fraction(1, 2))
    return whole if value >= 0 else -whole


def round_twice(value: Fraction, scale: int) -> int:
    """Return a value in units of the last digit as `round_to_scale` does, rounded to 38 digits after the point before.

    Some versions of Spark round a quotient of decimals so. Where the two results differ, the quotient is uncertain.
    """
    return round_to_scale(Fraction(round_to_scale(value, 38), 10**38), scale)


def _fit_key(key: int, kind: Type) -> int | None:
    """Return a key if it lies in the domain of a type; otherwise None."""
    within = get_domain(kind)
    if within is None or within.highest is None or isinstance(within.lowest, str):
        return None
    return key if within.lowest <= key <= within.highest else None
