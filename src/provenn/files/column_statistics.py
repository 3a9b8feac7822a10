"""Statistics of the columns of Parquet files, as the footers state them: rows, NULLs, the lowest and highest value.

Statistics are notes about a base catalog, not part of its identity. NULLs are known only if every row group states
them. The lowest and highest value are known only if every row group with a value states both. NaN is no value here,
because writers leave NaN out. So no bound may rest on the lowest and highest value; they serve estimates alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import isfinite
from typing import Any

from provenn.digests import canonical_json

__all__ = [
    "ColumnStatistics",
    "decode_statistics",
    "encode_statistics",
    "join_statistics",
    "read_parquet_statistics",
]

_MOST_COLUMNS = 1_000
"""How many columns of a base have statistics: the first."""

_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}


@dataclass(frozen=True, slots=True)
class ColumnStatistics:
    """Statistics of a column.

    Parameters
    ----------
    rows
        The number of rows.
    nulls
        How many rows have no value; None if unknown.
    low, high
        The lowest and the highest value, leaving out NaN; both None if unknown, or without any value. A date is a
        number of days since 1970, a moment a number of microseconds.
    """

    rows: int = 0
    nulls: int | None = 0
    low: int | float | None = None
    high: int | float | None = None

    @property
    def is_without_values(self) -> bool:
        """Whether every row is known to have no value."""
        return self.nulls == self.rows

    def __add__(self, other: ColumnStatistics) -> ColumnStatistics:
        """Return the statistics of two parts of a column together."""
        nulls = None if self.nulls is None or other.nulls is None else self.nulls + other.nulls
        valued = [part for part in (self, other) if not part.is_without_values]
        lows = [part.low for part in valued if part.low is not None]
        highs = [part.high for part in valued if part.high is not None]
        is_known = bool(valued) and len(lows) == len(highs) == len(valued)
        ends = (min(lows), max(highs)) if is_known else (None, None)
        return ColumnStatistics(self.rows + other.rows, nulls, *ends)


def read_parquet_statistics(opened: Any) -> dict[str, ColumnStatistics]:  # noqa: ANN401 - pyarrow has no types
    """Return the statistics of the columns of an open Parquet file, by name; columns with parts are left out."""
    groups = [opened.metadata.row_group(number) for number in range(opened.metadata.num_row_groups)]
    leaves = enumerate(opened.schema.column(place) for place in range(len(opened.schema)))
    places = {leaf.name: place for place, leaf in leaves if leaf.name == leaf.path and not leaf.max_repetition_level}
    return {
        field.name: reduce(
            ColumnStatistics.__add__,
            (_read_chunk(field.type, group.column(places[field.name])) for group in groups),
            ColumnStatistics(),
        )
        for field in opened.schema_arrow
        if field.name in places
    }


def _read_chunk(kind: Any, chunk: Any) -> ColumnStatistics:  # noqa: ANN401 - pyarrow has no types
    """Return the statistics of a column in a row group; silence and values without a plain order are left out."""
    stated = chunk.statistics
    if stated is None:
        return ColumnStatistics(chunk.num_values, None if chunk.num_values else 0)
    nulls = stated.null_count if stated.has_null_count else None
    scale = _find_scale(kind, chunk.physical_type)
    if scale is None or not stated.has_min_max:
        return ColumnStatistics(chunk.num_values, nulls)
    low, high = stated.min_raw * scale, stated.max_raw * scale
    is_plain = isfinite(low) and isfinite(high) and low <= high
    return ColumnStatistics(chunk.num_values, nulls, *((low, high) if is_plain else (None, None)))


def _find_scale(kind: Any, physical: str) -> int | None:  # noqa: ANN401 - pyarrow has no types
    """Return the factor from the stored numbers of a type to the numbers here; None without plain numbers."""
    from pyarrow import types  # noqa: PLC0415 - it takes a while to import, and only new base files need it

    if types.is_float32(kind) or types.is_float64(kind):
        return 1 if physical in ("FLOAT", "DOUBLE") else None
    if physical not in ("INT32", "INT64"):
        return None
    if types.is_timestamp(kind):
        return _MICROSECONDS.get(kind.unit)
    return 1 if types.is_signed_integer(kind) or types.is_date32(kind) else None


def join_statistics(files: Sequence[Mapping[str, ColumnStatistics]]) -> dict[str, ColumnStatistics]:
    """Return the statistics of the columns that several files describe, of all files together."""
    first, *others = files or [{}]
    return {
        name: sum((file[name] for file in others), statistics)
        for name, statistics in first.items()
        if all(name in file for file in others)
    }


def encode_statistics(statistics: Mapping[str, ColumnStatistics]) -> tuple[tuple[str, str], ...]:
    """Return statistics in stored form: pairs of column and JSON text. Columns without knowledge are left out."""
    known = [
        (name, canonical_json([column.rows, column.nulls, column.low, column.high]))
        for name, column in statistics.items()
        if column.nulls is not None or column.low is not None
    ]
    return tuple(sorted(known[:_MOST_COLUMNS]))


def decode_statistics(stored: Iterable[tuple[str, str]]) -> dict[str, ColumnStatistics]:
    """Return statistics from the stored form, by column; foreign text that is no such form is left out.

    >>> decode_statistics([("g", "[9,2,14.5,21.0]"), ("r", "[9,10,0,1]"), ("z", "[1,0,NaN,2]"), ("n", "?")])
    {'g': ColumnStatistics(rows=9, nulls=2, low=14.5, high=21.0)}
    """
    decoded = ((name, _decode_column(text)) for name, text in stored)
    return {name: statistics for name, statistics in decoded if statistics is not None}


def _decode_column(text: str) -> ColumnStatistics | None:
    """Return the statistics of a column from the stored form; None if the form is wrong."""
    try:
        rows, nulls, low, high = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    are_counts = type(rows) is int and (nulls is None or (type(nulls) is int and 0 <= nulls <= rows))
    if not are_counts or (low is None) != (high is None):
        return None
    if low is not None and not (_is_number(low) and _is_number(high) and low <= high):
        return None
    return ColumnStatistics(rows, nulls, low, high)


def _is_number(value: object) -> bool:
    """Whether a value is a finite number that a column can hold."""
    return (type(value) is float and isfinite(value)) or (type(value) is int and abs(value) < 1 << 64)
