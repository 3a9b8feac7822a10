"""Finding the snapshot of a table of Delta or Iceberg at a location, whatever the kind of table."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from provenn.errors import BaseFilesError
from provenn.files.lakehouses import ICEBERG_METADATA, detect_table
from provenn.files.listing import File, list_named_files, make_absolute
from provenn.files.snapshots import LoggedRewrites, TableKind, TableSnapshot
from provenn.gate.entrances import entrance
from provenn.hints import Hint

__all__ = ["find_snapshot", "find_table", "list_snapshot_files", "read_rewrites"]

_FORMATS: dict[str, TableKind] = {"delta": "Delta", "iceberg": "Iceberg"}


def find_table(location: str) -> tuple[TableKind, str, str | None] | None:
    """Return the kind and the folder of the table at a location, and the name of its metadata file if that is named.

    None if there is no table of Delta or Iceberg: only the folder of a whole table is one, and the metadata file of an
    Iceberg table, which stands for it.
    """
    from pyarrow import fs  # noqa: PLC0415 - it takes a while to import, and only files need it

    path = "/" + location.removeprefix("file:").lstrip("/") if location.startswith("file:") else location
    if "://" in path:
        return None
    folder, _, name = path.rpartition("/")
    if ICEBERG_METADATA.fullmatch(name) and folder.endswith("/metadata") and Path(path).is_file():
        return "Iceberg", folder.removesuffix("/metadata"), name
    folder = path.rstrip("/")
    if not Path(folder).is_dir():
        return None
    match detect_table(fs.LocalFileSystem(), folder):
        case "Delta":
            return "Delta", folder, None
        case "Iceberg":
            return "Iceberg", folder, None
        case _:
            return None


@entrance("log of a table", "length")
def find_snapshot(
    location: str | PathLike[str],
    format: str | None = None,  # noqa: A002 - Spark's word
    version: int | None = None,
    when: datetime | str | None = None,
) -> TableSnapshot | None:
    """Return the snapshot of the table at a location; None if files there are read without a log.

    Parameters
    ----------
    location
        The folder of a table, or the metadata file of an Iceberg table.
    format
        ``"delta"`` or ``"iceberg"`` to insist on such a table; None finds out; any other format means plain files.
    version, when
        The version, or the time of the version; by default the newest.

    Raises
    ------
    BaseFilesError
        If there is no such table or version, its log cannot be read, or its rows are not simply those of its files.
    """
    place = make_absolute(location)
    table = find_table(place) if format in (None, *_FORMATS) else None
    if format in _FORMATS and (table is None or table[0] != _FORMATS[format]):
        raise BaseFilesError(
            f"there is no table of {_FORMATS[format]} at {place}", hint="name the folder of the whole table, on a disk"
        )
    if version is not None and when is not None:
        raise BaseFilesError(
            "expected either a version or a time, got both",
            hint=Hint("pass version= or when=", command="use --version or --when"),
        )
    if table is None:
        if version is not None or when is not None:
            raise BaseFilesError(
                f"{place} is not a table of Delta or Iceberg, so it has no versions to choose from",
                hint=Hint("omit version= and when=", command="omit --version and --when"),
            )
        return None
    kind, folder, metadata = table
    moment = None if when is None else _read_moment(when)
    if kind == "Delta":
        from provenn.files.delta_tables import read_delta  # noqa: PLC0415 - few files have a log

        return read_delta(folder, version, moment)
    from provenn.files.iceberg_tables import read_iceberg  # noqa: PLC0415 - few files have a log

    return read_iceberg(folder, version, moment, metadata=metadata)


def read_rewrites(snapshot: TableSnapshot, seen: Collection[int] = ()) -> LoggedRewrites:
    """Return the versions up to a snapshot that rewrote files without changing rows, the latest first.

    Parameters
    ----------
    snapshot
        The snapshot.
    seen
        The versions in which the files in question were first seen: only later versions can have rewritten them. For
        Delta, earlier versions are not read; the numbers of Iceberg have no order.
    """
    if snapshot.kind == "Delta":
        from provenn.files.delta_tables import read_delta_rewrites  # noqa: PLC0415 - few files have a log

        return read_delta_rewrites(snapshot, min(seen, default=0))
    from provenn.files.iceberg_tables import read_iceberg_rewrites  # noqa: PLC0415 - few files have a log

    return read_iceberg_rewrites(snapshot, seen)


def list_snapshot_files(snapshot: TableSnapshot, names: Collection[str] | None = None) -> list[File]:
    """Return the data files of a snapshot, or those with some names, if they are as the log states.

    Raises
    ------
    BaseFilesError
        If the version has no files, or a file is missing, has another length, or lies in a folder that contradicts the
        values of its partition columns.
    """
    if not snapshot.files:
        raise BaseFilesError(
            f"version {snapshot.version} of the {snapshot.kind} table {snapshot.folder} has no rows",
            hint=Hint("ingest an earlier version: version=…", command="ingest an earlier version: --version …"),
        )
    stated = {file.name: file for file in snapshot.files if names is None or file.name in names}
    files = list_named_files(snapshot.folder, stated.keys(), snapshot.partitions)
    missing = sorted(stated.keys() - {file.name for file in files})
    if missing:
        raise BaseFilesError(
            f"{missing[0]} is missing from {snapshot.folder}, though the log of the table has it in version "
            f"{snapshot.version}",
            hint="it was removed, for example by VACUUM: ingest a newer version, or restore the file",
        )
    for file in files:
        entry = stated[file.name]
        if file.size != entry.size:
            raise BaseFilesError(
                f"{file.name} in {snapshot.folder} has {file.size:,} bytes, and the log of the table says "
                f"{entry.size:,}",
                hint="the file is damaged: restore it from a backup",
            )
        if "" in dict(file.partitions).values() or dict(file.partitions) != dict(entry.partitions):
            raise BaseFilesError(
                f"the partition values of {file.name} in the log of {snapshot.folder} are not those that Spark reads "
                "from the names of its folders",
                hint="partition the table by a column with plain values, such as numbers and dates",
            )
    return files


def _read_moment(when: datetime | str) -> datetime:
    """Return a time with a zone."""
    try:
        moment = datetime.fromisoformat(when) if isinstance(when, str) else when
    except ValueError:
        moment = None
    if not isinstance(moment, datetime):
        raise BaseFilesError(f"expected a time, got {when!r}", hint="write it as 2026-11-16 or 2026-11-16T18:30")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
