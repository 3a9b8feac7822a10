"""Explaining failures of the database to a user. A failed transaction has changed nothing.

If a connection was lost during a server's commit, `Database.writing` finds out whether the transaction was committed.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError

from provenn.errors import ArchiveBusyError, ArchiveError, ArchiveUnreachableError, CorruptArchiveError

__all__ = ["explain_failure", "explain_failures", "is_unreachable"]

# The codes of PostgreSQL and SQLite for a lock that was not available in time, a full disk and damaged data; and those
# of PostgreSQL for a transaction that was idle for too long, and a server that has stopped, is stopping or is starting.
_CONFLICTS: Final[frozenset[str | int | None]] = frozenset({"55P03", sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_FULL: Final[frozenset[str | int | None]] = frozenset({"53100", sqlite3.SQLITE_FULL})
_DAMAGED: Final[frozenset[str | int | None]] = frozenset({"XX001", "XX002", sqlite3.SQLITE_CORRUPT})
_IDLE = frozenset({"25P03"})
_GONE = ("08", "57P")


@contextmanager
def explain_failures(place: str) -> Iterator[None]:
    """Turn a failure of the database in the body into an error for the user.

    Raises
    ------
    ArchiveError
        If the body raises a database error.
    """
    try:
        yield
    except DBAPIError as failure:
        raise explain_failure(failure, place) from failure


def explain_failure(failure: DBAPIError, place: str) -> ArchiveError:
    """Return the error for the user to explain a failure of the database."""
    message, state = str(failure.orig).strip().split("\n")[0], _find_state(failure) or _find_sqlite_code(failure)
    if state in _CONFLICTS:
        return ArchiveBusyError(f"another process is writing to the archive {place}", hint="try again later")
    if state in _FULL:
        return ArchiveError(f"there is no space left for the archive {place}", hint="free some space; nothing was lost")
    if state in _DAMAGED:
        return CorruptArchiveError(f"the archive {place} is damaged: {message}")
    if state in _IDLE:
        return ArchiveUnreachableError(
            f"the server of the archive {place} cancelled a transaction that was idle for too long",
            hint="nothing was changed; try again",
        )
    if is_unreachable(failure):
        return ArchiveUnreachableError(
            f"the archive {place} cannot be reached: {message}",
            hint="check that the server is running, then try again: nothing was changed",
        )
    return ArchiveError(f"the archive {place} cannot be used: {message}")


def is_unreachable(failure: DBAPIError) -> bool:
    """Whether a failure is due to a server that has stopped, is stopping or is starting."""
    if not isinstance(failure, OperationalError | InterfaceError) or not hasattr(failure.orig, "sqlstate"):
        return False
    return failure.connection_invalidated or (_find_state(failure) or _GONE[0]).startswith(_GONE)


def _find_state(failure: DBAPIError) -> str | None:
    return getattr(failure.orig, "sqlstate", None)


def _find_sqlite_code(failure: DBAPIError) -> int | None:
    """Return SQLite's code of a failure, without the bits that tell more about it."""
    code: int | None = getattr(failure.orig, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF
