"""The axes of plots: where values lie, and round values with their labels, for numbers, dates and moments."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from provenn.display.shares import find_shares

__all__ = ["PlotAxis", "Scale"]

Numbers = NDArray[np.float64]

Scale = Literal["number", "date", "moment"]
"""What the values of an axis are: numbers; days, or microseconds, since the beginning of 1970."""

_DAY: Final = 86_400_000_000
_SECONDS: Final = (1, 5, 15, 60, 300, 900, 3600, 10800, 21600, 43200)
_DAYS: Final = (1, 2, 5, 10)
_MONTHS: Final = (1, 3, 6)
_MONTHS_BEFORE: Final = 1970 * 12
_YEAR: Final = 365.25


@dataclass(frozen=True, slots=True)
class PlotAxis:
    """An axis.

    Attributes
    ----------
    label
        What the axis shows.
    low, high
        The values at its ends.
    is_reversed
        Whether it runs from high to low, as magnitudes do.
    scale
        What the values are.
    """

    label: str
    low: float
    high: float
    is_reversed: bool = False
    scale: Scale = "number"

    def place(self, values: Numbers) -> Numbers:
        """Return where values lie, from 0 at the beginning of the axis to 1 at its end."""
        share = find_shares(values, self.low, self.high)
        return 1 - share if self.is_reversed else share

    def widened(self) -> "PlotAxis":
        """Return the axis with a little room at both ends, so that no point lies on the frame."""
        room = (self.high / 2 - self.low / 2) / 20 or 0.5
        most = float(np.finfo(float).max)
        return replace(self, low=max(self.low - room, -most), high=min(self.high + room, most))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Round values along the axis, about five of them, with their labels.

        >>> [label for _, label in PlotAxis("x", 0.0, 10.0).ticks]
        ['0', '2', '4', '6', '8', '10']
        >>> PlotAxis("day", 16000.0, 17000.0, scale="date").ticks
        [(16071.0, '2014'), (16436.0, '2015'), (16801.0, '2016')]
        """
        if self.scale == "number":
            return _find_round_numbers(self.low, self.high)
        factor = 1.0 if self.scale == "date" else float(_DAY)
        days = _find_round_days(self.low / factor, self.high / factor, has_times=self.scale == "moment")
        ticks = [(value * factor, label) for value, label in days]
        if ticks:
            return ticks
        low = int(self.low)
        moment = np.datetime64(low, "D") if self.scale == "date" else np.datetime64(low, "us")
        return [(self.low, str(moment).replace("T", " "))]


def _find_round_numbers(low: float, high: float) -> list[tuple[float, str]]:
    """Return round numbers in a range, with their labels, which differ."""
    breadth = high - low
    if not 1e-300 < breadth < np.inf:  # a fifth of less may be 0
        return [(low, f"{low:g}")]
    power = 10.0 ** np.floor(np.log10(breadth / 5))
    step = next(power * factor for factor in (1, 2, 5, 10) if breadth / (power * factor) <= 6)
    first = np.ceil(low / step - 1e-9) + 0.0  # not -0.0
    values = [float(number * step) for number in np.arange(first, np.floor(high / step + 1e-9) + 1)]
    labels = (
        [f"{value:.{digits}g}" if abs(value) > step / 1000 else "0" for value in values] for digits in range(6, 18)
    )
    chosen = next((texts for texts in labels if len({*texts}) == len({*values})), [f"{value:g}" for value in values])
    return list(zip(values, chosen, strict=True))


def _find_round_days(low: float, high: float, *, has_times: bool) -> list[tuple[float, str]]:
    """Return round moments in a range, in days since 1970, with their labels: years, months, days, or times."""
    breadth = high - low
    for seconds in _SECONDS if has_times else ():
        if breadth * 86_400 / seconds <= 3:
            moments = _list_multiples(low * 86_400, high * 86_400, seconds)
            length = len("2026-01-01 12:00") + (3 if seconds < 60 else 0)
            return [(at / 86_400, str(np.datetime64(at, "s")).replace("T", " ")[:length]) for at in moments]
    for days in _DAYS:
        if breadth / days <= 4:
            return [(float(day), str(np.datetime64(day, "D"))) for day in _list_multiples(low, high, days)]
    years = (factor * 10**power for power in count() for factor in (1, 2, 5))
    for months in chain(_MONTHS, (12 * year for year in years)):
        if breadth / (months / 12 * _YEAR) <= 5:
            first, last = (_find_month(end) for end in (low, high))
            return list(_label_months(range(-(-first // months) * months, last + 1, months), low, high))
    raise AssertionError("there is a longer step for every range")


def _list_multiples(low: float, high: float, step: int) -> Iterable[int]:
    return range(int(np.ceil(low / step)) * step, int(np.floor(high)) + 1, step)


def _find_month(day: float) -> int:
    """Return the month of a day since 1970, counted from the beginning of the year 0."""
    return int(np.datetime64(int(np.floor(day)), "D").astype("datetime64[M]").astype(int)) + _MONTHS_BEFORE


def _label_months(months: Iterable[int], low: float, high: float) -> Iterator[tuple[float, str]]:
    """Yield the beginnings of months that lie in a range of days, as days with their labels: years if all are."""
    chosen = [np.datetime64(month - _MONTHS_BEFORE, "M") for month in months]
    are_years = all(str(month).endswith("-01") for month in chosen)
    for month in chosen:
        day = float(month.astype("datetime64[D]").astype(int))
        if low <= day <= high:
            yield day, str(month)[:-3] if are_years else str(month)
