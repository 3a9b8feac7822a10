"""Rows of tables whose keys occur in other tables, for keys of a single column that Arrow compares as Spark does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from provenn.criteria import AttributeIdentity

__all__ = ["filter_by_key", "join_by_key"]


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
    for table in tables:
        mask = pc.is_in(table.column(key), value_set=known)
        yield table.filter(mask if is_in else pc.invert(mask))


def join_by_key(members: Sequence[Iterator[pa.Table]], key: AttributeIdentity) -> Iterator[pa.Table]:
    """Yield the rows whose key occurs in all members, with the columns of all; of equal columns, the first.

    A key occurs at most once in each member.
    """
    first, *rest = members
    for member in rest:
        tables = list(member)
        if not tables:
            return
        first = _join_table(first, pa.concat_tables(tables).combine_chunks(), key)
    yield from first


def _join_table(tables: Iterator[pa.Table], right: pa.Table, key: AttributeIdentity) -> Iterator[pa.Table]:
    """Yield the rows whose key occurs in a table, with its columns added."""
    known = pa.chunked_array(right.column(key).chunks, right.column(key).type).combine_chunks()
    for table in tables:
        places = pc.index_in(table.column(key), value_set=known)
        joined = table.filter(pc.is_valid(places))
        matched = right.take(places.drop_null())
        for name in right.column_names:
            if name not in joined.column_names:
                joined = joined.append_column(name, matched.column(name))
        yield joined
