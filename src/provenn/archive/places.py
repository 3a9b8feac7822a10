"""Where an archive and its data are."""

from __future__ import annotations

from pathlib import Path

from provenn.errors import ArchiveError
from provenn.store import fragments, settings
from provenn.store.database import Database
from provenn.store.folder import DataFolder

__all__ = ["DATABASE", "STORE", "data_folder"]

DATABASE = "provenn.sqlite"
"""The file in the folder of an archive that holds all its metadata."""

STORE = "store"
"""The folder in the folder of an archive that holds data, if no other place is chosen for them."""


def data_folder(database: Database, where: str | Path, chosen: str | Path | None = None) -> DataFolder | None:
    """Return where data lie: where it is said now, where it was said before, or beside the metadata."""
    beside = None if "://" in str(where) else Path(where).absolute().parent
    if chosen is not None:
        folder = DataFolder.of(chosen)
        _remember(database, folder, beside)
        return folder
    with database.reading() as reading:
        known = settings.setting(reading, settings.STORE)
    if known is None:
        return None if beside is None else DataFolder.of(beside / STORE)
    return DataFolder.of(known if beside is None or "://" in known else beside / known)


def _remember(database: Database, folder: DataFolder, beside: Path | None) -> None:
    inside = beside is not None and folder.local and Path(folder.location).is_relative_to(beside)
    value = str(Path(folder.location).relative_to(beside)) if inside and beside is not None else folder.location
    with database.reading() as reading:
        known = settings.setting(reading, settings.STORE)
        if known is None and beside is not None and fragments.all_fragments(reading):
            known = STORE  # nobody has named it, but there they are
    if known == value:
        return
    if known is not None:
        raise ArchiveError(
            f"the data of the archive {database.place} are at {known}, not at {value}",
            hint="leave store= out: where they are is remembered",
        )
    with database.writing() as writing:
        settings.change(writing, settings.STORE, value)
