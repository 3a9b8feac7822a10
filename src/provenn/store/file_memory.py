"""The memory of digests of local files, in the archive's database; see `provenn.catalogs.hashing`."""

from __future__ import annotations

import platform
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import astuple
from typing import Any, ClassVar

from sqlalchemy import delete, insert, select

from provenn.catalogs.digest import content_digest
from provenn.catalogs.hashing import Hashed, Stamp
from provenn.errors import ProvennError
from provenn.store.cones import in_batches
from provenn.store.database import Database, Writing
from provenn.store.tables import file_hashes

__all__ = ["FileMemory", "forget_old", "is_sound"]

_MOST = 200_000
_OLD = 180 * 24 * 3600 * 10**9
"""Nanoseconds after which a digest is forgotten, so that every file is read again some day: disks fail silently."""


class FileMemory:
    """What is known of files on the disks of this machine.

    It is a memory of this process as well, so that an archive that can only be read does not read files twice. A record
    is used only if the file system says that nothing has changed (`Hashed.vouches_for`), so that it may come from
    anywhere.

    Parameters
    ----------
    database
        The archive's.
    reread
        Whether to recall nothing, so that all files are read again, and remembered.
    """

    _known: ClassVar[dict[str, Hashed]] = {}

    def __init__(self, database: Database, *, reread: bool = False) -> None:
        self._database = database
        self._reread = reread

    def recall(self, paths: Collection[str]) -> Mapping[str, Hashed]:
        """Return what is known of some files, by path."""
        if self._reread:
            return {}
        found = {path: self._known[path] for path in paths if path in self._known}
        missing = [path for path in paths if path not in found and _can_be_kept(path)]
        if missing:
            table = file_hashes.c
            query = select(file_hashes).where(table.machine == platform.node())
            with self._database.reading() as reading:
                for batch in in_batches(missing):
                    for row in reading.connection.execute(query.where(table.path.in_(batch))):
                        if is_sound(row):
                            stamp = Stamp(*map(int, row.stamp.split()))
                            found[row.path] = Hashed(row.digest, stamp, row.started)
            self._hold(found)
        return found

    def remember(self, hashed: Mapping[str, Hashed]) -> None:
        """Take note of files that were read; nothing depends on whether that can be written down."""
        self._hold(hashed)
        if self._database.read_only:
            return
        rows = {path: one for path, one in hashed.items() if _can_be_kept(path)}
        with suppress(ProvennError), self._database.writing() as writing:
            _replace(writing, rows)

    def _hold(self, hashed: Mapping[str, Hashed]) -> None:
        if len(self._known) + len(hashed) > _MOST:
            self._known.clear()
        self._known.update(hashed)


def _replace(writing: Writing, hashed: Mapping[str, Hashed]) -> None:
    machine, table = platform.node(), file_hashes.c
    for batch in in_batches(hashed):
        writing.connection.execute(delete(file_hashes).where(table.machine == machine, table.path.in_(batch)))
        writing.connection.execute(insert(file_hashes), [_row(machine, path, hashed[path]) for path in batch])


def _row(machine: str, path: str, hashed: Hashed) -> dict[str, Any]:
    stamp = " ".join(map(str, astuple(hashed.stamp)))
    values = {"machine": machine, "path": path, "digest": hashed.digest, "stamp": stamp, "started": hashed.started}
    return values | {"content": content_digest("file hash", [machine, path, hashed.digest, stamp, hashed.started])}


def is_sound(row: Any) -> bool:  # noqa: ANN401 - a row
    """Tell whether a row of the memory is what was written."""
    return bool(content_digest("file hash", list(row)[:-1]) == row.content)


def forget_old(writing: Writing) -> None:
    """Forget digests that were computed long ago."""
    writing.connection.execute(delete(file_hashes).where(file_hashes.c.started < time.time_ns() - _OLD))


def _can_be_kept(path: str) -> bool:
    """Tell whether a database can hold a path: one that is no text cannot be written down."""
    try:
        return bool(path.encode())
    except UnicodeEncodeError:
        return False
