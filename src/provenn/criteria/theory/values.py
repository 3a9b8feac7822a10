"""The values that a term may have: an interval of keys, and whether NaN and NULL are among them."""

from __future__ import annotations

from typing import NamedTuple

from provenn.criteria.domains import INFINITY, Key, get_domain, successor
from provenn.criteria.ranges import Ranges
from provenn.criteria.types import Type

__all__ = ["Values", "find_all_values", "restrict_to_ranges"]


class Values(NamedTuple):
    """A superset of the values of a term.

    Parameters
    ----------
    low, high
        The numbers, texts or moments from `low` (inclusive) to `high` (exclusive; None for texts without a limit).
    nan
        Whether NaN is possible. NaN is not in the interval.
    null
        Whether NULL is possible.
    """

    low: Key
    high: Key | None
    nan: bool
    null: bool

    @property
    def is_ordered(self) -> bool:
        """Whether the interval holds any value."""
        return self.high is None or self.low < self.high  # type: ignore[operator] # the keys of a type are alike

    @property
    def is_present(self) -> bool:
        """Whether any value but NULL is possible."""
        return self.nan or self.is_ordered

    @property
    def point(self) -> Key | None:
        """The only value, if a single value is possible and neither NaN nor NULL is."""
        alone = not self.nan and not self.null and self.high == successor(self.low)
        return self.low if alone else None

    def contains(self, key: int) -> bool:
        """Return whether the interval of a number contains a key."""
        return self.low <= key and (self.high is None or key < self.high)  # type: ignore[operator]

    def find_ends(self, kind: Type) -> tuple[Key, Key | None]:
        """Return the interval in the order of the type, in which NaN is the largest number."""
        if not self.nan:
            return self.low, self.high
        beyond = INFINITY[kind] + 2
        return (self.low if self.is_ordered else beyond - 1), beyond

    def restrict(self, kind: Type, low: Key | None, high: Key | None) -> Values:
        """Return the values from `low` (inclusive) to `high` (exclusive) in the order of the type; None is no limit."""
        nan = self.nan
        if nan:
            not_a_number = INFINITY[kind] + 1
            nan = (low is None or low <= not_a_number) and (high is None or not_a_number < high)  # type: ignore[operator]
        first = self.low if low is None else max(self.low, low)
        last = high if self.high is None else self.high if high is None else min(self.high, high)
        return Values(first, last, nan, self.null)

    def intersect(self, other: Values) -> Values:
        """Return the values that are possible in both."""
        last = other.high if self.high is None else self.high if other.high is None else min(self.high, other.high)
        return Values(max(self.low, other.low), last, self.nan and other.nan, self.null and other.null)

    def drop_null(self) -> Values:
        """Return the values without NULL."""
        return self._replace(null=False)


def find_all_values(kind: Type, *, nullable: bool) -> Values | None:
    """Return all values of a type, or None if the order of the type is not known."""
    within = get_domain(kind)
    if within is None:
        return None
    if kind in INFINITY:
        return Values(within.lowest, INFINITY[kind] + 1, True, nullable)
    return Values(within.lowest, None if within.highest is None else within.highest + 1, False, nullable)


def restrict_to_ranges(values: Values, kind: Type, where: Ranges, *, null: bool) -> Values:
    """Return a superset of the values in ranges; NULL stays possible only if `null`."""
    low, high = values.find_ends(kind)
    inside = [
        (first, last)
        for first, last in where.intervals()
        if (last is None or low < last)  # type: ignore[operator]
        and (high is None or first is None or first < high)  # type: ignore[operator]
    ]
    if not inside:
        return Values(values.low, values.low, False, values.null and null)
    return values.restrict(kind, inside[0][0], inside[-1][1])._replace(null=values.null and null)
