"""The data of an archive: a folder on disk, or any place within reach of Spark and pyarrow.

::

    _temporary/NAME/…     data being written, or left by a process that died
    fragments/NAME/…      fragments, if the file system can rename; otherwise they stay where they were written
    converted/NAME/…      Parquet made from formats that Spark cannot read
    given/NAME/…          tables ingested from memory: base data that exist nowhere else
    mocs/DIGEST.txt       the cells of large MOCs that criteria name by digest
    indices/NAME          indices of populations, which only save time

A file alone proves nothing: only the database says which fragments there are.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike, fspath
from typing import Any, Final
from urllib.parse import unquote, urlsplit
from uuid import uuid4

from provenn.durable import make_folders, publish_new
from provenn.errors import ProvennError, StoreError
from provenn.gate.local_paths import expand_home
from provenn.hints import Hint
from provenn.processes import make_process_mark

__all__ = ["CONVERTED", "FRAGMENTS", "TEMPORARY", "DataFolder", "FolderEntry", "StoredFile", "explain_io_errors"]

TEMPORARY, FRAGMENTS, CONVERTED = "_temporary", "fragments", "converted"

_ATTEMPTS = 10
"""How often `_list_folder` tries to list a folder while other processes change it."""

_RENAMING = frozenset({"local", "hdfs"})
"""The file systems that rename a folder atomically. The others copy the files, and may stop in the middle."""

_FREE_SPACE: Final = Hint(
    "free some space, for instance with archive.collect_garbage()",
    command="free some space, for instance with `provenn gc`",
)
_PROBLEMS = {
    errno.ENOSPC: ("the disk is full", _FREE_SPACE),
    errno.EDQUOT: ("the disk quota is used up", _FREE_SPACE),
    errno.EACCES: ("permission denied", "ask its owner, or choose another place for the data"),
    errno.EPERM: ("permission denied", "ask its owner, or choose another place for the data"),
    errno.EROFS: ("the file system is read-only", "choose another place for the data"),
    errno.ENOENT: ("it does not exist", "is the disk mounted?"),
    errno.ENOTDIR: ("a file is in the place of a folder", "choose another place for the data"),
}


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file in the data folder.

    Parameters
    ----------
    name
        The path of the file, relative to the listed folder.
    size
        The length of the file in bytes.
    footer
        The digest of the footer, if the file is Parquet and was opened. The footer holds the place, the size and the
        statistics of every column chunk.
    digest
        The SHA-256 of all bytes, if the file was read. Fragments stored before format 0005 have none.
    """

    name: str
    size: int
    footer: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A direct entry of a folder: name, bytes of all contents, and time of the last write anywhere inside."""

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
        """Return the folder at a path or URI; local paths and ``file:`` URIs become absolute paths."""
        text = fspath(location)
        if text.startswith("file:"):
            text = unquote(urlsplit(text).path)
        if "://" not in text:
            return cls(str(expand_home(text).absolute()))
        return cls(text.rstrip("/"))

    @property
    def is_local(self) -> bool:
        """Whether the folder is on a disk of this machine, or on a mounted one."""
        return "://" not in self.location

    def at(self, *parts: str) -> str:
        """Return the address of a path in the folder, in the form understood by Spark and pyarrow."""
        return "/".join((self.location.rstrip("/") if parts else self.location, *parts))

    def relative_path(self, address: str) -> str:
        """Return the path of an address in the folder: ``at(relative_path(address)) == address``."""
        return address.removeprefix(self.at("")) if address.startswith(self.at("")) else address

    def new_temporary_address(self) -> str:
        """Return a new, empty address for writing; the name identifies the writing process.

        Raises
        ------
        StoreError
            If the folder for temporary data cannot be created.
        """
        address = self.at(TEMPORARY, f"{uuid4().hex}-{make_process_mark()}")
        with self.open_filesystem(TEMPORARY) as (filesystem, path):
            filesystem.create_dir(path)
        return address

    def publish(self, temporary: str, *parts: str) -> str:
        """Move temporary data to the final address: completely or, if anything fails, not at all.

        File systems without atomic renaming of folders, such as object stores, leave the data at the temporary address;
        there only the database tells which data are complete.

        Returns
        -------
        str
            The address after the move.

        Raises
        ------
        StoreError
            If the move fails, or something lies at the new address.
        """
        address = self.at(*parts)
        with self.open_filesystem(*parts) as (filesystem, path):
            if filesystem.type_name not in _RENAMING:
                return temporary
            if self.is_local:
                os.stat(temporary)  # noqa: PTH116 - parent folders are created only if the temporary data exist
                make_folders(os.path.dirname(address))  # noqa: PTH120
                publish_new(temporary, address)
            else:
                filesystem.create_dir(path.rpartition("/")[0])
                filesystem.move(self._find_path(temporary), path)
        return address

    def publish_file(self, temporary: str, *parts: str) -> str:
        """Move a temporary file to the final address, also on file systems where `publish` moves nothing.

        Returns
        -------
        str
            The address after the move.

        Raises
        ------
        StoreError
            If the move fails, or something lies at the new address.
        """
        if self.publish(temporary, *parts) == temporary:  # an object store moves a file, though not a folder, at once
            with (
                self.open_filesystem(self.relative_path(temporary)) as (filesystem, before),
                self.open_filesystem(*parts) as (_, after),
            ):
                filesystem.move(before, after)
        return self.at(*parts)

    def publish_unless_there(self, temporary: str, *parts: str) -> bool:
        """Move a temporary file to a name made from the content, unless another process has just done so.

        Returns
        -------
        bool
            Whether the file was moved. If not, a file of that name exists, and the caller compares both.

        Raises
        ------
        StoreError
            If the move fails for another reason.
        """
        try:
            self.publish_file(temporary, *parts)
        except StoreError as error:
            if isinstance(error.__cause__, FileExistsError):
                return False
            raise
        return True

    def remove(self, *parts: str) -> None:
        """Delete a file, or a folder with all contents; do nothing if neither exists."""
        with self.open_filesystem(*parts) as (filesystem, path):
            kind = filesystem.get_file_info(path).type.name
            if kind == "Directory":
                filesystem.delete_dir(path)
            elif kind != "NotFound":
                filesystem.delete_file(path)

    def files(self, *parts: str) -> tuple[StoredFile, ...]:
        """Return the files in a folder and all subfolders, by name; names beginning with ``_`` or ``.`` are skipped."""
        return tuple(
            StoredFile(name, info.size)
            for name, info in self._list_contents(*parts)
            if not any(part.startswith(("_", ".")) for part in name.split("/"))
        )

    def hidden_files(self, *parts: str) -> tuple[str, ...]:
        """Return the names of the files directly in a folder that begin with ``.``, by name."""
        return tuple(name for name, _ in self._list_contents(*parts) if name.startswith(".") and "/" not in name)

    def entries(self, *parts: str) -> tuple[FolderEntry, ...]:
        """Return the direct entries of a folder, by name; none if the folder does not exist."""
        entries: dict[str, FolderEntry] = {}
        for path, info in self._list_contents(*parts, folders=True):
            name = path.partition("/")[0]
            entry = entries.get(name, FolderEntry(name, 0, None))
            modified = max(filter(None, (entry.modified, _to_utc(info.mtime))), default=None)
            entries[name] = FolderEntry(name, entry.size + (info.size or 0), modified)
        return tuple(entries[name] for name in sorted(entries))

    @contextmanager
    def open_filesystem(self, *parts: str) -> Iterator[tuple[Any, str]]:
        """Yield pyarrow's file system, and the path of an address in this file system.

        Raises
        ------
        StoreError
            If the body fails to read or write.
        """
        address = self.at(*parts)
        with explain_io_errors(address):
            from pyarrow import fs  # noqa: PLC0415 - importing takes a while, and only data need it

            # What Spark calls s3a, pyarrow calls s3.
            filesystem, path = fs.FileSystem.from_uri(address.replace("s3a://", "s3://", 1))
            yield filesystem, path

    @contextmanager
    def open_input_file(self, *parts: str) -> Iterator[Any]:
        """Open a file for reading, with seeking.

        Raises
        ------
        StoreError
            If the file cannot be opened, or the body fails to read.
        """
        with self.open_filesystem(*parts) as (filesystem, path), filesystem.open_input_file(path) as opened:
            yield opened

    def _find_path(self, address: str) -> str:
        """Return the path of an address in pyarrow's file system."""
        with self.open_filesystem(self.relative_path(address)) as (_, path):
            return path

    def _list_contents(self, *parts: str, folders: bool = False) -> list[tuple[str, Any]]:
        """Return path and file information of everything below a folder, by path; folders only if requested."""
        with self.open_filesystem(*parts) as (filesystem, path):
            from pyarrow import fs  # noqa: PLC0415 - see above

            infos = _list_folder(filesystem, fs.FileSelector(path, allow_not_found=True, recursive=True))
            start = len(path.rstrip("/")) + 1
            return sorted(
                ((info.path[start:], info) for info in infos if folders or info.type == fs.FileType.File),
                key=lambda pair: pair[0],
            )


_KNOWN_PLACES: Final = "data can be at a path of this machine, or at an address with s3a://, gs://, abfss:// or hdfs://"


@contextmanager
def explain_io_errors(address: str) -> Iterator[None]:
    """Turn errors from reading or writing in the body into messages for users.

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
    except ValueError as error:  # of pyarrow: an unknown kind of address, or a file that is not Parquet
        hint = "" if "Unrecognized filesystem" not in str(error) else _KNOWN_PLACES
        raise StoreError(f"{address} cannot be used: {error}", hint=hint) from error


def _list_folder(filesystem: Any, selector: Any) -> list[Any]:  # noqa: ANN401 - pyarrow has no types
    """Return the contents of a folder, also while other processes create the folder.

    pyarrow may fail although the selector allows a missing folder: if the folder appears between the attempt to open
    the folder and the check for existence. Then the folder is listed again.
    """
    for _ in range(_ATTEMPTS - 1):
        with suppress(FileNotFoundError):
            return list(filesystem.get_file_info(selector))
    return list(filesystem.get_file_info(selector))


def _to_utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)
