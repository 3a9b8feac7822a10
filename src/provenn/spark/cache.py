"""The cache folder of the user, for reproducible files; never part of an archive."""

from __future__ import annotations

import os
from pathlib import Path

from provenn.durable import write_durably

__all__ = ["find_cache_folder", "write_atomically"]


def find_cache_folder() -> Path | None:
    """Return ``provenn`` below XDG_CACHE_HOME or ``~/.cache``; None if the folder cannot be made or written to."""
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(cache).absolute() / "provenn"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home, a read-only one, a full one
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def write_atomically(file: Path, text: str, mode: int) -> None:
    """Write a file under another name and rename it, so that readers never see half a file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    write_durably(file, text.encode(), mode=mode)
