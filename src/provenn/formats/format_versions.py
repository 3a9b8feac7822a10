"""Checking the format of an archive, and upgrading older formats."""

from __future__ import annotations

from sqlalchemy import Connection, column, inspect, select, table

from provenn.database.engines import MIGRATING
from provenn.database.tables import VERSION, VERSION_TABLE, metadata
from provenn.database.transactions import Database
from provenn.errors import ArchiveError, ArchiveNotFoundError, ArchiveVersionError
from provenn.hints import suggest_new_archive

__all__ = ["bring_up_to_date"]


def bring_up_to_date(database: Database, *, create: bool) -> None:
    """Upgrade an archive to the format of this version, or, with `create`, make an archive where there is none.

    Raises
    ------
    ArchiveNotFoundError
        If there is no archive, and `create` is False.
    ArchiveVersionError
        If a newer version made the archive, or an older version made it and it can only be read.
    ArchiveError
        If the database is not an archive.
    """
    with database.reading() as reading:
        if _check_version(reading.connection, database, create=create) == VERSION:
            return
    from provenn.formats.migrations import upgrade_tables  # noqa: PLC0415 - alembic is slow to import, and rarely needed

    with database.engine.connect() as connection:
        connection.execution_options(**MIGRATING)
        # Check once more, because another process may have been quicker.
        upgrade_tables(connection, lambda: _check_version(connection, database, create=create))


def _check_version(connection: Connection, database: Database, *, create: bool) -> str | None:
    """Return the format of an archive, or None if there is none; raise if it cannot be upgraded to this version."""
    place, inspector = database.place, inspect(connection)
    if inspector.has_table(VERSION_TABLE):
        version = connection.scalar(select(table(VERSION_TABLE, column("version_num")).c.version_num))
        if version == VERSION:
            return VERSION
        if version is not None and version > VERSION:
            raise ArchiveVersionError(
                f"the archive {place} was made by a newer version of provenn "
                f"(format {version}; this version knows formats up to {VERSION})",
                hint="pip install --upgrade provenn",
            )
    else:
        version = None
        if not create:
            raise ArchiveNotFoundError(f"{place} holds no archive", hint=suggest_new_archive(place))
        others = metadata.tables.keys() & set(inspector.get_table_names())
        if others:
            raise ArchiveError(
                f"{place} is not an archive, but has tables called {', '.join(sorted(others))}",
                hint="create the archive elsewhere",
            )
    if database.read_only:
        raise ArchiveVersionError(
            f"the archive {place} has format {version}, must be upgraded to {VERSION}, and is read-only",
            hint="ask someone with write access to open it once",
        )
    return version
