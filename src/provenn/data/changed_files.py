"""Checks of the files of base catalogs for changes: the only module with this decision.

Tables of Spark's catalog, readable only by Spark, are checked by `provenn.spark.base_checks`.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import datetime, timedelta

from sqlalchemy import select

from provenn.catalogs.base import Base
from provenn.data.file_memory import FileMemory
from provenn.data.given_tables import check_table, locate_table
from provenn.database.tables import catalogs
from provenn.database.transactions import Database, Writing
from provenn.definitions import base_locations
from provenn.errors import ProvennError
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import GIVEN, TABLE, Files
from provenn.files.hashing import ReadingProgress

__all__ = ["add_recorded_contents", "check_base", "read_contents", "record_contents"]

_CLOCKS = timedelta(minutes=1)
"""The most that the clocks of the database and of the disks may differ."""


def check_base(
    database: Database,
    folder: DataFolder | None,
    base: Base,
    *,
    deep: bool = False,
    progress: ReadingProgress | None = None,
) -> None:
    """Raise an error if the files of a base catalog changed; do nothing for a table of Spark's catalog.

    Parameters
    ----------
    database, folder
        The archive, and the data folder with the tables ingested from memory.
    base
        The catalog.
    deep
        Whether to read every byte. Otherwise a file is read only if the file system cannot show that it is unchanged.
    progress
        Called while files are read.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If the files are missing or changed.
    """
    known_files = add_recorded_contents(database, base).files
    files = _locate_files(folder, known_files)
    if files is None:
        return
    if known_files.format == GIVEN and deep and folder is not None:
        check_table(folder, known_files)
        return
    files.check(FileMemory(database, reread=deep), progress)


def read_contents(
    database: Database, folder: DataFolder | None, base: Base, progress: ReadingProgress | None = None
) -> Base:
    """Return a base catalog identified by all bytes of the files, if the catalog consists of files.

    The files of a base catalog from an archive of format 0005 or older are read now, and the contents are recorded.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If the files are missing, or differ from the old fingerprints.
    """
    recorded = add_recorded_contents(database, base)
    files = _locate_files(folder, recorded.files)
    if files is None or files.basis != "unverified":
        return recorded
    if recorded.files.format == GIVEN and folder is not None:
        check_table(folder, recorded.files)  # so the contents recorded now are the ingested ones
    files_with_contents = files.with_contents(FileMemory(database), progress)
    is_late = _may_have_changed(files, _find_creation(database, base))
    base_with_contents = replace(
        recorded, files=replace(recorded.files, contents=files_with_contents.contents, was_late=is_late)
    )
    record_contents(database, base_with_contents)
    return base_with_contents


def record_contents(database: Database, base: Base) -> None:
    """Record the contents of an old base catalog's files, if the archive holds the catalog and is not busy."""

    def record(writing: Writing) -> bool:
        base_locations.record_contents(writing, base)
        return True

    if not database.note(record):
        _READ[database.place, base.digest] = base


_READ: dict[tuple[str, str], Base] = {}
"""Old base catalogs whose contents were read but could not be recorded, kept while this process lives."""


def add_recorded_contents(database: Database, base: Base) -> Base:
    """Return a base catalog with the file contents recorded since the catalog was restored."""
    if not base.files.is_old or base.files.contents:
        return base
    with database.reading() as reading:
        recorded_base = base_locations.restore_recorded_contents(reading, base)
    if not recorded_base.files.contents and (database.place, base.digest) in _READ:
        files = _READ[database.place, base.digest].files
        return replace(base, files=replace(base.files, contents=files.contents, was_late=files.was_late))
    return recorded_base


def _locate_files(folder: DataFolder | None, files: Files) -> Files | None:
    """Return files at a readable address; None for Spark tables, or if no data folder is known."""
    if files.format == TABLE:
        return None
    if files.format == GIVEN:
        return None if folder is None else locate_table(folder, files)
    return files


def _find_creation(database: Database, base: Base) -> datetime | None:
    """Return when a base catalog was created, if the archive holds it."""
    query = select(catalogs.c.created_at).where(catalogs.c.digest == base.digest)
    with database.reading() as reading:
        return reading.connection.scalar(query)


def _may_have_changed(files: Files, ingested: datetime | None) -> bool:
    """Whether files may have changed since ingestion.

    The system sets the time of a file's last change, and no program can put the time back. So a file last changed
    before ingestion still has the ingested content.
    """
    if ingested is None:
        return True
    limit = (ingested - _CLOCKS).timestamp()
    try:
        paths = [file.local_path for file in files.list_own_files()]
        states = [os.stat(path) for path in paths if path is not None]  # noqa: PTH116 - there may be many
    except (OSError, ProvennError):
        return True
    return len(states) < len(paths) or any(max(state.st_mtime, state.st_ctime) >= limit for state in states)
