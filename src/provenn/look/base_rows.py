"""The rows of base catalogs and fragments, read from their Parquet files without Spark; and unique keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from provenn.catalogs.base import Base
from provenn.criteria.types import DATE, INTEGRAL, STRING
from provenn.data.fragments import Fragment
from provenn.data.given_tables import locate_table
from provenn.data.stored_reads import note_fragment, note_table
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import GIVEN
from provenn.files.hashing import HashMemory
from provenn.files.listing import File, choose_files
from provenn.gate.entrances import entrance
from provenn.look.allowance import Allowance
from provenn.look.parquet_rows import ReadColumn, read_parquet_rows
from provenn.look.refusal import NeedsSpark
from provenn.look.row_groups import RegionRows
from provenn.look.suitability import check_base_kind

__all__ = ["BATCH", "check_base_files", "count_unique_keys", "read_base_rows", "read_fragment_rows"]

BATCH = 1 << 17
"""The rows that are read at once."""


@entrance("base catalog read without Spark", "formats")
def read_base_rows(
    base: Base,
    folder: DataFolder | None,
    memory: HashMemory,
    columns: Sequence[ReadColumn],
    allowance: Allowance,
    *,
    chosen: Collection[str] | None = None,
    most: int = BATCH,
    checked: Sequence[File] | None = None,
    region: RegionRows | None = None,
) -> Iterator[pa.Table]:
    """Yield the rows of a base catalog, in tables whose columns are named by identity.

    All files are checked first, also those that are not chosen. The caller verifies the key before, and checks the
    files once more afterwards.

    Parameters
    ----------
    base
        The catalog, with its recorded contents.
    folder
        The folder of tables that were ingested from memory.
    memory
        A memory of digests of files.
    columns
        The columns to read.
    allowance
        What may still be read.
    chosen
        The fingerprints of the files to read; None for all files.
    most
        The most rows of a table.
    checked
        The files to read, of those that `check_base_files` has returned; None to check them here.
    region
        The rows that matter, if only those in a region do.

    Raises
    ------
    NeedsSpark
        If Spark must read the files.
    FilesMissingError, FilesChangedError
        If the files are missing or have changed.
    BaseFilesError
        If the owner has not allowed the format.
    """
    for file in check_base_files(base, folder, memory, chosen) if checked is None else checked:
        allowance.spend_file()
        with file.open() as opened:
            yield from read_parquet_rows(opened, file.name, columns, allowance, most, region=region)


def check_base_files(
    base: Base, folder: DataFolder | None, memory: HashMemory, chosen: Collection[str] | None = None
) -> list[File]:
    """Return the files of a base catalog with some fingerprints, or all, after checking that no file has changed.

    Raises
    ------
    NeedsSpark
        If Spark must read the files.
    FilesMissingError, FilesChangedError
        If the files are missing or have changed.
    BaseFilesError
        If the owner has not allowed the format.
    """
    base.files.check_allowed()
    check_base_kind(base)
    files = base.files
    if files.format == GIVEN:
        if folder is None:
            raise NeedsSpark("the archive has no place for data")
        files = locate_table(folder, files)
        note_table(base)
    prints = files.check(memory)
    names = None if chosen is None else {name for name, text in prints.items() if text in chosen}
    return choose_files(files.list_own_files(), names)


def read_fragment_rows(
    folder: DataFolder, fragment: Fragment, columns: Sequence[ReadColumn], allowance: Allowance, *, most: int = BATCH
) -> Iterator[pa.Table]:
    """Yield the rows of a fragment, in tables whose columns are named by identity.

    Only registered files are read, whose footers the caller has compared. Pages are compared with their checksums.

    Raises
    ------
    NeedsSpark
        If Spark must read the files.
    """
    note_fragment(fragment)
    for file in fragment.files:
        allowance.spend_file()
        with folder.open_input_file(fragment.location, file.name) as opened:
            yield from read_parquet_rows(opened, f"fragment #{fragment.id}", columns, allowance, most)


def count_unique_keys(base: Base, folder: DataFolder | None, memory: HashMemory, allowance: Allowance) -> int:
    """Return the number of rows of a base catalog, after checking that every row has a key of its own.

    Only keys of whole numbers, dates and texts are compared here: they are equal in Spark exactly if they are equal in
    Arrow.

    Raises
    ------
    NeedsSpark
        If Spark must compare the keys, or if a key is NULL or occurs twice: Spark finds examples for the message.
    FilesMissingError, FilesChangedError
        If the files are missing or have changed.
    """
    attributes = base.schema.key
    if any(attribute.type not in (*INTEGRAL, DATE, STRING) for attribute in attributes):
        raise NeedsSpark("the key was not verified yet, and only Spark compares keys of its type")
    columns = [ReadColumn(attribute.name, attribute.identity, attribute.type) for attribute in attributes]
    tables = list(read_base_rows(base, folder, memory, columns, allowance))
    if not tables:
        return 0
    keys = pa.concat_tables(tables)
    if any(column.null_count for column in keys.columns):
        raise NeedsSpark("a key is NULL")
    if not _is_increasing(keys) and keys.group_by(keys.column_names).aggregate([]).num_rows < keys.num_rows:
        raise NeedsSpark("a key occurs twice")
    return int(keys.num_rows)


def _is_increasing(keys: pa.Table) -> bool:
    """Return whether a single key of whole numbers increases from row to row, as it often does."""
    if keys.num_columns > 1 or not pa.types.is_integer(keys.column(0).type):
        return False
    numbers = keys.column(0).combine_chunks()
    return bool(pc.all(pc.less(numbers[:-1], numbers[1:])).as_py())
