"""The first rows of Arrow tables in an order, as Spark sorts: NaN is the largest number, texts go by bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from provenn.look.refusal import NeedsSpark

__all__ = ["ColumnOrder", "OrderedRows"]


@dataclass(frozen=True, slots=True)
class ColumnOrder:
    """A column by which rows are sorted.

    Parameters
    ----------
    name
        The name of the column.
    is_descending
        Whether the largest values come first.
    nulls_first
        Whether NULL comes before all values.
    """

    name: str
    is_descending: bool = False
    nulls_first: bool = True


@dataclass(slots=True)
class OrderedRows:
    """The first rows of tables in an order.

    Parameters
    ----------
    order
        The columns of the order, together unique: no two rows are equal in all of them.
    number
        How many rows are kept; None for all.
    count
        How many rows were read so far.
    """

    order: Sequence[ColumnOrder]
    number: int | None
    count: int = 0

    def take(self, tables: Iterator[pa.Table]) -> pa.Table | None:
        """Return the first rows of all tables, sorted; None if there is no table.

        Raises
        ------
        NeedsSpark
            If Arrow does not sort the values of a column.
        """
        if self.number is None:
            parts = list(tables)
            self.count += sum(part.num_rows for part in parts)
            return self._sort(pa.concat_tables(parts)) if parts else None
        first: pa.Table | None = None
        for table in tables:
            self.count += table.num_rows
            first = self._sort(table if first is None else pa.concat_tables([first, table]))
        return first

    def _sort(self, table: pa.Table) -> pa.Table:
        """Return the first rows of a table."""
        columns, keys = {}, []
        for place, column in enumerate(self.order):
            values = table.column(column.name).combine_chunks()
            missing = pc.is_null(values)  # NaN is a value
            columns[f"null{place}"] = (pc.invert(missing) if column.nulls_first else missing).cast(pa.uint8())
            columns[f"value{place}"] = _make_sortable(values)
            direction = "descending" if column.is_descending else "ascending"
            keys += [(f"null{place}", "ascending"), (f"value{place}", direction)]
        places = pc.sort_indices(pa.table(columns), sort_keys=keys)
        return table.take(places if self.number is None else places[: self.number])


def _make_sortable(values: Any) -> Any:  # noqa: ANN401 - pyarrow has no types
    """Return values that Arrow sorts as Spark sorts the given ones; the place of NULL does not matter."""
    if pa.types.is_nested(values.type):
        raise NeedsSpark("Arrow does not sort arrays")
    if pa.types.is_boolean(values.type):
        return values.cast(pa.uint8())
    if not pa.types.is_floating(values.type):
        return values
    doubles = values.cast(pa.float64()).fill_null(0.0)  # below NULL is any number, and rows with NULL are equal here
    if not len(doubles):  # an array without values may have no buffer
        return doubles
    numbers = np.frombuffer(doubles.buffers()[1], np.float64, len(doubles), doubles.offset * 8)
    plain = np.where(np.isnan(numbers), np.nan, numbers + 0.0)  # -0.0 equals 0.0, and NaN equals NaN
    bits = plain.view(np.int64)
    ordered = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)  # NaN has the largest positive bits
    return pa.Array.from_buffers(pa.int64(), len(doubles), [None, pa.py_buffer(ordered.tobytes())])
