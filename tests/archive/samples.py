"""Small files and archives to test with."""

import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

import provenn
from provenn.archive.context import Context
from provenn.archive.knowledge_cache import KnowledgeCache
from provenn.archive.workshop import Workshop
from provenn.database.transactions import Database

__all__ = ["NAN", "STARS", "archive_on", "dump", "write_parquet"]

NAN = float("nan")

STARS: dict[str, list[Any]] = {
    "hip": [1, 2, 3, 4, 5, 6],
    "vmag": [1.5, 5.9, 6.0, 11.0, None, NAN],
    "plx": [100.0, 20.0, 5.0, 0.0, 1.0, None],
    "dec": [-60.0, 10.0, 0.0, 45.0, -1.0, 80.0],
    "spect": ["A0", "G2V", None, "M5", "K1", "G8"],
}


def write_parquet(
    path: Path, columns: dict[str, list[Any]] | None = None, *, has_statistics: bool = True, **more: list[Any]
) -> Path:
    """Write columns, or the stars with some columns more, to a Parquet file."""
    table = pa.table((STARS if columns is None else columns) | more)
    parquet.write_table(table, path, write_statistics=has_statistics)
    return path


def archive_on(database: Database) -> provenn.Archive:
    """Return an archive on an open database, without a place for data."""
    return provenn.Archive(Context(database, Workshop(database, None, None, None), KnowledgeCache()))


def dump(archive: provenn.Archive) -> list[str]:
    """Return all that an archive's database holds, as SQL; but for its memory of files, which are read in any case."""
    with sqlite3.connect(archive.context.database.place) as connection:
        told = [line for line in connection.iterdump() if "file_hashes" not in line]
    connection.close()
    return told
