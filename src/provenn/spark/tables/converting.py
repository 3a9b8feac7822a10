"""Files that Spark cannot read, converted to Parquet: once, in the archive's data folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import IO, Any

from provenn.catalogs.digest import content_digest
from provenn.catalogs.file_listing import File, listed
from provenn.catalogs.files import Files
from provenn.catalogs.fits_columns import fits_table
from provenn.store.folder import CONVERTED, DataFolder

__all__ = ["CONVERTIBLE", "converted"]

CONVERTIBLE = ("fits", "votable", "ecsv", "ipac", "mrt")

_READ = "converted 2"
"""How files are read now. It is counted up when that changes, so that what was read otherwise is not used."""


def converted(files: Files, folder: DataFolder) -> str:
    """Return the address of Parquet that holds the rows of files, made now if it is not there.

    It appears at once and complete. Where two processes convert the same files, either result will do.

    Raises
    ------
    BaseFilesError
        If the files cannot be read.
    StoreError
        If there is no place for it.
    """
    identity, _ = files.to_json()
    parts = (CONVERTED, files.digest, f"{content_digest(_READ, identity)}.parquet")
    with folder.reached(*parts) as (filesystem, path):
        if filesystem.get_file_info(path).is_file:
            return folder.at(*parts)
    temporary = folder.temporary()
    try:
        with folder.reached(folder.below(temporary)) as (filesystem, place):
            _write(files, filesystem, place)
            filesystem.create_dir(path.rpartition("/")[0])
            filesystem.move(place, path)
    except BaseException:
        with suppress(OSError):
            folder.remove(folder.below(temporary))
        raise
    return folder.at(*parts)


def _write(files: Files, filesystem: Any, path: str) -> None:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import
    from pyarrow import parquet  # noqa: PLC0415

    from provenn.spark.tables.arrow_types import arrow_type  # noqa: PLC0415

    schema = pa.schema([pa.field(one.name, arrow_type(one.type)) for one in files.columns])
    with parquet.ParquetWriter(path, schema, filesystem=filesystem) as writer:
        for file in listed(files.location):
            for rows in _tables(file, files):
                given = {
                    name: _repeated(value, len(rows)) for name, value in file.partitions if name in files.partitions
                }
                columns = [given[one.name] if one.name in given else rows[one.name] for one in files.columns]
                writer.write_table(pa.table(columns, schema.names).cast(schema))


def _repeated(value: str | None, number: int) -> Any:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - see above

    return pa.repeat(pa.scalar(value, pa.string()), number)


def _tables(file: File, files: Files) -> Iterator[Any]:
    """Yield the rows of a file, some at a time where the format allows it."""
    options = dict(files.options)
    columns = [one for one in files.columns if one.name not in files.partitions]
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
