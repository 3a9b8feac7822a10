"""Random criteria of the forms that people write, and rows on which nearly equal criteria differ.

Nothing here uses the code under test: a criterion is a text, and Spark says what it means. Criteria come in families.
The members of a family compare the same few terms with the same few constants, so that many of them are related.
"""

import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import MappingProxyType

import numpy as np

COLUMNS = MappingProxyType(
    {
        "g": "double",
        "r": "double",
        "z": "double",
        "f": "float",
        "n": "int",
        "m": "int",
        "t": "tinyint",
        "b": "bigint",
        "p": "decimal(5,2)",
        "s": "string",
        "flag": "boolean",
        "d": "date",
        "at": "timestamp",
    }
)
"""The columns of the rows, besides the key."""

_DOUBLES = ("0", "1", "2", "0.5", "5", "10", "20", "21", "0.1", "0.3", "99", "-1", "-5", "1e0", "1e300", "3e0", "0.7e0")
_INTS = ("0", "1", "2", "3", "4", "5", "7", "10", "12", "-1", "-3", "127", "2147483647")
_TEXTS = ("''", "'ST'", "'STAR'", "'star'", "'S'", "'STA'", "'AR'", "'x'", "'ß'", "'a%b'", "'GALAXY'", "'TAR'")
_PATTERNS = ("'ST%'", "'STAR'", "'%AR'", "'%TA%'", "'S_AR'", "'%'", "'STAR%'", "'ST%AR'", "''", "'%STAR'")
_DAYS = ("'2014-01-01'", "'2014-12-31'", "'2015-01-01'", "'2014-06-15'", "'1969-12-31'", "'2016-02-29'")
_OPERATORS = ("<", "<=", "=", "<>", ">=", ">")

Draw = random.Random
Form = Callable[[Draw, str], str]


@dataclass(frozen=True)
class Family:
    """Criteria about the same few terms."""

    terms: tuple[str, ...]
    criteria: tuple[str, ...]


def draw_family(draw: Draw, size: int) -> Family:
    """Return criteria about the same few terms."""
    kinds = draw.choices(["number", "whole", "text", "day", "mixed"], weights=[5, 3, 2, 2, 2])
    simple = _SIMPLE[kinds[0]]
    terms = [simple(draw) for _ in range(draw.randint(1, 3))]
    criteria = [_draw_criterion(draw, terms, draw.choice([0, 0, 1, 1, 2])) for _ in range(size)]
    return Family(tuple(dict.fromkeys(term for term, _ in terms)), tuple(dict.fromkeys(criteria)))


def _draw_criterion(draw: Draw, terms: list[tuple[str, str]], depth: int) -> str:
    if depth == 0 or draw.random() < 0.2:
        return _draw_test(draw, *draw.choice(terms), terms)
    parts = [_draw_criterion(draw, terms, depth - 1) for _ in range(draw.randint(1, 2))]
    if len(parts) == 1:
        return draw.choice(["NOT ({})", "({}) IS NOT TRUE", "({}) IS TRUE", "({})"]).format(parts[0])
    return f"({parts[0]}) {draw.choice(['AND', 'AND', 'OR'])} ({parts[1]})"


def _draw_test(draw: Draw, term: str, kind: str, terms: list[tuple[str, str]]) -> str:
    """Return a condition on a term of a kind."""
    constants = _CONSTANTS[kind]
    others = [other for other, other_kind in terms if other_kind == kind and other != term]
    forms = [
        *[lambda: f"{term} {draw.choice(_OPERATORS)} {draw.choice(constants)}"] * 8,
        lambda: f"{draw.choice(constants)} {draw.choice(_OPERATORS)} {term}",
        lambda: f"{term} BETWEEN {draw.choice(constants)} AND {draw.choice(constants)}",
        lambda: f"{term} IN ({', '.join(draw.sample(constants, 3))})",
        lambda: f"{term} IS {draw.choice(['', 'NOT '])}NULL",
    ]
    if others:
        forms += [lambda: f"{term} {draw.choice(_OPERATORS)} {draw.choice(others)}"] * 3
    if kind == "text":
        forms += [
            lambda: f"{term} LIKE {draw.choice(_PATTERNS)}",
            lambda: f"{term} LIKE {draw.choice(_PATTERNS)}",
            lambda: f"{draw.choice(['startswith', 'endswith', 'contains'])}({term}, {draw.choice(constants)})",
        ]
    if kind == "number":
        forms += [lambda: f"isnan({term})"]
    return draw.choice(forms)()


# ---- terms: a text, and the kind of constants that it is compared with --------------------------------------------


def _number(draw: Draw, depth: int = 2) -> str:
    """Return an expression of doubles."""
    if depth == 0 or draw.random() < 0.3:
        return draw.choice(["g", "g", "r", "r", "z", "f"])
    inner = _number(draw, depth - 1)
    constant = draw.choice(_DOUBLES)
    return draw.choice(
        [
            lambda: f"({inner} {draw.choice('+-*/')} {constant})",
            lambda: f"({constant} {draw.choice('+-*/')} {inner})",
            lambda: f"({inner} {draw.choice('+-*/')} {_number(draw, depth - 1)})",
            lambda: f"({inner} {draw.choice('+-')} {_number(draw, depth - 1)})",
            lambda: f"(-{inner})",
            lambda: f"abs({inner})",
            lambda: f"sqrt({inner})",
            lambda: f"floor({inner})",
            lambda: f"ceil({inner})",
            lambda: f"round({inner}{draw.choice(['', ', 1', ', 2'])})",
            lambda: f"CAST({inner} AS {draw.choice(['float', 'int', 'bigint', 'double', 'decimal(5,2)'])})",
            lambda: f"greatest({inner}, {draw.choice([constant, _number(draw, 0)])})",
            lambda: f"least({inner}, {draw.choice([constant, _number(draw, 0)])})",
            lambda: f"coalesce({inner}, {draw.choice([constant, _number(draw, 0)])})",
            lambda: f"nullif({inner}, {constant})",
            lambda: f"if({_number(draw, 0)} > {constant}, {inner}, {draw.choice(_DOUBLES)})",
            lambda: f"CASE WHEN {_number(draw, 0)} IS NULL THEN {constant} WHEN flag THEN {inner} ELSE 2 * {inner} END",
            lambda: f"{draw.choice(['log10', 'ln', 'log2', 'exp', 'cbrt', 'sin', 'atan'])}({inner})",
            lambda: f"pow({inner}, {draw.choice(['2', '0.5', '-1', '3'])})",
            lambda: f"pow(10, {inner})",
        ]
    )()


def _whole(draw: Draw, depth: int = 2) -> str:
    """Return an expression of whole numbers."""
    if depth == 0 or draw.random() < 0.3:
        return draw.choice(["n", "n", "m", "t", "b"])
    inner = _whole(draw, depth - 1)
    constant = draw.choice(_INTS)
    return draw.choice(
        [
            lambda: f"({inner} {draw.choice('+-*')} {constant})",
            lambda: f"({constant} {draw.choice('+-*')} {inner})",
            lambda: f"({inner} {draw.choice('+-*')} {_whole(draw, depth - 1)})",
            lambda: f"(-{inner})",
            lambda: f"abs({inner})",
            lambda: f"({inner} % {draw.choice(['2', '5', '10', '3', '-4', '0'])})",
            lambda: f"pmod({inner}, {draw.choice(['2', '5', '10'])})",
            lambda: f"({inner} & {draw.choice(['1', '4', '12', '8', '3', '-2'])})",
            lambda: f"({inner} | {draw.choice(['1', '4'])})",
            lambda: f"(~{inner})",
            lambda: f"shiftright({inner}, {draw.choice(['1', '2'])})",
            lambda: f"({inner} div {draw.choice(['2', '3', '-2'])})",
            lambda: f"coalesce({inner}, {constant})",
            lambda: f"greatest({inner}, {_whole(draw, 0)})",
            lambda: f"least({inner}, {constant})",
            lambda: f"nullif({inner}, {constant})",
            lambda: f"CAST({inner} AS {draw.choice(['tinyint', 'int', 'bigint', 'double', 'decimal(5,2)'])})",
            lambda: f"(p * {constant})",
            lambda: f"CASE {inner} WHEN 1 THEN {constant} WHEN 2 THEN {_whole(draw, 0)} END",
        ]
    )()


def _text(draw: Draw) -> str:
    """Return an expression of texts."""
    return draw.choice(
        [
            "s",
            "s",
            "s",
            "upper(s)",
            "lower(s)",
            "trim(s)",
            "substring(s, 1, 2)",
            "concat(s, 'x')",
            "coalesce(s, 'x')",
            "left(s, 2)",
        ]
    )


def _day(draw: Draw) -> str:
    """Return an expression of days."""
    return draw.choice(
        [
            "d",
            "d",
            "at",
            "CAST(at AS date)",
            "trunc(d, 'year')",
            "trunc(d, 'month')",
            "date_trunc('month', at)",
            "last_day(d)",
            "date_add(d, 3)",
            "coalesce(d, DATE '2014-01-01')",
            "to_date(at)",
            "CAST(d AS timestamp)",
        ]
    )


def _day_number(draw: Draw) -> str:
    """Return a whole number that belongs to a day."""
    return draw.choice(
        ["year(d)", "month(d)", "day(d)", "quarter(d)", "year(at)", "hour(at)", "dayofweek(d)", "weekday(d)"]
    )


_CONSTANTS = {
    "number": _DOUBLES,
    "whole": _INTS,
    "text": _TEXTS,
    "day": _DAYS,
    "calendar": ("1", "2", "3", "6", "12", "2014", "2015", "1969"),
    "length": ("0", "1", "2", "4"),
}
_SIMPLE: dict[str, Callable[[Draw], tuple[str, str]]] = {
    "number": lambda draw: (_number(draw), "number"),
    "whole": lambda draw: (_whole(draw), "whole"),
    "text": lambda draw: (_text(draw), "text") if draw.random() < 0.8 else ("length(s)", "length"),
    "day": lambda draw: (_day(draw), "day") if draw.random() < 0.6 else (_day_number(draw), "calendar"),
    "mixed": lambda draw: _SIMPLE[draw.choice(["number", "whole", "text", "day"])](draw),
}


# ---- rows ---------------------------------------------------------------------------------------------------------


def draw_rows(draw: Draw, count: int) -> list[tuple]:
    """Return rows of values at which expressions like those above change, the key first."""
    pools = {kind: list(values()) for kind, values in _POOLS.items()}
    rows = []
    for number in range(count):
        row: list = [pool_choice(draw, pools[kind]) for kind in COLUMNS.values()]
        if draw.random() < 0.3:  # equal and neighbouring values of columns that are compared
            row[1] = near(row[0], draw)
        if draw.random() < 0.3:
            row[5] = row[4]
        rows.append((number, *row))
    return rows


def pool_choice(draw: Draw, pool: list):
    """Return a value of a pool; often NULL."""
    return None if draw.random() < 0.06 else draw.choice(pool)


def near(value: float | None, draw: Draw) -> float | None:
    """Return a double near another."""
    if value is None or math.isnan(value):
        return value
    return draw.choice(
        [value, value - 1, value + 1, math.nextafter(value, math.inf), math.nextafter(value, -math.inf), -value]
    )


def _doubles() -> Iterator[float]:
    """Yield doubles at which arithmetic with the constants has its thresholds, and their neighbours."""
    constants = sorted({float(text) for text in _DOUBLES})
    exact = {
        *constants,
        *(-value for value in constants),
        0.25,
        1.5,
        2.5,
        4.0,
        25.0,
        100.0,
        1000.0,
        1e-300,
        1.7976931348623157e308,
    }
    exact |= {
        2.2250738585072014e-308,
        5e-324,
        9007199254740992.0,
        2147483647.0,
        2147483648.0,
        -2147483649.0,
        0.05,
        0.15,
        9.995,
    }
    for left in constants:
        for right in constants:
            exact |= {left + right, left - right, left * right}
            if right:
                exact.add(left / right)
    for value in sorted(value for value in exact if math.isfinite(value)):
        yield from (math.nextafter(value, -math.inf), value, math.nextafter(value, math.inf))
    yield from (math.inf, -math.inf, math.nan, math.nan, -0.0)


def _floats() -> Iterator[float]:
    for value in _doubles():
        with np.errstate(over="ignore"):
            single = np.float32(value)
            yield float(single)
            if np.isfinite(single):
                yield float(np.nextafter(single, np.float32(np.inf)))


def _wholes(bits: int) -> Iterator[int]:
    top = 2 ** (bits - 1)
    for value in (
        *range(-25, 26),
        *(int(text) for text in _INTS),
        100,
        126,
        127,
        2014,
        top - 1,
        top - 2,
        -top,
        1 - top,
        top // 2,
    ):
        if -top <= value < top:
            yield value


def _texts() -> Iterable[str]:
    plain = [text.strip("'") for text in _TEXTS]
    return [
        *plain,
        "STARS",
        "STA",
        "SU",
        "ST\0",
        "STAR ",
        " STAR",
        "Star",
        "SS",
        "ß",
        "ſ",
        "\U0010ffff",
        "ST\U0010ffff",
        "STxAR",
        "xSTAR",
    ]


def _days() -> Iterator[date]:
    for text in _DAYS:
        for shift in (-31, -1, 0, 1, 3):
            yield date.fromisoformat(text.strip("'")) + timedelta(days=shift)
    yield from (date(1, 1, 1), date(9999, 12, 31), date(1582, 10, 15), date(2000, 2, 29))


def _moments() -> Iterator[datetime]:
    for day in _days():
        if 1 < day.year < 9999:
            start = datetime(day.year, day.month, day.day, tzinfo=UTC)
            yield from (
                start,
                start - timedelta(microseconds=1),
                start + timedelta(hours=12),
                start + timedelta(microseconds=1),
            )


_POOLS: dict[str, Callable[[], Iterable]] = {
    "double": _doubles,
    "float": _floats,
    "int": lambda: _wholes(32),
    "tinyint": lambda: _wholes(8),
    "bigint": lambda: _wholes(64),
    "decimal(5,2)": lambda: [
        Decimal(value) / 100 for value in (*range(-30, 31), 99999, -99999, 500, 499, 501, 2000, 1000, 9999)
    ],
    "string": _texts,
    "boolean": lambda: [True, False],
    "date": _days,
    "timestamp": _moments,
}
