"""Part files that Spark wrote, read again piece by piece, to be made into one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

__all__ = ["Parts", "Seen", "list_depth"]

_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class Parts:
    """Parquet files with the same columns; together, in this order, a table.

    Parameters
    ----------
    filesystem
        Where they are.
    paths
        Their paths there.
    schema
        Their columns; nothing else of it counts.
    """

    filesystem: Any
    paths: Sequence[str]
    schema: Any

    @property
    def rows(self) -> int:
        """How many rows there are in all."""
        return sum(parquet.read_metadata(path, filesystem=self.filesystem).num_rows for path in self.paths)

    def batches(self) -> Iterator[Any]:
        """Yield the rows, some thousands at a time."""
        for path in self.paths:
            with parquet.ParquetFile(path, filesystem=self.filesystem, pre_buffer=False) as file:
                yield from file.iter_batches(_ROWS)

    def seen(self) -> dict[str, Seen]:
        """Read all once, and return what was seen of each column: for formats that must know it beforehand."""
        found = {name: Seen() for name in self.schema.names}
        for batch in self.batches():
            for name, values in zip(batch.schema.names, batch.columns, strict=True):
                found[name].look(values)
        return found


@dataclass(slots=True)
class Seen:
    """What was seen of the values of a column.

    Parameters
    ----------
    nulls
        Whether one was NULL.
    inner_nulls
        Whether an element of an array was NULL.
    gaps
        Whether an array in an array was NULL.
    lengths
        The shortest and the longest array, and the same of those in it.
    total
        How many values there are in all arrays.
    extremes
        The least and the greatest whole number.
    width
        How many bytes the longest text has.
    ascii
        Whether all texts have only characters that can be printed in ASCII.
    """

    nulls: bool = False
    inner_nulls: bool = False
    gaps: bool = False
    lengths: tuple[tuple[int, int], ...] = ()
    total: int = 0
    extremes: tuple[Any, Any] | None = None
    width: int = 0
    ascii: bool = True

    def look(self, values: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        """Look at some more."""
        self.nulls |= values.null_count > 0
        kind = values_type = values.type
        lengths = list(self.lengths)
        for depth in range(list_depth(kind)):
            self.gaps |= depth > 0 and values.null_count > 0
            found = _wider(lengths[depth] if depth < len(lengths) else None, pc.min_max(pc.list_value_length(values)))
            if found is not None:
                lengths[depth:] = [found, *lengths[depth + 1 :]]
            values = pc.list_flatten(values)
            kind = values.type
        if kind != values_type:
            self.lengths, self.total = tuple(lengths), self.total + len(values)
            self.inner_nulls |= values.null_count > 0
        if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            self.extremes = _wider(self.extremes, pc.min_max(values))
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            self.width = max(self.width, pc.max(pc.binary_length(values)).as_py() or 0)
            odd = pc.match_substring_regex(values, "[^\x20-\x7e]")
            self.ascii &= not pc.any(odd, min_count=0).as_py()


def list_depth(kind: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Return how many arrays are in one another.

    >>> list_depth(pa.int8()), list_depth(pa.list_(pa.list_(pa.int8())))
    (0, 2)
    """
    return 1 + list_depth(kind.value_type) if pa.types.is_list(kind) else 0


def _wider(known: tuple[Any, Any] | None, more: Any) -> tuple[Any, Any] | None:  # noqa: ANN401 - pyarrow has no types
    least, most = more["min"].as_py(), more["max"].as_py()
    if least is None:
        return known
    return (least, most) if known is None else (min(known[0], least), max(known[1], most))
