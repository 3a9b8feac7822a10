"""Files of tests that are held in memory, and are left there by runs that were killed.

``python -m tests.leftovers`` removes them; ``make clean`` runs it. It needs nothing that is not in Python itself.
"""

import shutil
from pathlib import Path

from provenn.processes import read_mark_state

__all__ = ["MEMORY", "remove_leftovers"]

MEMORY = Path("/dev/shm")  # noqa: S108 - tests make folders of their own there


def remove_leftovers(memory: Path = MEMORY) -> list[Path]:
    """Remove the folders of test processes that no longer live, as their marks show; return these folders."""
    leftovers = [folder for folder in sorted(memory.glob("provenn-tests-*")) if read_mark_state(folder.name) == "gone"]
    for folder in leftovers:
        shutil.rmtree(folder, ignore_errors=True)
    return leftovers


if __name__ == "__main__":
    remove_leftovers()
