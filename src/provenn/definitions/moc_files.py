"""Large MOCs named by digest in criteria: stored in the data folder, each as a text file of cells.

The file ``mocs/DIGEST.txt`` holds the cells in the IVOA's text format; the digest is the SHA-256 of the file.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import select

from provenn.database.tables import calculators, catalogs
from provenn.errors import ArchiveError, FilesMissingError, StoreError
from provenn.hints import SET_STORE
from provenn.sky.moc_library import LIBRARY, PREFIX, find_digests, hash_cells

if TYPE_CHECKING:
    from provenn.database.transactions import Reading, Writing
    from provenn.files.data_folder import DataFolder

__all__ = [
    "MOCS",
    "find_moc_damage",
    "find_named_mocs",
    "keep_cells",
    "keep_named",
    "locate_moc",
    "read_cells",
    "serve_mocs",
]

MOCS = "mocs"
"""The name of the folder below the data folder."""


def locate_moc(digest: str) -> str:
    """Return the path below the data folder of the file with the cells of a MOC."""
    return f"{MOCS}/{digest}.txt"


def serve_mocs(folder: DataFolder) -> None:
    """Let criteria in this process find the MOCs of a data folder."""
    LIBRARY.add_place(folder.location, partial(_cells_if_reached, folder))


def find_named_mocs(reading: Reading) -> frozenset[str]:
    """Return the digests of all MOCs named by catalogs and calculators, ignoring visibility."""
    digests: set[str] = set()
    for column in (catalogs.c.parameters, calculators.c.definition):
        for text in reading.connection.scalars(select(column).where(column.contains(PREFIX))):
            digests |= find_digests(text)
    return frozenset(digests)


def keep_named(writing: Writing, texts: Iterable[str]) -> None:
    """Make sure that the data folder holds every MOC named by some definitions.

    This runs within the transaction that adds the definitions. Garbage is deleted in a transaction as well, and these
    transactions wait for each other, so that no file is deleted between this check and the commit.

    Raises
    ------
    FilesMissingError
        If no open archive holds one of the MOCs.
    ArchiveError
        If the archive has no data folder.
    StoreError
        If a file cannot be written.
    """
    for digest in sorted(frozenset[str]().union(*map(find_digests, texts))):
        folder = _require_folder(writing.folder)
        if _sound_cells(folder, digest) is None:
            cells = LIBRARY.find(digest)
            if cells is None:
                raise _missing_error(digest, folder)
            keep_cells(folder, cells)


def keep_cells(place: DataFolder | None, cells: str) -> bool:
    """Write the cells of a MOC into the data folder; return whether the cells were new.

    Raises
    ------
    ArchiveError
        If no data folder is known.
    StoreError
        If the file cannot be written.
    """
    folder, digest = _require_folder(place), hash_cells(cells)
    if _sound_cells(folder, digest) is not None:
        return False
    temporary = folder.new_temporary_address()
    try:
        with (
            folder.open_filesystem(folder.relative_path(temporary)) as (filesystem, path),
            filesystem.open_output_stream(path) as stream,
        ):
            stream.write(cells.encode())
        folder.remove(locate_moc(digest))  # a damaged file
        if not folder.publish_unless_there(temporary, *locate_moc(digest).split("/")):
            return False
    finally:
        with suppress(StoreError):
            folder.remove(folder.relative_path(temporary))
    return True


def read_cells(folder: DataFolder, digest: str) -> str:
    """Return the cells of a MOC.

    Raises
    ------
    FilesMissingError
        If the file is missing from the data folder, or damaged.
    """
    cells = _sound_cells(folder, digest)
    if cells is None:
        raise _missing_error(digest, folder)
    return cells


def find_moc_damage(folder: DataFolder, digest: str) -> str:
    """Return the problem of the file of a MOC, or ""."""
    cells = _read(folder, digest)
    if cells is None:
        return f"the file {locate_moc(digest)} is missing"
    return "" if hash_cells(cells) == digest else f"the file {locate_moc(digest)} was changed"


def _sound_cells(folder: DataFolder, digest: str) -> str | None:
    """Return the cells of a MOC; None if the file is missing or damaged."""
    cells = _read(folder, digest)
    return cells if cells is not None and hash_cells(cells) == digest else None


def _cells_if_reached(folder: DataFolder, digest: str) -> str | None:
    """Return the cells of a MOC; None if the data folder is out of reach: another folder may have the cells."""
    with suppress(StoreError):
        return _sound_cells(folder, digest)
    return None


def _read(folder: DataFolder, digest: str) -> str | None:
    """Return the content of the file of a MOC; None if the file is missing."""
    from provenn.sky.mocs import LONGEST  # noqa: PLC0415 - a command starts without it

    with folder.open_filesystem(locate_moc(digest)) as (filesystem, path):
        if not filesystem.get_file_info(path).is_file:
            return None
        with filesystem.open_input_stream(path) as stream:
            return bytes(stream.read(LONGEST + 1)).decode("ascii", "replace")  # no digest matches a longer file


def _require_folder(folder: DataFolder | None) -> DataFolder:
    """Return the data folder; raise an error if none is known."""
    if folder is None:
        raise ArchiveError(
            "a large MOC is kept as a file, and the archive has no place for data",
            hint=SET_STORE,
        )
    return folder


def _missing_error(digest: str, folder: DataFolder) -> FilesMissingError:
    """Return the error for a missing or damaged MOC."""
    return FilesMissingError(
        f"the MOC {PREFIX}{digest[:12]}… in {folder.location} is missing or damaged",
        hint="select by its file again, or restore it from a backup",
    )
