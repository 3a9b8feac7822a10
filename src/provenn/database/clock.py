"""The archive's clock. All users of an archive go by the same clock, regardless of their own machine's clock.

For PostgreSQL this is the server's clock. The users of an SQLite archive share a machine and its clock.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, func, select

__all__ = ["now"]


def now(connection: Connection) -> datetime:
    """Return the current time in UTC, not the transaction's start: the transaction may have waited for others."""
    if connection.dialect.name != "postgresql":
        return datetime.now(UTC)
    moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(UTC)
