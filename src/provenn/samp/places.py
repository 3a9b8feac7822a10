"""Place tables for programs on the hub in the user's own cache, for a day."""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from provenn.errors import StoreError
from provenn.spark.cache import find_cache_folder

__all__ = ["make_file_path"]

_DAY = 24 * 60 * 60
"""Seconds for which other programs may read a table: some programs read the file again when they need a value."""


def make_file_path(suffix: str) -> Path:
    """Return a path for a new file in a private folder of the user.

    Files older than a day are deleted from this folder.

    Raises
    ------
    StoreError
        If the folder cannot be created or read.
    """
    cache = find_cache_folder()
    try:
        folder = Path(tempfile.mkdtemp(prefix="provenn-samp-")) if cache is None else cache / "samp"
        folder.mkdir(mode=0o700, exist_ok=True)
        for old in folder.iterdir():
            with suppress(OSError):  # another process has deleted it, or it is not a file
                if old.stat().st_mtime < time.time() - _DAY:
                    old.unlink()
    except OSError as error:
        raise StoreError(f"there is no place for tables: {error}", hint="set XDG_CACHE_HOME to a folder") from error
    return folder / f"{uuid4().hex}{suffix}"
