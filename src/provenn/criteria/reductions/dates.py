"""Reduce functions of dates and times that keep the order: ``year``, ``trunc``, ``date_trunc`` and the like.

Spark's calendar is the proleptic Gregorian one for all of its dates, some 5.8 million years before and after 1970, and
its time zone is UTC here. How ``month``, ``day`` or ``hour`` relate to the date is the subject of `periodic_facts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from provenn.criteria.domains import MICROSECONDS_A_DAY, get_domain
from provenn.criteria.folding import evaluate
from provenn.criteria.moments import LOWEST_QUARTER, LOWEST_TRUNCATED
from provenn.criteria.nodes import Call, Condition, Constant, Node, Truth
from provenn.criteria.ranges import Ranges
from provenn.criteria.reductions.monotone import MonotonePart, find_least_key, pull_back
from provenn.criteria.types import DATE, TIMESTAMP, Type

__all__ = ["reduce_date", "split_day"]

_Conversion = Callable[[int], int]
_DAYS_PER_CYCLE = 146_097
"""The number of days in 400 years, after which the calendar repeats itself."""
_FROM_MARCH = 719_468
"""The number of days from the first of March of the year 0 to 1970."""

_MONTHS_OF = {
    **dict.fromkeys(("year", "yyyy", "yy"), 12),
    "quarter": 3,
    **dict.fromkeys(("month", "mon", "mm"), 1),
}
_MICROSECONDS_OF = {
    **dict.fromkeys(("day", "dd"), MICROSECONDS_A_DAY),
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "millisecond": 1_000,
    "microsecond": 1,
}
_DIVISORS = {
    "unix_date": 1,
    "date_from_unix_date": 1,
    "unix_micros": 1,
    "unix_millis": 1_000,
    "unix_seconds": 1_000_000,
}


def reduce_date(term: Node, where: Ranges) -> Condition | None:
    """Return the condition on a date or a time that a function of it lies in some ranges.

    Sound, because each function keeps the order of its argument. Where Spark's arithmetic goes beyond its dates, as for
    the first day of the first year, the result wraps around to the other end: such days are a part by themselves.
    """
    match term:
        case Call("year", (inner,)):
            return pull_back(inner, _split_domain(inner.type, term.type, lambda day: split_day(day)[0]), where)
        case Call(operator, (inner,)) if operator in _DIVISORS:
            divisor = _DIVISORS[operator]
            return pull_back(inner, _split_domain(inner.type, term.type, lambda key: key // divisor), where)
        case Call("timestamp_micros", (inner,)):
            return pull_back(inner, _split_domain(inner.type, term.type, int), where)
        case Call("last_day", (inner,)):
            return _pull_back_wrapped(inner, _find_last_day, where)
        case Call("trunc", (inner, Constant(key=str() as unit))) if unit.lower() == "quarter" and inner.type == DATE:
            part = MonotonePart(LOWEST_QUARTER, 2**31 - 1, partial(_truncate_months, _MONTHS_OF["quarter"]), DATE)
            return pull_back(inner, [part], where)
        case Call("trunc", (inner, Constant(key=str() as unit))):
            truncate = _find_truncation(unit.lower())
            return Truth(False) if truncate is None else _pull_back_wrapped(inner, truncate, where)
        case Call("date_trunc", (Constant(key=str() as unit), inner)):
            return _reduce_truncated_time(inner, unit.lower(), where)
        case Call("date_add" | "date_sub" | "datediff" as operator, (inner, number)) if inner.type == DATE:
            constant = evaluate(number)
            if constant is not None and isinstance(constant.key, int) and evaluate(inner) is None:
                days = constant.key if operator == "date_add" else -constant.key
                return _pull_back_wrapped(inner, lambda day: day + days, where)
    return None


def split_day(day: int) -> tuple[int, int, int]:
    """Return the year, month and day of the month of a day counted from 1970, for any integer.

    Years begin in March here, so that the leap day is the last day of a year.

    >>> split_day(0), split_day(-719529), split_day(11016)
    ((1970, 1, 1), (-1, 12, 31), (2000, 2, 29))
    """
    cycle, day_of_cycle = divmod(day + _FROM_MARCH, _DAYS_PER_CYCLE)
    year_of_cycle = (day_of_cycle - day_of_cycle // 1460 + day_of_cycle // 36_524 - day_of_cycle // 146_096) // 365
    day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle // 4 - year_of_cycle // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = year_of_cycle + 400 * cycle + (month <= 2)
    return year, month, day_of_year - (153 * month_from_march + 2) // 5 + 1


def _join_day(year: int, month: int) -> int:
    """Return the first day of a month, counted from 1970."""
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    year_from_march = year - (month <= 2)
    cycle, year_of_cycle = divmod(year_from_march, 400)
    day_of_year = (153 * (month - 3 if month > 2 else month + 9) + 2) // 5
    day_of_cycle = year_of_cycle * 365 + year_of_cycle // 4 - year_of_cycle // 100 + day_of_year
    return cycle * _DAYS_PER_CYCLE + day_of_cycle - _FROM_MARCH


def _find_last_day(day: int) -> int:
    year, month, _ = split_day(day)
    return _join_day(year, month + 1) - 1


def _find_truncation(unit: str) -> _Conversion | None:
    """Return the function that truncates a day to the first day of a unit, or None for an unknown unit."""
    if unit == "week":
        return lambda day: day - (day + 3) % 7  # a week begins on Monday, and 1970 on Thursday
    if unit in _MONTHS_OF:
        return partial(_truncate_months, _MONTHS_OF[unit])
    return None


def _truncate_months(months: int, day: int) -> int:
    """Return the first day of the unit of some months in which a day lies."""
    year, month, _ = split_day(day)
    return _join_day(year, month - (month - 1) % months)


def _reduce_truncated_time(inner: Node, unit: str, where: Ranges) -> Condition | None:
    """Return the condition on a time that its truncation lies in some ranges."""
    within = get_domain(TIMESTAMP)
    if within is None or within.highest is None or inner.type != TIMESTAMP:
        return None
    truncate_day = _find_truncation(unit)
    if unit in _MICROSECONDS_OF:
        step = _MICROSECONDS_OF[unit]
        truncate = partial(_truncate_time, step, int)
    elif truncate_day is not None:
        truncate = partial(_truncate_time, MICROSECONDS_A_DAY, truncate_day)
    else:
        return Truth(False)
    return pull_back(inner, [MonotonePart(LOWEST_TRUNCATED, within.highest, truncate, TIMESTAMP)], where)


def _truncate_time(step: int, truncate: _Conversion, key: int) -> int:
    """Return a time truncated to a step of microseconds, and the number of steps truncated further."""
    return truncate(key // step) * step


def _split_domain(source: Type, target: Type, convert: _Conversion) -> Iterator[MonotonePart]:
    """Yield all values of a type as a single part."""
    within = get_domain(source)
    if within is None or within.highest is None or not isinstance(within.lowest, int):
        raise TypeError(f"{source} is no type of days or microseconds")
    yield MonotonePart(within.lowest, within.highest, convert, target)


def _pull_back_wrapped(inner: Node, convert: _Conversion, where: Ranges) -> Condition | None:
    """Return the condition on a date that a function of its day, in Spark's 32-bit arithmetic, lies in some ranges.

    The days whose result lies below, within and beyond the range of dates follow each other, because the function keeps
    the order. Results wrap around.
    """
    within = get_domain(DATE)
    if inner.type != DATE or within is None or within.highest is None or not isinstance(within.lowest, int):
        return None
    size = within.highest + 1 - within.lowest
    parts = []
    for offset in (-size, 0, size):
        wrapped = partial(_shift_result, convert, offset)
        low = find_least_key(within.lowest, within.highest, partial(_is_at_least, wrapped, within.lowest))
        beyond = find_least_key(within.lowest, within.highest, partial(_is_at_least, wrapped, within.highest + 1))
        if low < beyond:
            parts.append(MonotonePart(low, beyond - 1, wrapped, DATE))
    return pull_back(inner, parts, where)


def _shift_result(convert: _Conversion, offset: int, day: int) -> int:
    return convert(day) - offset


def _is_at_least(convert: _Conversion, least: int, day: int) -> bool:
    return convert(day) >= least
