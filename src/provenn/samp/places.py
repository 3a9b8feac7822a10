"""Where tables for others are put: in the user's own cache, for a day."""

from __future__ import annotations

import tempfile
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from provenn.errors import StoreError
from provenn.spark.cache import cache_folder

__all__ = ["new_file"]

_DAY = 24 * 60 * 60
"""Seconds for which others may read a table: some programs go back to the file when they need a value."""


def new_file(suffix: str) -> Path:
    """Return a name for a new file in a folder that only this user reads; what is a day old there is deleted.

    Raises
    ------
    StoreError
        If there is no such folder.
    """
    cache = cache_folder()
    try:
        folder = Path(tempfile.mkdtemp(prefix="provenn-samp-")) if cache is None else cache / "samp"
        folder.mkdir(mode=0o700, exist_ok=True)
        for old in folder.iterdir():
            with suppress(OSError):  # another process was quicker, or it is not a file
                if old.stat().st_mtime < time.time() - _DAY:
                    old.unlink()
    except OSError as error:
        raise StoreError(f"there is no place for tables: {error}", hint="set XDG_CACHE_HOME to a folder") from error
    return folder / f"{uuid4().hex}{suffix}"
