"""What going back to an older format loses."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, table, text

__all__ = ["lost"]


def lost(connection: Connection, name: str, what: str, where: str = "true") -> list[str]:
    """Return how many rows of a table are lost, in words; nothing if there are none.

    Parameters
    ----------
    connection
        To the archive.
    name
        The table.
    what
        What one row is.
    where
        Which rows, in SQL.
    """
    count = connection.scalar(select(func.count()).select_from(table(name)).where(text(where)))
    return [f"{count} × {what}"] if count else []
