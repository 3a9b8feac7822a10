"""Values of terms over columns of doubles: arithmetic, angles and distances, with a bound on the difference from Spark.

Sums, products, quotients and square roots of doubles are correctly rounded everywhere, so their values are Spark's to
the last bit. Sines and the like are not: Java and NumPy promise all but the last places. Each value therefore carries a
doubt, the most by which Spark's value may differ, and doubts grow as values are computed from values. Where a doubt
matters, the caller leaves the rows to Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from provenn.criteria.domains import decode_number
from provenn.criteria.nodes import Call, ColumnNode, Constant, Node
from provenn.look.refusal import NeedsSpark

__all__ = ["TermValues", "compute_term"]

_PLACE: Final = 2.0**-52
"""The size of the last place of 1.0, a bound on every rounding."""

_FUNCTION: Final = 8 * _PLACE
"""A bound, relative to the value, on the difference of a function in Java and in NumPy: each errs by a few places."""


_TINY: Final = 1e-300
"""A bound on what is lost where numbers become too small for all of their digits."""


@dataclass(frozen=True, slots=True)
class TermValues:
    """The values of a term.

    Parameters
    ----------
    numbers
        The values as an array of doubles; any value where it is NULL.
    doubts
        For each value, the most by which Spark's value differs; 0 for equal values, infinite where nothing is known.
    valid
        Where the value is not NULL.
    positive
        Where Spark's value is surely not negative.
    """

    numbers: Any
    doubts: Any
    valid: Any
    positive: Any


ReadColumn = Callable[[ColumnNode], tuple[Any, Any]]
"""Returns the values of a column as doubles, and which of them are not NULL."""


def compute_term(node: Node, rows: int, read_column: ReadColumn) -> TermValues:
    """Return the values of a term, for which `provenn.look.suitability.is_number_term` holds.

    Parameters
    ----------
    node
        The term.
    rows
        The number of rows.
    read_column
        Returns the values of a column.
    """
    with np.errstate(all="ignore"):
        return _compute(node, rows, read_column)


def _compute(node: Node, rows: int, read_column: ReadColumn) -> TermValues:
    match node:
        case ColumnNode() | Call("coerce" | "cast", (ColumnNode(),)):
            column = node if isinstance(node, ColumnNode) else node.arguments[0]
            numbers, valid = read_column(column)  # type: ignore[arg-type] # the match has shown that it is a column
            return TermValues(numbers, np.zeros(rows), valid, numbers >= 0)
        case Constant(kind, key):
            number = 0.0 if key is None else float(decode_number(kind, key))
            full = np.full(rows, number)
            return TermValues(full, np.zeros(rows), np.full(rows, key is not None), full >= 0)
        case Call(operator, arguments):
            inputs = [_compute(argument, rows, read_column) for argument in arguments]
            result = _OPERATIONS[operator, len(inputs)](*inputs)
            valid = result.valid & np.logical_and.reduce([part.valid for part in inputs])
            # What is not finite may be so for Spark alone, or not for Spark, if an input is in doubt.
            in_doubt = np.logical_or.reduce([part.doubts > 0 for part in inputs])
            doubts = np.where(in_doubt & ~np.isfinite(result.numbers), np.inf, result.doubts)
            return replace(result, valid=valid, doubts=np.where(np.isnan(doubts), np.inf, doubts))
    raise NeedsSpark("a term is not computed here")


def _round(numbers: Any, spread: Any, positive: Any, valid: Any = True) -> TermValues:  # noqa: ANN401 - arrays of NumPy
    """Return the values of a correctly rounded operation; `spread` is what the doubts of its inputs amount to."""
    doubts = np.where(spread == 0, 0.0, spread + 2 * _PLACE * np.abs(numbers) + _TINY)
    return TermValues(numbers, doubts, valid, positive)


def _approximate(numbers: Any, spread: Any, is_zero: Any, positive: Any = False) -> TermValues:  # noqa: ANN401 - as above
    """Return the values of a function; `spread` is what the doubts of its inputs amount to.

    The value is exact where it is NaN without a doubt, and where `is_zero`: at 0, functions that are 0 there are exact.
    """
    is_exact = (spread == 0) & (is_zero | np.isnan(numbers))
    doubts = np.where(is_exact, 0.0, spread + _FUNCTION * np.abs(numbers) + _TINY)
    return TermValues(numbers, doubts, True, np.broadcast_to(positive, numbers.shape))


def _add(a: TermValues, b: TermValues) -> TermValues:
    return _round(a.numbers + b.numbers, a.doubts + b.doubts, a.positive & b.positive)


def _subtract(a: TermValues, b: TermValues) -> TermValues:
    spread = a.doubts + b.doubts
    numbers = a.numbers - b.numbers
    return _round(numbers, spread, (spread == 0) & (numbers >= 0))


def _multiply(a: TermValues, b: TermValues) -> TermValues:
    spread = np.abs(a.numbers) * b.doubts + np.abs(b.numbers) * a.doubts + a.doubts * b.doubts
    spread = np.where((a.doubts == 0) & (b.doubts == 0), 0.0, spread)  # also where a number is not finite
    return _round(a.numbers * b.numbers, spread, a.positive & b.positive)


def _divide(a: TermValues, b: TermValues) -> TermValues:
    """Return quotients; a division by zero is NULL."""
    is_zero = (b.numbers == 0) & (b.doubts == 0)
    numbers = a.numbers / np.where(b.numbers == 0, 1.0, b.numbers)
    least = np.abs(b.numbers) - b.doubts
    spread = np.where(
        (b.doubts > 0) & (least <= 0), np.inf, (a.doubts + np.abs(numbers) * b.doubts) / np.where(least > 0, least, 1.0)
    )
    is_exact = is_zero | ((a.doubts == 0) & (b.doubts == 0))
    return _round(numbers, np.where(is_exact, 0.0, spread), a.positive & b.positive, ~is_zero)


def _negate(a: TermValues) -> TermValues:
    return TermValues(-a.numbers, a.doubts, True, (a.doubts == 0) & (a.numbers <= 0))


def _take_size(a: TermValues) -> TermValues:
    return TermValues(np.abs(a.numbers), a.doubts, True, np.ones_like(a.positive))


def _take_root(a: TermValues) -> TermValues:
    """Return square roots; a number that may be negative for Spark alone is in doubt."""
    numbers = np.sqrt(a.numbers)
    least = np.sqrt(np.maximum(a.numbers - a.doubts, 0.0))
    spread = np.where(a.doubts == 0, 0.0, np.sqrt(np.maximum(a.numbers, 0.0) + a.doubts) - least)
    is_unclear = (a.doubts > 0) & ~a.positive & (a.numbers - a.doubts <= 0)
    return _round(numbers, np.where(is_unclear, np.inf, spread), np.ones_like(a.positive))


def _square(a: TermValues, exponent: TermValues) -> TermValues:
    """Return squares: the exponent is 2."""
    del exponent
    spread = np.where(a.doubts == 0, 0.0, 2 * np.abs(a.numbers) * a.doubts + a.doubts * a.doubts)
    return _approximate(a.numbers * a.numbers, spread, a.numbers == 0, positive=True)


def _take_sine(a: TermValues) -> TermValues:
    return _mark_positive(_approximate(np.sin(a.numbers), a.doubts, a.numbers == 0))


def _take_cosine(a: TermValues) -> TermValues:
    return _mark_positive(_approximate(np.cos(a.numbers), a.doubts, is_zero=False))


def _mark_positive(values: TermValues) -> TermValues:
    return replace(values, positive=values.numbers - values.doubts >= 0)


def _convert_to_radians(a: TermValues) -> TermValues:
    return _approximate(np.radians(a.numbers), a.doubts / 57, a.numbers == 0, a.positive)


def _convert_to_degrees(a: TermValues) -> TermValues:
    return _approximate(np.degrees(a.numbers), a.doubts * 58, a.numbers == 0, a.positive)


def _find_angle(y: TermValues, x: TermValues) -> TermValues:
    """Return the angles of points in the plane; near the origin, or across the negative axis, they are in doubt."""
    doubt = x.doubts + y.doubts
    distance = np.hypot(x.numbers, y.numbers) - doubt
    is_unclear = (doubt > 0) & ((distance <= 0) | ((x.numbers <= x.doubts) & (np.abs(y.numbers) <= y.doubts)))
    spread = np.where(is_unclear, np.inf, doubt / np.where(distance > 0, distance, 1.0))
    is_zero = (y.numbers == 0) & (y.doubts == 0) & (x.numbers > x.doubts)
    spread = np.where(is_zero, 0.0, spread)
    angles = np.arctan2(y.numbers + 0.0, x.numbers + 0.0)  # as in Spark, where -0.0 has no angle of its own
    return _approximate(angles, spread, is_zero, y.positive & x.positive)


_OPERATIONS: Final[dict[tuple[str, int], Callable[..., TermValues]]] = {
    ("+", 2): _add,
    ("-", 2): _subtract,
    ("*", 2): _multiply,
    ("/", 2): _divide,
    ("-", 1): _negate,
    ("abs", 1): _take_size,
    ("sqrt", 1): _take_root,
    ("pow", 2): _square,
    ("sin", 1): _take_sine,
    ("cos", 1): _take_cosine,
    ("radians", 1): _convert_to_radians,
    ("degrees", 1): _convert_to_degrees,
    ("atan2", 2): _find_angle,
}
