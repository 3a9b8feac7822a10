"""Reductions of functions that round one term: ``floor``, ``ceil``, ``round``, ``bround``, ``rint``, ``sqrt``.

All of them keep the order of numbers. ``floor`` and ``ceil`` of a double are whole numbers of 64 bits, as Java converts
them: the nearest one for numbers beyond, and 0 for NaN. ``sqrt`` is correctly rounded by IEEE 754.

``round`` and ``bround`` of a double round its shortest decimal, as Java writes it: `java.lang.Double.toString`. Java
before version 19 sometimes writes more digits than needed, but a decimal of at most 15 digits, and so a half between
two results, is always written as it is. Where a range would begin at a half of more digits, nothing is claimed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

from provenn.criteria.domains import INFINITY, decode_number, encode_double, encode_float, round_to_float
from provenn.criteria.nodes import Call, Condition, Constant, Leaf, Node
from provenn.criteria.ranges import Ranges
from provenn.criteria.reductions.constants import evaluate_constant
from provenn.criteria.reductions.monotone import MonotonePart, pull_back, split_numbers
from provenn.criteria.types import BIGINT, DOUBLE, INTEGRAL, Type

__all__ = ["reduce_rounding"]

_LONG = 1 << 63
_MOST_PLACES = 15
_MOST_DIGITS = 15
_EXACT = Context(prec=800)  # more digits than any number has
_DIRECTIONS: dict[str, Callable[[Fraction], int]] = {"floor": math.floor, "ceil": math.ceil}


def reduce_rounding(term: Node, where: Ranges) -> Condition | None:
    """Reduce a function that rounds a term, by bisection."""
    match term:
        case Call("floor" | "ceil" as operator, (inner,)):
            convert = _choose_direction(inner.type, _DIRECTIONS[operator])
        case Call("sqrt", (inner,)) if inner.type == DOUBLE:
            convert = _convert_doubles(lambda value: value if math.isnan(value) else _compute_root(value))
        case Call("rint", (inner,)) if inner.type == DOUBLE:
            convert = _convert_doubles(lambda value: float(round(value)) if math.isfinite(value) else value)
        case Call("round" | "bround" as operator, (inner, places)):
            return _reduce_to_places(term, inner, evaluate_constant(places), where)
        case _:
            return None
    return _pull_back_all(term, inner, convert, where)


def _pull_back_all(term: Call, inner: Node, convert: Callable[[int], int], where: Ranges) -> Condition:
    """Return the condition on `inner` that a function on all its values lies in `where`."""
    parts = (MonotonePart(low, high, convert, term.type) for low, high in split_numbers(inner.type))
    return pull_back(inner, parts, where)


def _compute_root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan


def _convert_doubles(function: Callable[[float], float]) -> Callable[[int], int]:
    """Return a function of doubles as a function of their keys."""
    return lambda key: encode_double(function(float(decode_number(DOUBLE, key))))


def _choose_direction(kind: Type, function: Callable[[Fraction], int]) -> Callable[[int], int]:
    """Return ``floor`` or ``ceil`` as a function of the keys of a type."""
    if kind == BIGINT:
        return int
    if kind.name == "decimal":
        return lambda key: function(Fraction(key, 10**kind.scale))

    def convert(key: int) -> int:
        if key > INFINITY[DOUBLE]:
            return 0  # Java converts NaN to 0
        if abs(key) == INFINITY[DOUBLE]:
            return _LONG - 1 if key > 0 else -_LONG
        return min(max(function(Fraction(decode_number(DOUBLE, key))), -_LONG), _LONG - 1)

    return convert


def _reduce_to_places(term: Call, inner: Node, places: Constant | None, where: Ranges) -> Condition | None:
    """Reduce ``round`` or ``bround`` to a number of places; None if the result is uncertain."""
    count = places and places.key
    if not isinstance(count, int) or (count < 0 and inner.type not in INFINITY) or abs(count) > _MOST_PLACES:
        return None
    mode = ROUND_HALF_UP if term.operator == "round" else ROUND_HALF_EVEN
    condition = _pull_back_all(term, inner, _choose_rounding(inner.type, count, mode), where)
    return None if inner.type in INFINITY and _has_long_halves(condition, count) else condition


def _has_long_halves(condition: Condition, places: int) -> bool:
    """Tell whether a range may begin at a half of more digits than Java is sure to write as it is."""
    if not isinstance(condition, Leaf):
        return False
    kind = condition.term.type
    infinity = INFINITY.get(kind, 0)
    finite = [cut for cut in condition.where.cuts if cut not in (1 - infinity, infinity, infinity + 1)]
    return any(abs(float(decode_number(kind, cut))) >= 10.0 ** (_MOST_DIGITS - 1 - places) for cut in finite)


def _choose_rounding(kind: Type, places: int, mode: str) -> Callable[[int], int]:
    """Return the rounding of a number to some places as a function of the keys of a type."""
    if kind in INTEGRAL:
        return int

    def round_decimal(key: int) -> int:
        return int((Decimal(key).scaleb(min(places - kind.scale, 0), _EXACT)).quantize(Decimal(1), mode, _EXACT))

    def round_float(key: int) -> int:
        if abs(key) >= INFINITY[kind]:
            return key
        rounded = Decimal(repr(float(decode_number(kind, key)))).quantize(Decimal(1).scaleb(-places), mode, _EXACT)
        return encode_double(float(rounded)) if kind == DOUBLE else encode_float(round_to_float(rounded))

    return round_decimal if kind.name == "decimal" else round_float
