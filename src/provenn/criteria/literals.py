"""Constants as text: read dates and timestamps, and write every kind of value so that Spark reads it back."""

from __future__ import annotations

import re
from decimal import Decimal

from provenn.criteria.domains import INFINITY, MICROSECONDS_A_DAY, Key, decode_number
from provenn.criteria.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    TIMESTAMP,
    TIMESTAMP_NTZ,
    TINYINT,
    Type,
)

__all__ = ["parse_date", "parse_timestamp", "quote_string", "write_literal"]

_SUFFIX = {TINYINT: "Y", SMALLINT: "S", INT: "", BIGINT: "L", FLOAT: "F", DOUBLE: "D"}
_DATE = re.compile(r"[+-]?\d{4,7}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)?)?", re.ASCII)


def parse_date(text: str) -> int | None:
    """Return the days since 1970 of a date ``yyyy-mm-dd``, or None.

    >>> parse_date("1970-02-01"), parse_date("2021-02-30")
    (31, None)
    """
    if not _DATE.fullmatch(text):
        return None
    import numpy as np  # noqa: PLC0415 - slow to import, and rarely needed

    try:
        days = int(np.datetime64(text.lstrip("+"), "D").astype(np.int64))
    except ValueError:
        return None
    return days if -(1 << 31) <= days < 1 << 31 else None


def parse_timestamp(text: str, *, zoned: bool = True) -> int | None:
    """Return the microseconds since 1970, in UTC, of ``yyyy-mm-dd[ hh:mm[:ss[.ffffff][zone]]]``, or None.

    The zone is ``Z`` or ``+hh:mm``, and is only allowed with `zoned`. Spark reads no zone directly after the minutes.

    >>> parse_timestamp("1970-01-01 01:00:00+01:00"), parse_timestamp("1970-01-02")
    (0, 86400000000)
    """
    day, between, time = text.replace("T", " ").partition(" ")
    days = parse_date(day)
    match = _TIME.fullmatch(time if between else "00:00")
    if days is None or match is None or (match[5] and not zoned):
        return None
    hour, minute, second = (int(part or 0) for part in match.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        return None
    micros = ((days * 24 + hour) * 60 + minute) * 60_000_000 + second * 1_000_000
    micros += int((match[4] or "").ljust(6, "0"))
    if match[5] not in (None, "Z"):
        offset = int(match[5][1:3]) * 60 + int(match[5][4:])
        if offset > 18 * 60 or int(match[5][4:]) > 59:
            return None
        micros += offset * (-60_000_000 if match[5][0] == "+" else 60_000_000)
    return micros if -(1 << 63) <= micros < 1 << 63 else None


def write_literal(kind: Type, key: Key, *, plain: bool = False) -> str:
    """Return a value as a Spark literal.

    With `plain`, the literal is for people, without a suffix where the type is clear.

    >>> write_literal(BIGINT, 6), write_literal(BIGINT, 6, plain=True), write_literal(DATE, 31)
    ('6L', '6', "DATE '1970-02-01'")
    """
    if isinstance(key, str):
        return quote_string(key)
    if kind == BOOLEAN:
        return "FALSE" if key else "TRUE"
    if kind == DATE:
        return f"DATE '{_write_day(key)}'"
    if kind in (TIMESTAMP, TIMESTAMP_NTZ):
        return f"{str(kind).upper()} '{_write_moment(key)}'"
    value = decode_number(kind, key)
    if isinstance(value, Decimal):
        return f"{value:f}" if plain else f"{value:f}BD"
    if isinstance(value, int):
        return str(value) if plain else f"{value}{_SUFFIX[kind]}"
    if abs(key) >= INFINITY[kind]:
        name = "NaN" if key > INFINITY[kind] else "Infinity" if key > 0 else "-Infinity"
        return f"CAST('{name}' AS {str(kind).upper()})"
    if kind == FLOAT:
        import numpy as np  # noqa: PLC0415 - slow to import, and rarely needed

        # Always with the suffix: 5.1 and 5.1F are different numbers. Rounded, the largest float is too large for Spark.
        return f"{value!r}F" if abs(key) == INFINITY[FLOAT] - 1 else f"{np.float32(value)!s}F"
    text = repr(value)
    return text.removesuffix(".0") if plain else f"{text}D"


def _write_day(key: int) -> str:
    import numpy as np  # noqa: PLC0415 - slow to import, and rarely needed

    text = str(np.datetime64(key, "D"))
    if text[0] == "-":
        return "-" + text[1:].rjust(10, "0")  # numpy writes -001
    return f"+{text}" if text.index("-") > 4 else text


def _write_moment(key: int) -> str:
    days, micros = divmod(key, MICROSECONDS_A_DAY)
    seconds, fraction = divmod(micros, 1_000_000)
    text = f"{_write_day(days)} {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


_ESCAPES = {"\\": "\\\\", "'": "\\'"} | {chr(n): f"\\u{n:04x}" for n in (*range(32), 127)}


def quote_string(text: str) -> str:
    """Return a string as a Spark literal."""
    return "'" + "".join(_ESCAPES.get(character, character) for character in text) + "'"
