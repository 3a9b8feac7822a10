"""Conversion of files that Spark cannot read to Parquet: once, in the archive's data folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any

from provenn.data.conversions import find_conversion, keep_conversion
from provenn.digests import content_digest
from provenn.errors import StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.file_records import encode_files
from provenn.files.file_set import Files
from provenn.files.fits_columns import find_fits_table
from provenn.files.hashing import HashMemory
from provenn.files.listing import File
from provenn.files.suffixes import is_compressed
from provenn.spark.tables.parts import PartFiles

__all__ = ["CONVERTIBLE", "convert_files"]

CONVERTIBLE = ("fits", "votable", "ecsv", "ipac", "mrt")

_VERSION = "converted 5"
"""The version of the conversion. It increases whenever files are read differently, so that old results are not used."""


def convert_files(
    files: Files,
    folder: DataFolder,
    memory: HashMemory | None = None,
    *,
    keys: Mapping[str, str] | None = None,
    write_parts: Callable[[str], None] | None = None,
) -> str:
    """Return the address of Parquet with the rows of files, and make it now if it is missing.

    The Parquet appears at once and complete. If two processes convert the same files, either result is used.

    Parameters
    ----------
    files
        The files.
    folder
        The archive's data folder.
    memory
        A memory of digests of files.
    keys
        If file and place identify a row: the first half of the key for each file, by name.
    write_parts
        Writes rows with their keys as Parquet to an address, for files that Spark can read.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If the files change meanwhile.
    BaseFilesError
        If the files cannot be read.
    StoreError
        If the Parquet cannot be written.
    """
    identity, _ = encode_files(files)
    key = content_digest(_VERSION, {**identity, "content": files.content})
    address = find_conversion(folder, files.digest, key)
    if address is not None:
        return address
    temporary, parts = folder.new_temporary_address(), folder.new_temporary_address()
    try:
        with folder.open_filesystem(folder.relative_path(temporary)) as (filesystem, place):
            if files.format in CONVERTIBLE or write_parts is None:
                _write_tables(files, filesystem, place, keys or {})
            else:
                write_parts(parts)
                _merge_parts(folder, folder.relative_path(parts), filesystem, place)
        files.check(memory)  # the files may have been replaced while they were read
        return keep_conversion(folder, temporary, files.digest, key)
    finally:
        for address in (temporary, parts):
            with suppress(OSError, StoreError):
                folder.remove(folder.relative_path(address))


def _write_tables(files: Files, filesystem: Any, path: str, keys: Mapping[str, str]) -> None:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import
    from pyarrow import parquet  # noqa: PLC0415

    from provenn.files.arrow_types import find_arrow_type  # noqa: PLC0415

    schema = pa.schema([pa.field(column.name, find_arrow_type(column.type)) for column in files.columns])
    with parquet.ParquetWriter(path, schema, filesystem=filesystem, write_page_checksum=True) as writer:
        for file in files.list_own_files():
            start = 0
            for rows in _read_tables(file, files):
                added = {
                    name: _repeat_value(value, len(rows)) for name, value in file.partitions if name in files.partitions
                }
                if files.row_key:
                    places = pa.array(range(start, start + len(rows)), pa.int64())
                    added |= dict(zip(files.row_key, (_repeat_value(keys[file.name], len(rows)), places), strict=True))
                columns = [
                    added[column.name] if column.name in added else rows[column.name] for column in files.columns
                ]
                writer.write_table(pa.table(columns, schema.names).cast(schema))
                start += len(rows)


def _merge_parts(folder: DataFolder, parts: str, filesystem: Any, path: str) -> None:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of Parquet files as a single file, because any store can move a single file."""
    from pyarrow import parquet  # noqa: PLC0415 - see above

    with folder.open_filesystem(parts) as (_, start):
        paths = [f"{start}/{file.name}" for file in folder.files(parts)]
    schema = parquet.read_schema(paths[0], filesystem=filesystem)
    with parquet.ParquetWriter(path, schema, filesystem=filesystem, write_page_checksum=True) as writer:
        for batch in PartFiles(filesystem, paths, schema).read_batches():
            writer.write_batch(batch)


def _repeat_value(value: str | None, number: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - see above

    return pa.repeat(pa.scalar(value, pa.string()), number)


def _read_tables(file: File, files: Files) -> Iterator[Any]:
    """Yield the rows of a file, in batches if the format allows it."""
    options = dict(files.options)
    columns = [column for column in files.own_columns if column.name not in files.partitions]
    match files.format:
        case "ecsv":
            from provenn.spark.tables.ecsv_rows import read_ecsv_batches  # noqa: PLC0415 - see above

            with file.open(decompressed=True) as opened:
                yield from read_ecsv_batches(opened, file.name, options.get("nullvalue", ""))
        case "ipac" | "mrt":
            from provenn.spark.tables.ascii_rows import read_ascii_batches  # noqa: PLC0415 - see above

            with _open_seekable(file) as opened:
                yield from read_ascii_batches(opened, columns, file.name, files.format)
        case "votable":
            from provenn.spark.tables.votable_rows import read_votable_batches  # noqa: PLC0415 - see above

            with _open_seekable(file) as opened:
                yield from read_votable_batches(opened, columns, file.name, options.get("table", "0"), file.size)
        case _:
            from provenn.spark.tables.fits_rows import read_fits_batches  # noqa: PLC0415 - see above

            with _open_seekable(file) as opened:
                table = find_fits_table(opened, file.name, options.get("hdu"), file.size)
                yield from read_fits_batches(opened, table, file.name, file.size)


@contextmanager
def _open_seekable(file: File) -> Iterator[IO[bytes]]:
    """Open a file for random access; a file that is compressed or remote is copied first."""
    if "://" not in file.address and not is_compressed(file.name):
        with Path(file.address).open("rb") as opened:
            yield opened
        return
    with file.open(decompressed=True) as stream, TemporaryFile() as copy:
        copyfileobj(stream, copy, 1 << 22)
        copy.seek(0)
        yield copy
