"""Reductions of arithmetic on one term: ``+ - * /`` with a constant, the negative, and the absolute value.

Spark computes doubles and floats by the rules of IEEE 754, as Python and NumPy do. All of these functions are monotone
in parts, and rounding to the nearest number keeps the order. Whole numbers and decimals are computed exactly here; a
value beyond the type is NULL in Spark, and lies in no range.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from provenn.criteria.domains import decode_number, encode_double, encode_float
from provenn.criteria.folding import round_to_scale, round_twice
from provenn.criteria.nodes import Call, Condition, Node, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.reductions.constants import evaluate_constant
from provenn.criteria.reductions.monotone import MonotonePart, pull_back, split_numbers
from provenn.criteria.types import DOUBLE, FLOAT, Type

__all__ = ["reduce_arithmetic"]

_Number = Any
"""A number in whose arithmetic a function is computed: a double, a NumPy float, or a fraction."""

_OPERATORS: dict[str, Callable[[_Number, _Number], _Number]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "/": operators.truediv,
}


def reduce_arithmetic(term: Node, where: Ranges) -> Condition | None:
    """Reduce ``+ - * /`` with a constant on either side, the negative, and ``abs``, by bisection."""
    match term:
        case Call("-" | "abs" as operator, (inner,)) if inner.type == term.type:
            return pull_back(inner, _split_function(term, inner, operators.neg if operator == "-" else abs), where)
        case Call("+" | "-" | "*" | "/", (left, right)):
            return _reduce_binary(term, left, right, where)
    return None


def _reduce_binary(term: Call, left: Node, right: Node, where: Ranges) -> Condition | None:
    """Reduce an operation on a term and a constant."""
    first, second = evaluate_constant(left), evaluate_constant(right)
    constant, inner = (first, right) if first else (second, left)
    if constant is None or (first and second):
        return None
    if constant.key is None or (term.operator == "/" and second and second.key == 0):
        return Truth(False)  # the value is NULL: so is a division by zero
    compute = _OPERATORS[term.operator]
    number = _convert_number(decode_number(constant.type, constant.key), term.type)

    def function(value: _Number) -> _Number:
        return compute(number, value) if first else compute(value, number)

    condition = pull_back(inner, _split_function(term, inner, function), where)
    if term.operator == "/" and term.type.name == "decimal":
        other = pull_back(inner, _split_function(term, inner, function, round_twice), where)
        return condition if condition == other else None
    return condition


def _split_function(
    term: Call,
    inner: Node,
    function: Callable[[_Number], _Number],
    round_exact: Callable[[Fraction, int], int] = round_to_scale,
) -> Iterator[MonotonePart]:
    """Yield the monotone parts of a function of a number; decimals and whole numbers are rounded by a function."""

    def convert(key: int) -> int:
        value = decode_number(inner.type, key)
        if term.type == DOUBLE:
            return encode_double(function(value))
        if term.type == FLOAT:
            with np.errstate(all="ignore"):
                return encode_float(float(function(np.float32(value))))
        return round_exact(function(Fraction(value)), term.type.scale)

    for low, high in split_numbers(inner.type):
        if (low, high) == (0, 0) and term.operator == "/" and inner is term.arguments[1]:
            continue  # a division by zero is NULL
        yield MonotonePart(low, high, convert, term.type)


def _convert_number(number: _Number, kind: Type) -> _Number:
    """Return a number in the arithmetic of a type."""
    return number if kind == DOUBLE else np.float32(number) if kind == FLOAT else Fraction(number)
