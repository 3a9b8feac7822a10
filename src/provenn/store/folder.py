"""Where the data of an archive lie: a folder on disk, or any place that Spark and pyarrow reach.

::

    _temporary/NAME/…     what is being written, or was when a process died
    fragments/NAME/…      fragments, where the place can rename; elsewhere they stay where they were written
    converted/NAME/…      Parquet made from formats that Spark cannot read
    given/NAME/…          tables that were ingested from memory: base data, which nothing else has
    mocs/DIGEST.txt       the cells of large MOCs that criteria name by digest

Nothing counts because it lies there. A fragment is what the database says, and only that.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from provenn.errors import ProvennError, StoreError

__all__ = ["CONVERTED", "FRAGMENTS", "TEMPORARY", "DataFolder", "Entry", "StoredFile", "reaching"]

TEMPORARY, FRAGMENTS, CONVERTED = "_temporary", "fragments", "converted"

_RENAMING = frozenset({"local", "hdfs"})
"""The file systems on which a folder is renamed at once. On the others a move copies, and may end in the middle."""

_PROBLEMS = {
    errno.ENOSPC: ("the disk is full", "free some space, for instance with `provenn gc`"),
    errno.EDQUOT: ("the disk quota is used up", "free some space, for instance with `provenn gc`"),
    errno.EACCES: ("there is no permission", "ask its owner, or choose another place for the data"),
    errno.EPERM: ("there is no permission", "ask its owner, or choose another place for the data"),
    errno.EROFS: ("the file system can only be read", "choose another place for the data"),
    errno.ENOENT: ("it is not there", "is the disk mounted?"),
    errno.ENOTDIR: ("a file is where a folder should be", "choose another place for the data"),
}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file.

    Parameters
    ----------
    name
        Its path below the folder that was asked for.
    size
        Its length in bytes.
    footer
        For Parquet that was looked into: the digest of the footer, which tells the place, the size and the statistics
        of all it holds.
    digest
        For a file that was read: the SHA-256 of all its bytes. Fragments that were stored before format 0005 have none.
    """

    name: str
    size: int
    footer: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """What lies directly in a folder: its name, the bytes of all that is in it, and when any of it was last written."""

    name: str
    size: int
    modified: datetime | None


@dataclass(frozen=True, slots=True)
class DataFolder:
    """A folder for data.

    Parameters
    ----------
    location
        A path, or a URI as Spark understands it, such as ``s3a://bucket/survey``.

    Examples
    --------
    >>> DataFolder.of("/data/survey").at("fragments", "a")
    '/data/survey/fragments/a'
    >>> DataFolder.of("s3a://bucket/survey/").at("fragments", "a")
    's3a://bucket/survey/fragments/a'
    """

    location: str

    @classmethod
    def of(cls, location: str | PathLike[str]) -> DataFolder:
        """Return the folder at a path or URI; a path, or a URI of one, is made absolute."""
        text = fspath(location)
        if text.startswith("file:"):
            text = unquote(urlsplit(text).path)
        if "://" not in text:
            return cls(str(Path(text).expanduser().absolute()))
        return cls(text.rstrip("/"))

    @property
    def local(self) -> bool:
        """Whether it is on a disk of this machine, or on one that is mounted here."""
        return "://" not in self.location

    def at(self, *parts: str) -> str:
        """Return the address of something in it, which Spark and pyarrow understand."""
        return "/".join((self.location.rstrip("/") if parts else self.location, *parts))

    def below(self, address: str) -> str:
        """Return the path in the folder of what has an address: ``at(below(address)) == address``."""
        return address.removeprefix(self.at("")) if address.startswith(self.at("")) else address

    def temporary(self) -> str:
        """Return the address of a fresh place for writing. Nothing is there yet.

        Raises
        ------
        StoreError
            If there can be none.
        """
        address = self.at(TEMPORARY, uuid4().hex)
        with self.reached(TEMPORARY) as (filesystem, path):
            filesystem.create_dir(path)
        return address

    def publish(self, temporary: str, *parts: str) -> str:
        """Move what was written to a temporary place to its own: all of it or, if anything fails, nothing.

        Where folders cannot be renamed at once, as in object stores, it stays where it is; only the database tells
        what is complete there.

        Returns
        -------
        str
            The address where it is now.

        Raises
        ------
        StoreError
            If it cannot be moved, or something is there.
        """
        address = self.at(*parts)
        with self.reached(*parts) as (filesystem, path):
            if filesystem.type_name not in _RENAMING:
                return temporary
            if self.local:
                os.stat(temporary)  # noqa: PTH116 - a folder is made above only where there is something to put in it
                _flush(temporary)
            filesystem.create_dir(path.rpartition("/")[0])
            if self.local:
                os.rename(temporary, address)  # noqa: PTH104 - never onto a folder that holds something
                _sync(os.path.dirname(address))  # noqa: PTH120
            else:
                filesystem.move(self._path(temporary), path)
        return address

    def remove(self, *parts: str) -> None:
        """Delete a file, or a folder with all that is in it. What is not there need not be deleted."""
        with self.reached(*parts) as (filesystem, path):
            kind = filesystem.get_file_info(path).type.name
            if kind == "Directory":
                filesystem.delete_dir(path)
            elif kind != "NotFound":
                filesystem.delete_file(path)

    def files(self, *parts: str) -> tuple[StoredFile, ...]:
        """Return the files in a folder and all folders in it, by name; without those that begin with ``_`` or ``.``."""
        return tuple(
            StoredFile(name, info.size)
            for name, info in self._inside(*parts)
            if not any(part.startswith(("_", ".")) for part in name.split("/"))
        )

    def entries(self, *parts: str) -> tuple[Entry, ...]:
        """Return what lies directly in a folder, by name; nothing if there is no folder."""
        found: dict[str, Entry] = {}
        for path, info in self._inside(*parts, folders=True):
            name = path.partition("/")[0]
            known = found.get(name, Entry(name, 0, None))
            modified = max(filter(None, (known.modified, _utc(info.mtime))), default=None)
            found[name] = Entry(name, known.size + (info.size or 0), modified)
        return tuple(found[name] for name in sorted(found))

    @contextmanager
    def reached(self, *parts: str) -> Iterator[tuple[Any, str]]:
        """Give pyarrow's file system, and the path in it of something in the folder.

        Raises
        ------
        StoreError
            If anything in the body fails to read or write.
        """
        address = self.at(*parts)
        with reaching(address):
            from pyarrow import fs  # noqa: PLC0415 - it takes a while to import, and only data need it

            # What Spark calls s3a, pyarrow calls s3.
            filesystem, path = fs.FileSystem.from_uri(address.replace("s3a://", "s3://", 1))
            yield filesystem, path

    def _path(self, address: str) -> str:
        with self.reached(self.below(address)) as (_, path):
            return path

    def _inside(self, *parts: str, folders: bool = False) -> list[tuple[str, Any]]:
        with self.reached(*parts) as (filesystem, path):
            from pyarrow import fs  # noqa: PLC0415 - see above

            inside = filesystem.get_file_info(fs.FileSelector(path, allow_not_found=True, recursive=True))
            start = len(path.rstrip("/")) + 1
            return sorted(
                ((one.path[start:], one) for one in inside if folders or one.type == fs.FileType.File),
                key=lambda pair: pair[0],
            )


@contextmanager
def reaching(address: str) -> Iterator[None]:
    """Say of a failure to read or write what it means to a user.

    Raises
    ------
    StoreError
        If the body raises an OSError.
    """
    try:
        yield
    except ProvennError:
        raise
    except OSError as error:
        problem, hint = _PROBLEMS.get(error.errno or 0, (str(error), ""))
        raise StoreError(f"{error.filename or address}: {problem}", hint=hint) from error
    except ValueError as error:  # pyarrow's: an address of a kind it does not know, or not Parquet
        raise StoreError(f"{address} cannot be read: {error}") from error


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)


def _flush(address: str) -> None:
    """Wait until a file, or all that is in a folder, is on the disk: what is registered must outlive a power cut."""
    if os.path.isfile(address):  # noqa: PTH113
        _sync(address)
    for where, _, names in os.walk(address):
        for name in names:
            _sync(os.path.join(where, name))  # noqa: PTH118
        _sync(where)


def _sync(path: str) -> None:
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
