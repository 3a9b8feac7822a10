"""The types of attributes and expressions, and the type in which Spark (ANSI rules) brings two of them together."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = [
    "BIGINT",
    "BOOLEAN",
    "DATE",
    "DOUBLE",
    "FLOAT",
    "INT",
    "INTEGRAL",
    "ORDER",
    "SMALLINT",
    "STRING",
    "TIMESTAMP",
    "TIMESTAMP_NTZ",
    "TINYINT",
    "VOID",
    "Type",
    "arithmetic_type",
    "common_type",
    "decimal",
    "digits",
    "parse_type",
]

_MOST_DIGITS = 38


@dataclass(frozen=True, slots=True)
class Type:
    """A type, by Spark's name for it; precision and scale are those of a decimal.

    >>> str(Type("decimal", 10, 2))
    'decimal(10,2)'
    """

    name: str
    precision: int = 0
    scale: int = 0

    @property
    def numeric(self) -> bool:
        """Whether values are numbers."""
        return self in INTEGRAL or self.name in ("float", "double", "decimal")

    @property
    def scalar(self) -> bool:
        """Whether values are single values that provenn knows how to order; arrays, maps, binaries are not."""
        return self.numeric or self in (STRING, BOOLEAN, DATE, TIMESTAMP, TIMESTAMP_NTZ, VOID)

    def __str__(self) -> str:
        return f"decimal({self.precision},{self.scale})" if self.name == "decimal" else self.name


TINYINT = Type("tinyint")
SMALLINT = Type("smallint")
INT = Type("int")
BIGINT = Type("bigint")
FLOAT = Type("float")
DOUBLE = Type("double")
STRING = Type("string")
BOOLEAN = Type("boolean")
DATE = Type("date")
TIMESTAMP = Type("timestamp")
TIMESTAMP_NTZ = Type("timestamp_ntz")
VOID = Type("void")
"""The type of a bare NULL."""
ORDER = Type("order")
"""The type of a comparison of two terms: less, equal or greater. It never leaves this package."""
INTEGRAL = (TINYINT, SMALLINT, INT, BIGINT)

_DIGITS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
_ALIASES = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "timestamp_ltz": "timestamp",
    "decimal": "decimal(10,0)",
    "dec": "decimal(10,0)",
    "numeric": "decimal(10,0)",
}
_DECIMAL = re.compile(r"(?:decimal|dec|numeric)\((\d+)(?:,(\d+))?\)")


def decimal(precision: int, scale: int = 0) -> Type:
    """Return a decimal type."""
    return Type("decimal", precision, scale)


def parse_type(text: str) -> Type:
    """Read a type as Spark writes it. What is not a scalar is kept by its text.

    >>> parse_type("DECIMAL(10, 2)"), parse_type("long").name, parse_type("array<int>").scalar
    (Type(name='decimal', precision=10, scale=2), 'bigint', False)
    """
    compact = "".join(text.lower().split())
    name = _ALIASES.get(compact, compact)
    found = _DECIMAL.fullmatch(name)
    return decimal(int(found[1]), int(found[2] or 0)) if found else Type(name)


def digits(kind: Type) -> Type | None:
    """Return the decimal type that holds a decimal or an integral type, or None."""
    if kind in INTEGRAL:
        return decimal(_DIGITS[kind])
    return kind if kind.name == "decimal" else None


def common_type(*kinds: Type) -> Type | None:
    """Return the type in which values of all the types are compared, or None where there is no such type.

    Strings do not mix with anything else: Spark would cast them, and a cast that can fail is the user's to write.

    >>> str(common_type(INT, decimal(3, 1)))
    'decimal(11,1)'
    """
    common: Type | None = VOID
    for kind in kinds:
        common = common and _common(common, kind)
    return common


def _common(one: Type, other: Type) -> Type | None:
    if VOID in (one, other) or one == other:
        return other if one == VOID else one
    if one in INTEGRAL and other in INTEGRAL:
        return max(one, other, key=INTEGRAL.index)
    if one.numeric and other.numeric:
        left, right = digits(one), digits(other)
        if left is None or right is None:
            return DOUBLE  # also for float and an integer: ANSI widens rather than lose digits
        scale = max(left.scale, right.scale)
        precision = max(left.precision - left.scale, right.precision - right.scale) + scale
        return decimal(precision, scale) if precision <= _MOST_DIGITS else None
    moments = {DATE, TIMESTAMP, TIMESTAMP_NTZ}
    if one in moments and other in moments:
        return TIMESTAMP if TIMESTAMP in (one, other) else TIMESTAMP_NTZ
    return None


def arithmetic_type(operator: str, left: Type, right: Type) -> tuple[Type, Type, Type] | None:
    """Return the types to which the operands of ``+ - * / %`` are brought, and the type of the result."""
    if not (left.numeric and right.numeric):
        return None
    one, other = digits(left), digits(right)
    if one and other and "decimal" in (left.name, right.name):
        return one, other, _decimal_result(operator, one, other)
    if operator == "/":
        return DOUBLE, DOUBLE, DOUBLE
    common = common_type(left, right)
    return (common, common, common) if common else None


def _decimal_result(operator: str, one: Type, other: Type) -> Type:
    whole = max(one.precision - one.scale, other.precision - other.scale)
    scale = max(one.scale, other.scale)
    match operator:
        case "+" | "-":
            return _bounded(whole + scale + 1, scale)
        case "*":
            return _bounded(one.precision + other.precision + 1, one.scale + other.scale)
        case "/":
            scale = max(6, one.scale + other.precision + 1)
            return _bounded(one.precision - one.scale + other.scale + scale, scale)
        case _:
            whole = min(one.precision - one.scale, other.precision - other.scale)
            return _bounded(whole + scale, scale)


def _bounded(precision: int, scale: int) -> Type:
    """Return the decimal that Spark makes of one with too many digits: it gives up digits behind the point first."""
    if precision <= _MOST_DIGITS:
        return decimal(precision, scale)
    return decimal(_MOST_DIGITS, max(_MOST_DIGITS - (precision - scale), min(scale, 6)))
