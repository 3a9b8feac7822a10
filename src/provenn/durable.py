"""Write files that appear complete or not at all, and survive a power cut: no other module gives a file its name.

The data of a file reach the disk before its name does, and the name reaches the disk before the caller continues. So a
database transaction that commits afterwards never refers to a file that a power cut can remove or truncate. A test
enumerates all code that publishes files, and fails if other code renames, links or writes a file in place.
"""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

__all__ = [
    "flush_tree",
    "make_folders",
    "publish_instead",
    "publish_new",
    "publish_over",
    "set_aside",
    "sync_path",
    "write_durably",
]


_CURRENT_FOLDER, _EXCHANGE = -100, 2
"""Constants of `renameat2`: relative paths start at the current folder; both paths change places."""


def sync_path(path: str | Path) -> None:
    """Wait until a file, or the list of names in a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def flush_tree(path: str | Path) -> None:
    """Wait until a file, or a folder with all files and folders in it, is on the disk."""
    if os.path.isfile(path):  # noqa: PTH113 - a path of pyarrow's
        sync_path(path)
        return
    for folder, _, names in os.walk(path, topdown=False):
        for name in names:
            sync_path(os.path.join(folder, name))  # noqa: PTH118 - see above
        sync_path(folder)


def make_folders(path: str | Path) -> None:
    """Create a folder and its missing parents, so that all of them survive a power cut."""
    missing = []
    folder = Path(path).absolute()
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for missing_folder in reversed(missing):
        missing_folder.mkdir(exist_ok=True)
        sync_path(missing_folder.parent)


def publish_new(temporary: str | Path, path: str | Path) -> None:
    """Give a complete file or folder its name; nothing is ever replaced.

    Raises
    ------
    FileExistsError
        If a file with the name exists.
    OSError
        If a non-empty folder with the name exists, or the disk fails.
    """
    flush_tree(temporary)
    if os.path.isdir(temporary):  # noqa: PTH112 - a path of pyarrow's
        os.rename(temporary, path)  # noqa: PTH104 - it fails if a non-empty folder exists
    else:
        _link_file(temporary, path)
    sync_path(Path(path).absolute().parent)


def publish_over(temporary: str | Path, path: str | Path) -> None:
    """Give a complete file its name; an existing file with the name is replaced atomically."""
    flush_tree(temporary)
    os.replace(temporary, path)  # noqa: PTH105 - a path of pyarrow's
    sync_path(Path(path).absolute().parent)


def publish_instead(temporary: str | Path, path: str | Path) -> bool:
    """Exchange a complete file or folder atomically with the file or folder that has its name.

    Returns
    -------
    bool
        Whether the exchange was possible, as on most disks of Linux. Otherwise nothing has changed.
    """
    flush_tree(temporary)
    exchange = getattr(ctypes.CDLL(None), "renameat2", None)
    if (
        exchange is None
        or exchange(_CURRENT_FOLDER, os.fsencode(temporary), _CURRENT_FOLDER, os.fsencode(path), _EXCHANGE) != 0
    ):
        return False
    sync_path(Path(temporary).absolute().parent)
    sync_path(Path(path).absolute().parent)
    return True


def set_aside(path: str | Path, aside: str | Path) -> None:
    """Rename a file or folder on the disk, so that a power cut undoes the renaming wholly or not at all."""
    os.rename(path, aside)  # noqa: PTH104 - a path of pyarrow's
    sync_path(Path(aside).absolute().parent)
    sync_path(Path(path).absolute().parent)


def write_durably(path: str | Path, content: bytes, *, mode: int | None = None) -> None:
    """Write a small file; every reader sees all of the old content or all of the new, even after a crash.

    Parameters
    ----------
    path
        The file; its folder exists.
    content
        The whole content.
    mode
        The permissions of the file; by default those of any new file.
    """
    file = Path(path).absolute()
    temporary = file.with_name(f".{file.name[:100]}-{uuid4().hex}")
    try:
        temporary.write_bytes(content)
        if mode is not None:
            temporary.chmod(mode)
        publish_over(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


def _link_file(temporary: str | Path, path: str | Path) -> None:
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise FileExistsError(f"{path} already exists") from None
        os.rename(temporary, path)  # noqa: PTH104 - see above
        return
    with suppress(OSError):
        os.unlink(temporary)  # noqa: PTH108 - see above
