"""Part files that Spark wrote, read piece by piece to be merged into one file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

__all__ = ["PartFiles", "WrittenStatistics", "measure_list_depth"]

_ROWS = 1 << 16


@dataclass(frozen=True, slots=True)
class PartFiles:
    """Parquet files with the same columns, which form a table in this order.

    Parameters
    ----------
    filesystem
        The file system of the files.
    paths
        The paths of the files.
    schema
        The columns of the files; metadata of the schema are ignored.
    """

    filesystem: Any
    paths: Sequence[str]
    schema: Any

    @property
    def rows(self) -> int:
        """The number of rows of all files."""
        return sum(parquet.read_metadata(path, filesystem=self.filesystem).num_rows for path in self.paths)

    def read_batches(self) -> Iterator[Any]:
        """Yield the rows in batches of some thousands."""
        for path in self.paths:
            with parquet.ParquetFile(
                path, filesystem=self.filesystem, pre_buffer=False, page_checksum_verification=True
            ) as file:
                yield from file.iter_batches(_ROWS)

    def collect_statistics(self) -> dict[str, WrittenStatistics]:
        """Read all rows once, and return statistics of each column, which some formats need before the first row."""
        statistics = {name: WrittenStatistics() for name in self.schema.names}
        for batch in self.read_batches():
            for name, values in zip(batch.schema.names, batch.columns, strict=True):
                statistics[name].update(values)
        return statistics


@dataclass(slots=True)
class WrittenStatistics:
    """Statistics of the values of a column.

    Parameters
    ----------
    nulls
        Whether a value is NULL.
    inner_nulls
        Whether an element of an array is NULL.
    gaps
        Whether an array in an array is NULL.
    lengths
        The least and the greatest length of arrays, then of the arrays in them, and so on.
    total
        The number of values in all arrays.
    extremes
        The least and the greatest whole number.
    width
        The number of bytes of the longest text.
    ascii
        Whether all texts consist of printable ASCII characters.
    """

    nulls: bool = False
    inner_nulls: bool = False
    gaps: bool = False
    lengths: tuple[tuple[int, int], ...] = ()
    total: int = 0
    extremes: tuple[Any, Any] | None = None
    width: int = 0
    ascii: bool = True

    def update(self, values: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        """Add values to the statistics."""
        self.nulls |= values.null_count > 0
        kind = values_type = values.type
        lengths = list(self.lengths)
        for depth in range(measure_list_depth(kind)):
            self.gaps |= depth > 0 and values.null_count > 0
            length = lengths[depth] if depth < len(lengths) else None
            length = _widen_range(length, pc.min_max(pc.list_value_length(values)))
            if length is not None:
                lengths[depth:] = [length, *lengths[depth + 1 :]]
            values = pc.list_flatten(values)
            kind = values.type
        if kind != values_type:
            self.lengths, self.total = tuple(lengths), self.total + len(values)
            self.inner_nulls |= values.null_count > 0
        if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
            self.extremes = _widen_range(self.extremes, pc.min_max(values))
        elif pa.types.is_string(kind) or pa.types.is_large_string(kind):
            self.width = max(self.width, pc.max(pc.binary_length(values)).as_py() or 0)
            odd = pc.match_substring_regex(values, "[^\x20-\x7e]")
            self.ascii &= not pc.any(odd, min_count=0).as_py()


def measure_list_depth(kind: Any) -> int:  # noqa: ANN401 - pyarrow has no types
    """Return how many levels of arrays a type has.

    >>> measure_list_depth(pa.int8()), measure_list_depth(pa.list_(pa.list_(pa.int8())))
    (0, 2)
    """
    return 1 + measure_list_depth(kind.value_type) if pa.types.is_list(kind) else 0


def _widen_range(known: tuple[Any, Any] | None, added: Any) -> tuple[Any, Any] | None:  # noqa: ANN401 - pyarrow has no types
    """Return a range that also contains the minimum and maximum of added values; None if there are no values."""
    least, most = added["min"].as_py(), added["max"].as_py()
    if least is None:
        return known
    return (least, most) if known is None else (min(known[0], least), max(known[1], most))
