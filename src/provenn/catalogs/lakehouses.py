"""Tables of Delta, Iceberg and Hudi, which must not be read as the plain files that they consist of.

Such a table has a log, and only the log tells which of its files hold rows that are still there. Read without it, files
give deleted rows as well.

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

__all__ = ["refuse_lakehouses"]

_LOGS = {"_delta_log": "Delta", ".hoodie": "Hudi"}
_ICEBERG = re.compile(r"(v\d+|\d{5,}-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.gz)?\.metadata\.json(\.gz)?")
_HINTS = {
    "Delta": 'write the rows that are there to Parquet, and ingest that: deltalake.DeltaTable("…").to_pyarrow_table()',
    "Iceberg": "write the rows that are there to Parquet, and ingest that: pyiceberg's table.scan().to_arrow()",
    "Hudi": "write the rows that are there to Parquet, and ingest that, for example with Spark and Hudi's reader",
}


def refuse_lakehouses(filesystem: Any, root: str, paths: Collection[str], inside: Iterable[str]) -> None:  # noqa: ANN401 - pyarrow has no types
    """Refuse files that belong to a table of Delta, Iceberg or Hudi.

    Parameters
    ----------
    filesystem
        Where they are.
    root
        The folder below which they were looked for, or the folder of the only one.
    paths
        The paths of the files.
    inside
        The paths of all files and folders below the root.

    Raises
    ------
    BaseFilesError
        If a file lies in such a table, at whatever depth.
    """
    for folder in dict.fromkeys(_folders_above(filesystem, root, paths)):
        kind = _table_at(filesystem, folder)
        if kind:
            raise _refusal(folder, kind)
    for folder, kind in sorted(_tables(inside).items()):
        if any(path.startswith(f"{folder}/") for path in paths):
            raise _refusal(folder, kind)


def _refusal(folder: str, kind: str) -> BaseFilesError:
    return BaseFilesError(
        f"{folder} is a table of {kind}, whose files hold rows that are deleted as well as those that are there",
        hint=_HINTS[kind],
    )


def _tables(inside: Iterable[str]) -> dict[str, str]:
    """Return the folders of tables of which the logs are among some paths, and what kind of table each is."""
    tables = {}
    for path in inside:
        folder, _, name = path.rpartition("/")
        if name in _LOGS:
            tables[folder] = _LOGS[name]
        elif folder.rpartition("/")[2] in _LOGS:  # an object store may have no folders
            tables[folder.rpartition("/")[0]] = _LOGS[folder.rpartition("/")[2]]
        elif folder.rpartition("/")[2] == "metadata" and _ICEBERG.fullmatch(name):
            tables[folder.rpartition("/")[0]] = "Iceberg"
    return tables


def _folders_above(filesystem: Any, root: str, paths: Collection[str]) -> Iterator[str]:  # noqa: ANN401 - pyarrow has no types
    """Yield the root and all folders above it; on disk also those above the places to which links lead."""
    places = {root}
    if filesystem.type_name == "local":
        places |= {os.path.realpath(folder) for folder in {os.path.dirname(path) for path in paths}}  # noqa: PTH120
        places |= {os.path.dirname(os.path.realpath(path)) for path in paths if os.path.islink(path)}  # noqa: PTH114, PTH120
    for place in sorted(places):
        folder = place.rstrip("/")
        while folder:
            yield folder
            folder = folder.rpartition("/")[0]


def _table_at(filesystem: Any, folder: str) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return what kind of table lies in a folder; nothing if none does."""
    from pyarrow import fs  # noqa: PLC0415 - it takes a while to import, and only files need it

    wanted = [*(f"{folder}/{name}" for name in _LOGS), f"{folder}/metadata"]
    try:
        *logs, metadata = filesystem.get_file_info(wanted)
        for info, kind in zip(logs, _LOGS.values(), strict=True):
            if info.type == fs.FileType.Directory:
                return kind
        if metadata.type == fs.FileType.Directory:
            entries = filesystem.get_file_info(fs.FileSelector(metadata.path))
            return "Iceberg" if any(_ICEBERG.fullmatch(info.base_name) for info in entries) else ""
    except OSError:  # a folder above that may not be looked at
        return ""
    return ""
