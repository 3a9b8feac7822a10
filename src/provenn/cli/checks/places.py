"""Check that a folder is writable, and has space left."""

import shutil
import tempfile
from pathlib import Path

from provenn.cli.checks import CheckResult
from provenn.files.data_folder import explain_io_errors
from provenn.sizes import format_size

__all__ = ["LITTLE_SPACE", "check_writable"]

LITTLE_SPACE = 10**9
"""With fewer free bytes, the result is a warning."""


def check_writable(folder: Path, remark: str = "") -> CheckResult:
    """Write a small file into a folder, and check how much space is free.

    Parameters
    ----------
    folder
        The folder.
    remark
        A remark on the folder, for the message; may be empty.

    Raises
    ------
    StoreError
        If nothing can be written; it gives the reason and a hint.
    """
    with explain_io_errors(str(folder)), tempfile.NamedTemporaryFile(dir=folder, prefix=".provenn-doctor-") as file:
        file.write(b"\0" * 4096)
        file.flush()
    free = shutil.disk_usage(folder).free
    message = ", ".join(filter(None, (str(folder), remark, f"{format_size(free)} free")))
    if free < LITTLE_SPACE:
        return CheckResult("warning", message, "the disk is nearly full: free some space, or choose another place")
    return CheckResult("ok", message)
