"""The state of a database as a short text that changes with every committed transaction, for answers kept in memory."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from provenn.database.engines import identify_file

if TYPE_CHECKING:
    from provenn.database.transactions import Database

__all__ = ["ChangeDetector"]

_INCARNATIONS: Final = count()

_SNAPSHOT: Final = (
    "SELECT concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time(), "
    "(SELECT oid FROM pg_database WHERE datname = current_database()))"
)


class ChangeDetector:
    """Tells whether a database is in the same state as before.

    SQLite compares its version of the data for a connection that stays open; two equal snapshots of PostgreSQL see the
    same rows. Equal texts thus mean equal data for every reader. Unequal texts mean nothing.

    Parameters
    ----------
    database
        The database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = Lock()
        self._connection: Any = None
        self._incarnation = ""

    def read_state(self) -> str | None:
        """Return the state of the database; None if it cannot be told.

        Raises
        ------
        DBAPIError
            If the database fails.
        """
        if self._database.engine.dialect.name == "postgresql":
            with self._database.engine.connect() as connection:
                return str(connection.exec_driver_sql(_SNAPSHOT).scalar_one())
        if self._database.read_only:
            return None  # its connections may not notice what other processes write
        with self._lock:
            return self._read_version()

    def close(self) -> None:
        """Close the connection that stays open."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _read_version(self) -> str:
        file = identify_file(Path(self._database.place))
        if self._connection is None:
            self._connection = self._database.engine.raw_connection()
            self._connection.detach()  # the pool would use it for transactions, whose changes it would not notice
            self._incarnation = f"{next(_INCARNATIONS)}"
        (version,) = self._connection.cursor().execute("PRAGMA data_version").fetchone()
        return f"{self._incarnation} {file} {version}"
