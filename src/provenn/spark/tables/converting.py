"""Files that Spark cannot read, converted to Parquet: once, in the archive's data folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any

from provenn.catalogs.digest import content_digest
from provenn.catalogs.file_listing import File, listed
from provenn.catalogs.files import Files
from provenn.catalogs.fits_columns import fits_table
from provenn.catalogs.hashing import HashMemory
from provenn.errors import StoreError
from provenn.spark.tables.parts import Parts
from provenn.store.folder import CONVERTED, DataFolder

__all__ = ["CONVERTIBLE", "converted"]

CONVERTIBLE = ("fits", "votable", "ecsv", "ipac", "mrt")

_READ = "converted 3"
"""How files are read now. It is counted up when that changes, so that what was read otherwise is not used."""


def converted(
    files: Files,
    folder: DataFolder,
    memory: HashMemory | None = None,
    *,
    keys: Mapping[str, str] | None = None,
    write_parts: Callable[[str], None] | None = None,
) -> str:
    """Return the address of Parquet that holds the rows of files, made now if it is not there.

    It appears at once and complete. Where two processes convert the same files, either result will do.

    Parameters
    ----------
    files
        The files.
    folder
        The archive's data folder.
    memory
        A memory of digests of files.
    keys
        Where a row is known by its file and place: the first half of the key for each file, by name.
    write_parts
        Writes the rows of files that Spark can read as Parquet to an address, keys included.

    Raises
    ------
    FilesMissingError, FilesChangedError
        If the files change meanwhile.
    BaseFilesError
        If the files cannot be read.
    StoreError
        If there is no place for it.
    """
    identity, _ = files.to_json()
    parts = (CONVERTED, files.digest, f"{content_digest(_READ, {**identity, 'content': files.content})}.parquet")
    with folder.reached(*parts) as (filesystem, path):
        if filesystem.get_file_info(path).is_file:
            return folder.at(*parts)
    temporary, written = folder.temporary(), folder.temporary()
    try:
        with folder.reached(folder.below(temporary)) as (filesystem, place):
            if files.format in CONVERTIBLE or write_parts is None:
                _write(files, filesystem, place, keys or {})
            else:
                write_parts(written)
                _merge(folder, folder.below(written), filesystem, place)
            files.check(memory)  # what is kept is of the files that were asked for, not of what replaced them meanwhile
            filesystem.create_dir(path.rpartition("/")[0])
            filesystem.move(place, path)
    finally:
        for address in (temporary, written):
            with suppress(OSError, StoreError):
                folder.remove(folder.below(address))
    return folder.at(*parts)


def _write(files: Files, filesystem: Any, path: str, keys: Mapping[str, str]) -> None:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import
    from pyarrow import parquet  # noqa: PLC0415

    from provenn.spark.tables.arrow_types import arrow_type  # noqa: PLC0415

    schema = pa.schema([pa.field(one.name, arrow_type(one.type)) for one in files.columns])
    with parquet.ParquetWriter(path, schema, filesystem=filesystem) as writer:
        for file in listed(files.location):
            start = 0
            for rows in _tables(file, files):
                given = {
                    name: _repeated(value, len(rows)) for name, value in file.partitions if name in files.partitions
                }
                if files.row_key:
                    places = pa.array(range(start, start + len(rows)), pa.int64())
                    given |= dict(zip(files.row_key, (_repeated(keys[file.name], len(rows)), places), strict=True))
                columns = [given[one.name] if one.name in given else rows[one.name] for one in files.columns]
                writer.write_table(pa.table(columns, schema.names).cast(schema))
                start += len(rows)


def _merge(folder: DataFolder, parts: str, filesystem: Any, path: str) -> None:  # noqa: ANN401 - pyarrow has no types
    """Write the rows of several Parquet files as one, which can be moved to its place in any store."""
    from pyarrow import parquet  # noqa: PLC0415 - see above

    with folder.reached(parts) as (_, start):
        paths = [f"{start}/{one.name}" for one in folder.files(parts)]
    schema = parquet.read_schema(paths[0], filesystem=filesystem)
    with parquet.ParquetWriter(path, schema, filesystem=filesystem) as writer:
        for batch in Parts(filesystem, paths, schema).batches():
            writer.write_batch(batch)


def _repeated(value: str | None, number: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - see above

    return pa.repeat(pa.scalar(value, pa.string()), number)


def _tables(file: File, files: Files) -> Iterator[Any]:
    """Yield the rows of a file, some at a time where the format allows it."""
    options = dict(files.options)
    columns = [one for one in files.own_columns if one.name not in files.partitions]
    match files.format:
        case "ecsv":
            from provenn.spark.tables.ecsv_rows import ecsv_batches  # noqa: PLC0415 - see above

            with file.open(decompressed=True) as opened:
                yield from ecsv_batches(opened, file.name, options.get("nullvalue", ""))
        case "ipac" | "mrt":
            from provenn.spark.tables.ascii_rows import ascii_batches  # noqa: PLC0415 - see above

            with _seekable(file) as opened:
                yield from ascii_batches(opened, columns, file.name, files.format)
        case "votable":
            from provenn.spark.tables.votable_rows import votable_batches  # noqa: PLC0415 - see above

            with _seekable(file) as opened:
                yield from votable_batches(opened, columns, file.name, options.get("table", "0"))
        case _:
            from provenn.spark.tables.fits_rows import fits_batches  # noqa: PLC0415 - see above

            with _seekable(file) as opened:
                table = fits_table(opened, file.name, options.get("hdu"))
                yield from fits_batches(opened, table, file.name)


@contextmanager
def _seekable(file: File) -> Iterator[IO[bytes]]:
    """Open a file for reading here and there; one that is compressed, or far away, is copied."""
    if "://" not in file.address and not file.name.lower().endswith((".gz", ".bz2", ".zst")):
        with Path(file.address).open("rb") as opened:
            yield opened
        return
    with file.open(decompressed=True) as stream, TemporaryFile() as copy:
        copyfileobj(stream, copy, 1 << 22)
        copy.seek(0)
        yield copy
