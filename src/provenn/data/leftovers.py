"""Hidden folders for writing: published when the data are complete, and deleted when the process was killed.

A hidden folder is called ``.provenn-writing-…``. The file ``_process`` inside names the writing process and the target.
A writable archive pins the folder before creating it, so that `provenn gc` finds the folder anywhere.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from shutil import rmtree
from uuid import uuid4

from provenn.durable import set_aside
from provenn.errors import StoreError
from provenn.files.data_folder import DataFolder, explain_io_errors
from provenn.processes import is_gone, make_holder

__all__ = [
    "JOBS",
    "LEFTOVER",
    "Hold",
    "clear_abandoned",
    "clear_job_folders",
    "clear_leftover",
    "find_job_folders",
    "mark_folder",
    "open_local_writing_folder",
    "open_writing_folder",
]

LEFTOVER = ".provenn-writing-"
"""The prefix of the names of hidden folders for writing."""

JOBS = "provenn-jobs-"
"""The prefix of the names of temporary folders in which a server keeps the results of jobs."""

Hold = Callable[[str], AbstractContextManager[object]]
"""A function that pins a folder outside the data folder while a body runs."""

_PROCESS = "_process"
_ASIDE = "result-before"

_LONG = 24 * 60 * 60
"""Seconds after which a folder without a mark is deleted: its process died before it could write the mark."""


@contextmanager
def open_writing_folder(parent: DataFolder, target: str, hold: Hold | None = None) -> Iterator[str]:
    """Make a new hidden folder and yield the name; remove the folder afterwards.

    Parameters
    ----------
    parent
        The folder in which the hidden folder lies.
    target
        The name in `parent` that the written data will have.
    hold
        Pins the hidden folder, so that `provenn gc` finds it if this process is killed.
    """
    name = f"{LEFTOVER}{uuid4().hex}"
    with (hold or _hold_nothing)(parent.at(name)):
        try:
            if parent.is_local:
                with explain_io_errors(parent.location):
                    _make_local(Path(parent.location), name, target)
            else:
                with parent.open_filesystem(name) as (filesystem, path):
                    filesystem.create_dir(path)
            yield name
        finally:
            with suppress(StoreError, OSError):
                if not parent.is_local:
                    parent.remove(name)
                elif not _holds_only_copy(Path(parent.at(name)), target):
                    rmtree(parent.at(name), ignore_errors=True)


@contextmanager
def open_local_writing_folder(parent: Path, target: str) -> Iterator[Path]:
    """Make a new hidden folder on a local disk, for a file without a pin; remove the folder afterwards."""
    name = f"{LEFTOVER}{uuid4().hex}"
    try:
        _make_local(parent, name, target)
        yield parent / name
    finally:
        rmtree(parent / name, ignore_errors=True)


def _make_local(parent: Path, name: str, target: str) -> None:
    """Make a hidden folder on a local disk, and delete abandoned neighbours."""
    clear_abandoned(parent)
    (parent / name).mkdir()
    mark_folder(parent / name, target)


def mark_folder(folder: Path, target: str = "") -> None:
    """Note the writing process and the name of the target in a folder."""
    (folder / _PROCESS).write_bytes(os.fsencode(f"{make_holder()}\n{target}"))


def clear_abandoned(parent: Path, prefix: str = LEFTOVER) -> None:
    """Delete the hidden folders of killed processes of this machine."""
    for folder in parent.glob(f"{prefix}*"):
        if _is_abandoned(folder):
            clear_leftover(folder)


def clear_leftover(folder: Path) -> None:
    """Delete a hidden folder, after restoring an earlier result set aside by the killed process."""
    target = _read_mark(folder)[1]
    with suppress(OSError):  # then the folder stays, and the next process restores it
        if target and _holds_only_copy(folder, target):
            set_aside(folder / _ASIDE, folder.parent / target)
        rmtree(folder, ignore_errors=True)


def _holds_only_copy(folder: Path, target: str) -> bool:
    """Whether a hidden folder holds the earlier result of the target, and no target exists now."""
    return (folder / _ASIDE).exists() and not os.path.lexists(folder.parent / target)


def find_job_folders() -> tuple[Path, ...]:
    """Return the temporary folders left on this machine by killed servers of this user."""
    own_folders = (folder for folder in Path(tempfile.gettempdir()).glob(f"{JOBS}*") if _is_mine(folder))
    return tuple(folder for folder in sorted(own_folders) if _is_abandoned(folder))


def clear_job_folders() -> None:
    """Delete the temporary folders left by killed servers."""
    for folder in find_job_folders():
        rmtree(folder, ignore_errors=True)


def _is_mine(folder: Path) -> bool:
    """Whether a path is a real folder of this user."""
    with suppress(OSError):
        return folder.lstat().st_uid == os.getuid() and folder.is_dir() and not folder.is_symlink()
    return False


def _is_abandoned(folder: Path) -> bool:
    """Whether the writing process of a folder is gone; a folder without a mark is abandoned when old."""
    holder = _read_mark(folder)[0]
    if holder:
        return is_gone(holder)
    with suppress(OSError):
        return time.time() - folder.lstat().st_mtime > _LONG
    return False


def _read_mark(folder: Path) -> tuple[str, str]:
    """Return the writing process of a hidden folder, and the name of the target; empty texts if unknown."""
    try:
        holder, line_end, target = os.fsdecode((folder / _PROCESS).read_bytes()).partition("\n")
    except OSError:
        return "", ""
    return (holder, "" if "/" in target else target) if line_end else ("", "")


def _hold_nothing(_folder: str) -> AbstractContextManager[object]:
    """Pin nothing."""
    return nullcontext()
