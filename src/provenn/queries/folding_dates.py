"""Dates plus or minus intervals of days, months or years, where both are constants."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from sqlglot import exp

__all__ = ["fold_dates"]

_DAYS = {"DAY": 1, "WEEK": 7}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}


def fold_dates(expression: exp.Expr) -> exp.Expr:
    """Return an expression with constant dates plus or minus constant intervals folded to dates.

    Sound: Spark adds days to a date, or months with the last day of a shorter month in place of a missing day.

    >>> from sqlglot import parse_one
    >>> fold_dates(parse_one("x < DATE '2024-01-31' + INTERVAL '1' MONTH", dialect="spark")).sql(dialect="spark")
    "x < CAST('2024-02-29' AS DATE)"
    """
    if not expression.find(exp.Interval):
        return expression
    return expression.copy().transform(_fold)


def _fold(node: exp.Expr) -> exp.Expr:
    if not isinstance(node, exp.Add | exp.Sub):
        return node
    folded = _fold(node.this)
    start, interval = _read_date(folded), node.expression.unnest()
    if start is None or not isinstance(interval, exp.Interval) or interval.this is None:
        return node
    unit = str(interval.args.get("unit") or "").upper().removesuffix("S")
    try:
        number = int(interval.this.name) * (-1 if isinstance(node, exp.Sub) else 1)
        end = _shift(start, number, unit)
    except (ValueError, OverflowError):
        return node
    return node if end is None else exp.cast(exp.Literal.string(end.isoformat()), "date")


def _read_date(node: exp.Expr) -> date | None:
    """Return a constant date; None for anything else."""
    inner = node.unnest()
    if not isinstance(inner, exp.Cast) or inner.to.this != exp.DataType.Type.DATE:
        return None
    if not isinstance(inner.this, exp.Literal) or not inner.this.is_string:
        return None
    try:
        return date.fromisoformat(inner.this.this)
    except ValueError:
        return None


def _shift(start: date, number: int, unit: str) -> date | None:
    """Return a date some units later; None for a unit that dates lack."""
    if unit in _DAYS:
        return start + timedelta(days=number * _DAYS[unit])
    if unit not in _MONTHS:
        return None
    months = start.year * 12 + start.month - 1 + number * _MONTHS[unit]
    year, month = divmod(months, 12)
    return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))
