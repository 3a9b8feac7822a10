"""The digest of all bytes of files, and when a digest that was computed before may be used instead of reading again."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from provenn.catalogs.file_listing import File
from provenn.errors import BaseFilesError, FilesChangedError

__all__ = ["HashMemory", "Hashed", "ReadingProgress", "Stamp", "hash_files"]

ReadingProgress = Callable[[int, int], None]
"""Called while files are read, with the bytes that were read and the bytes to be read in all."""

_CHUNK = 8 * 2**20
_SMALL = 4 * 2**20
"""Up to this size one thread hashes a file: starting others takes longer."""

_GRANULARITY = 2 * 10**9
"""Nanoseconds. FAT keeps times to 2 seconds, other file systems to a second or better."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a local file system says of a file without reading it.

    Parameters
    ----------
    size
        The length in bytes.
    modified, changed
        When the content was last written, which programs can set to any time, and when the content or anything else
        was last changed, which only the system sets; in nanoseconds.
    inode, device
        Which file it is: another file that was moved to the same path has another inode.
    """

    size: int
    modified: int
    changed: int
    inode: int
    device: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        """Return the stamp that a status holds."""
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev)


@dataclass(frozen=True, slots=True)
class Hashed:
    """The digest of all bytes of a file.

    Parameters
    ----------
    digest
        The BLAKE3, in 64 hexadecimal digits.
    stamp
        What the file system said of the file, both before and after it was read.
    started
        When reading began, in nanoseconds.
    """

    digest: str
    stamp: Stamp
    started: int

    def vouches_for(self, now: Stamp) -> bool:
        """Whether the file still has this digest, if its stamp is `now`.

        An equal stamp alone does not show that: a file that is written twice within one tick of the clock of its file
        system has the same times afterwards. So the file must have been left alone for longer than a tick when it was
        read; every later change then has a later time of change, which no program can put back.
        """
        return self.stamp == now and max(now.modified, now.changed) < self.started - _GRANULARITY


class HashMemory(Protocol):
    """A memory of digests of local files, by path. It may forget anything at any time."""

    def recall(self, paths: Collection[str]) -> Mapping[str, Hashed]:
        """Return what is known of some files, by path."""

    def remember(self, hashed: Mapping[str, Hashed]) -> None:
        """Take note of files that were read, by path."""


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
        Is told while files are read.

    Raises
    ------
    FilesChangedError
        If a file is written while it is read.
    BaseFilesError
        If a file cannot be read.
    """
    paths = {file.name: file.local_path for file in files}
    local = [path for path in paths.values() if path is not None]
    known = memory.recall(local) if memory is not None and local else {}
    digests: dict[str, str] = {}
    unknown = []
    for file in files:
        hashed = known.get(paths[file.name] or "")
        if hashed is not None and hashed.vouches_for(_stamp(file)):
            digests[file.name] = hashed.digest
        else:
            unknown.append(file)
    fresh: dict[str, Hashed] = {}
    read, total = 0, sum(file.size for file in unknown)
    try:
        for file in unknown:

            def tell(done: int, before: int = read) -> None:
                if progress is not None:
                    progress(before + done, total)

            path = paths[file.name]
            if path is None:
                with _naming(file), file.open() as opened:
                    digests[file.name] = _hash(file, opened, file.size, tell)
            else:
                fresh[path] = _hash_local(file, path, tell)
                digests[file.name] = fresh[path].digest
            read += file.size
    finally:  # what was read is known, though a later file cannot be
        if memory is not None and fresh:
            memory.remember(fresh)
    return digests


def _stamp(file: File) -> Stamp:
    with _naming(file):
        return Stamp.of(os.stat(file.local_path or ""))  # noqa: PTH116 - ten thousand files are looked at


def _hash_local(file: File, path: str, tell: Callable[[int], None]) -> Hashed:
    started = time.time_ns()
    with _naming(file), open(path, "rb", buffering=0) as opened:  # noqa: PTH123 - see above
        before = Stamp.of(os.fstat(opened.fileno()))
        digest = _hash(file, opened, before.size, tell)
        if Stamp.of(os.fstat(opened.fileno())) != before:
            raise _changed(file)
    return Hashed(digest, before, started)


def _changed(file: File) -> FilesChangedError:
    return FilesChangedError(f"{file.name} changed while it was read", hint="try again when nothing writes to it")


def _hash(file: File, opened: Any, size: int, tell: Callable[[int], None]) -> str:  # noqa: ANN401 - of Python or pyarrow
    """Read and hash.

    The file is not mapped into memory: if another program cuts a mapped file short, the system ends this one.
    """
    from blake3 import blake3  # noqa: PLC0415 - only files need it

    hasher = blake3(max_threads=1 if size <= _SMALL else blake3.AUTO)
    done = 0
    for chunk in _chunks(opened, size):
        hasher.update(chunk)
        done += len(chunk)
        if done > size:
            raise _changed(file)
        tell(done)
    return hasher.hexdigest()


def _chunks(opened: Any, size: int) -> Iterator[memoryview]:  # noqa: ANN401 - a file of Python or of pyarrow
    buffer = memoryview(bytearray(min(_CHUNK, max(size, 1))))
    while count := opened.readinto(buffer):
        yield buffer[:count]


@contextmanager
def _naming(file: File) -> Iterator[None]:
    """Say of a failure which file cannot be read."""
    try:
        yield
    except BaseFilesError:
        raise
    except OSError as error:
        raise BaseFilesError(f"{file.name} cannot be read: {error}") from error
