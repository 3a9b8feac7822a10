"""Random columns of every type that a look reads, and random criteria on them."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

__all__ = ["COLUMNS", "make_comparison", "make_criterion", "make_table"]

TIMES = [
    *("1582-10-04T23:59:59.999999", "1969-12-31T23:59:59.999999", "1970-01-01T00:00:00", "2026-11-18T08:00:00.000001"),
    *("0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", "2026-11-18T00:00:00"),
]
MOMENTS = [datetime.fromisoformat(text) for text in TIMES]
DOUBLES = [
    *(math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -5e-324, 0.1, 1.0, -1.0, 2.5),
    1.7976931348623157e308,
    2.0**53,
]
FLOATS = [
    math.nan,
    math.inf,
    -math.inf,
    0.0,
    -0.0,
    1e-45,
    0.10000000149011612,
    1.0,
    2.5,
    3.4028234663852886e38,
    16777216.0,
]
TEXTS = ["", "a", "a ", "A", "b", "ab", "é", "z", "\U0001f600", "\uffff", "O'Brien", "a\\b", "x\0", "5"]

COLUMNS: dict[str, tuple[Any, list[Any]]] = {
    "tiny": (pa.int8(), [-128, -1, 0, 1, 5, 127]),
    "small": (pa.int16(), [-(2**15), 0, 5, 2**15 - 1]),
    "whole": (pa.int32(), [-(2**31), -1, 0, 5, 2**24 + 1, 2**31 - 1]),
    "big": (pa.int64(), [-(2**63), -1, 0, 5, 2**53, 2**53 + 1, 2**63 - 1]),
    "tiny_positive": (pa.uint8(), [0, 5, 128, 255]),
    "small_positive": (pa.uint16(), [0, 5, 2**15, 2**16 - 1]),
    "positive": (pa.uint32(), [0, 5, 2**31, 2**32 - 1]),
    "single": (pa.float32(), FLOATS),
    "double": (pa.float64(), DOUBLES),
    "price": (pa.decimal128(5, 2), [Decimal("-999.99"), Decimal("0.00"), Decimal("2.50"), Decimal("999.99")]),
    "exact": (
        pa.decimal128(38, 10),
        [Decimal(0), Decimal("0.1"), Decimal("-2.5"), Decimal("9" * 28 + "." + "9" * 10)],
    ),
    "text": (pa.string(), TEXTS),
    "long_text": (pa.large_string(), TEXTS),
    "category": (pa.dictionary(pa.int32(), pa.string()), TEXTS),
    "flag": (pa.bool_(), [True, False]),
    "day": (pa.date32(), [date(1, 1, 1), date(1582, 10, 4), date(1970, 1, 1), date(2026, 11, 18), date(9999, 12, 31)]),
    "moment": (pa.timestamp("us", "UTC"), [time.replace(tzinfo=UTC) for time in MOMENTS]),
    "local_moment": (pa.timestamp("us", "Europe/Berlin"), [time.replace(tzinfo=UTC) for time in MOMENTS[1:4]]),
    "clock": (pa.timestamp("us"), MOMENTS),
    "coarse": (pa.timestamp("ms", "UTC"), [time.replace(tzinfo=UTC, microsecond=5000) for time in MOMENTS]),
}
"""Columns of all types that are read without Spark, with special values."""

_NUMBERS = [
    *("0", "-0.0D", "5", "-1", "2.5", "2.5D", "0.1", "0.1D", "0.1F", "1e-45D", "5e-324D", "16777217", "1e308D"),
    *("9007199254740993", "9007199254740993L", "9007199254740992D", "127", "128", "-128", "-129", "255", "4294967295"),
    *("2147483648", "-2147483648", "999.99", "1000", "-999.995", "double('NaN')", "double('Infinity')", "NULL"),
    *("float('NaN')", "-double('Infinity')", "9223372036854775807", "-9223372036854775808", "2.50", "3.4028235e38D"),
]
_TEXTS = ["''", "'a'", "'a '", "'A'", "'é'", "'b'", "'ab'", "'O\\'Brien'", "'a\\\\b'", "'\U0001f600'", "NULL", "'5'"]
_MOMENTS = [
    *("DATE'1970-01-01'", "DATE'2026-11-18'", "DATE'1582-10-04'", "TIMESTAMP'2026-11-18 08:00:00.000001'", "NULL"),
    *("TIMESTAMP'1969-12-31 23:59:59.999999'", "TIMESTAMP'2026-11-18 00:00:00'", "DATE'9999-12-31'"),
]


def _constants(name: str) -> list[str]:
    kind = COLUMNS[name][0]
    if pa.types.is_temporal(kind):
        return _MOMENTS
    if name in ("text", "long_text", "category"):
        return _TEXTS
    return ["true", "false", "NULL"] if name == "flag" else _NUMBERS


def make_comparison(random: Random) -> str:
    """Return a comparison of a column with constants, or a test for NULL."""
    name = random.choice(sorted(COLUMNS))
    constants = _constants(name)
    negation = random.choice(["", "NOT "])
    match random.randrange(10):
        case 0:
            return f"{name} IS {negation}NULL"
        case 1:
            return f"{name} {negation}IN ({', '.join(random.choices(constants, k=random.randint(1, 6)))})"
        case 2:
            return f"{name} {negation}BETWEEN {random.choice(constants)} AND {random.choice(constants)}"
        case 3 if name == "flag":
            return "flag"
    operator = random.choice(["<", "<=", "=", "<>", ">=", ">", "<=>"])
    sides = [name, random.choice(constants)]
    return f" {operator} ".join(sides if random.random() < 0.7 else sides[::-1])


def make_criterion(random: Random, depth: int = 3) -> str:
    """Return a criterion: comparisons with constants, joined by AND, OR, NOT and tests for truth."""
    if depth == 0 or random.random() < 0.4:
        return make_comparison(random)
    first = make_criterion(random, depth - 1)
    match random.randrange(4):
        case 0:
            return f"NOT ({first})"
        case 1:
            return f"({first}) IS {random.choice(['', 'NOT '])}{random.choice(['TRUE', 'NULL'])}"
    return f"({first}) {random.choice(['AND', 'OR'])} ({make_criterion(random, depth - 1)})"


def make_table(random: Random, rows: int = 40) -> pa.Table:
    """Return a table with a key and a column of every type: special values and NULL."""
    columns = {"k": pa.array(range(rows), pa.int64())}
    for name, (kind, values) in COLUMNS.items():
        columns[name] = pa.array(random.choices([None, *values], k=rows), kind)
    return pa.table(columns)
