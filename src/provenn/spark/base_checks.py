"""Whether base catalogs are what they were, tables of Spark's catalog included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from provenn.catalogs.base import Base
from provenn.catalogs.files import TABLE
from provenn.catalogs.hashing import ReadingProgress
from provenn.spark.engine import Engine
from provenn.spark.tables.catalog_tables import check_table, table_contents
from provenn.store.base_files import check_base, read_contents, record_contents, with_recorded
from provenn.store.database import Database
from provenn.store.file_memory import FileMemory
from provenn.store.folder import DataFolder

__all__ = ["check_bases", "known_by_content"]


def check_bases(engine: Engine, database: Database, folder: DataFolder, bases: Iterable[Base]) -> None:
    """Make sure that what base catalogs are read from is what it was.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If it is not.
    """
    for base in bases:
        if base.files.format == TABLE:
            check_table(engine, with_recorded(database, base).files, FileMemory(database))
        else:
            check_base(database, folder, base)


def known_by_content(
    engine: Engine, database: Database, folder: DataFolder, base: Base, progress: ReadingProgress | None = None
) -> Base:
    """Return a base catalog that is known by what it holds; an old one is read now, and its contents are recorded.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If it is not what it was.
    """
    if base.files.format != TABLE:
        return read_contents(database, folder, base, progress)
    known = with_recorded(database, base)
    if known.files.basis != "unverified":
        return known
    read = replace(known, files=table_contents(engine, known.files, FileMemory(database)))
    record_contents(database, read)
    return read
