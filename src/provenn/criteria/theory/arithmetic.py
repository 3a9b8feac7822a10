"""The arithmetic of intervals, exact for every type: the least and the greatest result, and what gives a result.

Every operation rounds its exact result, and rounding never reverses an order. So an operation that is monotone in exact
arithmetic is monotone in the arithmetic of the type, and its extreme results come from the ends of the intervals. The
operands that can give some results are found by bisection over the keys, with the arithmetic of the type itself.

NaN is no part of this order. It arises from NaN, from infinities (``inf - inf``, ``0 * inf``, ``inf / inf``), and from
nothing else: a quotient with a zero divisor is NULL.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from struct import Struct
from typing import Any, Final

from provenn.criteria.domains import INFINITY
from provenn.criteria.theory.values import Values
from provenn.criteria.types import DOUBLE, FLOAT, INTEGRAL, Type

__all__ = ["Arithmetic", "find_arithmetic", "narrow_by_order"]

Compute = Callable[[int, int], int | None]
"""The key of the result of two keys; None for NaN. Results of exact types may lie beyond the type."""

_UP, _DOWN = 1, -1
_LONG, _DOUBLE, _SHORT, _SINGLE = map(Struct, ("<q", "<d", "<i", "<f"))
_MOST_DIGITS: Final = 38  # a decimal type with as many digits may be too narrow for exact results
_OPERATIONS: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operators.add,
    "-": operators.sub,
    "*": operators.mul,
    "/": operators.truediv,
}


class Arithmetic:
    """An operation ``+ - * /`` on operands of given types.

    Parameters
    ----------
    operator
        The operator.
    compute
        The operation on keys.
    operands, kind
        The types of the operands and of the result.
    """

    def __init__(self, operator: str, compute: Compute, operands: tuple[Type, ...], kind: Type) -> None:
        self.operator = operator
        self.compute = compute
        self.operands = operands
        self.kind = kind
        self._infinity = INFINITY.get(kind)

    def is_same(self, other: Arithmetic) -> bool:
        """Return whether another operation is the same, on the same types."""
        return (self.operator, self.operands, self.kind) == (other.operator, other.operands, other.kind)

    def find_results(self, left: Values, right: Values) -> tuple[int, int, bool] | None:
        """Return the interval of the results and whether NaN is one; None if the results have no known bounds.

        The result of exact types is not cut to the type: beyond it, the value is NULL.
        """
        right = self.trim_divisor(right)
        nan = left.nan or right.nan or self.can_create_nan(left, right)
        if not (left.is_ordered and right.is_ordered):
            return 0, 0, nan
        if self.operator == "/" and right.contains(0):
            return None
        results = [
            result
            for x in self._list_ends(left)
            for y in self._list_ends(right)
            if (result := self.compute(x, y)) is not None
        ]
        return (min(results), max(results) + 1, nan) if results else (0, 0, nan)

    def trim_divisor(self, divisor: Values) -> Values:
        """Return the values of a divisor without a zero at an end: the quotient would be NULL."""
        if self.operator != "/":
            return divisor
        if divisor.low == 0:
            divisor = divisor._replace(low=1)
        return divisor._replace(high=0) if divisor.high == 1 else divisor

    def _list_ends(self, values: Values) -> set[int]:
        """Return the ends of an interval, and next to an infinity the largest finite number.

        With an infinity alone, an end whose result is NaN would hide the results beside it.
        """
        low, high = int(values.low), int(values.high or 0) - 1
        ends = {low, high}
        if self._infinity is not None and low < high:
            if low == -self._infinity:
                ends.add(low + 1)
            if high == self._infinity:
                ends.add(high - 1)
        return ends

    def can_create_nan(self, left: Values, right: Values) -> bool:
        """Return whether operands that are not NaN can give NaN."""
        if self._infinity is None:
            return False
        up, down = self._infinity, -self._infinity
        match self.operator:
            case "+":
                return (left.contains(up) and right.contains(down)) or (left.contains(down) and right.contains(up))
            case "-":
                return (left.contains(up) and right.contains(up)) or (left.contains(down) and right.contains(down))
            case "*":
                infinite = [side.contains(up) or side.contains(down) for side in (left, right)]
                return (left.contains(0) and infinite[1]) or (right.contains(0) and infinite[0])
            case _:
                return all(side.contains(up) or side.contains(down) for side in (left, right))

    def find_direction(self, place: int, other: Values) -> int:
        """Return 1 if the result never falls as the operand grows, -1 if it never rises, 0 if neither is known.

        Parameters
        ----------
        place
            Which operand grows: 0 is the left one.
        other
            The values of the other operand.
        """
        if self.operator in "+-":
            return _DOWN if self.operator == "-" and place else _UP
        if self.operator == "/" and place == 0:
            other = self.trim_divisor(other)
        sign = 1 if other.low >= 0 else -1 if other.high is not None and other.high <= 1 else 0  # type: ignore[operator]
        if self.operator == "/" and place == 0 and other.contains(0):
            return 0
        return -sign if self.operator == "/" and place else sign

    def find_operands(self, place: int, operand: Values, other: Values, result: Values) -> Values:
        """Return the values of an operand for which some result is possible, without those that give NaN or NULL.

        The caller makes sure that the call is not NULL. A number is left out only if it gives no number as a result
        and no NaN: where NaN is a possible result, the other operand must be a number, and finite enough.
        """
        if self.operator == "/" and place == 1:
            operand = self.trim_divisor(operand)
            if operand.contains(0):
                return operand
        elif self.operator == "/":
            other = self.trim_divisor(other)
        sides = (operand, other) if place == 0 else (other, operand)
        if result.nan and (other.nan or self.can_create_nan(*sides)):
            return operand
        direction = self.find_direction(place, other)
        if not direction or not (operand.is_ordered and other.is_ordered):
            return operand
        if not result.is_ordered:
            return operand._replace(high=operand.low)
        ends = self._list_ends(other)
        least, most = int(result.low), int(result.high or 0) - 1

        def list_results(key: int) -> list[int] | None:
            """Return the results with each end of the other operand, or None if one is NaN."""
            results = [self.compute(key, end) if place == 0 else self.compute(end, key) for end in ends]
            return None if None in results else [result for result in results if result is not None]

        def reaches(key: int) -> bool:
            results = list_results(key)
            return results is None or max(results) >= least

        def stays(key: int) -> bool:
            results = list_results(key)
            return results is None or min(results) <= most

        return narrow_by_order(operand, *((reaches, stays) if direction == _UP else (stays, reaches)))


def narrow_by_order(values: Values, holds_above: Callable[[int], bool], holds_below: Callable[[int], bool]) -> Values:
    """Return the values from the first for which one test holds to the last for which another test holds.

    The first test holds for all keys above a key for which it holds, the second for all keys below.
    """
    low, high = int(values.low), int(values.high or 0)
    if low < high and not holds_above(low):
        bottom, top = low, high  # fails at the bottom; holds at the top, or the top is the end
        while top - bottom > 1:
            middle = (bottom + top) // 2
            bottom, top = (bottom, middle) if holds_above(middle) else (middle, top)
        low = top
    if low < high and not holds_below(high - 1):
        bottom, top = low - 1, high - 1  # holds at the bottom, or the bottom is the end; fails at the top
        while top - bottom > 1:
            middle = (bottom + top) // 2
            bottom, top = (middle, top) if holds_below(middle) else (bottom, middle)
        high = top
    return values._replace(low=low, high=high)


def find_arithmetic(operator: str, operands: tuple[Type, ...], kind: Type) -> Arithmetic | None:
    """Return the arithmetic of ``+ - * /`` on two operands, or None if Spark's result is not known for these types."""
    if operator not in ("+", "-", "*", "/") or len(operands) != 2:
        return None
    if operands == (DOUBLE, DOUBLE) and kind == DOUBLE:
        return Arithmetic(operator, _make_double(operator), operands, kind)
    if operands == (FLOAT, FLOAT) and kind == FLOAT and operator != "/":
        return Arithmetic(operator, _make_float(operator), operands, kind)
    if operator == "/":
        return None  # Spark rounds a quotient of decimals twice
    if kind in INTEGRAL and operands == (kind, kind):
        return Arithmetic(operator, _make_exact(operator, operands, 0), operands, kind)
    if all(side.name == "decimal" for side in (*operands, kind)) and kind.precision < _MOST_DIGITS:
        return Arithmetic(operator, _make_exact(operator, operands, kind.scale), operands, kind)
    return None


def _make_double(operator: str) -> Compute:
    calculate = _OPERATIONS[operator]

    def compute(left: int, right: int) -> int | None:
        result = calculate(_decode(left, _LONG, _DOUBLE), _decode(right, _LONG, _DOUBLE))
        return None if result != result else _encode(result, _LONG, _DOUBLE)  # noqa: PLR0124 - NaN differs from itself

    return compute


def _make_float(operator: str) -> Compute:
    """Return the operation on floats: rounding the double result once more gives the same as rounding the exact one.

    A double has more than twice the digits of a float and two more (Figueroa, "When is double rounding innocuous?").
    """
    calculate = _OPERATIONS[operator]

    def compute(left: int, right: int) -> int | None:
        result = calculate(_decode(left, _SHORT, _SINGLE), _decode(right, _SHORT, _SINGLE))
        if result != result:  # noqa: PLR0124
            return None
        try:
            return _encode(result, _SHORT, _SINGLE)
        except OverflowError:  # the nearest float is infinite
            return INFINITY[FLOAT] if result > 0 else -INFINITY[FLOAT]

    return compute


def _decode(key: int, whole: Struct, number: Struct) -> float:
    """Return the number of a key that is not the key of NaN."""
    magnitude: float = number.unpack(whole.pack(abs(key)))[0]
    return magnitude if key >= 0 else -magnitude


def _encode(value: float, whole: Struct, number: Struct) -> int:
    """Return the key of a number that is not NaN, rounded to the nearest number of the type."""
    magnitude: int = whole.unpack(number.pack(abs(value)))[0]
    return magnitude if value >= 0 else -magnitude


def _make_exact(operator: str, operands: tuple[Type, ...], scale: int) -> Compute:
    """Return the operation on whole numbers or decimals, whose results have a scale that needs no rounding."""
    calculate = _OPERATIONS[operator]
    shifts = [1 if operator == "*" else 10 ** (scale - side.scale) for side in operands]

    def compute(left: int, right: int) -> int:
        return int(calculate(left * shifts[0], right * shifts[1]))

    return compute
