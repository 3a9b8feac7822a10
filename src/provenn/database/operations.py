"""Ids of transactions on a server, for looking up the outcome after a lost connection.

A transaction on PostgreSQL inserts its random id, so the id exists if and only if the transaction was committed.
SQLite needs no ids: no connection can be cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import token_hex

from sqlalchemy import Connection, delete, select, text

from provenn.database.tables import operations
from provenn.errors import ArchiveError

__all__ = [
    "KEPT",
    "CommittedTransaction",
    "ServerTransaction",
    "begin_operation",
    "end_session",
    "find_operation",
    "forget_old_operations",
    "is_committed",
]

KEPT = timedelta(days=30)
"""The time for which the id of a transaction is kept."""

_ID = re.compile(r"[0-9a-f]{32}")
_SELDOM = "00"  # one id in 256 begins with these digits


@dataclass(frozen=True, slots=True)
class ServerTransaction:
    """A transaction on a server.

    Parameters
    ----------
    id
        The id of the transaction.
    process, transaction
        The server process that carries out the transaction, and the transaction's number there.
    """

    id: str
    process: int
    transaction: str


@dataclass(frozen=True, slots=True)
class CommittedTransaction:
    """A committed transaction: the id, the start, the writer, and the interface."""

    id: str
    at: datetime
    who: str
    via: str


_BEGIN = text(
    "INSERT INTO operations (id, at, who, via) VALUES (:id, :at, :who, :via)"
    " RETURNING pg_backend_pid(), pg_current_xact_id()::xid::text"
)
_END_SESSION = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = :process AND backend_xid::text = :transaction"
)


def begin_operation(connection: Connection, at: datetime, who: str, via: str) -> ServerTransaction:
    """Insert the id of a transaction on PostgreSQL, inside the transaction."""
    identifier = token_hex(16)
    if identifier.startswith(_SELDOM):
        forget_old_operations(connection, at)
    row = connection.execute(_BEGIN, {"id": identifier, "at": at, "who": who, "via": via}).one()
    return ServerTransaction(identifier, *row)


def end_session(connection: Connection, operation: ServerTransaction) -> None:
    """End the server process of a transaction with a lost connection, if the transaction still runs."""
    connection.execute(_END_SESSION, {"process": operation.process, "transaction": operation.transaction})


def is_committed(connection: Connection, number: str) -> bool:
    """Tell whether a transaction was committed; the caller holds the lock for writing, so the transaction has ended."""
    return connection.scalar(select(operations.c.id).where(operations.c.id == number)) is not None


def find_operation(connection: Connection, number: str) -> CommittedTransaction | None:
    """Return a committed transaction by id; None if not committed, or older than `KEPT`.

    Raises
    ------
    ArchiveError
        If the text cannot be the id of a transaction.
    """
    if _ID.fullmatch(number) is None:
        raise ArchiveError(
            f"expected the id of an operation, got {number[:100]!r}",
            hint="the error message shows it: 32 hexadecimal digits",
        )
    row = connection.execute(select(operations).where(operations.c.id == number)).one_or_none()
    return None if row is None else CommittedTransaction(*row)


def forget_old_operations(connection: Connection, now: datetime) -> None:
    """Forget the ids of transactions older than `KEPT`."""
    connection.execute(delete(operations).where(operations.c.at < now - KEPT))
