"""Ranges of keys: base catalogs whose keys lie in ranges that do not meet share no source.

Parquet files state the lowest and the highest value of a column. For whole numbers, dates and moments, all values lie
between the two; then two catalogs whose ranges of a key column do not meet have different keys, without reading a row.
Floating-point columns are left out, because NaN is outside the range that files state; so are texts, because files may
state only their beginning. What files leave unsaid proves nothing.
"""

from __future__ import annotations

from provenn.catalogs.base import Base
from provenn.criteria.types import INTEGRAL

__all__ = ["find_key_ranges", "have_other_keys"]

_ORDERED = ("date", "timestamp", "timestamp_ntz")


def find_key_ranges(base: Base) -> list[tuple[int, int] | None]:
    """Return the lowest and the highest value of each key column, as far as the files state both; otherwise None."""
    statistics = base.files.column_statistics
    ranges: list[tuple[int, int] | None] = []
    for name, kind in zip(base.key, base.population.key, strict=True):
        column = statistics.get(name)
        if column is None or not (kind in INTEGRAL or kind.name in _ORDERED):
            ranges.append(None)
        else:
            low, high = column.low, column.high
            ranges.append((low, high) if isinstance(low, int) and isinstance(high, int) else None)
    return ranges


def have_other_keys(base: Base, other: Base) -> bool:
    """Return whether two base catalogs of one population are known to share no key.

    Sound: equal keys have equal values in every key column, and no value lies in two ranges that do not meet. Where a
    source is a row of a file, rows of different files are different sources. Files without rows share nothing.
    """
    if base.files.row_count == 0 or other.files.row_count == 0:
        return True
    if base.files.row_key and other.files.row_key:
        texts = {text for _, text in base.files.fingerprints}
        return texts.isdisjoint(text for _, text in other.files.fingerprints)
    return any(
        own is not None and theirs is not None and (own[1] < theirs[0] or theirs[1] < own[0])
        for own, theirs in zip(find_key_ranges(base), find_key_ranges(other), strict=True)
    )
