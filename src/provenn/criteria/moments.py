"""Accept texts as dates and times only if the text alone determines the value.

Spark reads ``now`` and ``today`` from the clock, completes a time without a day with today's date, and resolves the
name of a time zone by the machine's Java. None of these is accepted here: constants are refused, and data becomes NULL.
"""

from __future__ import annotations

import re

from provenn.criteria.literals import quote_string
from provenn.criteria.nodes import Call, Condition, Constant, Node
from provenn.criteria.refusal import Refusal
from provenn.criteria.types import DATE, STRING, TIMESTAMP, TIMESTAMP_NTZ

__all__ = [
    "DAY_AND_TIME",
    "LOWEST_QUARTER",
    "LOWEST_TRUNCATED",
    "check_clock",
    "is_fixed_timestamp",
    "reads_moment",
    "write_fixed_text",
    "write_truncated_quarter",
    "write_truncated_time",
    "write_year_of_dates",
]

_MOMENTS = (DATE, TIMESTAMP, TIMESTAMP_NTZ)
_CLOCK = re.compile(r"\s*(epoch|now|today|tomorrow|yesterday)\b", re.IGNORECASE)
_TIME_OF_DAY = re.compile(r"\s*(T\d{1,2}\b|\d{1,2}:).*", re.DOTALL)

# Java reads these patterns. They use plain characters only, on which all versions of Java agree.
_BLANKS = r"[\x00-\x20\x7f]*"
_BEGINS_WITH_DAY = rf"(?s)\A{_BLANKS}[+-]?[0-9].*"
_FIRST_YEAR, _LAST_YEAR = -5_877_640, 5_881_579
_TIME = r"[ T][0-9:.]*"
_ZONE = r" *(Z|(UTC|GMT|UT)?([+-][0-9:]*)?)"
DAY_AND_TIME = rf"\A{_BLANKS}[+-]?[0-9]{{4,}}(-[0-9]+(-[0-9]+({_TIME}{_ZONE})?)?)?{_BLANKS}\z"
"""What Spark reads as a timestamp without the clock and without names of time zones, as a pattern of Java."""
_FIXED_TIMESTAMP = re.compile(DAY_AND_TIME.replace(r"\z", r"\Z"))


def reads_moment(call: Call) -> bool:
    """Tell whether a call reads a text as a date or a time."""
    return call.operator == "cast" and call.type in _MOMENTS and call.arguments[0].type == STRING


def write_fixed_text(call: Call, text: str) -> str:
    """Return SQL for a text, empty where the clock or a named time zone would determine the value.

    A date must begin with a year, and nothing after the day is read. A time needs its day, and may have a zone only as
    an offset from UTC.
    """
    pattern = _BEGINS_WITH_DAY if call.type == DATE else DAY_AND_TIME
    return f"regexp_extract({text}, {quote_string(pattern)}, 0)"


def is_fixed_timestamp(text: str) -> bool:
    """Tell whether a text has a day, and a zone, if any, as an offset from UTC.

    >>> is_fixed_timestamp("2026-01-31 12:30:00+01:00"), is_fixed_timestamp("12:30")
    (True, False)
    """
    return _FIXED_TIMESTAMP.match(text) is not None


def write_year_of_dates(year: str) -> str:
    """Return SQL for a year, NULL unless Spark has dates for all days of the year.

    Spark fails on some years without dates. The text of the year, which may be long, occurs only once in the SQL: sums
    that overflow are NULL.
    """
    above, below = 2**31 - 1 - _LAST_YEAR, 2**31 + _FIRST_YEAR
    not_above = f"try_subtract(try_add({year}, {above}), {above})"
    return f"try_add(try_subtract({not_above}, {below}), {below})"


_MARGIN = 1_000 * 86_400_000_000
LOWEST_TRUNCATED = _MARGIN - 2**63
"""The lowest time, in microseconds since 1970, that is truncated; an earlier time becomes NULL."""


def write_truncated_time(unit: str, time: str) -> str:
    """Return SQL for a time truncated to a unit.

    Spark fails on times within a year of the lowest one. Sums that overflow are NULL, as above.
    """
    return f"date_trunc({unit}, timestamp_micros(try_add(try_subtract(unix_micros({time}), {_MARGIN}L), {_MARGIN}L)))"


_MARGIN_DAYS = 400
LOWEST_QUARTER = _MARGIN_DAYS - 2**31
"""The lowest day, counted from 1970, that is truncated to its quarter; an earlier day becomes NULL."""


def write_truncated_quarter(day: str, unit: str) -> str:
    """Return SQL for a date truncated to its quarter, on which Spark fails for the lowest dates."""
    margin = _MARGIN_DAYS
    return f"trunc(date_from_unix_date(try_add(try_subtract(unix_date({day}), {margin}), {margin})), {unit})"


def check_clock(meaning: Node | Condition) -> None:
    """Refuse a constant text that Spark reads from the clock.

    Raises
    ------
    Refusal
        If the node casts a text that depends on the clock.
    """
    match meaning:
        case Call(arguments=(Constant(key=str() as text),)) if reads_moment(meaning):
            by_clock = _CLOCK.match(text) or (meaning.type != DATE and _TIME_OF_DAY.fullmatch(text))
            if by_clock:
                raise Refusal(
                    f"{text!r} as a {meaning.type} depends on the clock",
                    "write the moment as a constant: DATE '2026-01-31', TIMESTAMP '2026-01-31 12:00:00'",
                )
