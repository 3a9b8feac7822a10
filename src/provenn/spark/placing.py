"""Files that appear complete or not at all: written to a hidden folder beside their place, and renamed.

A process that is killed leaves that folder behind, and nothing else; the next process that writes there from this
machine deletes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from uuid import uuid4

from provenn.errors import StoreError
from provenn.store.folder import DataFolder, reaching
from provenn.store.processes import is_gone, new_holder

__all__ = ["LEFTOVER", "check_target", "publish", "temporary_folder"]

LEFTOVER = ".provenn-writing-"
"""How the names begin of what killed processes leave behind."""

_WHOSE = "_process"
"""The file in such a folder that tells which process writes there, and what."""


def check_target(parent: DataFolder, name: str, *, overwrite: bool) -> None:
    """Refuse a place where nothing can be written, or where something is that is not to be replaced."""
    with parent.reached() as (filesystem, path):
        kind = filesystem.get_file_info(path).type.name
        if filesystem.type_name in ("local", "hdfs") and kind != "Directory":
            problem = "is not there" if kind == "NotFound" else "is no folder"
            raise StoreError(f"{parent.location} {problem}", hint="make the folder first")
    with parent.reached(name) as (filesystem, path):
        if filesystem.get_file_info(path).type.name != "NotFound" and not overwrite:
            raise StoreError(f"{parent.at(name)} is there already", hint="choose another name, or say overwrite=True")


@contextmanager
def temporary_folder(parent: DataFolder, target: str) -> Iterator[str]:
    """Give the name of a fresh hidden folder; it is removed afterwards."""
    name = f"{LEFTOVER}{uuid4().hex}"
    with parent.reached(name) as (filesystem, path):
        if parent.local:
            _clear(Path(parent.location))
        filesystem.create_dir(path)
    try:
        if parent.local:
            with reaching(parent.at(name)):
                Path(parent.at(name), _WHOSE).write_bytes(os.fsencode(f"{new_holder()}\n{target}"))
        yield name
    finally:
        with suppress(StoreError):
            parent.remove(name)


def _clear(parent: Path) -> None:
    """Delete what processes have left that were killed; a folder that one had just put aside is put back before."""
    for one in parent.glob(f"{LEFTOVER}*"):
        try:
            holder, _, target = os.fsdecode((one / _WHOSE).read_bytes()).partition("\n")
        except OSError:
            continue
        if is_gone(holder):
            if (one / "result").exists() and (one / "result-before").exists():
                with suppress(OSError):
                    (one / "result-before").rename(parent / target)
            rmtree(one, ignore_errors=True)


def publish(parent: DataFolder, temporary: str, name: str, *, overwrite: bool) -> None:
    """Rename what was written; what was there before goes with the temporary folder."""
    with parent.reached(name) as (filesystem, path):
        made = f"{path.rpartition('/')[0]}/{temporary}/result"
        before = filesystem.get_file_info(path).type.name
        if not parent.local:
            if before != "NotFound":
                check_target(parent, name, overwrite=overwrite)
                parent.remove(name)
            filesystem.move(made, path)
            return
        _flush(made)
        if before == "File" and overwrite and os.path.isfile(made):  # noqa: PTH113 - a path of pyarrow's
            os.replace(made, path)  # noqa: PTH105 - at once
            return
        if before != "NotFound" and overwrite:
            os.rename(path, f"{made}-before")  # noqa: PTH104 - for a folder there is no better way
        try:
            _put(made, path)
        except BaseException:
            with suppress(OSError):
                os.rename(f"{made}-before", path)  # noqa: PTH104
            raise


def _put(made: str, path: str) -> None:
    """Rename a file or a folder, and never replace anything."""
    if os.path.isdir(made):  # noqa: PTH112 - a path of pyarrow's
        os.rename(made, path)  # noqa: PTH104 - fails where a file, or a folder that holds something, is
        return
    try:
        os.link(made, path)
    except FileExistsError:
        raise StoreError(f"{path} is there already", hint="something has written it meanwhile") from None
    except OSError:  # a file system without links
        os.rename(made, path)  # noqa: PTH104


def _flush(made: str) -> None:
    """Wait until data are on the disk, before they get their name."""
    inside = [os.path.join(where, one) for where, _, names in os.walk(made) for one in names]  # noqa: PTH118
    for one in inside or [made]:
        opened = os.open(one, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
