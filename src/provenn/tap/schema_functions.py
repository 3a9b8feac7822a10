"""The functions, types and patterns of ADQL in SQLite, with the meaning that they have in queries of catalogs.

SQLite's own differ: its LOG is decimal, its LIKE ignores case, and its CAST reads ``12abc`` as 12.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, DecimalException
from typing import Final

from sqlglot import exp

__all__ = ["add_functions", "rewrite_operators"]

Value = str | float | int | None
_LENGTHS: Final = {exp.DType.SMALLINT: 15, exp.DType.INT: 31, exp.DType.BIGINT: 63}
_DOUBLES: Final = (exp.DType.FLOAT, exp.DType.DOUBLE)
_TEXTS: Final = (exp.DType.CHAR, exp.DType.VARCHAR)


def _be_safe(function: Callable[..., Value]) -> Callable[..., Value]:
    """Return a function that is NULL where an argument is NULL, and where it fails."""

    def call(*arguments: Value) -> Value:
        if None in arguments:
            return None
        try:
            return function(*arguments)
        except (ArithmeticError, ValueError, TypeError, DecimalException):
            return None

    return call


def _round(rounding: str) -> Callable[..., Value]:
    def call(value: float, places: int = 0) -> float:
        return float(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-places), rounding))

    return call


def _cast_whole(value: Value, bits: int) -> int:
    """Return a whole number of some bits; a text with anything else is no number."""
    number = int(value.strip()) if isinstance(value, str) else math.trunc(float(value or 0))
    if not -(2**bits) <= number < 2**bits:
        raise ValueError(value)
    return number


def _cast_text(value: Value, length: int) -> str:
    text = str(value)
    return text if length < 0 else text[:length]


def _find_sign(value: float) -> float:
    return float((value > 0) - (value < 0))


_FUNCTIONS: Final[dict[str, tuple[tuple[int, ...], Callable[..., Value]]]] = {
    **{name: ((1,), getattr(math, name)) for name in ("acos", "asin", "atan", "cos", "degrees", "exp", "log10")},
    **{name: ((1,), getattr(math, name)) for name in ("radians", "sin", "sqrt", "tan")},
    "abs": ((1,), abs),
    "atan2": ((2,), math.atan2),
    "ceiling": ((1,), lambda value: float(math.ceil(value))),
    "cot": ((1,), lambda value: 1 / math.tan(value)),
    "floor": ((1,), lambda value: float(math.floor(value))),
    "log": ((1,), math.log),
    "lower": ((1,), lambda value: str(value).lower()),
    "mod": (
        (2,),
        lambda value, by: math.fmod(value, by) if isinstance(value + by, float) else int(math.fmod(value, by)),
    ),
    "pi": ((0,), lambda: math.pi),
    "power": ((2,), math.pow),
    "round": ((1, 2), _round(ROUND_HALF_UP)),
    "sign": ((1,), _find_sign),
    "truncate": ((1, 2), _round(ROUND_DOWN)),
    "upper": ((1,), lambda value: str(value).upper()),
    "bit_xor": ((2,), lambda value, other: value ^ other),
    "cast_whole": ((2,), _cast_whole),
    "cast_double": ((1,), float),
    "cast_text": ((2,), _cast_text),
}


def add_functions(connection: sqlite3.Connection) -> None:
    """Give a connection the functions of ADQL, and patterns that distinguish upper from lower case."""
    connection.execute("PRAGMA case_sensitive_like = ON")
    for name, (counts, function) in _FUNCTIONS.items():
        for count in counts:
            connection.create_function(name, count, _be_safe(function), deterministic=True)


def rewrite_operators(tree: exp.Expr) -> exp.Expr:
    """Return a query whose casts, and operators that SQLite lacks, are calls of functions of `add_functions`."""
    return tree.transform(_rewrite_operator)


def _rewrite_operator(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.BitwiseXor):
        return exp.Anonymous(this="bit_xor", expressions=[node.this, node.expression])
    if not isinstance(node, exp.Cast) or not isinstance(node.to, exp.DataType):
        return node
    kind, value = node.to.this, node.this
    if kind in _LENGTHS:
        return exp.Anonymous(this="cast_whole", expressions=[value, exp.Literal.number(_LENGTHS[kind])])
    if kind in _DOUBLES:
        return exp.Anonymous(this="cast_double", expressions=[value])
    if kind in _TEXTS:
        length = next((part.name for part in node.to.expressions if part.name.isdigit()), "-1")
        return exp.Anonymous(this="cast_text", expressions=[value, exp.Literal.number(length)])
    return node
