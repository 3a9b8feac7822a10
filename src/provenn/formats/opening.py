"""Opening an archive's database, in the format of this version."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sqlalchemy.exc import DBAPIError

from provenn.database import fences
from provenn.database.connecting import open_unchecked_database
from provenn.database.database_errors import explain_failure
from provenn.database.transactions import PATIENCE, Database
from provenn.formats.format_versions import bring_up_to_date

__all__ = ["open_database"]


def open_database(
    where: Path | str,
    *,
    create: bool = False,
    read_only: bool = False,
    who: str | None = None,
    confined: bool = False,
    via: str = "python",
    patience: float = PATIENCE,
) -> Database:
    """Open an archive's database, and upgrade a database from an older version.

    Parameters
    ----------
    where
        The file of an SQLite database, or the address of a PostgreSQL database (``postgresql://…``).
    create
        Whether to make the archive if there is none.
    read_only
        Whether to open the database for reading only. This is always so if the file or its folder is not writable.
    who
        The person to record; by default the environment variable PROVENN_USER, or the user that is logged in.
    confined
        Whether to hide everything that this person may not see.
    via
        The interface in use: "python", "cli" or "http".
    patience
        Seconds to wait for another process that writes.

    Raises
    ------
    ArchiveNotFoundError
        If there is no archive at this location.
    ArchiveVersionError
        If a newer version made the archive, or an older version made it and it can only be read.
    ArchiveError
        If the file or database is not an archive, or cannot be reached.
    """
    database = open_unchecked_database(
        where, create=create, read_only=read_only, who=who, confined=confined, via=via, patience=patience
    )
    try:
        bring_up_to_date(database, create=create)
        with database.reading() as reading:
            return replace(database, fence=fences.read_fence(reading.connection)[0])
    except DBAPIError as failure:
        database.close()
        raise explain_failure(failure, database.place) from failure
    except BaseException:
        database.close()
        raise
