"""Whether a folder can be written to, and has space left."""

import shutil
import tempfile
from pathlib import Path

from provenn.cli.checks import Finding
from provenn.cli.sizes import size_text
from provenn.store.folder import reaching

__all__ = ["LITTLE", "writable"]

LITTLE = 10**9
"""Free bytes that are told as a warning."""


def writable(folder: Path, told: str = "") -> Finding:
    """Write a little into a folder, and see how much more it would take.

    Parameters
    ----------
    folder
        The folder.
    told
        What else to tell of it.

    Raises
    ------
    StoreError
        If nothing can be written; says why, and what to do.
    """
    with reaching(str(folder)), tempfile.NamedTemporaryFile(dir=folder, prefix=".provenn-doctor-") as file:
        file.write(b"\0" * 4096)
        file.flush()
    free = shutil.disk_usage(folder).free
    said = ", ".join(filter(None, (str(folder), told, f"{size_text(free)} free")))
    if free < LITTLE:
        return Finding("warning", said, "the disk is nearly full: free some space, or choose another place")
    return Finding("ok", said)
