"""Snapshots of Iceberg tables: the files of a snapshot, and the snapshots that rewrote files without changing rows.

The library pyiceberg reads metadata and manifests, through a reader that stays in the folder of the table
(`provenn.files.confined_reading`). A table is refused by name if its rows are not simply those of its files: with
delete files, with files of other formats than Parquet, in format 3 and later. Whether the columns of the files are
those of the table is for `provenn.files.snapshot_columns` to check, by the numbers that Iceberg gives to fields.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from provenn.errors import BaseFilesError
from provenn.files.lakehouses import ICEBERG_METADATA
from provenn.files.snapshots import (
    FileRewrite,
    LoggedRewrites,
    SnapshotFile,
    TableSnapshot,
    convert_columns,
    lies_in_folder,
    make_library_error,
    make_log_error,
    make_version_error,
    refuse_feature,
)

if TYPE_CHECKING:
    from provenn.files.confined_reading import TableReader

__all__ = ["collect_field_ids", "read_iceberg", "read_iceberg_rewrites"]

_LONGEST = 64 * 2**20
"""The most bytes of the metadata of a table."""

_COPY_HINT = "write the rows into new files, by a compaction (rewrite_data_files) or to Parquet, and ingest that"


def read_iceberg(
    folder: str, version: int | None = None, when: datetime | None = None, *, metadata: str | None = None
) -> TableSnapshot:
    """Return a snapshot of an Iceberg table: the newest, the one with a number, or the current one at a time.

    Parameters
    ----------
    folder
        The folder of the table.
    version, when
        The number of the snapshot, or the time.
    metadata
        The name of the metadata file, as the catalog of the table knows it. By default the one that
        ``version-hint.text`` names, or the one with the highest number.

    Raises
    ------
    BaseFilesError
        If the metadata are damaged or lead out of the folder, there is no such snapshot, or its rows are not those of
        its files; the error names the reason.
    """
    with _translate_errors(folder):
        table = _read_metadata(folder, metadata or _find_newest_metadata(folder))
        snapshot = _find_snapshot(folder, table, version, when)
        io = _make_reader(folder, table.location)
        files = tuple(_list_data_files(folder, io, snapshot))
        timeless = version is None and when is None
        schema = table.schema() if timeless or snapshot.schema_id is None else table.schema_by_id(snapshot.schema_id)
        return _make_snapshot(folder, snapshot.snapshot_id, files, schema, table)


@contextmanager
def _translate_errors(folder: str) -> Iterator[None]:
    """Raise failures to read the metadata of a table as errors that name its log."""
    try:
        import pyiceberg  # noqa: F401, PLC0415 - an extra, which few need
    except ImportError as error:
        raise make_library_error("Iceberg", folder, "pyiceberg") from error
    try:
        yield
    except BaseFilesError:
        raise
    except Exception as error:  # damage makes the library raise whatever its readers of JSON, Avro and zlib do
        raise make_log_error("Iceberg", folder, f"{type(error).__name__}: {error}") from error


def _make_reader(folder: str, location: str) -> TableReader:
    from provenn.files.confined_reading import TableReader  # noqa: PLC0415 - it imports pyiceberg

    return TableReader(folder, location)


def _find_newest_metadata(folder: str) -> str:
    """Return the name of the newest metadata file of a table."""
    names = [path.name for path in Path(folder, "metadata").iterdir() if ICEBERG_METADATA.fullmatch(path.name)]
    hint = Path(folder, "metadata", "version-hint.text")
    if hint.is_file() and lies_in_folder(str(hint), folder):
        with hint.open(encoding="utf-8") as opened:
            number = opened.read(100).strip()
        hinted = [name for name in names if re.fullmatch(rf"v?{re.escape(number)}(\.gz)?\.metadata\.json(\.gz)?", name)]
        if len(hinted) != 1:
            raise make_log_error("Iceberg", folder, f"version-hint.text names {number!r}, which is not there")
        return hinted[0]
    numbers = {name: int(re.findall(r"\d+", name)[0]) for name in names}
    newest = sorted(name for name, number in numbers.items() if number == max(numbers.values()))
    if len(newest) > 1:
        raise BaseFilesError(
            f"the Iceberg table {folder} has {len(newest)} newest metadata files: {', '.join(newest)}",
            hint="only its catalog knows which of them counts: ingest that metadata file, by its path",
        )
    if not newest:
        raise make_log_error("Iceberg", folder, "there are no metadata files")
    return newest[0]


def _read_metadata(folder: str, name: str) -> Any:  # noqa: ANN401 - pyiceberg is an extra
    """Return the metadata of a table."""
    from pyiceberg.table.metadata import TableMetadataUtil  # noqa: PLC0415

    path = Path(folder, "metadata", name)
    if not lies_in_folder(str(path), folder):
        raise make_log_error("Iceberg", folder, f"metadata/{name} is a link that leads out of the table")
    with gzip.open(path) if ".gz" in name else path.open("rb") as opened:
        text = opened.read(_LONGEST + 1)
    if len(text) > _LONGEST:
        raise make_log_error("Iceberg", folder, f"metadata/{name} is larger than any metadata")
    table = TableMetadataUtil.parse_raw(text.decode("utf-8"))
    if table.format_version > 2:
        raise refuse_feature("Iceberg", folder, f"is in format {table.format_version}, not 1 or 2", _COPY_HINT)
    return table


def _find_snapshot(folder: str, table: Any, version: int | None, when: datetime | None) -> Any:  # noqa: ANN401
    """Return the snapshot with a number, or the one at a time, or the current one."""
    wanted = version if version is not None else table.current_snapshot_id
    if when is not None:
        moment = int(when.timestamp() * 1000)
        past = [entry.snapshot_id for entry in table.snapshot_log if entry.timestamp_ms <= moment]
        wanted = past[-1] if past else None
    snapshot = None if wanted is None else table.snapshot_by_id(wanted)
    if snapshot is None:
        named = str(when) if when is not None else str(version or "with rows")
        raise make_version_error("Iceberg", folder, named, (known.snapshot_id for known in table.snapshots))
    return snapshot


def _list_data_files(folder: str, io: TableReader, snapshot: Any) -> Iterator[SnapshotFile]:  # noqa: ANN401
    """Yield the data files of a snapshot; refuse delete files and formats other than Parquet."""
    from pyiceberg.manifest import DataFileContent, FileFormat  # noqa: PLC0415

    for entry in _read_entries(folder, io, snapshot, discard_deleted=True):
        file = entry.data_file
        name = io.find_name(file.file_path)
        if file.content != DataFileContent.DATA:
            what = str(file.content.name).lower().replace("_", " ")
            raise refuse_feature("Iceberg", folder, f"has delete files ({what}: {name})", _COPY_HINT)
        if file.file_format != FileFormat.PARQUET:
            raise refuse_feature("Iceberg", folder, f"has a file that is not Parquet: {name}", _COPY_HINT)
        yield SnapshotFile(name, file.file_size_in_bytes)


def _read_entries(folder: str, io: TableReader, snapshot: Any, *, discard_deleted: bool) -> Iterator[Any]:  # noqa: ANN401
    """Yield the entries of the manifests of a snapshot; the library's own function keeps manifests of other tables."""
    from pyiceberg.manifest import read_manifest_list  # noqa: PLC0415

    if not snapshot.manifest_list:
        raise make_log_error("Iceberg", folder, f"snapshot {snapshot.snapshot_id} has no manifest list")
    for manifest in read_manifest_list(io.new_input(snapshot.manifest_list)):
        yield from manifest.fetch_manifest_entry(io, discard_deleted=discard_deleted)


def _make_snapshot(
    folder: str,
    number: int,
    files: tuple[SnapshotFile, ...],
    schema: Any,  # noqa: ANN401 - pyiceberg is an extra
    table: Any,  # noqa: ANN401
) -> TableSnapshot:
    from pyiceberg.io.pyarrow import schema_to_pyarrow  # noqa: PLC0415

    arrow = schema_to_pyarrow(schema)
    identities = {
        field.source_id for spec in table.partition_specs for field in spec.fields if str(field.transform) == "identity"
    }
    return TableSnapshot(
        "Iceberg",
        folder,
        number,
        files,
        convert_columns(arrow, f"the Iceberg table {folder}"),
        field_ids=tuple(collect_field_ids(arrow)),
        unread=tuple(field.name for field in schema.fields if field.field_id in identities),
    )


def collect_field_ids(fields: Iterable[Any], above: str = "") -> Iterator[tuple[str, int]]:
    """Yield the path and the number of each field of a schema of Arrow; -1 for a field without a number."""
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    for field in fields:
        path = f"{above}{field.name}"
        yield path, int((field.metadata or {}).get(b"PARQUET:field_id", -1))
        kind = field.type
        if pa.types.is_struct(kind):
            yield from collect_field_ids(list(kind), f"{path}.")
        elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
            yield from collect_field_ids([kind.value_field.with_name("element")], f"{path}.")
        elif pa.types.is_map(kind):
            pair = (kind.key_field.with_name("key"), kind.item_field.with_name("value"))
            yield from collect_field_ids(pair, f"{path}.")


def read_iceberg_rewrites(snapshot: TableSnapshot, seen: Collection[int] = ()) -> LoggedRewrites:
    """Return the snapshots up to a snapshot that rewrote files without changing rows, the latest first.

    These are the snapshots whose operation is ``replace``: by the specification of Iceberg, files were added and
    removed without changing the data of the table. That says so of the rows in files only if no delete files were in
    force before, so the snapshot before must be there, and have none. Expired snapshots are not looked for; they leave
    the answer complete only if the snapshots in `seen`, in which files were first seen, are still there.
    """
    rewrites: list[FileRewrite] = []
    waiting, is_complete = {*seen}, True
    with _translate_errors(snapshot.folder):
        from pyiceberg.table.snapshots import Operation  # noqa: PLC0415

        table = _read_metadata(snapshot.folder, _find_newest_metadata(snapshot.folder))
        io = _make_reader(snapshot.folder, table.location)
        current = table.snapshot_by_id(snapshot.version)
        while current is not None:
            number = current.parent_snapshot_id
            parent = None if number is None else table.snapshot_by_id(number)
            is_replace = current.summary is not None and current.summary.operation == Operation.REPLACE
            if is_replace and parent is not None and _has_data_files_alone(snapshot.folder, io, parent):
                rewrites.extend(_read_rewrite(snapshot.folder, io, current))
            waiting.discard(current.snapshot_id)
            is_complete = number is None or parent is not None or (bool(seen) and not waiting)
            current = parent
    return LoggedRewrites(tuple(rewrites), is_complete)


def _has_data_files_alone(folder: str, io: TableReader, snapshot: Any) -> bool:  # noqa: ANN401
    """Return whether a snapshot has no delete files."""
    from pyiceberg.manifest import DataFileContent  # noqa: PLC0415

    entries = _read_entries(folder, io, snapshot, discard_deleted=True)
    return all(entry.data_file.content == DataFileContent.DATA for entry in entries)


def _read_rewrite(folder: str, io: TableReader, snapshot: Any) -> Iterator[FileRewrite]:  # noqa: ANN401
    """Yield what a snapshot of the operation ``replace`` removed and added; nothing if it touched delete files."""
    from pyiceberg.manifest import DataFileContent, ManifestEntryStatus  # noqa: PLC0415

    names: dict[Any, set[str]] = {ManifestEntryStatus.ADDED: set(), ManifestEntryStatus.DELETED: set()}
    for entry in _read_entries(folder, io, snapshot, discard_deleted=False):
        if entry.snapshot_id != snapshot.snapshot_id or entry.status not in names:
            continue
        if entry.data_file.content != DataFileContent.DATA:
            return
        names[entry.status].add(io.find_name(entry.data_file.file_path))
    removed, added = names[ManifestEntryStatus.DELETED], names[ManifestEntryStatus.ADDED]
    if removed and added:
        yield FileRewrite(snapshot.snapshot_id, frozenset(removed), frozenset(added))
