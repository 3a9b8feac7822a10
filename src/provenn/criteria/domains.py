"""Order the values of every type discretely and totally, in Spark's order.

A value is represented by its *key*, which sorts as Spark sorts the values: an integer for all types except strings,
whose keys are the strings themselves. So the next value is always known: the next integer, day, microsecond or
floating-point number, the next decimal of the same scale, the string with a zero character appended. ``t <= v`` is then
``t < successor(v)``, and all comparisons of a term with constants are composed of a single kind of set, the *cut* ``t <
v``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

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
    get_decimal_type,
)

__all__ = [
    "INFINITY",
    "MICROSECONDS_A_DAY",
    "OUTCOMES",
    "Domain",
    "Key",
    "decode_number",
    "encode_double",
    "encode_float",
    "find_monotone_cast",
    "get_domain",
    "predecessor",
    "round_to_float",
    "successor",
]

Key = int | str

MICROSECONDS_A_DAY = 86_400_000_000
INFINITY = {FLOAT: 0x7F800000, DOUBLE: 0x7FF0000000000000}
_BITS = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64, DATE: 32, TIMESTAMP: 64, TIMESTAMP_NTZ: 64}


@dataclass(frozen=True, slots=True)
class Domain:
    """The lowest and highest key of a type; strings have no highest key."""

    lowest: Key
    highest: int | None


def successor(key: Key) -> Key:
    """Return the least key above `key`.

    The successor of a type's highest key is a key without a value.
    """
    return key + "\0" if isinstance(key, str) else key + 1


def predecessor(key: Key) -> Key | None:
    """Return the greatest key below `key`, or None, as for most strings."""
    if isinstance(key, int):
        return key - 1
    return key[:-1] if key.endswith("\0") else None


OUTCOMES = Domain(0, 2)
"""The outcomes of a comparison of two terms: less, equal, greater."""


def get_domain(kind: Type) -> Domain | None:
    """Return the domain of a type, or None if the order of its values is not known."""
    if kind in _BITS:
        half = 1 << (_BITS[kind] - 1)
        return Domain(-half, half - 1)
    if kind in INFINITY:
        return Domain(-INFINITY[kind], INFINITY[kind] + 1)  # NaN lies just above infinity
    if kind.name == "decimal":
        return Domain(1 - 10**kind.precision, 10**kind.precision - 1)
    # TRUE comes first, so that the only cut of the domain contains TRUE. Nothing compares Booleans by their keys.
    return {STRING: Domain("", None), BOOLEAN: Domain(0, 1), ORDER: OUTCOMES}.get(kind)


def encode_double(value: float) -> int:
    """Return the key of a double: the bits, mapped so that keys sort as the values do.

    0.0 and -0.0 are the same value.

    >>> encode_double(-0.0), encode_double(5e-324), encode_double(float("nan")) - encode_double(float("inf"))
    (0, 1, 1)
    """
    return _encode_bits(struct.unpack(">q", struct.pack(">d", value))[0], DOUBLE)


def encode_float(value: float) -> int:
    """Return the key of a value that a float can represent."""
    return _encode_bits(struct.unpack(">i", struct.pack(">f", value))[0], FLOAT)


def _encode_bits(bits: int, kind: Type) -> int:
    """Return the key of a floating-point number from its bits as a signed integer."""
    magnitude = bits & ((1 << (31 if kind == FLOAT else 63)) - 1)
    if magnitude > INFINITY[kind]:
        return INFINITY[kind] + 1
    return magnitude if bits >= 0 else -magnitude


def decode_number(kind: Type, key: Key) -> int | float | Decimal:
    """Return the number that a key of a numeric type represents."""
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


def round_to_float(value: Decimal) -> float:
    """Return the 32-bit float nearest to a number, and the even one of two equally near floats.

    The number is not rounded to a double first, because that would round twice.
    """
    import numpy as np  # noqa: PLC0415 - slow to import, and floats are rare

    with np.errstate(over="ignore"):
        near = np.float32(float(value))
        choices = [near, np.nextafter(near, np.float32("-inf")), np.nextafter(near, np.float32("inf"))]
    if not np.isfinite(near):
        return float(near)
    exact = Fraction(value)
    finite = [float(choice) for choice in choices if np.isfinite(choice)]
    return min(finite, key=lambda choice: (abs(Fraction(choice) - exact), encode_float(choice) % 2))


def find_monotone_cast(source: Type, target: Type) -> Callable[[int], int] | None:
    """Return the function by which a cast maps keys.

    Return None unless the cast never fails and never reverses the order.
    """
    wide, narrow = get_decimal_type(target), get_decimal_type(source)
    if source in INTEGRAL and target in INTEGRAL:
        return int if INTEGRAL.index(source) <= INTEGRAL.index(target) else None
    if wide and narrow and target.name == "decimal":
        shift = wide.scale - narrow.scale
        fits = shift >= 0 and wide.precision - wide.scale >= narrow.precision - narrow.scale
        return (lambda key: key * int(10**shift)) if fits else None
    if target == DOUBLE and source.numeric:
        return lambda key: encode_double(float(decode_number(source, key)))
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
