"""Reductions of casts of one term between numbers, and between numbers and Booleans.

Casts that keep the order and never fail are undone where conditions are built. Here are the others. A number without a
counterpart becomes NULL. A cast to whole numbers cuts off the digits after the point; the double 2**63 is a special
case, because Java compares it with the largest whole number of 64 bits as a double, to which it is equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np

from provenn.criteria.conditions import build_leaf, convert_to_condition, join_by_or, negate_condition
from provenn.criteria.domains import INFINITY, decode_number, encode_double, encode_float, get_domain, round_to_float
from provenn.criteria.folding import round_to_scale
from provenn.criteria.nodes import Call, Condition, Node, Truth
from provenn.criteria.ranges import Ranges, build_point_ranges
from provenn.criteria.reductions.monotone import MonotonePart, pull_back, split_numbers
from provenn.criteria.types import BIGINT, BOOLEAN, DOUBLE, FLOAT, INTEGRAL, Type

__all__ = ["reduce_cast"]

_LONG = 1 << 63


def reduce_cast(term: Node, where: Ranges) -> Condition | None:
    """Reduce a cast between numbers, by bisection, or between numbers and Booleans, value by value."""
    match term:
        case Call("cast" | "coerce", (inner,), kind):
            pass
        case _:
            return None
    if inner.type.numeric and kind == BOOLEAN:
        return _reduce_to_boolean(inner, where)
    if inner.type == BOOLEAN and kind.numeric:
        return _reduce_from_boolean(inner, kind, where)
    convert = _choose_cast(inner.type, kind)
    if convert is None:
        return None
    values = split_numbers(inner.type)
    if inner.type in INFINITY and kind not in INFINITY:  # infinities and NaN become NULL
        values = [(low, high) for low, high in values if max(abs(low), abs(high)) < INFINITY[inner.type]]
    return pull_back(inner, (MonotonePart(low, high, convert, kind) for low, high in values), where)


def _reduce_to_boolean(inner: Node, where: Ranges) -> Condition | None:
    """Reduce a cast to a Boolean: FALSE for zero, TRUE for all other numbers, NaN included."""
    within = get_domain(inner.type)
    if within is None:
        return None
    zero = build_point_ranges([0], within)
    return join_by_or(build_leaf(inner, values) for key, values in ((0, ~zero), (1, zero)) if key in where)


def _reduce_from_boolean(inner: Node, kind: Type, where: Ranges) -> Condition:
    """Reduce a cast of a Boolean to a number: 1 for TRUE, 0 for FALSE."""
    true_key = {FLOAT: encode_float(1.0), DOUBLE: encode_double(1.0)}.get(kind, 10**kind.scale)
    condition = convert_to_condition(inner)
    within = get_domain(kind)
    fits = within is None or within.highest is None or true_key <= within.highest  # decimal(2,2) does not hold 1
    parts = [(true_key, condition)] if fits else []
    parts.append((0, negate_condition(condition)))
    return join_by_or([part for key, part in parts if key in where] or [Truth(False)])


def _choose_cast(source: Type, kind: Type) -> Callable[[int], int] | None:
    """Return a cast as a function of keys; None if it is uncertain. A key beyond the domain is NULL."""
    exact = source in INTEGRAL or source.name == "decimal"
    if kind in INTEGRAL:
        if exact:
            return lambda key: math.trunc(Fraction(key, 10**source.scale))
        return lambda key: _truncate_float(float(decode_number(source, key)), kind)
    if kind.name == "decimal" and exact:
        return lambda key: round_to_scale(Fraction(key, 10**source.scale), kind.scale)
    if kind == FLOAT and source in INTEGRAL:
        return lambda key: encode_float(round_to_float(Decimal(key)))
    if (source, kind) == (DOUBLE, FLOAT):
        return _narrow_double
    return None


def _truncate_float(value: float, kind: Type) -> int:
    """Return the whole number that a finite floating-point number becomes."""
    whole = math.trunc(value)
    return whole - 1 if kind == BIGINT and whole == _LONG else whole


def _narrow_double(key: int) -> int:
    with np.errstate(all="ignore"):
        return encode_float(float(np.float32(decode_number(DOUBLE, key))))
