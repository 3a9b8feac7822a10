"""Files appear complete or not at all: written to a hidden folder beside the target, and renamed.

A killed process leaves only the hidden folder behind; see `provenn.data.leftovers`.
"""

from __future__ import annotations

import os
from contextlib import suppress

from provenn.durable import publish_instead, publish_new, publish_over, set_aside
from provenn.errors import StoreError
from provenn.files.data_folder import DataFolder
from provenn.hints import Hint

__all__ = ["check_target", "publish"]


def check_target(parent: DataFolder, name: str, *, overwrite: bool) -> None:
    """Refuse a target without a parent folder, and an existing target unless `overwrite` is set."""
    with parent.open_filesystem() as (filesystem, path):
        kind = filesystem.get_file_info(path).type.name
        if filesystem.type_name in ("local", "hdfs") and kind != "Directory":
            problem = "does not exist" if kind == "NotFound" else "is not a folder"
            raise StoreError(f"{parent.location} {problem}", hint="create the folder first")
    with parent.open_filesystem(name) as (filesystem, path):
        if filesystem.get_file_info(path).type.name != "NotFound" and not overwrite:
            hint = Hint(
                "choose another name, or pass overwrite=True", command="choose another name, or add --overwrite"
            )
            raise StoreError(f"{parent.at(name)} already exists", hint=hint)


def publish(parent: DataFolder, temporary: str, name: str, *, overwrite: bool) -> None:
    """Rename the written result to its name; an earlier file or folder goes with the temporary folder."""
    with parent.open_filesystem(name) as (filesystem, path):
        result = f"{path.rpartition('/')[0]}/{temporary}/result"
        before = filesystem.get_file_info(path).type.name
        if not parent.is_local:
            if before != "NotFound":
                check_target(parent, name, overwrite=overwrite)
                parent.remove(name)
            filesystem.move(result, path)
            return
        if before == "File" and overwrite and os.path.isfile(result):  # noqa: PTH113 - a path of pyarrow's
            publish_over(result, path)
            return
        if before != "NotFound" and overwrite:
            if publish_instead(result, path):
                return
            set_aside(path, f"{result}-before")  # this system cannot exchange two folders at once
        try:
            publish_new(result, path)
        except BaseException as error:
            with suppress(OSError):
                set_aside(f"{result}-before", path)
            if isinstance(error, FileExistsError):
                raise StoreError(f"{path} already exists", hint="another process wrote it meanwhile") from None
            raise
