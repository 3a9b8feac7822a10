"""Tallies of the values in an Arrow table: missing values, lowest and highest, bins of numbers, commonest values."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provenn.display.cell_texts import read_scalar
from provenn.display.shares import find_shares
from provenn.display.value_tally import ValueTally

__all__ = ["BINS", "read_numbers", "tally_column"]

BINS: Final = 24
"""The number of bins of a histogram."""

_MOST_WHOLE: Final = 50 * BINS
"""The range of whole numbers above which it is not seen that some bins have a number more than others."""

_EXACT: Final = 2**53
"""Up to this, doubles tell whole numbers apart."""

_COMMONEST: Final = 5
_LONGEST: Final = 60


def tally_column(name: str, kind: str, column: pa.ChunkedArray) -> ValueTally:
    """Return the tally of a column.

    Parameters
    ----------
    name, kind
        The attribute, and its type in words.
    column
        The values.
    """
    values = column.combine_chunks().drop_null() if isinstance(column, pa.ChunkedArray) else column.drop_null()
    nulls = len(column) - len(values)
    if pa.types.is_null(column.type) or _is_nested(column.type):
        return ValueTally(name, kind, len(column), nulls)
    if not _has_order(column.type):
        return _tally_words(ValueTally(name, kind, len(column), nulls), values)
    numbers = read_numbers(values)
    nans = int(np.isnan(numbers).sum())
    finite = np.isfinite(numbers)
    infinite = len(numbers) - nans - int(finite.sum())
    if not finite.any():
        return ValueTally(name, kind, len(column), nulls, nans, infinite)
    is_floating = pa.types.is_floating(column.type)
    ends = pc.min_max(values.filter(pa.array(finite)))
    return ValueTally(
        name,
        kind,
        len(column),
        nulls,
        nans,
        infinite,
        _format(read_scalar(ends["min"])),
        _format(read_scalar(ends["max"])),
        _count_bins(numbers[finite] if is_floating else _measure_from(values, ends)),
        None if is_floating else len(pc.unique(values)),
    )


def read_numbers(values: Any) -> Any:  # noqa: ANN401 - arrays of Arrow and NumPy
    """Return numbers, dates or moments as doubles, NULL as NaN; without pandas, which pyarrow's own way imports."""
    array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    if pa.types.is_date32(array.type):
        array = array.cast(pa.int32())
    elif pa.types.is_timestamp(array.type):
        array = array.cast(pa.int64())
    doubles = pc.fill_null(array.cast(pa.float64(), safe=False), math.nan)
    if not len(doubles):
        return np.zeros(0)
    return np.frombuffer(doubles.buffers()[1], np.float64, len(doubles), doubles.offset * 8)


def _measure_from(values: Any, ends: Any) -> Any:  # noqa: ANN401 - arrays of Arrow and NumPy
    """Return how far numbers without NULL lie above the lowest: doubles do not tell large neighbours apart."""
    kind = pa.int32() if pa.types.is_date32(values.type) else pa.int64()
    if pa.types.is_decimal(values.type) or pa.types.is_uint64(values.type):
        return read_numbers(values)
    low, high = (end.cast(kind).as_py() for end in (ends["min"], ends["max"]))
    if high - low > _EXACT:
        return read_numbers(values)
    return read_numbers(pc.subtract(values.cast(kind).cast(pa.int64()), pa.scalar(low, pa.int64())))


def _count_bins(numbers: Any) -> tuple[int, ...]:  # noqa: ANN401 - an array of NumPy
    """Return the number of values in bins from the lowest to the highest; a single bin if all values are equal.

    Each bin of a few hundred whole numbers has equally many of them, but the last: otherwise some bins would be fuller
    than others only because they have a number more.
    """
    low, high = float(numbers.min()), float(numbers.max())
    if low == high:
        return (len(numbers),)
    if high - low <= _MOST_WHOLE and bool((numbers == np.floor(numbers)).all()):
        width = math.ceil((high - low + 1) / BINS)
        return tuple(np.bincount(((numbers - low) // width).astype(np.int64)).tolist())
    places = np.minimum((find_shares(numbers, low, high) * BINS).astype(np.int64), BINS - 1)
    return tuple(np.bincount(places, minlength=BINS).tolist())


def _tally_words(tally: ValueTally, values: Any) -> ValueTally:  # noqa: ANN401 - an array of Arrow
    """Return a tally with the commonest of some values."""
    counted = pc.value_counts(values)
    counts: list[int] = counted.field("counts").to_pylist()
    least = sorted(counts, reverse=True)[:_COMMONEST][-1:] or [0]
    candidates = [
        (_format(read_scalar(value)), number)
        for value, number in zip(counted.field("values"), counts, strict=True)
        if number >= least[0]
    ]
    commonest = sorted(candidates, key=lambda pair: (-pair[1], pair[0]))[:_COMMONEST]
    return ValueTally(
        tally.name, tally.type, tally.rows, tally.nulls, different=len(counted), commonest=tuple(commonest)
    )


def _has_order(kind: Any) -> bool:  # noqa: ANN401 - a type of Arrow
    """Return whether values are numbers, dates or moments, which have bins."""
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(is_number or pa.types.is_date32(kind) or pa.types.is_timestamp(kind))


def _is_nested(kind: Any) -> bool:  # noqa: ANN401 - a type of Arrow
    return bool(pa.types.is_nested(kind) or pa.types.is_binary(kind))


def _format(value: object) -> str:
    """Return a value as text of limited length."""
    text = f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)  # not -0
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
