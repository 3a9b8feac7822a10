"""The folder of the warm Spark: its socket, its log and a lock, for one person on one machine.

The folder is in the user's cache. Its name contains the machine with its boot and process namespace, because a home
folder may be shared by machines and containers. Others can neither look into the folder nor write to it; a folder for
which this does not hold is not used.
"""

from __future__ import annotations

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from provenn.errors import EngineError
from provenn.processes import make_machine_mark
from provenn.spark.cache import find_cache_folder
from provenn.spark.warm.worker_side import end_daemons

__all__ = ["ENDING", "TOLD", "WarmFolder", "find_warm_folder", "make_warm_folder"]

ENDING = "ending: "
"""What precedes, in the log, the reason why a keeper ends."""

TOLD = "it was told to"
"""The reason of a keeper that was stopped by `provenn warm --stop`."""


@dataclass(frozen=True, slots=True)
class WarmFolder:
    """The folder of the warm Spark.

    Parameters
    ----------
    path
        The folder.
    """

    path: Path

    @property
    def socket(self) -> Path:
        """The socket of the keeper."""
        return self.path / "socket"

    @property
    def log(self) -> Path:
        """The log of the keeper."""
        return self.path / "log"

    @property
    def lock(self) -> Path:
        """The file that the keeper locks as long as it lives."""
        return self.path / "lock"

    def was_stopped(self) -> bool:
        """Tell whether the keeper that was ready last ends because it was told to."""
        try:
            lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return False
        ready = max((number for number, line in enumerate(lines) if " ready, " in line), default=0)
        return any(line.endswith(f"{ENDING}{TOLD}") for line in lines[ready:])

    def remove_remains(self) -> None:
        """Remove what a keeper that was killed has left; the caller holds the lock."""
        self.socket.unlink(missing_ok=True)
        for guest in self.path.glob("provenn-guest-*"):
            end_daemons(guest)
            shutil.rmtree(guest, ignore_errors=True)


def find_warm_folder() -> WarmFolder | None:
    """Return the folder if it exists.

    Raises
    ------
    EngineError
        If other people could write to the folder, or look into it.
    """
    cache = find_cache_folder()
    path = None if cache is None else cache / f"warm-{make_machine_mark()}"
    if cache is None or path is None or not os.path.lexists(path):
        return None
    _check_folder(cache, stat.S_IWGRP | stat.S_IWOTH)
    _check_folder(path, stat.S_IRWXG | stat.S_IRWXO)
    return WarmFolder(path)


def make_warm_folder() -> WarmFolder:
    """Return the folder; make it if it is missing.

    Raises
    ------
    EngineError
        If the folder cannot be made, or other people could write to it.
    """
    cache = find_cache_folder()
    if cache is None:
        where = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        raise EngineError(
            f"no folder for a warm Spark can be made in {where}", hint="set XDG_CACHE_HOME to a folder of your own"
        )
    path = cache / f"warm-{make_machine_mark()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EngineError(
            f"{path} cannot be made: {error.strerror}", hint="set XDG_CACHE_HOME to a folder of your own"
        ) from error
    _check_folder(cache, stat.S_IWGRP | stat.S_IWOTH)
    _check_folder(path, stat.S_IRWXG | stat.S_IRWXO)
    return WarmFolder(path)


def _check_folder(path: Path, forbidden: int) -> None:
    status = path.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise EngineError(f"{path} is not a folder", hint="delete it, or set XDG_CACHE_HOME to a folder of your own")
    if status.st_uid != os.getuid() or status.st_mode & forbidden:
        raise EngineError(
            f"{path} is not yours alone: others could come between a command and its Spark",
            hint=f"correct it (chmod 700 {path}), or set XDG_CACHE_HOME to a folder of your own",
        )
