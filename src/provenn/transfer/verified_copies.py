"""Copying the files of a data folder, comparing all bytes of the copy with the original."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from provenn.data.parquet_contents import digest_bytes
from provenn.durable import flush_tree, make_folders
from provenn.errors import StoreError
from provenn.files.data_folder import DataFolder

__all__ = ["CopiedFile", "copy_file", "flush_copies"]

_BLOCK = 1 << 22


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A copied file: the place below both data folders, the size, and the SHA-256 of all bytes."""

    place: str
    size: int
    digest: str


def copy_file(place: str, source_folder: DataFolder, target_folder: DataFolder) -> CopiedFile:
    """Copy a file to the same place in another data folder, and read the copy again.

    Raises
    ------
    StoreError
        If the file cannot be read or written, or if the copy has other bytes.
    """
    digest, size = sha256(), 0
    with (
        source_folder.open_filesystem(place) as (filesystem, path),
        target_folder.open_filesystem(place) as (target_filesystem, destination),
    ):
        if target_folder.is_local:
            make_folders(destination.rpartition("/")[0])
        else:
            target_filesystem.create_dir(destination.rpartition("/")[0])
        with filesystem.open_input_stream(path) as source, target_filesystem.open_output_stream(destination) as target:
            while block := source.read(_BLOCK):
                digest.update(block)
                size += len(block)
                target.write(block)
        if target_folder.is_local:
            flush_tree(destination)
        with target_filesystem.open_input_file(destination) as opened:
            copied_digest = digest_bytes(opened)
    if copied_digest != digest.hexdigest():
        raise StoreError(
            f"{target_folder.at(place)} differs from the bytes that were written to it",
            hint="the disk is damaged: choose another place",
        )
    return CopiedFile(place, size, copied_digest)


def flush_copies(target_folder: DataFolder, copies: Sequence[CopiedFile]) -> None:
    """Wait until the names of all copies, and the folders above, are on the disk."""
    if target_folder.is_local and copies:
        flush_tree(target_folder.location)
