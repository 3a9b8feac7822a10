"""Recognising tables of Delta, Iceberg and Hudi, and refusing their files as plain files.

These tables have a log, and only the log says which rows still exist. Files read without the log include deleted rows.
The logs of Delta and Iceberg are read by `provenn.files.table_logs`, for the folder of a whole table.

=======  ==================================================================
Delta    ``_delta_log/`` in the folder of the table
Iceberg  ``metadata/v3.metadata.json``, or ``00003-<UUID>.metadata.json``
Hudi     ``.hoodie/`` in the folder of the table
=======  ==================================================================
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from provenn.errors import BaseFilesError

__all__ = ["ICEBERG_METADATA", "detect_table", "refuse_lakehouses"]

_LOGS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
ICEBERG_METADATA = re.compile(r"(v\d+|\d{5,}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.gz)?\.metadata\.json(\.gz)?")
"""The names of metadata files of Iceberg."""
_HINTS = {
    "Delta": "ingest the folder of the whole table, on a disk, without a pattern or a format: then its log is read",
    "Iceberg": "ingest the folder of the whole table, on a disk, without a pattern or a format: then its log is read",
    "Hudi": "write the current rows to Parquet, and ingest that file, for example with Spark and Hudi's reader",
}


def refuse_lakehouses(filesystem: Any, root: str, paths: Collection[str], inside: Iterable[str]) -> None:  # noqa: ANN401 - pyarrow has no types
    """Refuse files in a table of Delta, Iceberg or Hudi.

    Parameters
    ----------
    filesystem
        The file system of the files.
    root
        The folder of the search, or the folder of a single file.
    paths
        The paths of the files.
    inside
        The paths of all files and folders below the root.

    Raises
    ------
    BaseFilesError
        If a file lies in a table of this kind, at any depth.
    """
    for folder in dict.fromkeys(_iterate_folders_above(filesystem, root, paths)):
        kind = detect_table(filesystem, folder)
        if kind:
            raise _make_refusal(folder, kind)
    for folder, kind in sorted(_find_tables(inside).items()):
        if any(path.startswith(f"{folder}/") for path in paths):
            raise _make_refusal(folder, kind)


def _make_refusal(folder: str, kind: str) -> BaseFilesError:
    return BaseFilesError(
        f"{folder} is a table of {kind}, and its files also hold deleted rows",
        hint=_HINTS[kind],
    )


def _find_tables(inside: Iterable[str]) -> dict[str, str]:
    """Return the tables with logs among some paths: the kind of table by folder."""
    tables = {}
    for path in inside:
        folder, _, name = path.rpartition("/")
        if name in _LOGS:
            tables[folder] = _LOGS[name]
        elif folder.rpartition("/")[2] in _LOGS:  # an object store may list no folders
            tables[folder.rpartition("/")[0]] = _LOGS[folder.rpartition("/")[2]]
        elif folder.rpartition("/")[2] == "metadata" and ICEBERG_METADATA.fullmatch(name):
            tables[folder.rpartition("/")[0]] = "Iceberg"
    return tables


def _iterate_folders_above(filesystem: Any, root: str, paths: Collection[str]) -> Iterator[str]:  # noqa: ANN401 - pyarrow has no types
    """Yield the root and all folders above; on disk also the folders above the targets of links."""
    places = {root}
    if filesystem.type_name == "local":
        places |= {os.path.realpath(folder) for folder in {os.path.dirname(path) for path in paths}}  # noqa: PTH120
        places |= {os.path.dirname(os.path.realpath(path)) for path in paths if os.path.islink(path)}  # noqa: PTH114, PTH120
    for place in sorted(places):
        folder = place.rstrip("/")
        while folder:
            yield folder
            folder = folder.rpartition("/")[0]


def detect_table(filesystem: Any, folder: str) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return the kind of table in a folder; empty for no table."""
    from pyarrow import fs  # noqa: PLC0415 - it takes a while to import, and only files need it

    wanted = [*(f"{folder}/{name}" for name in _LOGS), f"{folder}/metadata"]
    try:
        *logs, metadata = filesystem.get_file_info(wanted)
        for info, kind in zip(logs, _LOGS.values(), strict=True):
            if info.type == fs.FileType.Directory:
                return kind
        if metadata.type == fs.FileType.Directory:
            entries = filesystem.get_file_info(fs.FileSelector(metadata.path))
            return "Iceberg" if any(ICEBERG_METADATA.fullmatch(info.base_name) for info in entries) else ""
    except OSError:  # a folder above without permission to read
        return ""
    return ""
