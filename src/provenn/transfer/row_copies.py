"""Copying the rows of an archive to another database; the copied rows are read again and compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Select, Table, and_, func, insert, select, text
from sqlalchemy.exc import DataError, IntegrityError

from provenn.database import settings as known_settings
from provenn.database.fences import EPOCH
from provenn.database.tables import (
    STAGED,
    file_hashes,
    fragment_attributes,
    fragment_facts,
    fragments,
    imports,
    leases,
    metadata,
    operations,
    pins,
    settings,
)
from provenn.database.transactions import Reading, Writing
from provenn.errors import CorruptArchiveError

__all__ = ["COPIED_TABLES", "CopyProgress", "RowCopier"]

CopyProgress = Callable[[int, int], None]
"""A function that is called with the number of copied rows and the number of all rows."""

_AT_ONCE = 1000
_LEFT_OUT = (pins, leases, imports, *STAGED.values(), file_hashes, operations)
COPIED_TABLES = tuple(table for table in metadata.sorted_tables if table not in _LEFT_OUT)
"""All tables except state of running processes, digests of files on this machine's disks, and ids of transactions."""

_FRAGMENT = {
    fragments: fragments.c.id,
    fragment_attributes: fragment_attributes.c.fragment,
    fragment_facts: fragment_facts.c.fragment,
}
_OWN_SETTINGS = (known_settings.STORE, known_settings.UNFINISHED, EPOCH)
_UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""The errors of reading a value that does not fit the type of its column."""

_Row = Mapping[str, Any]


@dataclass(slots=True)
class RowCopier:
    """Copies the rows of an archive.

    Parameters
    ----------
    reading, writing
        The archive, and the copy.
    kept_fragments
        The numbers of the fragments to copy.
    skip_damaged
        Whether to leave out rows that cannot be read, or that the database of the copy does not take.
    left_out
        The number of such rows, by table.
    """

    reading: Reading
    writing: Writing
    kept_fragments: Collection[int]
    skip_damaged: bool = False
    left_out: Counter[str] = field(default_factory=Counter)

    def copy_rows(self, progress: CopyProgress) -> int:
        """Copy the rows of all tables, and compare the copy; return the number of copied rows.

        Raises
        ------
        CorruptArchiveError
            If rows that are read from the copy differ from the rows that were written.
        """
        connection = self.reading.connection
        total = sum(connection.scalar(select(func.count()).select_from(table)) or 0 for table in COPIED_TABLES)
        copied = passed = 0
        for table in COPIED_TABLES:
            written = _RowSum()
            for batch in self._read_batches(table):
                number = _FRAGMENT.get(table)
                rows = [row for row in batch if number is None or row[number.name] in self.kept_fragments]
                written.add_rows(self._insert_rows(table, rows))
                passed += len(batch)
                progress(passed, total)
            _compare_copy(self.writing.connection, table, written)
            copied += written.count
        _continue_numbers(self.writing)
        return copied

    def describe_left_out(self) -> tuple[str, ...]:
        """Return descriptions of the rows that were left out."""
        return tuple(
            f"{count:,} row{'s' * (count != 1)} of {table}: damaged, or made from rows that are missing"
            for table, count in self.left_out.items()
        )

    def _read_batches(self, table: Table) -> Iterator[list[_Row]]:
        """Yield the rows of a table, in batches."""
        if self.skip_damaged and not self._is_readable(table):
            yield self._read_singly(table)
            return
        yield from _read_batches(self.reading.connection, _select_rows(table))

    def _is_readable(self, table: Table) -> bool:
        """Whether every value of a table can be read."""
        try:
            for _ in _read_batches(self.reading.connection, _select_rows(table)):
                pass
        except _UNREADABLE:
            return False
        return True

    def _read_singly(self, table: Table) -> list[_Row]:
        """Return the rows of a table that can be read; count the others as left out."""
        connection, keys = self.reading.connection, list(table.primary_key.columns)
        rows: list[_Row] = []
        for values in connection.execute(select(*keys)).all():
            same_key = and_(*(column == value for column, value in zip(keys, values, strict=True)))
            try:
                rows += [dict(row) for row in connection.execute(_select_rows(table).where(same_key)).mappings()]
            except _UNREADABLE:
                self.left_out[table.name] += 1
        return rows

    def _insert_rows(self, table: Table, rows: list[_Row]) -> list[_Row]:
        """Write rows; return the written rows: all or, with `skip_damaged`, those that the database takes."""
        connection = self.writing.connection
        if not rows:
            return []
        if not self.skip_damaged:
            connection.execute(insert(table), rows)
            return rows
        try:
            with connection.begin_nested():
                connection.execute(insert(table), rows)
        except (DataError, IntegrityError):
            if len(rows) > 1:
                return [row for single in rows for row in self._insert_rows(table, [single])]
            self.left_out[table.name] += 1
            return []
        return rows


@dataclass(slots=True)
class _RowSum:
    """The number of rows, and the sum of their hashes, in any order."""

    count: int = 0
    total: int = 0

    def add_rows(self, rows: Iterable[_Row]) -> None:
        """Add rows."""
        for row in rows:
            self.count += 1
            self.total += hash(tuple(row.values()))


def _compare_copy(connection: Connection, table: Table, written: _RowSum) -> None:
    """Raise an error unless a table of the copy has the rows that were written."""
    stored = _RowSum()
    for batch in _read_batches(connection, _select_rows(table)):
        stored.add_rows(batch)
    if stored != written:
        raise CorruptArchiveError(
            f"rows of {table.name} in the copy differ from the rows of the archive; nothing was copied",
            hint="check the disk or the server of the copy, and repeat the backup",
        )


def _read_batches(connection: Connection, query: Select[Any]) -> Iterator[list[_Row]]:
    """Yield the rows of a query, in batches."""
    rows = connection.execute(query.execution_options(yield_per=_AT_ONCE)).mappings()
    for batch in rows.partitions():
        yield [dict(row) for row in batch]


def _select_rows(table: Table) -> Select[Any]:
    """Return the query of the rows to copy: all except own settings of an archive, such as data folder and epoch."""
    query = select(table)
    return query.where(settings.c.key.not_in(_OWN_SETTINGS)) if table is settings else query


def _continue_numbers(writing: Writing) -> None:
    """Let PostgreSQL continue after the copied numbers, as SQLite does anyway."""
    if writing.connection.dialect.name != "postgresql":
        return
    for table in COPIED_TABLES:
        if table.dialect_options["sqlite"]["autoincrement"]:
            count = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM {table.name}"  # noqa: S608
            writing.connection.execute(text(count))
