"""Rows of tables whose keys occur in other tables, for keys of a single column that Arrow compares as Spark does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from provenn.criteria import AttributeIdentity

__all__ = ["filter_by_key", "join_by_key"]

_PARTS = 4
"""In how many parts rows are looked up at most, if there are as many known keys."""


def filter_by_key(
    tables: Iterator[pa.Table], others: Iterator[pa.Table], key: AttributeIdentity, *, is_in: bool
) -> Iterator[pa.Table]:
    """Yield the rows whose key occurs in other tables; with `is_in` False, the other rows."""
    chunks = [chunk for table in others for chunk in table.column(key).chunks]
    if not chunks:
        if not is_in:
            yield from tables
        return
    known = pa.chunked_array(chunks).combine_chunks()
    for table in _gather(tables, len(known) // _PARTS):
        mask = pc.is_in(table.column(key), value_set=known)
        yield table.filter(mask if is_in else pc.invert(mask))


def join_by_key(members: Sequence[Iterator[pa.Table]], key: AttributeIdentity) -> Iterator[pa.Table]:
    """Yield the rows whose key occurs in all members, with the columns of all; of equal columns, the first.

    A key occurs at most once in each member. So rows with equal keys that come at the same place in two members belong
    together, and no other row belongs to them: as long as both members have the same keys in the same order, as a core
    and its layers do, nothing is looked up, and nothing is kept in memory.
    """
    first, *rest = members
    for member in rest:
        first = _join_member(first, member, key)
    yield from first


def _join_member(tables: Iterator[pa.Table], others: Iterator[pa.Table], key: AttributeIdentity) -> Iterator[pa.Table]:
    """Yield the rows whose key occurs on both sides, with the columns of both."""
    left, right = _Rows(tables), _Rows(others)
    while (own := left.take()) is not None and (other := right.take()) is not None:
        number = min(own.num_rows, other.num_rows)
        if not own.column(key).slice(0, number).equals(other.column(key).slice(0, number)):
            partners = pa.concat_tables([other, *right.take_all()]).combine_chunks()
            left.put_back(own)
            yield from _look_up(left.take_all(), partners, key)
            return
        yield _add_columns(own.slice(0, number), other.slice(0, number))
        left.put_back(own.slice(number))
        right.put_back(other.slice(number))


class _Rows:
    """Rows of tables, of which some may be put back."""

    def __init__(self, tables: Iterator[pa.Table]) -> None:
        self._tables = tables
        self._first: pa.Table | None = None

    def take(self) -> pa.Table | None:
        """Return the next rows; None at the end."""
        table, self._first = self._first, None
        while table is None or not table.num_rows:
            table = next(self._tables, None)
            if table is None:
                return None
        return table

    def put_back(self, table: pa.Table) -> None:
        """Let rows be the next."""
        self._first = table

    def take_all(self) -> Iterator[pa.Table]:
        """Yield all other rows."""
        while (table := self.take()) is not None:
            yield table


def _look_up(tables: Iterator[pa.Table], right: pa.Table, key: AttributeIdentity) -> Iterator[pa.Table]:
    """Yield the rows whose key occurs in a table, with its columns added."""
    known = pa.chunked_array(right.column(key).chunks, right.column(key).type).combine_chunks()
    for table in _gather(tables, right.num_rows // _PARTS):
        places = pc.index_in(table.column(key), value_set=known)
        yield _add_columns(table.filter(pc.is_valid(places)), right.take(places.drop_null()))


def _gather(tables: Iterator[pa.Table], least: int) -> Iterator[pa.Table]:
    """Yield the rows of tables in tables of at least some rows: each is looked up by reading the known keys once."""
    waiting: list[pa.Table] = []
    for table in tables:
        waiting.append(table)
        if sum(part.num_rows for part in waiting) >= least:
            yield pa.concat_tables(waiting)
            waiting.clear()
    if waiting:
        yield pa.concat_tables(waiting)


def _add_columns(table: pa.Table, others: pa.Table) -> pa.Table:
    """Return a table with those columns of another, row by row, that it does not have."""
    for name in others.column_names:
        if name not in table.column_names:
            table = table.append_column(name, others.column(name))
    return table
