"""Values to try in the search for a row on which criteria differ: the cuts, and values beside and between the cuts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal
from itertools import pairwise, product

import numpy as np

from provenn.criteria.domains import (
    INFINITY,
    MICROSECONDS_A_DAY,
    Key,
    decode_number,
    encode_double,
    encode_float,
    get_domain,
    predecessor,
    successor,
)
from provenn.criteria.nodes import ColumnNode, Condition, Constant, Leaf, Node, walk
from provenn.criteria.types import BOOLEAN, DOUBLE, FLOAT, INTEGRAL, STRING, Type
from provenn.criteria.writing import PEOPLE, write

__all__ = ["format_constant", "list_candidates"]

_MOST_NUMBERS = 16
_MOST_CANDIDATES = 80
_USUAL = (0, 1, -1, 10)
_DAY_LENGTHS = {"date": 1, "timestamp": MICROSECONDS_A_DAY, "timestamp_ntz": MICROSECONDS_A_DAY}
_OUTERMOST_DAYS = (-719_162, 2_932_896)
"""The first day of the year 1 and the last of the year 9999, as days from 1970."""


def list_candidates(column: ColumnNode, roots: Iterable[Node | Condition]) -> list[Constant]:
    """Return values of an attribute to try, the plainest first and NULL, NaN and extremes last.

    Parameters
    ----------
    column
        The attribute.
    roots
        The criteria and expressions that read it, or other attributes of the same row.
    """
    parts = [part for root in roots for part in walk(root)]
    cuts = sorted(
        {key for part in parts if isinstance(part, Leaf) and part.term == column for key in part.where.cuts}
    )  # the keys of a type sort
    keys: dict[Key, None] = {}
    numbers = _list_numbers(column.type, parts) if _is_computed_with(column, parts) else ()
    for key in (*_list_between(column.type, cuts), *_list_beside(cuts), *numbers):
        keys[key] = None
    within = get_domain(column.type)
    usual = [key for key in keys if _is_usual(column.type, key)]
    extremes = [key for key in _list_extremes(column.type) if key not in usual]
    if within is not None and within.highest is not None:
        usual = [key for key in usual if isinstance(key, int) and within.lowest <= key <= within.highest]  # type: ignore[operator] # numbers
    constants = [Constant(column.type, key) for key in (*usual, *extremes)]
    constants.sort(key=lambda constant: (constant.key in extremes, len(format_constant(constant))))
    nulls = [Constant(column.type, None)] if column.nullable else []
    return [*constants[:_MOST_CANDIDATES], *nulls]


def _is_computed_with(column: ColumnNode, parts: Iterable[Node | Condition]) -> bool:
    """Tell whether a criterion or expression does more with an attribute than to compare it with constants.

    Otherwise the values between, at and beside the constants fulfil all that can be fulfilled.
    """
    compared = sum(isinstance(part, Leaf) and part.term == column for part in parts)
    return sum(part == column for part in parts) > compared


def _list_between(kind: Type, cuts: list[Key]) -> Iterator[Key]:
    """Yield a plain value between each two cuts, below the first and above the last."""
    if not kind.numeric:
        return
    numbers = [float(decode_number(kind, key)) for key in cuts]
    finite = [number for number in numbers if math.isfinite(number)]
    for number in _USUAL:
        yield from _encode(kind, float(number))
    if finite:
        for beyond in (finite[0] - 1, finite[-1] + 1, math.floor(finite[0]) - 1, math.ceil(finite[-1]) + 1):
            yield from _encode(kind, float(beyond))
    for low, high in pairwise(finite):
        for digits in range(16):
            rounded = round((low + high) / 2, digits)
            if low < rounded < high:
                yield from _encode(kind, rounded)
                break


def _list_beside(cuts: Iterable[Key]) -> Iterator[Key]:
    """Yield the cuts and their neighbours."""
    for key in cuts:
        if isinstance(key, str):
            yield from (key.rstrip("\0"), key.rstrip("\0") + "a", "")
        else:
            yield from (key, successor(key))
            before = predecessor(key)
            if before is not None:
                yield before


def _list_numbers(kind: Type, parts: Iterable[Node | Condition]) -> Iterator[Key]:
    """Yield the numbers of the criteria, their sums and differences, in a numeric type."""
    if not kind.numeric:
        return
    numbers: dict[float, None] = {}
    for part in parts:
        if isinstance(part, Constant) and part.type.numeric and part.key is not None:
            numbers[float(decode_number(part.type, part.key))] = None
        if isinstance(part, Leaf) and part.term.type.numeric:
            numbers |= dict.fromkeys(float(decode_number(part.term.type, key)) for key in part.where.cuts[:4])
    pool = [number for number in numbers if math.isfinite(number)][:_MOST_NUMBERS]
    steps = (0.0, 1.0, -1.0, 0.5)
    for number, step in product(pool, steps):
        yield from _encode(kind, number + step)
    for number, other in product(pool, repeat=2):
        for value in (number + other, number - other):
            yield from _encode(kind, value)


def _encode(kind: Type, value: float) -> Iterator[Key]:
    """Yield the key of a number in a type that can represent it."""
    if kind == DOUBLE:
        yield encode_double(value)
    elif kind == FLOAT:
        with np.errstate(over="ignore"):
            yield encode_float(float(np.float32(value)))
    elif kind in INTEGRAL and value == int(value):
        yield int(value)
    elif kind.name == "decimal":
        scaled = Decimal(repr(value)).scaleb(kind.scale)
        if scaled == int(scaled):
            yield int(scaled)


def _is_usual(kind: Type, key: Key) -> bool:
    return kind not in INFINITY or (isinstance(key, int) and abs(key) < INFINITY[kind])


def _list_extremes(kind: Type) -> list[Key]:
    """Return the unusual values of a type."""
    within = get_domain(kind)
    if kind == STRING:
        return ["", "z"]
    if within is None or within.highest is None:
        return []
    if kind == BOOLEAN:
        return [0, 1]
    if kind in INFINITY:
        return [INFINITY[kind], -INFINITY[kind], INFINITY[kind] + 1]
    if kind.name in _DAY_LENGTHS:
        return [day * _DAY_LENGTHS[kind.name] for day in (0, *_OUTERMOST_DAYS)]
    return [within.lowest, within.highest]


def format_constant(constant: Constant) -> str:
    """Return a value as people write it.

    >>> format_constant(Constant(DOUBLE, encode_double(21.0)))
    '21'
    """
    kind, key = constant.type, constant.key
    if key is None:
        return "NULL"
    if kind == BOOLEAN:
        return "FALSE" if key else "TRUE"
    if kind in INFINITY:
        value = float(decode_number(kind, key))
        if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return (repr(value) if kind == DOUBLE else str(np.float32(value))).removesuffix(".0")
    if kind.numeric:
        return str(decode_number(kind, key))
    return write(constant, PEOPLE)
