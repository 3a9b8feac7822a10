"""Folders of tests, in memory and among temporary files, that runs leave behind when they are killed.

``python -m tests.leftovers`` removes them; ``make clean`` runs it. It needs nothing that is not in Python itself.
"""

import shutil
import tempfile
from pathlib import Path

from provenn.processes import read_mark_state

__all__ = ["MEMORY", "PREFIX", "find_temporary", "remove_leftovers"]

MEMORY = Path("/dev/shm")  # noqa: S108 - tests make folders of their own there


PREFIX = "provenn-tests-"
"""How the names of these folders begin; they end with the mark of a process."""


def find_temporary() -> Path:
    """Return the folder for temporary files of the machine, also in a process of tests, which has its own inside."""
    folder = Path(tempfile.gettempdir())
    return folder.parent if folder.name.startswith(PREFIX) else folder


def remove_leftovers(*places: Path) -> list[Path]:
    """Remove the folders of test processes that no longer live, as their marks show; return these folders."""
    folders = sorted(folder for place in places or (MEMORY, find_temporary()) for folder in place.glob(f"{PREFIX}*"))
    leftovers = [folder for folder in folders if read_mark_state(folder.name) == "gone"]
    for folder in leftovers:
        shutil.rmtree(folder, ignore_errors=True)
    return leftovers


if __name__ == "__main__":
    remove_leftovers()
