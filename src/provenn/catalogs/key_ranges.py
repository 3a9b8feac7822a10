"""Ranges of keys: base catalogs whose keys lie in ranges that do not meet share no source.

Files state bounds of their columns that hold for every row (`provenn.files.column_bounds`). Two catalogs whose ranges
of a key column do not meet have different keys, without reading a row. Floating-point columns are left out, because NaN
lies outside their bounds. What files leave unsaid proves nothing.
"""

from __future__ import annotations

from provenn.catalogs.base import Base
from provenn.criteria.domains import Key
from provenn.criteria.types import INTEGRAL
from provenn.files.column_bounds import decode_bounds

__all__ = ["find_key_ranges", "have_other_keys"]

_ORDERED = ("date", "timestamp", "timestamp_ntz", "string")


def find_key_ranges(base: Base) -> list[tuple[Key, Key] | None]:
    """Return, for each key column, a key that no value lies below and one that every value lies below; else None."""
    stated = dict(base.files.bounds)
    kinds = {column.name: column.type for column in base.files.columns}
    ranges: list[tuple[Key, Key] | None] = []
    for name in base.key:
        kind = kinds[name]
        is_ordered = kind in INTEGRAL or kind.name in _ORDERED
        bounds = decode_bounds(stated[name], kind) if is_ordered and name in stated else None
        if bounds is None or bounds.low is None or bounds.end is None:
            ranges.append(None)
        else:
            ranges.append((bounds.low, bounds.end))
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
    return any(map(_are_apart, find_key_ranges(base), find_key_ranges(other)))


def _are_apart(own: tuple[Key, Key] | None, other: tuple[Key, Key] | None) -> bool:
    """Return whether two ranges, each with its end left out, are known and do not meet."""
    match own, other:
        case (int(low), int(end)), (int(other_low), int(other_end)):
            return end <= other_low or other_end <= low
        case (str(low), str(end)), (str(other_low), str(other_end)):
            return end <= other_low or other_end <= low
        case _:
            return False
