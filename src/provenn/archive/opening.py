"""Opening an archive, or making one."""

from __future__ import annotations

from pathlib import Path

from provenn.archive.archive import Archive
from provenn.store.database import open_database

__all__ = ["DATABASE", "open_archive"]

DATABASE = "provenn.sqlite"
"""The file in the folder of an archive that holds all its metadata."""


def open_archive(
    path: str | Path | None = None,
    *,
    database: str | Path | None = None,
    create: bool = True,
    who: str | None = None,
) -> Archive:
    """Open an archive, or make a new one.

    Parameters
    ----------
    path
        A folder, which holds all of it; by default the current one.
    database
        Instead: the address of a database (``postgresql://…``), or the file of one.
    create
        Whether to make an archive if there is none.
    who
        The person recorded with what is written; by default PROVENN_USER of the environment, or who is logged in.

    Raises
    ------
    ArchiveError
        If there is no archive and none is to be made, a newer version made it, or what is there is something else.
    """
    where = database if database is not None else Path(path if path is not None else ".") / DATABASE
    return Archive(open_database(where, create=create, who=who))
