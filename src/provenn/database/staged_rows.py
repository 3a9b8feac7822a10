"""Rows of incomplete imports: staged in separate tables, then published or deleted.

An import of many definitions must not keep other writers waiting, and must become visible as a whole. So the rows are
first written to separate tables, unused by readers (`STAGED`), in many short transactions. The last transaction, which
also writes names and facts, moves the rows by one statement per table. The alternative is to mark rows as pending in
the regular tables: publishing would take no time, but every query of the archive would have to exclude pending rows,
and a query without the condition would reveal rows too early. Separate tables need no change of any reader.

Each import has a row in the table ``imports``, renewed by the process of the import. Staged rows without a row there,
because the import ended or the process died, are abandoned: `clear_abandoned` deletes them, in short transactions as
well. Numbers of imports are never used again.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Table, and_, delete, exists, func, insert, select, update

from provenn.batches import split_batches
from provenn.database import expiring_rows
from provenn.database.bulk_insertion import insert_rows
from provenn.database.tables import STAGED, catalogs, definers, imports, schemas
from provenn.errors import ArchiveError
from provenn.processes import make_holder

if TYPE_CHECKING:
    from provenn.database.expiring_rows import Holding
    from provenn.database.transactions import Database, Reading, Writing
    from provenn.digests import CatalogDigest

__all__ = ["LIFETIME", "PAUSE", "StagedRows", "clear_abandoned", "find_abandoned", "let_others_write", "stage_rows"]

LIFETIME = timedelta(minutes=10)
"""The time after which staged rows are deleted unless their import is renewed."""

PAUSE = 0.05
"""Seconds between two transactions of an import. A process that waits for SQLite tries more often than this."""

_AT_ONCE = 10_000
"""The number of rows of one table that one transaction deletes."""

_CACHE = 256 * 1024
"""KiB of pages that SQLite keeps in memory while rows are published; with fewer, many pages are written repeatedly."""


@dataclass(frozen=True, slots=True)
class StagedRows:
    """The staged rows of one import.

    Parameters
    ----------
    number
        The number of the import.
    row
        The row of the import in the table of imports, which is renewed.
    """

    number: int
    row: Holding

    def insert(self, writing: Writing, table: Table, columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
        """Insert rows into the staging table of a table."""
        insert_rows(
            writing.connection, STAGED[table], ("import", *columns), ((self.number, *values) for values in rows)
        )

    def are_complete(self, writing: Writing) -> bool:
        """Whether all staged rows exist; another process deletes the rows of an import not renewed in time."""
        return self.row.is_unbroken(writing)

    def find_held(self, reading: Reading) -> set[CatalogDigest]:
        """Return the digests of staged catalogs held by the archive, because of definitions made meanwhile."""
        staged = STAGED[catalogs]
        query = select(staged.c.digest).join(catalogs, catalogs.c.digest == staged.c.digest)
        return set(reading.connection.scalars(query.where(staged.c["import"] == self.number)))

    def publish(self, writing: Writing, held: Collection[CatalogDigest]) -> None:
        """Move all rows to the regular tables, except the rows of catalogs held by the archive.

        For held catalogs only the definers are taken over.
        """
        connection = writing.connection
        for table, staged in STAGED.items():
            if table not in (schemas, definers):
                catalog = staged.c.digest if table is catalogs else staged.c.catalog
                for batch in split_batches(held):
                    connection.execute(delete(staged).where(staged.c["import"] == self.number, catalog.in_(batch)))
        with _enlarge_cache(connection):
            for table in STAGED:
                self._move(connection, table)
        self._confirm_definers(connection)

    def _move(self, connection: Connection, table: Table) -> None:
        """Insert the rows of one table in the order of the key, so that each page of the index is written once."""
        staged = STAGED[table]
        key = [column.name for column in table.primary_key.columns]
        query = select(*(staged.c[column.name] for column in table.columns))
        query = query.where(staged.c["import"] == self.number).order_by(*(staged.c[name] for name in key))
        if table in (schemas, definers):
            query = query.where(~exists().where(and_(*(table.c[name] == staged.c[name] for name in key))))
        connection.execute(insert(table).from_select([column.name for column in table.columns], query))

    def _confirm_definers(self, connection: Connection) -> None:
        """Mark catalogs needed only by runs so far as defined, if the file names a person as definer."""
        staged = STAGED[definers]
        is_same_definer = and_(
            staged.c["import"] == self.number,
            staged.c.catalog == definers.c.catalog,
            staged.c.who == definers.c.who,
            staged.c.defined,
        )
        connection.execute(
            update(definers).where(~definers.c.defined, exists().where(is_same_definer)).values(defined=True)
        )


@contextmanager
def _enlarge_cache(connection: Connection) -> Iterator[None]:
    """Let SQLite keep more pages in memory while the body runs."""
    if connection.dialect.name != "sqlite":
        yield
        return
    usual = connection.exec_driver_sql("PRAGMA cache_size").scalar_one()
    connection.exec_driver_sql(f"PRAGMA cache_size = -{_CACHE}")
    try:
        yield
    finally:
        if not connection.invalidated:
            connection.exec_driver_sql(f"PRAGMA cache_size = {usual}")


def let_others_write() -> None:
    """Wait between two transactions of an import, to give other processes a turn."""
    time.sleep(PAUSE)


@contextmanager
def stage_rows(database: Database) -> Iterator[StagedRows]:
    """Begin an import and yield the staged rows; delete rows still staged afterwards.

    Raises
    ------
    ArchiveError
        If the database fails, or other processes write for too long.
    """
    clear_abandoned(database)
    holder = make_holder()
    with database.writing() as writing:
        row = {
            "holder": holder,
            "by": writing.who,
            "begun_at": writing.when,
            "expires_at": writing.when + LIFETIME,
        }
        number = writing.connection.execute(insert(imports).returning(imports.c.id), row).scalar_one()
    try:
        with expiring_rows.renew_rows(database, imports, holder, LIFETIME) as renewed:
            yield StagedRows(number, renewed)
    finally:
        with suppress(ArchiveError):  # otherwise the next import or `provenn gc` deletes them
            clear_abandoned(database)


def clear_abandoned(database: Database) -> int:
    """Delete the staged rows of ended imports and of dead processes; return the number of rows."""
    with database.reading() as reading:
        if not reading.connection.scalar(select(func.count()).select_from(imports)) and not find_abandoned(reading):
            return 0
    with database.writing() as writing:
        expiring_rows.forget_expired_rows(writing, imports)
    with database.reading() as reading:
        abandoned = find_abandoned(reading)
    count = 0
    for staged, number in abandoned:
        while deleted := _delete_some(database, staged, number):
            count += deleted
            let_others_write()
    return count


def find_abandoned(reading: Reading) -> list[tuple[Table, int]]:
    """Return the tables with staged rows of ended imports, and the numbers of these imports."""
    live = set(reading.connection.scalars(select(imports.c.id)))
    return [
        (staged, number)
        for staged in STAGED.values()
        for number in _staged_numbers(reading, staged)
        if number not in live
    ]


def _staged_numbers(reading: Reading, staged: Table) -> Iterator[int]:
    """Yield the numbers of the imports with rows in a table; each takes one lookup in the key."""
    column = staged.c["import"]
    number = reading.connection.scalar(select(func.min(column)))
    while number is not None:
        yield number
        number = reading.connection.scalar(select(func.min(column)).where(column > number))


def _delete_some(database: Database, staged: Table, number: int) -> int:
    """Delete some rows of an ended import, in one short transaction; return how many."""
    of_import, key = staged.c["import"] == number, staged.primary_key.columns[1]
    with database.writing() as writing:
        last = writing.connection.scalar(select(key).where(of_import).order_by(key).offset(_AT_ONCE).limit(1))
        condition = of_import if last is None else and_(of_import, key <= last)
        return writing.connection.execute(delete(staged).where(condition)).rowcount
