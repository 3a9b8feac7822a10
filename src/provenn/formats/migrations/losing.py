"""Describing the rows that a downgrade to an older format loses."""

from __future__ import annotations

from sqlalchemy import Connection, func, select, table, text

__all__ = ["describe_loss"]


def describe_loss(connection: Connection, name: str, what: str, where: str = "true") -> list[str]:
    """Return a description of the number of lost rows of a table; an empty list if there are none.

    Parameters
    ----------
    connection
        The connection to the archive.
    name
        The name of the table.
    what
        A noun for the content of a row.
    where
        The condition on the lost rows, in SQL.
    """
    count = connection.scalar(select(func.count()).select_from(table(name)).where(text(where)))
    return [f"{count} × {what}"] if count else []
