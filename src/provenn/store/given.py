"""Tables that were in somebody's memory and became base catalogs: kept in the data folder, by what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any

from provenn.catalogs.files import GIVEN, Files
from provenn.catalogs.parquet_columns import footer_metadata, layout_metadata
from provenn.catalogs.table_metadata import encoded
from provenn.errors import BaseFilesError, FilesMissingError, StoreError
from provenn.store import pins
from provenn.store.database import Database
from provenn.store.folder import DataFolder

__all__ = ["keeping", "kept"]

_FILE = "table.parquet"
_ROWS = 1 << 20
_CONTENT = "provenn.content"
"""Where in the footer the hash of all pages stands, so that the footer alone tells one table from another."""


@contextmanager
def keeping(database: Database, folder: DataFolder, table: Any) -> Iterator[Files]:  # noqa: ANN401 - pyarrow has no types
    """Write a table of Arrow into the data folder; the same table again is the same file. Give what it is as files.

    While the body runs, it is not deleted although nothing refers to it yet.

    Raises
    ------
    StoreError
        If it cannot be written. Then nothing is left.
    BaseFilesError
        If Parquet cannot hold it.
    """
    temporary = folder.temporary()
    metadata = encoded(footer_metadata(table.schema.metadata, "the table"))
    try:
        with folder.reached(folder.below(temporary)) as (filesystem, path):
            _write(table.replace_schema_metadata(layout_metadata(table.schema.metadata)), filesystem, path)
        found = Files.at(_for_arrow(temporary), format="parquet")
        place = f"{GIVEN}/{found.digest}"
        with pins.holding(database, place):
            if not _is_there(folder, found.digest):
                _publish(folder, temporary, found.digest)
            prints = tuple((_FILE, digest) for _, digest in found.fingerprints)
            called = f"{GIVEN}/{found.digest[:12]}"  # for people: its digest tells where it lies
            yield replace(found, format=GIVEN, location=called, fingerprints=prints, metadata=metadata)
    finally:
        with suppress(StoreError):
            folder.remove(folder.below(temporary))


def kept(folder: DataFolder, files: Files) -> Files:
    """Return the Parquet file in which a table lies that was given.

    Raises
    ------
    FilesMissingError
        If it is not there.
    BaseFilesError
        If there can be none.
    """
    if re.fullmatch("[0-9a-f]{64}", files.digest) is None:  # it came with an archive, and becomes part of a path
        raise BaseFilesError(f"there is no table {files.digest}")
    if not _is_there(folder, files.digest):
        raise FilesMissingError(
            f"the table {files.location} is not in {folder.location}",
            hint="it was ingested from memory: ingest it again, or bring it back from a backup",
        )
    return replace(files, format="parquet", location=_for_arrow(folder.at(GIVEN, files.digest, _FILE)))


def _is_there(folder: DataFolder, digest: str) -> bool:
    with folder.reached(GIVEN, digest, _FILE) as (filesystem, path):
        return bool(filesystem.get_file_info(path).is_file)


def _for_arrow(address: str) -> str:
    return address.replace("s3a://", "s3://", 1)


def _publish(folder: DataFolder, temporary: str, digest: str) -> None:
    if folder.publish(temporary, GIVEN, digest, _FILE) == temporary:  # a store in which folders cannot be renamed
        with (
            folder.reached(folder.below(temporary)) as (filesystem, before),
            folder.reached(GIVEN, digest, _FILE) as (_, after),
        ):
            filesystem.move(before, after)


def _write(table: Any, filesystem: Any, path: str) -> None:  # noqa: ANN401 - pyarrow has no types
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import
    from pyarrow import parquet  # noqa: PLC0415

    with filesystem.open_output_stream(path) as stream:
        hashed = _Hashed(stream)
        try:
            with parquet.ParquetWriter(pa.PythonFile(hashed, "w"), table.schema, write_page_checksum=True) as writer:
                writer.write_table(table, row_group_size=_ROWS)
                writer.add_key_value_metadata({_CONTENT: hashed.digest.hexdigest()})
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
            raise BaseFilesError(f"Parquet cannot hold the table: {error}") from error


class _Hashed:
    """A file that is written, and hashed on the way."""

    closed = False

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        self._stream = stream
        self.digest = sha256()

    def write(self, data: Any) -> None:  # noqa: ANN401 - bytes of some kind
        """Write and hash."""
        self._stream.write(data)
        self.digest.update(data)

    def flush(self) -> None:
        """Write what waits."""
        self._stream.flush()

    def close(self) -> None:
        """Leave closing to who opened it."""
