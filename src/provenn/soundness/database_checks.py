"""Checks of the database itself, and of rows with references to missing rows."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy.exc import DBAPIError

from provenn.database.damaged_values import find_dangling
from provenn.database.transactions import Reading
from provenn.soundness.problems import ArchiveProblem

__all__ = ["find_dangling_rows", "find_database_damage"]

_MOST = 20


def find_database_damage(reading: Reading) -> Iterator[ArchiveProblem]:
    """Check the pages and indices of an SQLite database. PostgreSQL checks its own."""
    if reading.connection.dialect.name != "sqlite":
        return
    try:
        messages = reading.connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})").scalars().all()
    except DBAPIError as error:
        messages = [str(error.orig)]
    yield from (ArchiveProblem("database", str(message)) for message in messages if message != "ok")


def find_dangling_rows(reading: Reading) -> Iterator[ArchiveProblem]:
    """Find rows with references to missing rows."""
    for dangling in find_dangling(reading.connection):
        yield ArchiveProblem(
            f"table {dangling.table}",
            f"{dangling.count:,} rows have a {', '.join(dangling.columns)} that is not in {dangling.referred}",
        )
