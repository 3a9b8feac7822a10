"""What time it is. All who use an archive go by one clock, whatever that of their machine says.

On PostgreSQL that is the server's. Those who use an SQLite archive are on one machine, and go by its clock.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, func, select

__all__ = ["now"]


def now(connection: Connection) -> datetime:
    """Return the moment, in UTC; not that at which the transaction began, which may have waited for others."""
    if connection.dialect.name != "postgresql":
        return datetime.now(UTC)
    moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
    return moment.astimezone(UTC)
