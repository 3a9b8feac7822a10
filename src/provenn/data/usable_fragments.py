"""Fragments whose files are as they were written: choosing these, and dropping damaged fragments."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from functools import partial
from weakref import WeakKeyDictionary

from sqlalchemy import Engine as SqlEngine

from provenn.data import fragments
from provenn.data.fragments import Fragment
from provenn.data.parquet_contents import find_parquet_damage
from provenn.database.transactions import Database
from provenn.errors import StoreError
from provenn.files.data_folder import DataFolder

__all__ = ["drop_damaged", "get_damage", "remove_checksums", "require_folder", "select_usable"]

_LOG = logging.getLogger(__name__)


def select_usable(database: Database, folder: DataFolder, candidates: Iterable[Fragment]) -> list[Fragment]:
    """Return the fragments whose files exist with the registered sizes and footers.

    Other fragments are dropped if the archive can be written, and a warning is logged.

    Raises
    ------
    StoreError
        If the folder of all fragments is missing: then the disk is at fault, and no fragment is dropped.
    """
    sound = []
    for fragment in candidates:
        if not fragment.is_usable:
            continue
        problem = get_damage(database).get(fragment.id) or find_parquet_damage(
            folder, fragment.location, fragment.files
        )
        if not problem:
            sound.append(fragment)
            continue
        require_folder(folder, fragment.location.rpartition("/")[0])
        _drop_fragment(database, fragment, problem)
    return sound


_DAMAGE: WeakKeyDictionary[SqlEngine, dict[int, str]] = WeakKeyDictionary()
"""The damage of fragments, by open archive and number: an archive that is busy or read-only cannot drop them itself."""


def get_damage(database: Database) -> dict[int, str]:
    """Return the known damage of fragments of an open archive, by number. Closing the archive forgets it."""
    return _DAMAGE.setdefault(database.engine, {})


def drop_damaged(database: Database, folder: DataFolder, candidates: Iterable[Fragment]) -> list[str]:
    """Read all bytes of fragments, drop damaged fragments, and return the locations of all damage.

    An older version left checksums of Hadoop beside its files. The checksums may be damaged too, so they are deleted,
    and their locations count as damage.

    Raises
    ------
    StoreError
        If the folder of all fragments is missing.
    """
    damaged = []
    for fragment in candidates:
        problem = find_parquet_damage(folder, fragment.location, fragment.files, deep=True)
        if problem:
            require_folder(folder, fragment.location.rpartition("/")[0])
            _drop_fragment(database, fragment, problem)
        if problem or remove_checksums(folder, fragment.location):
            damaged.append(fragment.location)
    return damaged


def remove_checksums(folder: DataFolder, location: str) -> bool:
    """Delete Hadoop's checksum files, which no digest covers; return whether there were any."""
    names = [name for name in folder.hidden_files(location) if name.endswith(".crc")]
    for name in names:
        folder.remove(location, name)
    return bool(names)


def _drop_fragment(database: Database, fragment: Fragment, problem: str) -> None:
    """Drop a damaged fragment if the archive can be written at once; in any case, stop using it in this process."""
    _LOG.warning("fragment #%s is no longer used: %s", fragment.id, problem)
    get_damage(database)[fragment.id] = problem
    database.note(partial(fragments.drop, number=fragment.id, reason=f"damaged: {problem}"))


def require_folder(folder: DataFolder, *parts: str) -> None:
    """Check that a folder of the archive exists.

    Raises
    ------
    StoreError
        If the folder is missing.
    """
    with folder.open_filesystem(*parts) as (filesystem, path):
        if filesystem.get_file_info(path).type.name == "NotFound":
            raise StoreError(
                f"{folder.at(*parts)} is missing, but the archive keeps its data there",
                hint="is the disk mounted? If you deleted the data on purpose, create an empty folder there",
            )
