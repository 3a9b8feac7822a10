"""The differences between SQLite and PostgreSQL: how to connect, and how a transaction begins.

All other modules of this room and of the rooms above it are written once, for both. On both, a reading transaction
sees one state of the archive from its first to its last query and blocks no other transaction, and writing
transactions take turns.
"""

from __future__ import annotations

import gc
import os
import random
import sqlite3
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.engine import URL, ExceptionContext, make_url
from sqlalchemy.exc import ArgumentError, OperationalError

from provenn.database.fences import make_changed_error
from provenn.errors import ArchiveError

__all__ = [
    "MIGRATING",
    "READING",
    "WRITING",
    "format_address",
    "identify_file",
    "is_sqlite_read_only",
    "make_postgresql_engine",
    "make_sqlite_engine",
    "make_writing_options",
]

_WRITES, _PATIENCE, _UNHURRIED = "provenn_writes", "provenn_patience", "provenn_unhurried"
WRITING: Mapping[str, Any] = {_WRITES: True}
"""Execution options of a writing transaction."""

MIGRATING: Mapping[str, Any] = {_WRITES: True, _UNHURRIED: True}
"""Execution options of a transaction without time limits, since no process can use the archive before it ends."""

READING: Mapping[str, Mapping[str, Any]] = {
    "sqlite": {},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
"""Execution options of a reading transaction."""

_CONNECTION_FAILURES = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL}
)
_DRIVERS = frozenset({"postgresql", "postgres", "postgresql+psycopg"})
_EXAMPLE = "for example postgresql+psycopg://user@host/database"
_PAUSE = 0.02  # seconds at most between two attempts to begin writing to SQLite
_IDLE = 20  # seconds for which a transaction with the lock for writing may be idle: less than others wait
_LONGEST_STATEMENT = 300  # seconds that one statement of a writing transaction may take
_FILE = "provenn_file"  # the key under which a connection remembers its open file
_MOST_MORE = 45  # connections of one process to PostgreSQL, besides the five in the pool; its default limit is 100

# Client and server notice within half a minute that the other end of a connection is gone.
_CLIENT = {
    "connect_timeout": 10,
    "keepalives": 1,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
_SERVER = {
    "tcp_keepalives_idle": "15",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "client_connection_check_interval": "10000",
}


def make_writing_options(patience: float | None) -> Mapping[str, Any]:
    """Return the execution options of a writing transaction that waits `patience` seconds; None is the usual time."""
    return WRITING if patience is None else {**WRITING, _PATIENCE: patience}


def is_sqlite_read_only(path: Path) -> bool:
    """Whether an archive can only be read: a database in WAL mode needs a writable file and a writable folder."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def make_sqlite_engine(path: Path, *, create: bool, read_only: bool, patience: float) -> Engine:
    """Return an engine for an SQLite database.

    Parameters
    ----------
    path
        The file of the database.
    create
        Whether to make the file if there is none.
    read_only
        Whether to open the database for reading only.
    patience
        Seconds to wait for another process that writes.
    """

    def connect() -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc" if create else "rw"
        try:
            if read_only and is_sqlite_read_only(path) and not _has_content(path.with_name(path.name + "-wal")):
                mode += "&immutable=1"  # no process writes now, and this one could not announce that it reads
        except OSError as error:
            raise sqlite3.OperationalError(f"unable to open database file: {error.strerror}") from error
        address = f"file:{quote(str(path.absolute()))}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA foreign_keys = ON")
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
        return connection

    # With read_only, each transaction connects anew: another process may have begun to write since the last one.
    # Otherwise the pool keeps some connections; a thread that finds none free makes its own, without waiting.
    pool: dict[str, Any] = {"poolclass": NullPool} if read_only else {"poolclass": QueuePool, "max_overflow": -1}
    engine = create_engine("sqlite://", creator=connect, **pool)

    @event.listens_for(engine, "connect")
    def remember_file(_: object, record: Any) -> None:  # noqa: ANN401 - SQLAlchemy's
        record.info[_FILE] = identify_file(path)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # A connection from the pool still has its original file open, even if another file has taken its place.
        if connection.connection.info.get(_FILE) != identify_file(path):
            connection.invalidate()
            raise make_changed_error(str(path), "moved, deleted or replaced")
        # Take the lock for writing at once: a transaction that began by reading could not wait for it.
        options = connection.get_execution_options()
        writes = options.get(_WRITES, False)
        connection.exec_driver_sql(f"PRAGMA query_only = {not writes:d}")
        if not writes:
            connection.exec_driver_sql("BEGIN")
            return
        wait = options.get(_PATIENCE, patience)
        try:
            _begin_to_write(connection, wait, patience)
        except OperationalError:
            if not connection.invalidated:
                raise
        else:
            return
        # The files were opened while they could not be written, on a full disk for example. All connections of a
        # process share what SQLite knows of them: once these are closed, also those that errors still refer to, a new
        # one may write. The error caught above is one of these, and gone only after its clause.
        engine.dispose()
        gc.collect()
        _begin_to_write(connection, wait, patience)

    @event.listens_for(engine, "handle_error")
    def close_failed_connection(context: ExceptionContext) -> None:
        # SQLite opens a file that is not writable at that moment for reading alone, and a connection whose file fails
        # may stay unusable: neither connection goes back to the pool.
        code = getattr(context.original_exception, "sqlite_errorcode", None)
        if code is not None and code & 0xFF in _CONNECTION_FAILURES:
            context.is_disconnect = True

    return engine


def identify_file(path: Path) -> tuple[int, int] | None:
    """Return the device and inode to identify a file on this machine; None without a file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _begin_to_write(connection: Connection, patience: float, usual: float) -> None:
    """Begin to write in turn, and fail at once if the file is open for reading alone.

    On such a file, BEGIN IMMEDIATE begins to read without complaint, and the first change would fail. Freeing unused
    pages is a change that SQLite checks like any other; databases without automatic vacuum have none to free.
    """
    _begin_in_turn(connection, patience, usual)
    connection.exec_driver_sql("PRAGMA incremental_vacuum(1)")


def _begin_in_turn(connection: Connection, patience: float, usual: float) -> None:
    """Begin to write as soon as all earlier writers have finished.

    SQLite itself retries less often the longer the wait: late arrivals are served first, and with many writers
    some wait for ever. Here a longer wait means more frequent retries.
    """
    raw: Any = connection.connection.dbapi_connection
    began = time.monotonic()
    raw.execute("PRAGMA busy_timeout = 0")
    try:
        while (waited := time.monotonic() - began) < patience:
            try:
                raw.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                    break
            else:
                return
            time.sleep(_PAUSE * random.random() / (1 + waited))  # noqa: S311 - no secret
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        if not connection.invalidated:
            raw.execute(f"PRAGMA busy_timeout = {round(usual * 1000)}")


def make_postgresql_engine(url: str, *, patience: float) -> Engine:
    """Return an engine for a PostgreSQL database; the parameters are as for `make_sqlite_engine`."""
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:  # its message would show the password
        raise ArchiveError("the address of the database cannot be read", hint=_EXAMPLE) from error
    if parsed.drivername not in _DRIVERS:
        raise ArchiveError(f"an archive is in SQLite or PostgreSQL, not in {parsed.drivername}", hint=_EXAMPLE)
    address = parsed.set(drivername="postgresql+psycopg")
    defaults = {key: value for key, value in _CLIENT.items() if key not in parsed.query}
    try:
        engine = create_engine(address, pool_pre_ping=True, max_overflow=_MOST_MORE, connect_args=defaults)
    except ModuleNotFoundError as missing:
        raise ArchiveError(
            "an archive in PostgreSQL needs psycopg", hint="pip install 'provenn[postgres]'"
        ) from missing

    @event.listens_for(engine, "connect")
    def configure_session(raw: Any, _: object) -> None:  # noqa: ANN401 - psycopg's
        # Not every server knows all of these settings, and not every system allows them.
        query = "SELECT name FROM pg_settings WHERE name = ANY(%s)"
        for (name,) in raw.execute(query, [list(_SERVER)]).fetchall():
            with suppress(Exception), raw.transaction():
                raw.execute("SELECT set_config(%s, %s, false)", [name, _SERVER[name]])
        raw.commit()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        if options.get(_WRITES, False):
            waits = max(1, round(options.get(_PATIENCE, patience) * 1000))
            idle, longest = (_IDLE * 1000, max(_LONGEST_STATEMENT * 1000, 2 * waits))
            if options.get(_UNHURRIED, False):
                idle = longest = 0  # no limit
            connection.exec_driver_sql(
                f"SELECT set_config('lock_timeout', '{waits}', true), "
                f"set_config('idle_in_transaction_session_timeout', '{idle}', true), "
                f"set_config('statement_timeout', '{longest}', true)"
            )
            connection.exec_driver_sql(
                "SELECT pg_advisory_xact_lock(hashtextextended('provenn ' || current_schema(), 0))"
            )

    return engine


def format_address(address: URL) -> str:
    """Return the address of a database without passwords."""
    hidden = {key: "***" for key in address.query if "password" in key.lower()}
    return address.update_query_dict(hidden).render_as_string(hide_password=True)


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
