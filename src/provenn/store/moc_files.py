"""Large MOCs that criteria name by digest: kept in the data folder, each as a text file of its cells.

The file ``mocs/DIGEST.txt`` holds the cells in the IVOA's text format, and has the SHA-256 that its name tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from functools import partial

from sqlalchemy import select

from provenn.errors import ArchiveError, FilesMissingError, StoreError
from provenn.sky.moc_library import LIBRARY, PREFIX, digest_of, digests_in
from provenn.store.database import Reading, Writing
from provenn.store.folder import DataFolder
from provenn.store.tables import calculators, catalogs

__all__ = ["MOCS", "keep_cells", "keep_named", "named", "place_of", "problem_of", "read_cells", "serve"]

MOCS = "mocs"
"""The folder in the data folder."""


def place_of(digest: str) -> str:
    """Return where below the data folder the cells of a MOC lie."""
    return f"{MOCS}/{digest}.txt"


def serve(folder: DataFolder) -> None:
    """Let criteria find the MOCs of a data folder, in this process."""
    LIBRARY.add_place(folder.location, partial(_cells_if_reached, folder))


def named(reading: Reading) -> frozenset[str]:
    """Return the digests of all MOCs that definitions of catalogs and calculators name, ignoring visibility."""
    found: set[str] = set()
    for column in (catalogs.c.parameters, calculators.c.definition):
        for text in reading.connection.scalars(select(column).where(column.contains(PREFIX))):
            found |= digests_in(text)
    return frozenset(found)


def keep_named(writing: Writing, texts: Iterable[str]) -> None:
    """Make sure that the data folder holds every MOC that some definitions name.

    This is done within the transaction that adds the definitions. Garbage is deleted in a transaction as well, and
    these wait for each other, so that no file is deleted between this look and the commit.

    Raises
    ------
    FilesMissingError
        If no open archive holds one of them.
    ArchiveError
        If the archive has no data folder.
    StoreError
        If a file cannot be written.
    """
    for digest in sorted(frozenset[str]().union(*map(digests_in, texts))):
        folder = _folder(writing)
        if _sound_cells(folder, digest) is None:
            cells = LIBRARY.find(digest)
            if cells is None:
                raise _missing(digest, folder)
            keep_cells(writing, cells)


def keep_cells(writing: Writing, cells: str) -> bool:
    """Write the cells of a MOC into the data folder; return whether they were not there."""
    folder, digest = _folder(writing), digest_of(cells)
    if _sound_cells(folder, digest) is not None:
        return False
    temporary = folder.temporary()
    try:
        with (
            folder.reached(folder.below(temporary)) as (filesystem, path),
            filesystem.open_output_stream(path) as stream,
        ):
            stream.write(cells.encode())
        folder.remove(place_of(digest))  # a damaged one
        if folder.publish(temporary, *place_of(digest).split("/")) == temporary:  # a store that cannot rename
            with (
                folder.reached(folder.below(temporary)) as (filesystem, before),
                folder.reached(place_of(digest)) as (_, after),
            ):
                filesystem.move(before, after)
    finally:
        with suppress(StoreError):
            folder.remove(folder.below(temporary))
    return True


def read_cells(folder: DataFolder, digest: str) -> str:
    """Return the cells of a MOC.

    Raises
    ------
    FilesMissingError
        If they are not in the data folder, or are damaged there.
    """
    cells = _sound_cells(folder, digest)
    if cells is None:
        raise _missing(digest, folder)
    return cells


def problem_of(folder: DataFolder, digest: str) -> str:
    """Return what is wrong with the file of a MOC; nothing if all is well."""
    cells = _read(folder, digest)
    if cells is None:
        return f"the file {place_of(digest)} is missing"
    return "" if digest_of(cells) == digest else f"the file {place_of(digest)} was changed"


def _sound_cells(folder: DataFolder, digest: str) -> str | None:
    cells = _read(folder, digest)
    return cells if cells is not None and digest_of(cells) == digest else None


def _cells_if_reached(folder: DataFolder, digest: str) -> str | None:
    """Return the cells of a MOC; None if the store cannot be reached: another one may have them."""
    with suppress(StoreError):
        return _sound_cells(folder, digest)
    return None


def _read(folder: DataFolder, digest: str) -> str | None:
    with folder.reached(place_of(digest)) as (filesystem, path):
        if not filesystem.get_file_info(path).is_file:
            return None
        with filesystem.open_input_stream(path) as stream:
            return bytes(stream.read()).decode("ascii", "replace")


def _folder(writing: Writing) -> DataFolder:
    if writing.folder is None:
        raise ArchiveError(
            "nobody has said where the data of the archive are kept, and a large MOC is a file there",
            hint='open it with store="…" once',
        )
    return writing.folder


def _missing(digest: str, folder: DataFolder) -> FilesMissingError:
    return FilesMissingError(
        f"the MOC {PREFIX}{digest[:12]}… is not in {folder.location}, or is damaged there",
        hint="select by its file again, or bring it back from a backup",
    )
