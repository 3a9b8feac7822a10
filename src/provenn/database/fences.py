"""Fences: a process reads and writes only the archive and format of its opening.

Another process may upgrade an archive, or replace it by a backup, while this process has it open. So each transaction
compares the format and the epoch with the values at opening. An epoch is a random text that each archive gets when it
is made, and that no copy has.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError, ProgrammingError

from provenn.database.tables import VERSION_TABLE, settings
from provenn.errors import ArchiveChangedError

__all__ = ["EPOCH", "Fence", "check_fence", "make_changed_error", "read_fence"]

EPOCH = "epoch"
"""The key of the setting that distinguishes archives."""

_STATE = f"SELECT version_num, (SELECT value FROM {settings.name} WHERE key = '{EPOCH}')"  # noqa: S608 - constants
_QUERIES = {
    "sqlite": f"{_STATE}, NULL, NULL FROM {VERSION_TABLE}",
    # A restored table has another oid, even if all its rows are the same as before.
    "postgresql": f"{_STATE}, '{VERSION_TABLE}'::regclass::oid::text, clock_timestamp() FROM {VERSION_TABLE}",
}


@dataclass(frozen=True, slots=True)
class Fence:
    """The identity and format of an archive.

    Parameters
    ----------
    version
        The format.
    epoch
        A text that distinguishes this archive from others, including its own copies.
    """

    version: str | None
    epoch: str


def read_fence(connection: Connection) -> tuple[Fence, datetime]:
    """Return the fence of a transaction's archive, and the current time by the archive's clock.

    Raises
    ------
    DBAPIError
        If there is no archive, or its format has no epoch.
    """
    row = connection.exec_driver_sql(_QUERIES[connection.dialect.name]).first()
    version, *epoch, now = row or (None, None, None, None)
    moment = datetime.now(UTC) if now is None else now.astimezone(UTC)
    return Fence(version, " ".join(part for part in epoch if part)), moment


def check_fence(connection: Connection, fence: Fence, place: str) -> datetime:
    """Check a transaction's archive against the fence; return the current time by the archive's clock.

    Raises
    ------
    ArchiveChangedError
        If the archive was upgraded, downgraded or replaced.
    """
    try:
        present, now = read_fence(connection)
    except ProgrammingError as missing:  # PostgreSQL: a table that every known format has is gone
        raise make_changed_error(place, "replaced") from missing
    except OperationalError as missing:
        # For SQLite a missing table is an error like any other in a statement (SQLITE_ERROR): only the text differs.
        if "no such table" not in str(missing.orig):
            raise
        raise make_changed_error(place, "replaced") from missing
    if present != fence:
        raise make_changed_error(
            place, "replaced" if present.version == fence.version else f"brought to format {present.version}"
        )
    return now


def make_changed_error(place: str, what: str) -> ArchiveChangedError:
    """Return the error about a change of an archive since its opening."""
    return ArchiveChangedError(
        f"the archive {place} was {what} since it was opened, so it is neither read nor written",
        hint="open it again, or restart this program",
    )
