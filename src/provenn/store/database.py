"""An archive's database: opening it, and the transactions in which everything happens."""

from __future__ import annotations

import getpass
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sqlalchemy import Connection, Engine, column, inspect, select, table
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError

from provenn.errors import (
    ArchiveError,
    ArchiveNotFoundError,
    ArchiveVersionError,
    ReadOnlyArchiveError,
)
from provenn.store import clock
from provenn.store.engines import READING, WRITING, postgresql_engine, shown_address, sqlite_engine, sqlite_read_only
from provenn.store.failures import told, unreachable
from provenn.store.folder import DataFolder
from provenn.store.tables import VERSION, VERSION_TABLE, metadata

__all__ = ["Database", "Reading", "Writing", "open_database", "unchecked_database"]

_PAUSES = (0.1, 0.4, 1.5)
"""Seconds between attempts to reach a server."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A transaction that sees one state of the archive, whatever others write meanwhile.

    Parameters
    ----------
    connection
        Where it is read.
    viewer
        Who looks: what this person may not see does not exist in it. None sees everything.
    who
        The person who asks: private facts are used in the proofs of their owners alone, whoever sees them.
    """

    connection: Connection
    viewer: str | None = field(default=None, kw_only=True)
    who: str = field(default="", kw_only=True)


@dataclass(frozen=True, slots=True)
class Writing(Reading):
    """A transaction that writes, alone; all of it or, if anything fails, nothing.

    Parameters
    ----------
    connection, viewer
        Where it is written, and who looks.
    who, when, via
        The person and the moment (UTC, by the archive's clock) that are recorded with everything written; and from
        where that is done: "python", "cli" or "http".
    folder
        Where the archive's data are kept, if that is known.
    """

    who: str
    when: datetime
    via: str = field(default="python", kw_only=True)
    folder: DataFolder | None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Database:
    """An open archive's database.

    Parameters
    ----------
    engine
        SQLAlchemy's.
    place
        Where it is, for messages.
    read_only
        Whether it can only be read.
    who
        The person recorded with what is written.
    viewer
        Who looks: what this person may not see does not exist. None sees everything.
    via
        From where it is used: "python", "cli" or "http".
    folder
        Where the archive's data are kept, if that is known.
    """

    engine: Engine
    place: str
    read_only: bool
    who: str
    viewer: str | None = None
    via: str = "python"
    folder: DataFolder | None = None

    @contextmanager
    def reading(self) -> Iterator[Reading]:
        """Begin a reading transaction."""
        with self._transaction(READING[self.engine.dialect.name]) as connection:
            yield Reading(connection, viewer=self.viewer, who=self.who)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Begin a writing transaction; it waits for others that write.

        Raises
        ------
        ReadOnlyArchiveError
            If the archive can only be read.
        ArchiveBusyError
            If another process writes for too long.
        ArchiveError
            If the database fails, now or at the end, or cannot hold a text or number. Then nothing is written.
        """
        if self.read_only:
            raise ReadOnlyArchiveError(f"the archive {self.place} can only be read", hint="copy it, or ask its owner")
        with self._transaction(WRITING) as connection:
            now = clock.now(connection)
            yield Writing(connection, self.who, now, viewer=self.viewer, via=self.via, folder=self.folder)

    @contextmanager
    def _transaction(self, options: Mapping[str, Any]) -> Iterator[Connection]:
        try:
            with self._connected() as connection:
                connection.execution_options(**options)
                with connection.begin():
                    yield connection
        except IntegrityError:
            raise  # no failure of the database: what was to be written is wrong
        except (DataError, OverflowError) as error:
            said = str(error.orig if isinstance(error, DataError) else error).split("\n")[0]
            raise ArchiveError(f"the archive cannot hold what is said: {said}") from error
        except UnicodeEncodeError as error:
            said = ascii(error.object[error.start : error.end])
            raise ArchiveError(f"{said} is no text", hint="texts are of whole characters, as in UTF-8") from error
        except DBAPIError as failure:
            raise told(failure, self.place) from failure

    def _connected(self) -> Connection:
        """Connect; to a server that is just being started again, a moment later: nothing has been done yet."""
        for pause in _PAUSES:
            try:
                return self.engine.connect()
            except DBAPIError as failure:
                if not unreachable(failure):
                    raise
                time.sleep(pause)
        return self.engine.connect()

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_database(
    where: Path | str,
    *,
    create: bool = False,
    read_only: bool = False,
    who: str | None = None,
    confined: bool = False,
    via: str = "python",
    patience: float = 30.0,
) -> Database:
    """Open an archive's database, and bring one that an older version made up to date.

    Parameters
    ----------
    where
        The file of an SQLite database, or the address of a PostgreSQL one (``postgresql://…``).
    create
        Whether to make the archive if there is none.
    read_only
        Whether nothing will be written. So it is in any case where the file or its folder may not be written.
    who
        The person to record; by default PROVENN_USER of the environment, or who is logged in.
    confined
        Whether only what this person may see exists.
    via
        From where it is used.
    patience
        Seconds to wait for another process that writes.

    Raises
    ------
    ArchiveNotFoundError
        If there is no archive there.
    ArchiveVersionError
        If a newer version made it, or an older one and it can only be read.
    ArchiveError
        If what is there is no archive, or cannot be reached.
    """
    database = unchecked_database(
        where, create=create, read_only=read_only, who=who, confined=confined, via=via, patience=patience
    )
    try:
        _bring_up_to_date(database, create=create)
    except DBAPIError as failure:
        database.close()
        raise told(failure, database.place) from failure
    except BaseException:
        database.close()
        raise
    return database


def unchecked_database(
    where: Path | str,
    *,
    create: bool = False,
    read_only: bool = False,
    who: str | None = None,
    confined: bool = False,
    via: str = "python",
    patience: float = 30.0,
) -> Database:
    """Return an archive's database as it is, of whichever format; the parameters are those of `open_database`.

    Raises
    ------
    ArchiveNotFoundError
        If there is no such file.
    ArchiveError
        If it is neither a file nor an address of PostgreSQL.
    """
    if "://" in str(where) or str(where).startswith(("postgresql:", "postgresql+psycopg:", "postgres:")):
        engine = postgresql_engine(str(where), patience=patience)
        place = shown_address(engine.url)
    else:
        path = Path(where)
        place = str(path)
        if not create and not path.is_file():
            raise ArchiveNotFoundError(f"there is no archive at {place}", hint="make one: provenn init")
        read_only = read_only or sqlite_read_only(path)
        if create and not read_only:
            path.parent.mkdir(parents=True, exist_ok=True)
        engine = sqlite_engine(path, create=create, read_only=read_only, patience=patience)
    person = who or _current_user()
    return Database(engine, place, read_only, person, person if confined else None, via)


def _bring_up_to_date(database: Database, *, create: bool) -> None:
    with database.reading() as reading:
        if _checked_version(reading.connection, database, create=create) == VERSION:
            return
    from provenn.store.migrations import upgrade  # noqa: PLC0415 - alembic is slow to import, and seldom needed

    with database.engine.connect() as connection:
        connection.execution_options(**WRITING)
        # Once more, because others may have been quicker.
        upgrade(connection, lambda: _checked_version(connection, database, create=create))


def _checked_version(connection: Connection, database: Database, *, create: bool) -> str | None:
    """Return the version of an archive, None if there is none; refuse what is not, and cannot become, this version."""
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
            raise ArchiveNotFoundError(f"{place} holds no archive", hint="make one: provenn init")
        others = metadata.tables.keys() & set(inspector.get_table_names())
        if others:
            raise ArchiveError(
                f"{place} is no archive, but has tables called {', '.join(sorted(others))}",
                hint="make the archive elsewhere",
            )
    if database.read_only:
        raise ArchiveVersionError(
            f"the archive {place} has format {version}, must be upgraded to {VERSION}, and can only be read",
            hint="let someone who may write there open it once",
        )
    return version


def _current_user() -> str:
    name = os.environ.get("PROVENN_USER")
    if name:
        return name
    try:
        return getpass.getuser()
    except (KeyError, OSError, ModuleNotFoundError):  # a user without a name, as in some containers
        return str(os.getuid())
