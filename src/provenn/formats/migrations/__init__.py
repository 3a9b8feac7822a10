"""Migrating the tables of an archive from one format to another, step by step, with alembic.

Importing this module imports alembic, so other modules import it only when a migration is needed. A step is a module of
`versions`, numbered ``v0001``, ``v0002``, …; the result of a released step never changes. If a downgrade from a format
loses data, the function ``losses`` of its step says what is lost.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, column, inspect, select, table, update

from provenn.database.connecting import open_unchecked_database
from provenn.database.database_errors import explain_failures
from provenn.database.engines import MIGRATING
from provenn.database.fences import EPOCH
from provenn.database.tables import VERSION, VERSION_TABLE, settings
from provenn.database.transactions import Database
from provenn.errors import ArchiveNotFoundError, ArchiveVersionError, CorruptArchiveError, ReadOnlyArchiveError
from provenn.hints import Hint, suggest_new_archive

__all__ = ["Migration", "list_formats", "make_configuration", "migrate_format", "upgrade_tables"]


@dataclass(frozen=True, slots=True)
class Migration:
    """A migration of an archive from one format to another, done or planned.

    Parameters
    ----------
    place
        The location of the archive.
    before, after
        The formats before and after the migration.
    lost
        The losses of a downgrade, each in words.
    """

    place: str
    before: str
    after: str
    lost: tuple[str, ...] = ()


def make_configuration() -> Config:
    """Return alembic's configuration, made without a file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def list_formats() -> tuple[str, ...]:
    """Return the formats known to this version, the oldest first."""
    revisions = ScriptDirectory.from_config(make_configuration()).walk_revisions()
    return tuple(sorted(revision.revision for revision in revisions))


def upgrade_tables(connection: Connection, check: Callable[[], object], config: Config | None = None) -> None:
    """Upgrade the tables to the newest format, in one transaction: all steps or none.

    Parameters
    ----------
    connection
        A connection without a transaction, with the options of a writing transaction.
    check
        Called once no other process can write; raises if the archive must not be upgraded.
    config
        Alembic's configuration; by default the result of `make_configuration`.
    """
    config = config or make_configuration()
    with _changing_tables(connection, config):
        check()
        command.upgrade(config, "head")
        _renew_epoch(connection)


def migrate_format(
    where: Path | str, to: str = VERSION, *, dry_run: bool = False, lose: bool = False, patience: float = 30.0
) -> Migration:
    """Migrate an archive to a newer or older format, in one transaction: all steps or none.

    Parameters
    ----------
    where, patience
        As for `open_database`, which migrates the archive to the newest format again.
    to
        The format.
    dry_run
        Whether only to return the planned migration.
    lose
        Whether a downgrade may lose data that the older format cannot hold.

    Raises
    ------
    ArchiveVersionError
        If the format does not exist, a newer version made the archive, or data would be lost without `lose`.
    ArchiveError
        If there is no archive, or it cannot be used.
    """
    if to not in list_formats():
        raise ArchiveVersionError(f"unknown format {to!r}", hint=f"this version knows {', '.join(list_formats())}")
    with open_unchecked_database(where, patience=patience) as database:
        if dry_run:
            with database.reading() as reading:
                return _plan_migration(reading.connection, database, to)
        if database.read_only:
            raise ReadOnlyArchiveError(f"the archive {database.place} is read-only", hint="ask its owner")
        config = make_configuration()
        with explain_failures(database.place), database.engine.connect() as connection:
            connection.execution_options(**MIGRATING)
            with _changing_tables(connection, config):
                migration = _plan_migration(connection, database, to)
                if migration.lost and not lose:
                    raise ArchiveVersionError(
                        f"format {to} cannot hold " + "; ".join(migration.lost),
                        hint=Hint("make a backup, then pass lose=True", command="make a backup, then add --lose"),
                    )
                if to != migration.before:
                    (command.upgrade if to > migration.before else command.downgrade)(config, to)
                    _renew_epoch(connection)
            return migration


def _renew_epoch(connection: Connection) -> None:
    """Give the archive a new epoch, so that open processes notice even a change of format that was undone again."""
    if inspect(connection).has_table(settings.name):
        connection.execute(update(settings).where(settings.c.key == EPOCH).values(value=secrets.token_hex(16)))


def _plan_migration(connection: Connection, database: Database, to: str) -> Migration:
    if not inspect(connection).has_table(VERSION_TABLE):
        raise ArchiveNotFoundError(f"{database.place} holds no archive", hint=suggest_new_archive(database.place))
    before = connection.scalar(select(table(VERSION_TABLE, column("version_num")).c.version_num))
    if before not in list_formats():
        raise ArchiveVersionError(
            f"the archive {database.place} has format {before}, which this version of provenn does not know",
            hint="pip install --upgrade provenn",
        )
    steps = ScriptDirectory.from_config(make_configuration()).iterate_revisions(before, to) if to < before else ()
    lost = (loss for step in steps for loss in getattr(step.module, "losses", _list_no_losses)(connection))
    return Migration(database.place, before, to, tuple(lost))


def _list_no_losses(_: Connection) -> list[str]:
    return []


@contextmanager
def _changing_tables(connection: Connection, config: Config) -> Iterator[None]:
    """Begin a transaction in which alembic changes tables, and check the foreign keys of all rows at its end."""
    config.attributes["connection"] = connection
    with _without_foreign_keys(connection), connection.begin():
        yield
        if connection.dialect.name == "sqlite":
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
            if broken is not None:
                raise CorruptArchiveError(f"a row of {broken[0]} refers to one that is not in {broken[2]}")


@contextmanager
def _without_foreign_keys(connection: Connection) -> Iterator[None]:
    """Disable foreign keys in SQLite, which changes a table by copying it and deleting the old table."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver = connection.connection.driver_connection
    assert driver is not None, "an open connection has one"  # noqa: S101 - for the type checker
    driver.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        if not connection.invalidated:
            driver.execute("PRAGMA foreign_keys = ON")
