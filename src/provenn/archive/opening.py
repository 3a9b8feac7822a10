"""Opening an archive, or making one."""

from __future__ import annotations

from pathlib import Path

from provenn.archive.archive import Archive
from provenn.archive.workshop import Progress
from provenn.errors import ArchiveError
from provenn.store import fragments, settings
from provenn.store.database import Database, open_database
from provenn.store.folder import DataFolder

__all__ = ["DATABASE", "STORE", "data_folder", "open_archive"]

DATABASE = "provenn.sqlite"
"""The file in the folder of an archive that holds all its metadata."""

STORE = "store"
"""The folder in the folder of an archive that holds data, if no other place is chosen for them."""


def open_archive(
    path: str | Path | None = None,
    *,
    database: str | Path | None = None,
    store: str | Path | None = None,
    spark: object | None = None,
    progress: Progress = None,
    create: bool = True,
    who: str | None = None,
) -> Archive:
    """Open an archive, or make a new one.

    Parameters
    ----------
    path
        A folder, which holds all of it; by default the current one.
    database
        Instead: the address of a database (``postgresql://…``), or the file of one.
    store
        Where data are kept: a path, or a URI that Spark reaches. It is remembered. By default, a folder beside the
        metadata; for an archive in a database on a server it must be given before any data are kept.
    spark
        Where data are computed, once that is asked for. By default Spark inside this process; or a master URL
        (``spark://…``, ``yarn``, ``k8s://…``), a Spark Connect URL (``sc://…``), or a session of your own, which is
        neither changed nor stopped.
    progress
        Called with the progress of long work; False for nobody. By default a bar, on a terminal or in a notebook.
    create
        Whether to make an archive if there is none.
    who
        The person recorded with what is written; by default PROVENN_USER of the environment, or who is logged in.

    Raises
    ------
    ArchiveError
        If there is no archive and none is to be made, a newer version made it, or what is there is something else.
    """
    where = database if database is not None else Path(path if path is not None else ".") / DATABASE
    opened = open_database(where, create=create, who=who)
    try:
        return Archive(opened, data_folder(opened, where, store), spark=spark, progress=progress)
    except BaseException:
        opened.close()
        raise


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
