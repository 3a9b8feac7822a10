"""Tables ingested from memory as base catalogs: stored in the data folder, named by content.

The folder ``given/DIGEST`` holds ``table.parquet``, whose BLAKE3 is part of the base catalog, and ``_seal``, the
SHA-256 of the footer. Before a table is read, the footer is compared with the seal; while the table is read, pages are
compared with checksums. If the seal is missing or differs, all bytes are read and compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from hashlib import sha256
from typing import Any

from provenn.data import pins
from provenn.data.parquet_contents import digest_footer
from provenn.database.transactions import Database
from provenn.digests import content_digest, is_digest
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.file_set import GIVEN, Files
from provenn.files.fingerprints import make_fingerprints, make_old_fingerprint
from provenn.files.listing import list_files
from provenn.files.parquet_columns import read_footer_metadata, select_layout_metadata
from provenn.files.table_metadata import encode_metadata

__all__ = ["check_table", "find_table_damage", "keep_table", "locate_table"]

_FILE, _SEAL = "table.parquet", "_seal"
_ROWS = 1 << 20
_CONTENT = "provenn.content"
"""The key in the footer with the hash of all pages, so that the footer alone distinguishes tables."""


@contextmanager
def keep_table(database: Database, folder: DataFolder, table: Any) -> Iterator[Files]:  # noqa: ANN401 - pyarrow has no types
    """Write an Arrow table into the data folder, and yield the files of a base catalog.

    The same table is always the same file. While the body runs, the file is pinned, because nothing refers to it yet.

    Raises
    ------
    StoreError
        If the table cannot be written. Then nothing is left.
    BaseFilesError
        If Parquet cannot hold the table.
    """
    temporary = folder.new_temporary_address()
    metadata = encode_metadata(read_footer_metadata(table.schema.metadata, "the table"))
    try:
        with folder.open_filesystem(folder.relative_path(temporary)) as (filesystem, path):
            _write_table(table.replace_schema_metadata(select_layout_metadata(table.schema.metadata)), filesystem, path)
        written = Files.at(_arrow_address(temporary), format="parquet")
        place = f"{GIVEN}/{written.digest}"
        with pins.hold_places(database, place):
            _publish_table(folder, temporary, written)
            given_fingerprints = tuple((_FILE, digest) for _, digest in written.fingerprints)
            short_location = f"{GIVEN}/{written.digest[:12]}"  # for people: the digest says where the file lies
            yield replace(
                written, format=GIVEN, location=short_location, fingerprints=given_fingerprints, metadata=metadata
            )
    finally:
        with suppress(StoreError):
            folder.remove(folder.relative_path(temporary))


def locate_table(folder: DataFolder, files: Files) -> Files:
    """Return the Parquet file of a given table, after comparing the footer with the seal.

    Raises
    ------
    FilesMissingError
        If the file does not exist.
    FilesChangedError
        If the file is damaged.
    BaseFilesError
        If the recorded digest is not valid, so that no file can exist.
    """
    # The digest may come from another archive, and becomes part of a path.
    if not is_digest(files.digest):
        raise BaseFilesError(f"there is no table {files.digest}")
    if not _exists(folder, files.digest):
        raise FilesMissingError(
            f"the table {files.location} is not in {folder.location}",
            hint="it was ingested from memory: ingest it again, or restore it from a backup",
        )
    stored = replace(files, format="parquet", location=_arrow_address(folder.at(GIVEN, files.digest, _FILE)))
    if not files.is_old:  # the fingerprint of an old table is the digest of its footer
        _check_seal(folder, stored)
    return stored


def check_table(folder: DataFolder, files: Files) -> None:
    """Read all bytes of a given table, and raise an error if they differ from the ingested bytes.

    Raises
    ------
    FilesMissingError
        If the file does not exist.
    FilesChangedError
        If the file is damaged.
    """
    stored = locate_table(folder, files)
    try:
        stored.check()
        if files.is_old:
            _check_content(folder, stored.digest)
    except FilesChangedError as error:
        raise _damage_error(folder, stored.digest) from error


def find_table_damage(folder: DataFolder, digest: str) -> str:
    """Read all bytes of a given table; return the problem, or "".

    The digest implies the kind of the fingerprint, so that nothing else about the table is needed.
    """
    if not _exists(folder, digest):
        return "it is missing"
    files = list_files(_arrow_address(folder.at(GIVEN, digest, _FILE)))
    try:
        for trust in (None, "content"):
            if _files_digest(make_fingerprints(files, "parquet", trust)[files[0].name]) == digest:
                return ""
        if _files_digest(make_old_fingerprint(files[0], "parquet")) == digest:
            _check_content(folder, digest)
            return ""
    except BaseFilesError as error:
        return error.message
    return "its bytes differ from the bytes that were ingested"


def _files_digest(fingerprint: str) -> str:
    """Return the digest of base files from the fingerprint of the only file."""
    return content_digest("files", [fingerprint])


_SEALS: dict[str, str] = {}
"""The footers of tables that this process read completely, by address: not every archive can store a seal."""


def _check_seal(folder: DataFolder, stored: Files) -> None:
    """Raise an error if the footer of a table differs from the written footer."""
    footer = _read_footer(folder, stored.digest)
    if footer in (_SEALS.get(stored.location), _read_seal(folder, stored.digest)):
        return
    try:
        stored.check()
    except FilesChangedError as error:
        raise _damage_error(folder, stored.digest) from error
    _SEALS[stored.location] = footer
    with suppress(StoreError):
        _write_seal(folder, stored.digest, footer)


def _damage_error(folder: DataFolder, digest: str) -> FilesChangedError:
    """Return the error for a damaged table."""
    return FilesChangedError(
        f"the table {GIVEN}/{digest[:12]} in {folder.location} is damaged: its bytes differ from the bytes that "
        "were ingested",
        hint="no other copy is known: restore it from a backup, or ingest the same table again",
    )


def _read_footer(folder: DataFolder, digest: str) -> str:
    """Return the digest of the footer of a table."""
    with folder.open_input_file(GIVEN, digest, _FILE) as opened:
        return digest_footer(opened, opened.size())


def _read_seal(folder: DataFolder, digest: str) -> str:
    """Return the seal of a table, or ""."""
    with folder.open_filesystem(GIVEN, digest, _SEAL) as (filesystem, path):
        if not filesystem.get_file_info(path).is_file:
            return ""
        with filesystem.open_input_stream(path) as stream:
            return bytes(stream.read()).decode("ascii", "replace")


def _write_seal(folder: DataFolder, digest: str, footer: str) -> None:
    """Write the seal of a table, replacing an earlier one."""
    temporary = folder.new_temporary_address()
    try:
        with (
            folder.open_filesystem(folder.relative_path(temporary)) as (filesystem, path),
            filesystem.open_output_stream(path) as stream,
        ):
            stream.write(footer.encode())
        folder.remove(GIVEN, digest, _SEAL)
        folder.publish_unless_there(
            temporary, GIVEN, digest, _SEAL
        )  # a seal that differs only costs a look at all bytes
    finally:
        with suppress(StoreError):
            folder.remove(folder.relative_path(temporary))


def _check_content(folder: DataFolder, digest: str) -> None:
    """Compare the pages of a table from an old archive with the hash of all pages in the footer."""
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - importing takes a while

    with folder.open_input_file(GIVEN, digest, _FILE) as opened:
        metadata = ParquetFile(opened).metadata
        recorded = (metadata.metadata or {}).get(_CONTENT.encode())
        if recorded is None:
            return
        groups = [metadata.row_group(place) for place in range(metadata.num_row_groups)]
        chunks = [group.column(place) for group in groups for place in range(group.num_columns)]
        starts = (
            (chunk.dictionary_page_offset or chunk.data_page_offset, chunk.total_compressed_size) for chunk in chunks
        )
        end = max((start + size for start, size in starts), default=4)
        opened.seek(0)
        pages = sha256()
        while end and (block := opened.read(min(end, 1 << 22))):
            pages.update(block)
            end -= len(block)
    if pages.hexdigest().encode() != recorded:
        raise _damage_error(folder, digest)


def _exists(folder: DataFolder, digest: str) -> bool:
    """Whether the file of a table exists."""
    with folder.open_filesystem(GIVEN, digest, _FILE) as (filesystem, path):
        return bool(filesystem.get_file_info(path).is_file)


def _arrow_address(address: str) -> str:
    """Return an address as pyarrow writes it."""
    return address.replace("s3a://", "s3://", 1)


def _publish_table(folder: DataFolder, temporary: str, files: Files) -> None:
    """Move a table to the final address, unless the same table lies there; replace a damaged table."""
    if _exists(folder, files.digest):
        try:
            check_table(folder, files)
        except FilesChangedError:
            folder.remove(GIVEN, files.digest, _FILE)
        else:
            return
    if not folder.publish_unless_there(temporary, GIVEN, files.digest, _FILE):
        check_table(folder, files)
        return
    _write_seal(folder, files.digest, _read_footer(folder, files.digest))


def _write_table(table: Any, filesystem: Any, path: str) -> None:  # noqa: ANN401 - pyarrow has no types
    """Write a table as Parquet, with the hash of all pages in the footer."""
    import pyarrow as pa  # noqa: PLC0415 - importing takes a while
    from pyarrow import parquet  # noqa: PLC0415

    with filesystem.open_output_stream(path) as stream:
        stream_with_digest = _HashedStream(stream)
        try:
            with parquet.ParquetWriter(
                pa.PythonFile(stream_with_digest, "w"), table.schema, write_page_checksum=True
            ) as writer:
                writer.write_table(table, row_group_size=_ROWS)
                writer.add_key_value_metadata({_CONTENT: stream_with_digest.digest.hexdigest()})
        except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as error:
            raise BaseFilesError(f"Parquet cannot hold the table: {error}") from error


class _HashedStream:
    """An output stream with a running hash of all written bytes."""

    closed = False

    def __init__(self, stream: Any) -> None:  # noqa: ANN401 - pyarrow has no types
        self._stream = stream
        self.digest = sha256()

    def write(self, data: Any) -> None:  # noqa: ANN401 - a bytes-like object
        """Write and hash bytes."""
        self._stream.write(data)
        self.digest.update(data)

    def flush(self) -> None:
        """Write buffered bytes."""
        self._stream.flush()

    def close(self) -> None:
        """Do nothing: the caller of this class closes the stream."""
