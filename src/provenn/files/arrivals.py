"""Files that came to a folder after it was ingested, by their names alone: cheap enough to look at each time."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from pathlib import Path

__all__ = ["count_new_files"]

_MOST_FILES = 10_000
"""The most files of a folder that are looked at."""


def count_new_files(location: str, known: Collection[str]) -> int:
    """Return how many files of a local folder have other names than known ones.

    Zero if that would take long: in an object store, in a folder with very many files, and for a pattern.

    Parameters
    ----------
    location
        The folder; a single file does not grow.
    known
        The names of the known files, below the folder.
    """
    if "://" in location or len(known) > _MOST_FILES or not Path(location).is_dir():
        return 0
    new = 0
    for number, name in enumerate(_iterate_names(location)):
        if number >= _MOST_FILES:
            return 0
        new += name not in known
    return new


def _iterate_names(folder: str, above: str = "") -> Iterator[str]:
    """Yield the names of the files below a folder that are read as base files; links to folders are not followed."""
    try:
        entries = list(os.scandir(folder))
    except OSError:  # it is gone, or may not be read: whoever computes with its files is told
        return
    for entry in entries:
        if entry.name.startswith(("_", ".")):
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _iterate_names(entry.path, f"{above}{entry.name}/")
        elif entry.is_file():
            yield f"{above}{entry.name}"
