"""Every type's values as a discrete total order, in Spark's order of them.

A value is held as its *key*, which sorts as Spark sorts the values: an integer for all types but strings, whose keys
are themselves. So the next value is always known: the next integer, day, microsecond or floating-point number, the
next decimal of that scale, the string with a zero character behind it. ``t <= v`` is then ``t < successor(v)``, and
all comparisons of a term with constants are made of one kind of set, the *cut* ``t < v``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import numpy as np

from provenn.criteria.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    INTEGRAL,
    ORDER,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Type,
    digits,
)

__all__ = [
    "INFINITY",
    "MICROSECONDS_A_DAY",
    "OUTCOMES",
    "Domain",
    "Key",
    "domain",
    "double_key",
    "float_key",
    "monotone",
    "nearest_float",
    "number",
    "predecessor",
    "successor",
]

Key = int | str

MICROSECONDS_A_DAY = 86_400_000_000
INFINITY = {FLOAT: 0x7F800000, DOUBLE: 0x7FF0000000000000}
_BITS = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64, DATE: 32, TIMESTAMP: 64, TIMESTAMP_NTZ: 64}


@dataclass(frozen=True, slots=True)
class Domain:
    """The keys of a type. Strings have no highest one."""

    lowest: Key
    highest: int | None


def successor(key: Key) -> Key:
    """Return the least key above `key`; for the highest one of a type, a key that no value has."""
    return key + "\0" if isinstance(key, str) else key + 1


def predecessor(key: Key) -> Key | None:
    """Return the greatest key below `key`, or None: most strings have none."""
    if isinstance(key, int):
        return key - 1
    return key[:-1] if key.endswith("\0") else None


OUTCOMES = Domain(0, 2)
"""What comes of comparing two terms: less, equal, greater."""


def domain(kind: Type) -> Domain | None:
    """Return the domain of a type, or None if its values have no order that is known here."""
    if kind in _BITS:
        half = 1 << (_BITS[kind] - 1)
        return Domain(-half, half - 1)
    if kind in INFINITY:
        return Domain(-INFINITY[kind], INFINITY[kind] + 1)  # NaN lies just above infinity
    if kind.name == "decimal":
        return Domain(1 - 10**kind.precision, 10**kind.precision - 1)
    # TRUE comes first, so that the one cut there is has the truth in it. Nothing compares Booleans by their keys.
    return {STRING: Domain("", None), BOOLEAN: Domain(0, 1), ORDER: OUTCOMES}.get(kind)


def double_key(value: float) -> int:
    """Return the key of a double: its bits, read so that they count upwards. 0.0 and -0.0 are one value.

    >>> double_key(-0.0), double_key(5e-324), double_key(float("nan")) - double_key(float("inf"))
    (0, 1, 1)
    """
    return _float_key(struct.unpack(">q", struct.pack(">d", value))[0], DOUBLE)


def float_key(value: float) -> int:
    """Return the key of a value that a float can hold."""
    return _float_key(struct.unpack(">i", struct.pack(">f", value))[0], FLOAT)


def _float_key(bits: int, kind: Type) -> int:
    magnitude = bits & ((1 << (31 if kind == FLOAT else 63)) - 1)
    if magnitude > INFINITY[kind]:
        return INFINITY[kind] + 1
    return magnitude if bits >= 0 else -magnitude


def number(kind: Type, key: Key) -> int | float | Decimal:
    """Return the number that a key of a numeric type stands for."""
    if not isinstance(key, int):
        raise TypeError(f"{key!r} is no key of {kind}")
    if kind.name == "decimal":
        return Decimal((key < 0, tuple(map(int, str(abs(key)))), -kind.scale))
    if kind not in INFINITY:
        return key
    if abs(key) > INFINITY[kind]:
        return float("nan")
    packed, unpacked = (">I", ">f") if kind == FLOAT else (">Q", ">d")
    magnitude = float(struct.unpack(unpacked, struct.pack(packed, abs(key)))[0])
    return magnitude if key >= 0 else -magnitude


def nearest_float(value: Decimal) -> float:
    """Return the 32-bit float nearest to a number, the even one of two; not by way of a double, which rounds twice."""
    with np.errstate(over="ignore"):
        near = np.float32(float(value))
        choices = [near, np.nextafter(near, np.float32("-inf")), np.nextafter(near, np.float32("inf"))]
    if not np.isfinite(near):
        return float(near)
    exact = Fraction(value)
    finite = [float(one) for one in choices if np.isfinite(one)]
    return min(finite, key=lambda one: (abs(Fraction(one) - exact), float_key(one) % 2))


def monotone(source: Type, target: Type) -> Callable[[int], int] | None:
    """Return what a cast does to keys, where it never fails and never turns the order round; otherwise None."""
    wide, narrow = digits(target), digits(source)
    if source in INTEGRAL and target in INTEGRAL:
        return int if INTEGRAL.index(source) <= INTEGRAL.index(target) else None
    if wide and narrow and target.name == "decimal":
        shift = wide.scale - narrow.scale
        fits = shift >= 0 and wide.precision - wide.scale >= narrow.precision - narrow.scale
        return (lambda key: key * int(10**shift)) if fits else None
    if target == DOUBLE and source.numeric:
        return lambda key: double_key(float(number(source, key)))
    match source.name, target.name:
        case "date", "timestamp" | "timestamp_ntz":
            return lambda key: key * MICROSECONDS_A_DAY
        case "timestamp" | "timestamp_ntz", "date":
            return lambda key: key // MICROSECONDS_A_DAY
        case "timestamp" | "timestamp_ntz", "timestamp" | "timestamp_ntz":
            return int  # the time zone is UTC
        case "float", "float":
            return int
    return None
