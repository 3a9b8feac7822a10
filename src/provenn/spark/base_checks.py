"""Checks that the data of base catalogs are unchanged, tables of Spark's catalog included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from provenn.catalogs.base import Base
from provenn.data.changed_files import add_recorded_contents, check_base, read_contents, record_contents
from provenn.data.file_memory import FileMemory
from provenn.database.transactions import Database
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import TABLE
from provenn.files.hashing import ReadingProgress
from provenn.spark.engine import Engine
from provenn.spark.tables.catalog_tables import check_table, read_table_contents

__all__ = ["check_bases", "ensure_contents"]


def check_bases(engine: Engine, database: Database, folder: DataFolder, bases: Iterable[Base]) -> None:
    """Check that the files or tables of base catalogs are unchanged.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If a file or table is missing or has changed.
    """
    for base in bases:
        if base.files.format == TABLE:
            check_table(engine, add_recorded_contents(database, base).files, FileMemory(database))
        else:
            check_base(database, folder, base)


def ensure_contents(
    engine: Engine, database: Database, folder: DataFolder, base: Base, progress: ReadingProgress | None = None
) -> Base:
    """Return a base catalog with recorded contents, by which the catalog is identified.

    If an archive of an older format recorded no contents, the contents are read now, and recorded.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If a file or table is missing or has changed.
    """
    if base.files.format != TABLE:
        return read_contents(database, folder, base, progress)
    recorded = add_recorded_contents(database, base)
    if recorded.files.basis != "unverified":
        return recorded
    updated = replace(recorded, files=read_table_contents(engine, recorded.files, FileMemory(database)))
    record_contents(database, updated)
    return updated
