"""The manifest of a backup: a list of files and digests, in the file ``_backup.json`` of the data folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from provenn.data.parquet_contents import digest_bytes
from provenn.digests import canonical_json, content_digest
from provenn.durable import make_folders, write_durably
from provenn.errors import StoreError
from provenn.files.data_folder import DataFolder
from provenn.transfer.verified_copies import CopiedFile

__all__ = ["MANIFEST", "Manifest", "find_file_damage", "read_manifest", "write_manifest"]

MANIFEST = "_backup.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a backup at the time of making.

    Parameters
    ----------
    made_at
        The time of the backup, in ISO 8601.
    catalogs, rows
        The number of catalogs, and of rows in all tables of the database.
    files
        The size and the SHA-256 of each file, by its place below the data folder.
    left_out
        Descriptions of the data that the archive has and the backup lacks.
    """

    made_at: str
    catalogs: int
    rows: int
    files: Mapping[str, tuple[int, str]]
    left_out: tuple[str, ...] = ()


def write_manifest(
    folder: DataFolder,
    copies: Iterable[CopiedFile],
    *,
    made_at: datetime,
    catalogs: int,
    rows: int,
    left_out: Iterable[str],
) -> None:
    """Write the manifest of a backup, and wait until the manifest is on the disk.

    Raises
    ------
    StoreError
        If the manifest cannot be written.
    """
    content: dict[str, Any] = {
        "made_at": made_at.isoformat(),
        "catalogs": catalogs,
        "rows": rows,
        "files": {copy.place: [copy.size, copy.digest] for copy in copies},
        "left_out": sorted(left_out),
    }
    text = canonical_json({**content, "digest": content_digest("backup", content)}).encode()
    with folder.open_filesystem(MANIFEST) as (filesystem, path):
        if folder.is_local:
            make_folders(folder.location)
            write_durably(path, text)
        else:
            with filesystem.open_output_stream(path) as stream:
                stream.write(text)


def read_manifest(folder: DataFolder) -> Manifest | None:
    """Return the manifest of a backup; None if the archive is not a backup.

    Raises
    ------
    StoreError
        If the manifest was changed after it was written.
    """
    with folder.open_filesystem(MANIFEST) as (filesystem, path):
        if not filesystem.get_file_info(path).is_file:
            return None
        with filesystem.open_input_stream(path) as stream:
            text = bytes(stream.read())
    try:
        content = json.loads(text)
        digest = content.pop("digest")
        if content_digest("backup", content) != digest:
            raise _changed_error(folder)
        files = {place: (int(size), str(sha)) for place, (size, sha) in content["files"].items()}
        return Manifest(content["made_at"], content["catalogs"], content["rows"], files, tuple(content["left_out"]))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise _changed_error(folder) from error


def find_file_damage(folder: DataFolder, place: str, size: int, digest: str, *, deep: bool) -> str:
    """Return the problem of a file of a backup, or ""; with `deep`, all bytes are read."""
    with folder.open_filesystem(place) as (filesystem, path):
        info = filesystem.get_file_info(path)
        if not info.is_file:
            return "it is missing"
        if info.size != size:
            return f"it has {info.size:,} bytes, not {size:,}"
        if not deep:
            return ""
        with filesystem.open_input_file(path) as opened:
            return "" if digest_bytes(opened) == digest else "its bytes differ from the bytes that were copied"


def _changed_error(folder: DataFolder) -> StoreError:
    """Return the error for a changed manifest."""
    return StoreError(
        f"{folder.at(MANIFEST)}, the list of files in the backup, was changed after it was written",
        hint="if the archive still exists, make the backup again; if you use the backup as the archive, delete "
        "the list",
    )
