"""The memory of digests of local files, in the archive's database; see `provenn.files.hashing`."""

from __future__ import annotations

import platform
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import astuple
from typing import Any, ClassVar

from sqlalchemy import delete, insert, select

from provenn.batches import split_batches
from provenn.database.tables import file_hashes
from provenn.database.transactions import Database, Writing
from provenn.digests import content_digest
from provenn.errors import ProvennError
from provenn.files.hashing import FileHash, Stamp

__all__ = ["FileMemory", "forget_old", "is_sound"]

_MOST = 200_000
_OLD = 180 * 24 * 3600 * 10**9
"""Nanoseconds after which a digest is deleted, so that every file is read again some day: disks fail silently."""


class FileMemory:
    """The known digests of files on the disks of this machine.

    The process keeps a copy in memory as well, so that a read-only archive does not read files twice. A record is used
    only if the file system shows an unchanged file (`Hashed.vouches_for`), so that the origin of the record does not
    matter.

    Parameters
    ----------
    database
        The database of the archive.
    reread
        Whether to recall nothing, so that all files are read again, and remembered.
    """

    _known: ClassVar[dict[str, FileHash]] = {}

    def __init__(self, database: Database, *, reread: bool = False) -> None:
        self._database = database
        self._reread = reread

    def recall(self, paths: Collection[str]) -> Mapping[str, FileHash]:
        """Return the known digests of some files, by path."""
        if self._reread:
            return {}
        known_files = {path: self._known[path] for path in paths if path in self._known}
        missing = [path for path in paths if path not in known_files and _can_be_kept(path)]
        if missing:
            table = file_hashes.c
            query = select(file_hashes).where(table.machine == platform.node())
            with self._database.reading() as reading:
                for batch in split_batches(missing):
                    for row in reading.connection.execute(query.where(table.path.in_(batch))):
                        if is_sound(row):
                            stamp = Stamp(*map(int, row.stamp.split()))
                            known_files[row.path] = FileHash(row.digest, stamp, row.started)
            self._hold(known_files)
        return known_files

    def remember(self, hashed: Mapping[str, FileHash]) -> None:
        """Remember the digests of read files; failing to write them to the database is harmless.

        The digest of a file that was written a moment ago vouches for nothing, so it is not worth a transaction.
        """
        lasting = {path: digest for path, digest in hashed.items() if digest.vouches_for(digest.stamp)}
        self._hold(hashed)
        rows = {path: digest for path, digest in lasting.items() if _can_be_kept(path)}
        if self._database.read_only or not rows:
            return
        with suppress(ProvennError):
            self._database.note(lambda writing: _replace(writing, rows))

    def _hold(self, hashed: Mapping[str, FileHash]) -> None:
        """Keep digests in the memory of this process."""
        if len(self._known) + len(hashed) > _MOST:
            self._known.clear()
        self._known.update(hashed)


def _replace(writing: Writing, hashed: Mapping[str, FileHash]) -> None:
    """Replace the rows of some files."""
    machine, table = platform.node(), file_hashes.c
    for batch in split_batches(hashed):
        writing.connection.execute(delete(file_hashes).where(table.machine == machine, table.path.in_(batch)))
        writing.connection.execute(insert(file_hashes), [_row(machine, path, hashed[path]) for path in batch])


def _row(machine: str, path: str, hashed: FileHash) -> dict[str, Any]:
    """Return the row of a file, with a digest of all values."""
    stamp = " ".join(map(str, astuple(hashed.stamp)))
    values = {"machine": machine, "path": path, "digest": hashed.digest, "stamp": stamp, "started": hashed.started}
    return values | {"content": content_digest("file hash", [machine, path, hashed.digest, stamp, hashed.started])}


def is_sound(row: Any) -> bool:  # noqa: ANN401 - a row
    """Whether a row of the memory is unchanged."""
    return bool(content_digest("file hash", list(row)[:-1]) == row.content)


def forget_old(writing: Writing) -> None:
    """Delete old digests."""
    writing.connection.execute(delete(file_hashes).where(file_hashes.c.started < time.time_ns() - _OLD))


def _can_be_kept(path: str) -> bool:
    """Whether a database can hold a path: only a path encodable as text can be stored."""
    try:
        return bool(path.encode())
    except UnicodeEncodeError:
        return False
