"""What differs between SQLite and PostgreSQL: how to connect, and how a transaction begins.

Everything else in this room is written once, for both. On either a reading transaction sees one state of the archive
from its first to its last query and blocks nobody, and writing transactions take turns.
"""

from __future__ import annotations

import os
import random
import sqlite3
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from provenn.errors import ArchiveError

__all__ = ["READING", "WRITING", "postgresql_engine", "shown_address", "sqlite_engine", "sqlite_read_only"]

_WRITES = "provenn_writes"
WRITING: Mapping[str, Any] = {_WRITES: True}
"""Execution options of a writing transaction."""

READING: Mapping[str, Mapping[str, Any]] = {
    "sqlite": {},
    "postgresql": {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True},
}
"""Execution options of a reading transaction."""

_DRIVERS = frozenset({"postgresql", "postgres", "postgresql+psycopg"})
_EXAMPLE = "for example postgresql+psycopg://user@host/database"
_PAUSE = 0.02  # seconds at most between two looks whether somebody else still writes to SQLite
_MOST_MORE = 45  # connections of one process to PostgreSQL, besides the five that are kept; by default it allows 100


def sqlite_read_only(path: Path) -> bool:
    """Whether an archive can only be read: a database in WAL mode is written in its folder, too."""
    return path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def sqlite_engine(path: Path, *, create: bool, read_only: bool, patience: float) -> Engine:
    """Return an engine for an SQLite database.

    Parameters
    ----------
    path
        Its file.
    create
        Whether to make the file if there is none.
    read_only
        Whether it is only to be read.
    patience
        Seconds to wait for another process that writes.
    """

    def connect() -> sqlite3.Connection:
        mode = "ro" if read_only else "rwc" if create else "rw"
        if read_only and sqlite_read_only(path) and not _has_content(path.with_name(path.name + "-wal")):
            mode += "&immutable=1"  # nobody writes now, and we could not even tell them that we read
        address = f"file:{quote(str(path.absolute()))}?mode={mode}"
        connection = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA foreign_keys = ON")
        if not read_only:
            connection.execute("PRAGMA journal_mode = WAL")
        return connection

    # A reader connects for every transaction: somebody may have begun to write since the last. Otherwise some
    # connections are kept; a thread that finds none of them free makes its own, and waits for nobody who only reads.
    pool: dict[str, Any] = {"poolclass": NullPool} if read_only else {"poolclass": QueuePool, "max_overflow": -1}
    engine = create_engine("sqlite://", creator=connect, **pool)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # The lock for writing is taken at once: a transaction that began by reading could not wait for it.
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql(f"PRAGMA query_only = {not writes:d}")
        if writes:
            _begin_in_turn(connection, patience)
        else:
            connection.exec_driver_sql("BEGIN")

    return engine


def _begin_in_turn(connection: Connection, patience: float) -> None:
    """Begin to write as soon as nobody else does.

    SQLite looks the more seldom the longer it has waited: who comes later is served first, and of many who write some
    wait for ever. Here who has waited longer looks more often.
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
        raw.execute(f"PRAGMA busy_timeout = {round(patience * 1000)}")


def postgresql_engine(url: str, *, patience: float) -> Engine:
    """Return an engine for a PostgreSQL database; the parameters are those of `sqlite_engine`."""
    try:
        given = make_url(url)
    except (ArgumentError, ValueError) as error:  # which would show the password
        raise ArchiveError("the address of the database cannot be read", hint=_EXAMPLE) from error
    if given.drivername not in _DRIVERS:
        raise ArchiveError(f"an archive is in SQLite or PostgreSQL, not in {given.drivername}", hint=_EXAMPLE)
    address = given.set(drivername="postgresql+psycopg")
    try:
        engine = create_engine(address, pool_pre_ping=True, max_overflow=_MOST_MORE)
    except ModuleNotFoundError as missing:
        raise ArchiveError(
            "an archive in PostgreSQL needs psycopg", hint="pip install 'provenn[postgres]'"
        ) from missing

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get(_WRITES, False):
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = {round(patience * 1000)}")
            connection.exec_driver_sql(
                "SELECT pg_advisory_xact_lock(hashtextextended('provenn ' || current_schema(), 0))"
            )

    return engine


def shown_address(address: URL) -> str:
    """Return the address of a database without its passwords."""
    hidden = {key: "***" for key in address.query if "password" in key.lower()}
    return address.update_query_dict(hidden).render_as_string(hide_password=True)


def _has_content(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
