"""Stamps of locations: whether the files of a location are as they were, by names, sizes and times alone."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from glob import has_magic
from pathlib import Path

__all__ = ["stamp_location"]

_MOST_FILES = 5_000
"""The most files of a folder that are looked at."""


def stamp_location(location: str) -> Hashable | None:
    """Return a value that changes with the files of a local location; None if telling would take long.

    Two equal stamps mean that no file came, went, or was written: every one has the same name, size, number on its
    disk, and times of change. Patterns, object stores, folders with very many files, and links to folders have none.

    Parameters
    ----------
    location
        A file, or a folder. A location that does not exist has a stamp, too.
    """
    if "://" in location or has_magic(location):
        return None
    try:
        own = os.stat(location)  # noqa: PTH116 - the same call as below
        if not Path(location).is_dir():
            return _stamp_file("", own)
        stamps: list[tuple[str, int, int, int, int]] = []
        for stamp in _iterate_stamps(location):
            if stamp is None or len(stamps) >= _MOST_FILES:
                return None
            stamps.append(stamp)
    except FileNotFoundError:
        return "missing"
    except OSError:
        return None
    return tuple(sorted(stamps))


def _stamp_file(name: str, status: os.stat_result) -> tuple[str, int, int, int, int]:
    return name, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _iterate_stamps(folder: str, above: str = "") -> Iterator[tuple[str, int, int, int, int] | None]:
    """Yield the stamp of each file below a folder; None for a link to a folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _iterate_stamps(entry.path, f"{above}{entry.name}/")
            elif entry.is_dir():
                yield None
            else:
                yield _stamp_file(f"{above}{entry.name}", entry.stat())
