"""The database itself, and rows that refer to others which are not there."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import and_, func, select
from sqlalchemy.exc import DBAPIError

from provenn.store.checks import Problem
from provenn.store.database import Reading
from provenn.store.tables import metadata

__all__ = ["dangling", "integrity"]

_MOST = 20


def integrity(reading: Reading) -> Iterator[Problem]:
    """Look at the pages and indices of an SQLite database. PostgreSQL looks after its own."""
    if reading.connection.dialect.name != "sqlite":
        return
    try:
        told = reading.connection.exec_driver_sql(f"PRAGMA integrity_check({_MOST})").scalars().all()
    except DBAPIError as error:
        told = [str(error.orig)]
    yield from (Problem("database", str(one)) for one in told if one != "ok")


def dangling(reading: Reading) -> Iterator[Problem]:
    """Look at everything that refers to something else."""
    for table in metadata.sorted_tables:
        for key in table.foreign_key_constraints:
            pairs = [(one.parent, one.column) for one in key.elements]
            other = key.referred_table.alias()
            query = (
                select(func.count())
                .select_from(table)
                .outerjoin(other, and_(*(here == other.c[there.name] for here, there in pairs)))
                .where(
                    *(here.is_not(None) for here, _ in pairs), *(other.c[there.name].is_(None) for _, there in pairs)
                )
            )
            missing = reading.connection.execute(query).scalar_one()
            if missing:
                column = ", ".join(here.name for here, _ in pairs)
                yield Problem(
                    f"table {table.name}", f"{missing:,} rows have a {column} that is not in {key.referred_table.name}"
                )
