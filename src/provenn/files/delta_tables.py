"""Versions of Delta tables: the files of a version, and the versions that rewrote files without changing rows.

The library deltalake reads the log, with its checkpoints. What it does not tell, whether a version changed rows, is
read from the commits themselves. A table is refused by name if its rows are not simply those of its files: with
deletion vectors, with renamed or dropped columns (column mapping), and with features that are not known here.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from provenn.errors import BaseFilesError
from provenn.files.snapshots import (
    FileRewrite,
    LoggedRewrites,
    SnapshotFile,
    TableSnapshot,
    check_inside,
    convert_columns,
    lies_in_folder,
    make_library_error,
    make_log_error,
    make_version_error,
    refuse_feature,
)

__all__ = ["read_delta", "read_delta_rewrites"]

_COMMIT = re.compile(r"(\d{20})\.json")
_CHECKPOINT = re.compile(r"(\d{20})\.checkpoint\..*parquet|(\d{20})\.checkpoint\..*json")
_UNUSED_FEATURES = frozenset({"columnMapping", "deletionVectors", "variantType"})
"""Features for readers that change nothing as long as the table makes no use of them."""
_FEATURES = _UNUSED_FEATURES | {"timestampNtz", "v2Checkpoint", "vacuumProtocolCheck"}

_PARTITION_TYPES = frozenset({"string", "tinyint", "smallint", "int", "bigint", "date", "boolean"})
_LONGEST_COMMIT = 256 * 2**20


def read_delta(folder: str, version: int | None = None, when: datetime | None = None) -> TableSnapshot:
    """Return a version of a Delta table: the newest, the one with a number, or the newest at a time.

    Raises
    ------
    BaseFilesError
        If the log is damaged or leads out of the folder, there is no such version, or the rows of the version are not
        those of its files; the error names the reason.
    """
    try:
        import deltalake  # noqa: PLC0415 - an extra, which few need
    except ImportError as error:
        raise make_library_error("Delta", folder, "deltalake") from error
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import

    known = _list_versions(folder)
    if version is not None and version not in known:
        raise make_version_error("Delta", folder, str(version), known)
    try:
        table = deltalake.DeltaTable(folder, version=known[-1] if version is None else version)
        if when is not None:
            table.load_as_version(when)
        _refuse_features(folder, table)
        actions: list[dict[str, Any]] = pa.table(table.get_add_actions()).to_pylist()
        vectors = pa.table(table.deletion_vectors())
        schema = pa.schema(table.schema().to_arrow())
        partitions = tuple(table.metadata().partition_columns)
        number = table.version()
    except BaseFilesError:
        raise
    except BaseException as error:
        # Damage makes the library raise many errors, one of which (a panic of Rust) is no Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise make_log_error("Delta", folder, error) from error
    if vectors.num_rows:
        raise refuse_feature(
            "Delta",
            folder,
            f"has deletion vectors, in version {number} for {vectors.num_rows} of its files",
            "write the remaining rows into new files: REORG TABLE … APPLY (PURGE), or OPTIMIZE, and ingest it again",
        )
    columns = convert_columns(schema, f"the Delta table {folder}")
    types = {column.name: column.type.name for column in columns}
    for name in partitions:
        if types.get(name) not in _PARTITION_TYPES:
            raise refuse_feature(
                "Delta",
                folder,
                f"is partitioned by {name}, of the type {types.get(name)}",
                f"partition it by a column of one of the types {', '.join(sorted(_PARTITION_TYPES))}",
            )
    files = tuple(_make_file(folder, action, partitions) for action in actions)
    return TableSnapshot("Delta", folder, number, files, columns, partitions)


def _list_versions(folder: str) -> list[int]:
    """Return the versions that the log still has, in ascending order; refuse a log with gaps or links leading out."""
    log = Path(folder, "_delta_log")
    try:
        names = sorted(path.name for path in log.iterdir())
    except OSError as error:
        raise make_log_error("Delta", folder, error) from error
    for name in names:
        if not lies_in_folder(f"{log}/{name}", folder):
            raise make_log_error("Delta", folder, f"_delta_log/{name} is a link that leads out of the table")
    commits = sorted({int(match[1]) for match in map(_COMMIT.fullmatch, names) if match})
    checkpoints = sorted({int(match[1] or match[2]) for match in map(_CHECKPOINT.fullmatch, names) if match})
    if not commits and not checkpoints:
        raise make_log_error("Delta", folder, "_delta_log has neither commits nor checkpoints")
    for before, after in pairwise(commits):
        if after != before + 1 and not any(before < checkpoint for checkpoint in checkpoints):
            raise make_log_error("Delta", folder, f"the commit of version {before + 1} is missing")
    if commits and commits[0] > 0 and not any(checkpoint >= commits[0] - 1 for checkpoint in checkpoints):
        raise make_log_error("Delta", folder, f"the commit of version {commits[0] - 1} is missing")
    first = 0 if commits and commits[0] == 0 else min(checkpoints)
    return sorted({number for number in (*commits, *checkpoints) if number >= first})


def _refuse_features(folder: str, table: Any) -> None:  # noqa: ANN401 - deltalake is an extra
    """Refuse tables with features that provenn cannot read."""
    protocol, configuration = table.protocol(), table.metadata().configuration
    for feature in sorted({*(protocol.reader_features or ())} - _FEATURES):
        raise refuse_feature("Delta", folder, f"uses the feature {feature}, which provenn does not read", _COPY_HINT)
    if protocol.min_reader_version > 3:
        raise refuse_feature("Delta", folder, f"needs a reader of version {protocol.min_reader_version}", _COPY_HINT)
    if _has_variants(json.loads(table.schema().to_json())):
        raise refuse_feature("Delta", folder, "has a column of the type variant", _COPY_HINT)
    mode = configuration.get("delta.columnMapping.mode", "none")
    if mode != "none":
        raise refuse_feature(
            "Delta",
            folder,
            f"has columns whose names are not those in its files (column mapping by {mode})",
            _COPY_HINT,
        )


def _has_variants(part: object) -> bool:
    """Return whether a schema of Delta, or a part of it, has a value of the type variant."""
    match part:
        case dict():
            kinds = (part.get(word) for word in ("type", "elementType", "keyType", "valueType"))
            return "variant" in kinds or any(map(_has_variants, part.values()))
        case list():
            return any(map(_has_variants, part))
        case _:
            return False


_COPY_HINT = "write the rows into a table without it, or to Parquet, and ingest that"


def _make_file(folder: str, action: Mapping[str, Any], partitions: tuple[str, ...]) -> SnapshotFile:
    """Return a file that a version adds."""
    written = action["path"]
    name = check_inside(unquote(written), written, folder)
    values = action.get("partition") or {}
    return SnapshotFile(
        name, action["size_bytes"], tuple((column, _format_value(values.get(column))) for column in partitions)
    )


def _format_value(value: object) -> str | None:
    """Return the value of a partition column as the name of a folder has it."""
    match value:
        case None:
            return None
        case bool():
            return str(value).lower()
        case date():
            return value.isoformat()
        case _:
            return str(value)


def read_delta_rewrites(snapshot: TableSnapshot, since: int = 0) -> LoggedRewrites:
    """Return the versions after one, up to a snapshot, that rewrote files without changing rows, the latest first.

    A commit states for each file whether it changes data. By the protocol of Delta, the records of an added file with
    ``dataChange=false`` are those of removed files of the same commit, and the reverse. So the files that such a commit
    removed and added have the same rows, on the word of its writer; also for each value of the partition columns by
    itself, because these are columns of the rows. A commit with any file that changes data is left out. Commits that
    the log no longer keeps are not looked for.
    """
    rewrites: list[FileRewrite] = []
    for version in range(snapshot.version, since, -1):
        path = Path(snapshot.folder, "_delta_log", f"{version:020}.json")
        if not path.exists():
            return LoggedRewrites(tuple(rewrites), is_complete=False)
        rewrites.extend(_read_rewrites(snapshot.folder, path, version))
    return LoggedRewrites(tuple(rewrites))


def _read_rewrites(folder: str, path: Path, version: int) -> Iterator[FileRewrite]:
    removed: dict[str, set[str]] = defaultdict(set)
    added: dict[str, set[str]] = defaultdict(set)
    for action in _read_actions(folder, path):
        for word, files in (("remove", removed), ("add", added)):
            entry = action.get(word)
            if entry is None:
                continue
            values = entry.get("partitionValues")
            if entry.get("dataChange") is not False or entry.get("deletionVector") is not None or values is None:
                return
            files[json.dumps(values, sort_keys=True)].add(unquote(entry["path"]))
    for values in sorted(removed.keys() | added.keys()):
        if removed[values] and added[values]:
            yield FileRewrite(version, frozenset(removed[values]), frozenset(added[values]))


def _read_actions(folder: str, path: Path) -> Iterator[dict[str, Any]]:
    """Yield the actions of a commit."""
    if not lies_in_folder(str(path), folder) or path.stat().st_size > _LONGEST_COMMIT:
        raise make_log_error("Delta", folder, f"{path.name} is not a commit")
    try:
        actions = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
    except (OSError, ValueError) as error:
        raise make_log_error("Delta", folder, f"{path.name}: {error}") from error
    for action in actions:
        if not isinstance(action, dict):
            raise make_log_error("Delta", folder, f"{path.name}: expected an action, got {action!r}")
        yield action
