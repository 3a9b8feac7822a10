"""The digest of all bytes of files, and the conditions for reusing a digest without reading again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from provenn.errors import BaseFilesError, FilesChangedError
from provenn.files.listing import File

__all__ = ["FileHash", "HashMemory", "ReadingProgress", "Stamp", "hash_files"]

ReadingProgress = Callable[[int, int], None]
"""Called while files are read, with the number of bytes read so far and in all."""

_CHUNK = 8 * 2**20
_SMALL = 4 * 2**20
"""Up to this size a single thread hashes a file: starting more threads takes longer."""

_GRANULARITY = 2 * 10**9
"""Nanoseconds. FAT keeps times to 2 seconds, other file systems to a second or better."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """The state of a file according to a local file system, without reading the file.

    Parameters
    ----------
    size
        The length in bytes.
    modified, changed
        The time of the last write, which programs can set freely, and the time of the last change of content or
        attributes, which only the system sets; in nanoseconds.
    inode, device
        The identity of the file: a different file moved to the same path has a different inode.
    """

    size: int
    modified: int
    changed: int
    inode: int
    device: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Return the stamp in a status of the operating system."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)


@dataclass(frozen=True, slots=True)
class FileHash:
    """The digest of all bytes of a file.

    Parameters
    ----------
    digest
        The BLAKE3, in 64 hexadecimal digits.
    stamp
        The stamp of the file, equal before and after the reading.
    started
        The time when reading began, in nanoseconds.
    """

    digest: str
    stamp: Stamp
    started: int

    def vouches_for(self, now: Stamp) -> bool:
        """Whether a file with the stamp `now` still has this digest.

        An equal stamp alone is not enough: a file written twice within a tick of the file system's clock has the same
        times afterwards. So the file must have been unchanged for longer than a tick before the reading. Every later
        change then has a later time of change, and no program can reset this time.
        """
        return self.stamp == now and max(now.modified, now.changed) < self.started - _GRANULARITY


class HashMemory(Protocol):
    """A memory of digests of local files, by path. The memory may forget anything at any time."""

    def recall(self, paths: Collection[str]) -> Mapping[str, FileHash]:
        """Return the known hashes of files, by path."""

    def remember(self, hashed: Mapping[str, FileHash]) -> None:
        """Store the hashes of files, by path."""


def hash_files(
    files: Sequence[File], memory: HashMemory | None = None, progress: ReadingProgress | None = None
) -> dict[str, str]:
    """Return the BLAKE3 of all bytes of files, in 64 hexadecimal digits, by name.

    Parameters
    ----------
    files
        The files.
    memory
        A memory of digests. A file is read again unless the memory vouches for it.
    progress
        Called while files are read.

    Raises
    ------
    FilesChangedError
        If a file changes during the reading.
    BaseFilesError
        If a file cannot be read.
    """
    paths = {file.name: file.local_path for file in files}
    local_paths = [path for path in paths.values() if path is not None]
    known = memory.recall(local_paths) if memory is not None and local_paths else {}
    digests: dict[str, str] = {}
    unknown = []
    for file in files:
        hashed = known.get(paths[file.name] or "")
        if hashed is not None and hashed.vouches_for(_read_stamp(file)):
            digests[file.name] = hashed.digest
        else:
            unknown.append(file)
    fresh: dict[str, FileHash] = {}
    read, total = 0, sum(file.size for file in unknown)
    try:
        for file in unknown:

            def report(done: int, before: int = read) -> None:
                if progress is not None:
                    progress(before + done, total)

            path = paths[file.name]
            if path is None:
                with _name_file_in_errors(file), file.open() as opened:
                    digests[file.name] = _hash_stream(file, opened, file.size, report)
            else:
                fresh[path] = _hash_local(file, path, report)
                digests[file.name] = fresh[path].digest
            read += file.size
    finally:  # remember the hashes so far, even if a later file cannot be read
        if memory is not None and fresh:
            memory.remember(fresh)
    return digests


def _read_stamp(file: File) -> Stamp:
    with _name_file_in_errors(file):
        return Stamp.of(os.stat(file.local_path or ""))  # noqa: PTH116 - ten thousand files are looked at


def _hash_local(file: File, path: str, report: Callable[[int], None]) -> FileHash:
    started = time.time_ns()
    with _name_file_in_errors(file), open(path, "rb", buffering=0) as opened:  # noqa: PTH123 - see above
        before = Stamp.of(os.fstat(opened.fileno()))
        digest = _hash_stream(file, opened, before.size, report)
        if Stamp.of(os.fstat(opened.fileno())) != before:
            raise _make_changed_error(file)
    return FileHash(digest, before, started)


def _make_changed_error(file: File) -> FilesChangedError:
    return FilesChangedError(f"{file.name} changed while it was read", hint="try again when no program writes to it")


def _hash_stream(file: File, opened: Any, size: int, report: Callable[[int], None]) -> str:  # noqa: ANN401 - of Python or pyarrow
    """Read and hash an open file.

    The file is not mapped into memory: if a different program truncates a mapped file, the system ends this process.
    """
    from blake3 import blake3  # noqa: PLC0415 - only files need it

    hasher = blake3(max_threads=1 if size <= _SMALL else blake3.AUTO)
    done = 0
    for chunk in _read_chunks(opened, size):
        hasher.update(chunk)
        done += len(chunk)
        if done > size:
            raise _make_changed_error(file)
        report(done)
    return hasher.hexdigest()


def _read_chunks(opened: Any, size: int) -> Iterator[memoryview]:  # noqa: ANN401 - a file of Python or of pyarrow
    buffer = memoryview(bytearray(min(_CHUNK, max(size, 1))))
    while count := opened.readinto(buffer):
        yield buffer[:count]


@contextmanager
def _name_file_in_errors(file: File) -> Iterator[None]:
    """Raise read failures as errors with the name of the file."""
    try:
        yield
    except BaseFilesError:
        raise
    except OSError as error:
        raise BaseFilesError(f"{file.name} cannot be read: {error}") from error
