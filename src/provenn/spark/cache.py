"""The folder where provenn keeps what it can make again: in the user's cache, never in an archive."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

__all__ = ["cache_folder", "write_atomically"]


def cache_folder() -> Path | None:
    """Return ``provenn`` below XDG_CACHE_HOME, or below ``~/.cache``; None if it cannot be made or written to."""
    try:
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(cache).absolute() / "provenn"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # no home, a read-only one, a full one
        return None
    return folder if os.access(folder, os.W_OK | os.X_OK) else None


def write_atomically(file: Path, text: str, mode: int) -> None:
    """Write a file under another name, then rename it: nobody ever sees half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as new:
            new.write(text)
        Path(name).chmod(mode)
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
