"""Whether the files of base catalogs are what they were: the one place that decides, for everything that needs them.

What only Spark can see, tables of its catalog, is looked at by `provenn.spark.base_checks`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import select

from provenn.catalogs.base import Base
from provenn.catalogs.file_listing import listed
from provenn.catalogs.files import GIVEN, TABLE, Files
from provenn.catalogs.hashing import ReadingProgress
from provenn.errors import ProvennError
from provenn.store import bases
from provenn.store.database import Database
from provenn.store.file_memory import FileMemory
from provenn.store.folder import DataFolder
from provenn.store.given import kept
from provenn.store.tables import catalogs

__all__ = ["check_base", "read_contents", "record_contents", "with_recorded"]

_CLOCKS = timedelta(minutes=1)
"""How far the clocks of the database and of the disks may be apart."""


def check_base(
    database: Database,
    folder: DataFolder | None,
    base: Base,
    *,
    deep: bool = False,
    progress: ReadingProgress | None = None,
) -> None:
    """Make sure that the files of a base catalog are what they were; of a table of Spark's catalog, nothing is done.

    Parameters
    ----------
    database, folder
        The archive, and where it keeps tables that were ingested from memory.
    base
        The catalog.
    deep
        Whether to read every byte. Otherwise a file is read only if the file system cannot show that it is unchanged.
    progress
        Is told while files are read.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If they are not what they were.
    """
    files = _lying(folder, with_recorded(database, base).files)
    if files is not None:
        files.check(FileMemory(database, reread=deep), progress)


def read_contents(
    database: Database, folder: DataFolder | None, base: Base, progress: ReadingProgress | None = None
) -> Base:
    """Return a base catalog whose files are known by all their bytes, as far as they are files.

    Those of one that an archive of format 0005 or older made are read now, and their contents are recorded.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If they are not what they were, as far as the old fingerprints tell.
    """
    known = with_recorded(database, base)
    files = _lying(folder, known.files)
    if files is None or files.basis != "unverified":
        return known
    found = files.with_contents(FileMemory(database), progress)
    late = _may_have_changed(files, _created(database, base))
    read = replace(known, files=replace(known.files, contents=found.contents, was_late=late))
    record_contents(database, read)
    return read


def record_contents(database: Database, base: Base) -> None:
    """Record the contents of the files of an old base catalog, if the archive holds it and can be written."""
    if database.read_only:
        _READ[database.place, base.digest] = base
        return
    with database.writing() as writing:
        bases.record_contents(writing, base)


_READ: dict[tuple[str, str], Base] = {}
"""What was read of old base catalogs in archives that can only be read, for as long as this process lives."""


def with_recorded(database: Database, base: Base) -> Base:
    """Return a base catalog with the contents of its files that were recorded since it was restored."""
    if not base.files.is_old or base.files.contents:
        return base
    if database.read_only and (database.place, base.digest) in _READ:
        known = _READ[database.place, base.digest].files
        return replace(base, files=replace(base.files, contents=known.contents, was_late=known.was_late))
    with database.reading() as reading:
        return bases.recorded(reading, base)


def _lying(folder: DataFolder | None, files: Files) -> Files | None:
    """Return files where they can be looked at; None for what only Spark can see, or where no place is known."""
    if files.format == TABLE:
        return None
    if files.format == GIVEN:
        return None if folder is None else kept(folder, files)
    return files


def _created(database: Database, base: Base) -> datetime | None:
    query = select(catalogs.c.created_at).where(catalogs.c.digest == base.digest)
    with database.reading() as reading:
        return reading.connection.scalar(query)


def _may_have_changed(files: Files, ingested: datetime | None) -> bool:
    """Tell whether files may have changed since they were ingested.

    The system sets the time at which a file was last changed, and no program can put it back. So a file that was last
    changed before it was ingested holds what it held then.
    """
    if ingested is None:
        return True
    limit = (ingested - _CLOCKS).timestamp()
    try:
        paths = [file.local_path for file in listed(files.location)]
        times = [os.stat(path) for path in paths if path is not None]  # noqa: PTH116 - there may be many
    except (OSError, ProvennError):
        return True
    return len(times) < len(paths) or any(max(one.st_mtime, one.st_ctime) >= limit for one in times)
