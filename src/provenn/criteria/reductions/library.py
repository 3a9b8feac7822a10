"""Estimates of functions that a mathematical library computes: logarithms, exponentials, powers, trigonometry.

Their values are not correctly rounded. Java promises that a value lies within an ulp of the exact one (2.5 ulps for
hyperbolic functions; Spark divides two logarithms for ``log2`` and ``log``), Python's library within a few. Both
together are fewer than 16 ulps, so that the two values lie fewer than 32 representable numbers apart, also where the
ulp doubles. The exact function is monotone in parts. So if Python's value at a number is 32 numbers below an end of a
range, Java's value lies below the end at this number and at all numbers on its lower side, and likewise above. A
bisection with Python's function, which need not be monotone itself, finds such numbers close to the end.

The values at zero, infinities and NaN are exact, as Java defines them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from provenn.criteria.conditions import build_leaf
from provenn.criteria.domains import INFINITY, decode_number, encode_double
from provenn.criteria.nodes import Call, Condition, Constant, Node
from provenn.criteria.ranges import Ranges
from provenn.criteria.reductions.constants import evaluate_constant
from provenn.criteria.reductions.monotone import build_interval_ranges, find_least_key
from provenn.criteria.types import DOUBLE

__all__ = ["MARGIN", "approximate_library_call", "estimate_library_call"]

MARGIN = 32
"""How many representable numbers Python's value and Java's value of a function are apart, at most."""

_INFINITY = INFINITY[DOUBLE]
_NAN = _INFINITY + 1
_LARGEST = math.nextafter(math.inf, 0)
_TINY = 5e-324
_HALF_PI, _PI = math.pi / 2, math.pi  # both lie just below the exact numbers
_MORE_THAN_HALF_PI, _MORE_THAN_PI = math.nextafter(_HALF_PI, 4), math.nextafter(_PI, 4)
_LESS_THAN_THREE_HALVES = 4.71238898038469  # just below 3 pi / 2


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of the doubles, from a number to another, both included.

    Parameters
    ----------
    low, high
        The lowest and the highest number.
    least, most
        The least and the greatest value of the function on the part, as Java computes it. If they are equal, the
        function has exactly this value.
    function
        The function as Python computes it, if the exact function is monotone on the part; None if it is not.
    """

    low: float
    high: float
    least: float
    most: float
    function: Callable[[float], float] | None = None


def _at(number: float, value: float) -> _Part:
    """Return the part of a single number with an exact value."""
    return _Part(number, number, value, value)


def _of_positive(function: Callable[[float], float], above: float = _TINY) -> list[_Part]:
    """Return the parts of an increasing function of positive numbers, without a bound, that is NULL elsewhere."""
    return [
        _Part(above, _LARGEST, -math.inf, math.inf, function),
        _at(math.inf, math.inf),
        _at(math.nan, math.nan),
    ]


def _of_all(
    function: Callable[[float], float], lowest: float = -math.inf, highest: float = math.inf, *, exact: bool = True
) -> list[_Part]:
    """Return the parts of an increasing function of all numbers, with its values at the infinities."""
    if not exact:
        return [_Part(-math.inf, math.inf, lowest, highest, function), _at(math.nan, math.nan)]
    return [
        _at(-math.inf, lowest),
        _Part(-_LARGEST, _LARGEST, lowest, highest, function),
        _at(math.inf, highest),
        _at(math.nan, math.nan),
    ]


def _ignoring_overflow(function: Callable[[float], float]) -> Callable[[float], float]:
    """Return a function that returns infinity where Python raises an error."""

    def compute(value: float) -> float:
        try:
            return function(value)
        except OverflowError:
            return math.copysign(math.inf, value) if function is math.sinh else math.inf

    return compute


_OUTSIDE_ONE = [
    _Part(-math.inf, math.nextafter(-1, -2), math.nan, math.nan),
    _Part(math.nextafter(1, 2), math.inf, math.nan, math.nan),
    _at(math.nan, math.nan),
]
_UNDEFINED = [_at(-math.inf, math.nan), _at(math.inf, math.nan), _at(math.nan, math.nan)]

_FUNCTIONS: dict[str, list[_Part]] = {
    "ln": _of_positive(math.log),
    "log10": _of_positive(math.log10),
    "log2": _of_positive(math.log2),
    "log1p": _of_positive(math.log1p, math.nextafter(-1, 0)),
    "exp": _of_all(_ignoring_overflow(math.exp), 0.0),
    "expm1": _of_all(_ignoring_overflow(math.expm1), -1.0),
    "cbrt": _of_all(math.cbrt),
    "atan": _of_all(math.atan, -_MORE_THAN_HALF_PI, _MORE_THAN_HALF_PI, exact=False),
    "sinh": _of_all(_ignoring_overflow(math.sinh)),
    "tanh": _of_all(math.tanh, -1.0, 1.0),
    "cosh": [
        _at(-math.inf, math.inf),
        _Part(-_LARGEST, 0.0, 1.0, math.inf, _ignoring_overflow(math.cosh)),
        _Part(_TINY, _LARGEST, 1.0, math.inf, _ignoring_overflow(math.cosh)),
        _at(math.inf, math.inf),
        _at(math.nan, math.nan),
    ],
    "atanh": [
        _at(-1.0, -math.inf),
        _Part(
            math.nextafter(-1, 0),
            math.nextafter(1, 0),
            -math.inf,
            math.inf,
            lambda value: 0.5 * (math.log1p(value) - math.log1p(-value)),
        ),
        _at(1.0, math.inf),
        *_OUTSIDE_ONE,
    ],
    "degrees": _of_all(lambda value: value * 57.29577951308232),
    "radians": _of_all(lambda value: value * 0.017453292519943295),
    "asin": [_Part(-1.0, 1.0, -_MORE_THAN_HALF_PI, _MORE_THAN_HALF_PI, math.asin), *_OUTSIDE_ONE],
    "acos": [_Part(-1.0, 1.0, 0.0, _MORE_THAN_PI, math.acos), *_OUTSIDE_ONE],
    "sin": [
        _Part(-_LARGEST, math.nextafter(-_LESS_THAN_THREE_HALVES, -9), -1.0, 1.0),
        _Part(-_LESS_THAN_THREE_HALVES, -_MORE_THAN_HALF_PI, -1.0, 1.0, math.sin),
        _Part(-_HALF_PI, _HALF_PI, -1.0, 1.0, math.sin),
        _Part(_MORE_THAN_HALF_PI, _LESS_THAN_THREE_HALVES, -1.0, 1.0, math.sin),
        _Part(math.nextafter(_LESS_THAN_THREE_HALVES, 9), _LARGEST, -1.0, 1.0),
        *_UNDEFINED,
    ],
    "cos": [
        _Part(-_LARGEST, -_MORE_THAN_PI, -1.0, 1.0),
        _Part(-_PI, 0.0, -1.0, 1.0, math.cos),
        _Part(_TINY, _PI, -1.0, 1.0, math.cos),
        _Part(_MORE_THAN_PI, _LARGEST, -1.0, 1.0),
        *_UNDEFINED,
    ],
    "tan": [
        _Part(-_LARGEST, -_MORE_THAN_HALF_PI, -math.inf, math.inf),
        _Part(-_HALF_PI, _HALF_PI, -math.inf, math.inf, math.tan),
        _Part(_MORE_THAN_HALF_PI, _LARGEST, -math.inf, math.inf),
        *_UNDEFINED,
    ],
}


def estimate_library_call(term: Node, where: Ranges) -> tuple[Condition, Condition] | None:
    """Estimate a function of one term that a library computes, or a power with a constant."""
    match term:
        case Call("log", (base, inner)):
            constant = evaluate_constant(base)
            if constant is None or not isinstance(constant.key, int):
                return None
            parts = _split_logarithm(float(decode_number(constant.type, constant.key)))
        case Call("pow", (base, exponent)):
            first, second = evaluate_constant(base), evaluate_constant(exponent)
            if bool(first) == bool(second):
                return None
            constant, inner = (first, exponent) if first else (second, base)
            if constant is None or not isinstance(constant.key, int):
                return None
            number = float(decode_number(constant.type, constant.key))
            parts = _split_exponential(number) if first else _split_power(number)
        case Call(name, (inner,)) if name in _FUNCTIONS:
            parts = _FUNCTIONS[name]
        case _:
            return None
    if not parts or inner.type != DOUBLE:
        return None
    inside = Ranges.union(_find_values(parts, where, -MARGIN))
    around = Ranges.union(_find_values(parts, where, MARGIN))
    return build_leaf(inner, inside), build_leaf(inner, around)


def approximate_library_call(call: Call, arguments: Sequence[Constant]) -> Constant | None:
    """Return the value of a call of a library function within the margin; None if it is none, or NULL.

    It serves estimates alone. Java's value may differ.
    """
    keys = [argument.key for argument in arguments if argument.type == DOUBLE and isinstance(argument.key, int)]
    numbers = [float(decode_number(DOUBLE, key)) for key in keys]
    if call.type != DOUBLE or len(numbers) != len(arguments):
        return None
    match call.operator, numbers:
        case "pow", [base, exponent]:
            parts = _split_power(exponent)
            number = base
        case "log", [base, number]:
            parts = _split_logarithm(base)
        case "sqrt", [number]:
            return Constant(DOUBLE, encode_double(math.nan if number < 0 else math.sqrt(number)))
        case name, [number] if name in _FUNCTIONS:
            parts = _FUNCTIONS[name]
        case _:
            return None
    for part in parts:
        if encode_double(part.low) <= encode_double(number) <= encode_double(part.high):
            if part.least == part.most or math.isnan(part.least):
                return Constant(DOUBLE, encode_double(part.least))
            return None if part.function is None else Constant(DOUBLE, encode_double(part.function(number)))
    return Constant(DOUBLE, None) if call.operator in _FUNCTIONS else None


def _split_logarithm(base: float) -> list[_Part]:
    """Return the parts of ``log(base, x)``; none for bases at or below zero, for 1, and for infinities and NaN."""
    if not 0 < base < math.inf or base == 1:
        return []
    divisor = math.log(base)
    return [
        _Part(_TINY, _LARGEST, -math.inf, math.inf, lambda value: math.log(value) / divisor),
        _at(math.inf, math.copysign(math.inf, divisor)),
        _at(math.nan, math.nan),
    ]


def _split_exponential(base: float) -> list[_Part]:
    """Return the parts of ``pow(base, x)``; none for bases at or below zero, for 1, and for infinities and NaN."""
    if not 0 < base < math.inf or base == 1:
        return []
    ends = (0.0, math.inf) if base > 1 else (math.inf, 0.0)
    power = _ignoring_overflow(lambda value: math.pow(base, value))
    return [
        _at(-math.inf, ends[0]),
        _Part(-_LARGEST, _LARGEST, 0.0, math.inf, power),
        _at(math.inf, ends[1]),
        _at(math.nan, math.nan),
    ]


def _split_power(exponent: float) -> list[_Part]:
    """Return the parts of ``pow(x, exponent)``; none for the exponent 0, and for infinities and NaN.

    A negative zero to a negative odd power is negative infinity, a positive one positive infinity.
    """
    if exponent == 0 or not math.isfinite(exponent):
        return []
    whole, odd = exponent == int(exponent), exponent % 2 == 1
    far, near = (math.inf, 0.0) if exponent > 0 else (0.0, math.inf)
    power = _ignoring_overflow(lambda value: math.pow(value, exponent))
    parts = [
        _Part(_TINY, _LARGEST, 0.0, math.inf, power),
        _at(math.inf, far),
        _at(math.nan, math.nan),
        _at(-math.inf, -far if odd else far),
        _Part(0.0, 0.0, -near if odd else near, near),
    ]
    if not whole:
        return [*parts, _Part(-_LARGEST, -_TINY, math.nan, math.nan)]
    mirrored = (lambda value: -power(-value)) if odd else (lambda value: power(-value))
    least, most = (-math.inf, 0.0) if odd else (0.0, math.inf)
    return [*parts, _Part(-_LARGEST, -_TINY, least, most, mirrored)]


def _find_values(parts: Iterable[_Part], where: Ranges, margin: int) -> Iterator[Ranges]:
    """Yield the numbers for which a function may lie in ranges, or surely lies there for a negative margin."""
    yield Ranges(first=False)
    for part in parts:
        low, high = encode_double(part.low), encode_double(part.high)
        least, most = encode_double(part.least), encode_double(part.most)
        for start, end in where.intervals():
            first = None if start is None or int(start) <= least else int(start)
            beyond = None if end is None or int(end) > most else int(end)
            if first is None and beyond is None:
                yield build_interval_ranges(low, high + 1, DOUBLE)
            elif least == most or (first is not None and first > most) or (beyond is not None and beyond <= least):
                continue
            elif part.function is None:
                if margin > 0:
                    yield build_interval_ranges(low, high + 1, DOUBLE)
            else:
                around = None if first is None else first - margin, None if beyond is None else beyond + margin
                yield _find_interval(part.function, (low, high), *around)


def _find_interval(
    function: Callable[[float], float], part: tuple[int, int], start: int | None, end: int | None
) -> Ranges:
    """Return the numbers of a monotone part for which a function lies from a key to just below another."""
    low, high = part

    def convert(key: int) -> int:
        return encode_double(function(float(decode_number(DOUBLE, key))))

    if convert(low) <= convert(high):
        lower = low if start is None else find_least_key(low, high, lambda key: convert(key) >= start)
        upper = high + 1 if end is None else find_least_key(low, high, lambda key: convert(key) >= end)
    else:
        lower = low if end is None else find_least_key(low, high, lambda key: convert(key) < end)
        upper = high + 1 if start is None else find_least_key(low, high, lambda key: convert(key) < start)
    return build_interval_ranges(lower, upper, DOUBLE)
