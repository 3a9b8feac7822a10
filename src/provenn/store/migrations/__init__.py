"""Moving the tables of an archive from one format to another, step by step, with alembic.

Importing this imports alembic, so it is done only when there is something to do. A step is a module of `versions`,
numbered ``v0001``, ``v0002``, …; what one that was released makes is never changed. Where going back from a format
loses something, its step says what: ``losses``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, column, inspect, select, table

from provenn.errors import ArchiveNotFoundError, ArchiveVersionError, CorruptArchiveError, ReadOnlyArchiveError
from provenn.store.database import Database, unchecked_database
from provenn.store.engines import WRITING
from provenn.store.failures import telling
from provenn.store.tables import VERSION, VERSION_TABLE

__all__ = ["Migration", "configuration", "formats", "migrate", "upgrade"]


@dataclass(frozen=True, slots=True)
class Migration:
    """From which format to which an archive was brought, or would be; and what that loses, in words.

    Parameters
    ----------
    place
        Where the archive is.
    before, after
        The formats.
    lost
        What going back loses, a sentence each.
    """

    place: str
    before: str
    after: str
    lost: tuple[str, ...] = ()


def configuration() -> Config:
    """Return alembic's configuration, which is not in a file."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def formats() -> tuple[str, ...]:
    """Return the formats that this version knows, the oldest first."""
    return tuple(sorted(one.revision for one in ScriptDirectory.from_config(configuration()).walk_revisions()))


def upgrade(connection: Connection, check: Callable[[], object], config: Config | None = None) -> None:
    """Bring the tables up to date, in one transaction: all steps or none.

    Parameters
    ----------
    connection
        In no transaction yet, and with the options of a writing one.
    check
        Called once nobody else can write; it raises if the archive is not to be upgraded.
    config
        Another one than `configuration`.
    """
    config = config or configuration()
    with _changing_tables(connection, config):
        check()
        command.upgrade(config, "head")


def migrate(
    where: Path | str, to: str = VERSION, *, dry_run: bool = False, lose: bool = False, patience: float = 30.0
) -> Migration:
    """Bring an archive to a format, newer or older, in one transaction: all steps or none.

    Parameters
    ----------
    where, patience
        As for `open_database`, which brings an archive to the newest format again.
    to
        The format.
    dry_run
        Whether only to tell what would be done.
    lose
        Whether an older format may lose what it has no place for.

    Raises
    ------
    ArchiveVersionError
        If there is no such format, a newer version made the archive, or something would be lost.
    ArchiveError
        If there is no archive, or it cannot be used.
    """
    if to not in formats():
        raise ArchiveVersionError(f"there is no format {to!r}", hint=f"this version knows {', '.join(formats())}")
    with unchecked_database(where, patience=patience) as database:
        if dry_run:
            with database.reading() as reading:
                return _migration(reading.connection, database, to)
        if database.read_only:
            raise ReadOnlyArchiveError(f"the archive {database.place} can only be read", hint="ask its owner")
        config = configuration()
        with telling(database.place), database.engine.connect() as connection:
            connection.execution_options(**WRITING)
            with _changing_tables(connection, config):
                told = _migration(connection, database, to)
                if told.lost and not lose:
                    raise ArchiveVersionError(
                        f"format {to} has no place for " + "; ".join(told.lost),
                        hint="make a backup, then say that this may be lost: --lose",
                    )
                (command.upgrade if to > told.before else command.downgrade)(config, to)
            return told


def _migration(connection: Connection, database: Database, to: str) -> Migration:
    if not inspect(connection).has_table(VERSION_TABLE):
        raise ArchiveNotFoundError(f"{database.place} holds no archive", hint="make one: provenn init")
    before = connection.scalar(select(table(VERSION_TABLE, column("version_num")).c.version_num))
    if before not in formats():
        raise ArchiveVersionError(
            f"the archive {database.place} has format {before}, which this version of provenn does not know",
            hint="pip install --upgrade provenn",
        )
    steps = ScriptDirectory.from_config(configuration()).iterate_revisions(before, to) if to < before else ()
    lost = (told for step in steps for told in getattr(step.module, "losses", _nothing)(connection))
    return Migration(database.place, before, to, tuple(lost))


def _nothing(_: Connection) -> list[str]:
    return []


@contextmanager
def _changing_tables(connection: Connection, config: Config) -> Iterator[None]:
    """Begin a transaction in which alembic changes tables; at its end every row still has those that it refers to."""
    config.attributes["connection"] = connection
    with _without_foreign_keys(connection), connection.begin():
        yield
        if connection.dialect.name == "sqlite":
            broken = connection.exec_driver_sql("PRAGMA foreign_key_check").first()
            if broken is not None:
                raise CorruptArchiveError(f"a row of {broken[0]} refers to one that is not in {broken[2]}")


@contextmanager
def _without_foreign_keys(connection: Connection) -> Iterator[None]:
    """Let go of foreign keys in SQLite, which changes a table by copying it and deleting the old one."""
    if connection.dialect.name != "sqlite":
        yield
        return
    driver = connection.connection.driver_connection
    assert driver is not None, "an open connection has one"  # noqa: S101 - for the type checker
    driver.execute("PRAGMA foreign_keys = OFF")
    try:
        yield
    finally:
        driver.execute("PRAGMA foreign_keys = ON")
