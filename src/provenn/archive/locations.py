"""The places of an archive and of the archive's data."""

from __future__ import annotations

from pathlib import Path

from provenn.database import settings
from provenn.database.transactions import Database
from provenn.errors import ArchiveError
from provenn.files.data_folder import DataFolder
from provenn.gate.local_paths import expand_home
from provenn.hints import Hint

__all__ = ["DATABASE", "STORE", "find_data_folder"]

DATABASE = "provenn.sqlite"
"""The file name of the metadata database in the folder of an archive."""

STORE = "store"
"""The default folder of the data in the folder of an archive."""


def find_data_folder(database: Database, where: str | Path, chosen: str | Path | None = None) -> DataFolder | None:
    """Return the folder of the data: the chosen place, the recorded place, or a folder beside the metadata."""
    beside = None if "://" in str(where) else expand_home(where).absolute().parent
    if chosen is not None:
        folder = DataFolder.of(chosen)
        _remember_folder(database, folder, beside)
        return folder
    with database.reading() as reading:
        recorded_place = settings.read_setting(reading, settings.STORE)
    if recorded_place is None:
        return None if beside is None else DataFolder.of(beside / STORE)
    return DataFolder.of(recorded_place if beside is None or "://" in recorded_place else beside / recorded_place)


def _remember_folder(database: Database, folder: DataFolder, beside: Path | None) -> None:
    """Record the chosen place of the data; refuse another place than the recorded place."""
    from provenn.data import fragments  # noqa: PLC0415 - a command starts without it

    inside = beside is not None and folder.is_local and Path(folder.location).is_relative_to(beside)
    value = str(Path(folder.location).relative_to(beside)) if inside and beside is not None else folder.location
    with database.reading() as reading:
        recorded_place = settings.read_setting(reading, settings.STORE)
        if recorded_place is None and beside is not None and fragments.all_fragments(reading):
            recorded_place = STORE  # never recorded, but data are there
    if recorded_place == value:
        return
    if recorded_place is not None:
        raise ArchiveError(
            f"the data of the archive {database.place} are at {recorded_place}, not at {value}",
            hint=Hint(
                "omit store=: the archive records the place", command="omit --store: the archive records the place"
            ),
        )
    with database.writing() as writing:
        settings.change_setting(writing, settings.STORE, value)
