"""Where a monotone function has its values in some ranges: found by bisection over the keys of its argument.

The keys of every type are discrete and sort as Spark sorts the values. A function that is monotone between two keys
crosses each end of a range at one key, which bisection finds exactly with the function itself. Nothing is solved for
the argument, so that rounding cannot go wrong: the function is evaluated as Spark evaluates it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from provenn import deadline
from provenn.criteria.conditions import build_leaf
from provenn.criteria.domains import INFINITY, get_domain
from provenn.criteria.nodes import Condition, Node
from provenn.criteria.ranges import Ranges
from provenn.criteria.types import Type

__all__ = ["MonotonePart", "build_interval_ranges", "find_least_key", "pull_back", "split_numbers"]


@dataclass(frozen=True, slots=True)
class MonotonePart:
    """A part of the domain of a function on which the function is monotone, in either direction, and never NULL.

    Parameters
    ----------
    low, high
        The lowest and the highest key of the part.
    convert
        Returns the key of the function's value from the key of the argument. A key beyond the domain of the result
        stands for NULL, as for an overflow.
    kind
        The type of the function's values.
    """

    low: int
    high: int
    convert: Callable[[int], int]
    kind: Type


def pull_back(inner: Node, parts: Iterable[MonotonePart], where: Ranges) -> Condition:
    """Return the condition on `inner` that a function of it has a value in `where`.

    Parameters
    ----------
    inner
        The argument of the function.
    parts
        The parts of the domain of `inner` for which the function has a value.
    where
        The values.
    """
    pieces = [Ranges(first=False)]
    for part in parts:
        deadline.check()
        results = get_domain(part.kind)
        for low, high in where.intervals():
            first = low if low is not None or results is None else results.lowest
            beyond = high if high is not None or results is None or results.highest is None else results.highest + 1
            if not (isinstance(first, int) and isinstance(beyond, int)):
                raise TypeError(f"no bisection finds values of the type {part.kind}")
            pieces.append(build_interval_ranges(*_find_interval(part, first, beyond), inner.type))
    return build_leaf(inner, Ranges.union(pieces))


def _find_interval(part: MonotonePart, first: int, beyond: int) -> tuple[int, int]:
    """Return the keys from which, and before which, the function lies from `first` to just below `beyond`."""
    convert = part.convert
    if convert(part.low) <= convert(part.high):
        return (
            find_least_key(part.low, part.high, lambda key: convert(key) >= first),
            find_least_key(part.low, part.high, lambda key: convert(key) >= beyond),
        )
    return (
        find_least_key(part.low, part.high, lambda key: convert(key) < beyond),
        find_least_key(part.low, part.high, lambda key: convert(key) < first),
    )


def find_least_key(low: int, high: int, passes: Callable[[int], bool]) -> int:
    """Return the least key from `low` to `high` that passes a test which all keys above it pass; else ``high + 1``."""
    beyond = high + 1
    while low < beyond:
        middle = (low + beyond) // 2
        if passes(middle):
            beyond = middle
        else:
            low = middle + 1
    return low


def build_interval_ranges(first: int, beyond: int, kind: Type) -> Ranges:
    """Return the values of a type from a key (inclusive) to another key (exclusive)."""
    within = get_domain(kind)
    if first >= beyond or within is None:
        return Ranges(first=False)
    cuts = [
        key for key in (first, beyond) if key != within.lowest and (within.highest is None or key <= within.highest)
    ]
    return Ranges(first == within.lowest, tuple(cuts))


def split_numbers(kind: Type) -> list[tuple[int, int]]:
    """Return the parts of a numeric type on each of which arithmetic with a constant is monotone, as keys.

    Infinities, zero and NaN are parts by themselves: ``x + c``, ``c - x``, ``x * c``, ``x / c``, ``c / x`` and
    ``abs(x)`` are monotone functions of a number on either side of zero, and rounding keeps the order.
    """
    within = get_domain(kind)
    if within is None or within.highest is None or not isinstance(within.lowest, int):
        return []
    if kind not in INFINITY:
        return [(within.lowest, -1), (0, 0), (1, within.highest)]
    infinity = INFINITY[kind]
    return [
        (-infinity, -infinity),
        (1 - infinity, -1),
        (0, 0),
        (1, infinity - 1),
        (infinity, infinity),
        (infinity + 1, infinity + 1),
    ]
