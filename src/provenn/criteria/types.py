"""The types of attributes and expressions, and the common type of two types by Spark's ANSI rules."""

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
    "decimal",
    "find_arithmetic_types",
    "find_common_type",
    "get_decimal_type",
    "parse_type",
    "suggest_type",
]

_MOST_DIGITS = 38


@dataclass(frozen=True, slots=True)
class Type:
    """A type, identified by Spark's name; precision and scale apply to decimals.

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
        """Whether values are single values with an order known to provenn, unlike arrays, maps and binaries."""
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
"""The type of a comparison of two terms: less, equal or greater. This package does not expose it."""
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
_FOREIGN = {
    "float64": "double",
    "float32": "float",
    "float16": "float",
    "float8": "double",
    "float4": "float",
    "int64": "bigint",
    "int32": "int",
    "int16": "smallint",
    "int8": "tinyint",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "bool": "boolean",
    "str": "string",
    "text": "string",
    "utf8": "string",
    "object": "string",
    "varchar": "string",
    "datetime": "timestamp",
    "datetime64": "timestamp",
}
"""The types of NumPy, Arrow, pandas and other dialects of SQL, and those of Spark that hold their values."""

_DECIMAL = re.compile(r"(?:decimal|dec|numeric)\((\d+)(?:,(\d+))?\)")


def decimal(precision: int, scale: int = 0) -> Type:
    """Return a decimal type."""
    return Type("decimal", precision, scale)


def parse_type(text: str) -> Type:
    """Parse a type in Spark's spelling; a type that is not scalar keeps its text as the name.

    >>> parse_type("DECIMAL(10, 2)"), parse_type("long").name, parse_type("array<int>").scalar
    (Type(name='decimal', precision=10, scale=2), 'bigint', False)
    """
    compact = "".join(text.lower().split())
    name = _ALIASES.get(compact, compact)
    match = _DECIMAL.fullmatch(name)
    return decimal(int(match[1]), int(match[2] or 0)) if match else Type(name)


def suggest_type(name: str) -> str:
    """Return a hint at the type of Spark that holds the values of a type of other programs; empty for other words.

    >>> suggest_type("float64")
    'did you mean double?'
    """
    known = _FOREIGN.get(name.lower().partition("[")[0])
    return f"did you mean {known}?" if known else ""


def get_decimal_type(kind: Type) -> Type | None:
    """Return the decimal type that holds all values of a decimal or integral type; None for other types."""
    if kind in INTEGRAL:
        return decimal(_DIGITS[kind])
    return kind if kind.name == "decimal" else None


def find_common_type(*kinds: Type) -> Type | None:
    """Return the type in which values of all the types are compared, or None if no type fits.

    Strings do not mix with other types: Spark would cast them, and a cast that can fail must be explicit.

    >>> str(find_common_type(INT, decimal(3, 1)))
    'decimal(11,1)'
    """
    common: Type | None = VOID
    for kind in kinds:
        common = common and _find_common_pair(common, kind)
    return common


def _find_common_pair(first: Type, second: Type) -> Type | None:
    """Return the common type of two types, or None."""
    if VOID in (first, second) or first == second:
        return second if first == VOID else first
    if first in INTEGRAL and second in INTEGRAL:
        return max(first, second, key=INTEGRAL.index)
    if first.numeric and second.numeric:
        left, right = get_decimal_type(first), get_decimal_type(second)
        if left is None or right is None:
            return DOUBLE  # also for a float and an integer: ANSI widens to keep digits
        scale = max(left.scale, right.scale)
        precision = max(left.precision - left.scale, right.precision - right.scale) + scale
        return decimal(precision, scale) if precision <= _MOST_DIGITS else None
    moments = {DATE, TIMESTAMP, TIMESTAMP_NTZ}
    if first in moments and second in moments:
        return TIMESTAMP if TIMESTAMP in (first, second) else TIMESTAMP_NTZ
    return None


def find_arithmetic_types(operator: str, left: Type, right: Type) -> tuple[Type, Type, Type] | None:
    """Return the types of the converted operands of ``+ - * / %``, and the type of the result."""
    if not (left.numeric and right.numeric):
        return None
    left_decimal, right_decimal = get_decimal_type(left), get_decimal_type(right)
    if left_decimal and right_decimal and "decimal" in (left.name, right.name):
        return left_decimal, right_decimal, _find_decimal_result(operator, left_decimal, right_decimal)
    if operator == "/":
        return DOUBLE, DOUBLE, DOUBLE
    common = find_common_type(left, right)
    return (common, common, common) if common else None


def _find_decimal_result(operator: str, left: Type, right: Type) -> Type:
    """Return the type of an arithmetic operation on two decimals."""
    whole = max(left.precision - left.scale, right.precision - right.scale)
    scale = max(left.scale, right.scale)
    match operator:
        case "+" | "-":
            return _limit_decimal(whole + scale + 1, scale)
        case "*":
            return _limit_decimal(left.precision + right.precision + 1, left.scale + right.scale)
        case "/":
            scale = max(6, left.scale + right.precision + 1)
            return _limit_decimal(left.precision - left.scale + right.scale + scale, scale)
        case _:
            whole = min(left.precision - left.scale, right.precision - right.scale)
            return _limit_decimal(whole + scale, scale)


def _limit_decimal(precision: int, scale: int) -> Type:
    """Return a decimal type within Spark's limit of digits; digits after the point are given up first."""
    if precision <= _MOST_DIGITS:
        return decimal(precision, scale)
    return decimal(_MOST_DIGITS, max(_MOST_DIGITS - (precision - scale), min(scale, 6)))
