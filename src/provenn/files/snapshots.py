"""Snapshots of tables of Delta and Iceberg: the files that hold the rows of a version, as the log of the table states.

A table is a folder with a log. The log says which Parquet files hold the rows of each version, so that a version is a
set of files, and everything that holds for sets of files holds for versions of tables. What the files alone do not
tell (row-level deletes, renamed columns) is refused by name, in `provenn.files.delta_tables` and
`provenn.files.iceberg_tables`.
"""

from __future__ import annotations

import io
import os.path
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from provenn.errors import BaseFilesError
from provenn.files.columns import FileColumn
from provenn.files.parquet_columns import read_parquet_columns

__all__ = [
    "FileRewrite",
    "LoggedRewrites",
    "SharedFiles",
    "SnapshotFile",
    "TableKind",
    "TableSnapshot",
    "check_inside",
    "convert_columns",
    "find_shared_files",
    "lies_in_folder",
    "make_library_error",
    "make_log_error",
    "make_version_error",
    "read_table_note",
    "refuse_feature",
]

TableKind = Literal["Delta", "Iceberg"]
"""The kinds of tables whose logs are read."""


@dataclass(frozen=True, slots=True)
class SnapshotFile:
    """A data file of a snapshot.

    Parameters
    ----------
    name
        Its path below the folder of the table.
    size
        Its length in bytes, as the log states.
    partitions
        The values of the partition columns that are not in the file, as texts, in the order of the columns.
    """

    name: str
    size: int
    partitions: tuple[tuple[str, str | None], ...] = ()


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """A version of a table, as its log states.

    Parameters
    ----------
    kind
        The kind of table.
    folder
        The folder of the table.
    version
        The number of the version in Delta, the number of the snapshot in Iceberg.
    files
        The data files; no other file has rows of this version.
    columns
        The columns of the table. Files that lack one of them have NULL for it.
    partitions
        The columns whose values are not in the files, but in the log.
    field_ids
        The number of each field by path, for Iceberg, which identifies fields by number: ``position.ra``.
    unread
        The columns that a file may lack for another reason than NULL, so that such a file is refused.
    """

    kind: TableKind
    folder: str
    version: int
    files: tuple[SnapshotFile, ...] = field(repr=False)
    columns: tuple[FileColumn, ...] = field(repr=False)
    partitions: tuple[str, ...] = ()
    field_ids: tuple[tuple[str, int], ...] = ()
    unread: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.kind} {self.version}"

    @property
    def names(self) -> frozenset[str]:
        """The names of the data files."""
        return frozenset(file.name for file in self.files)


@dataclass(frozen=True, slots=True)
class FileRewrite:
    """A version that wrote the rows of some files into others, without changing rows: a compaction.

    Parameters
    ----------
    version
        The version that did so.
    removed, added
        The names of the files before and after.
    """

    version: int
    removed: frozenset[str]
    added: frozenset[str]


@dataclass(frozen=True, slots=True)
class LoggedRewrites:
    """The rewrites that the log of a table still keeps.

    Parameters
    ----------
    rewrites
        The rewrites, the latest first.
    is_complete
        Whether the log keeps all versions that may have rewritten the files in question.
    """

    rewrites: tuple[FileRewrite, ...] = ()
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class SharedFiles:
    """The files of an earlier version that hold rows of a snapshot, besides the files of the snapshot itself.

    Parameters
    ----------
    names
        The names of files that together have exactly the rows of the snapshot.
    rewrites
        The versions of the log, in descending order, on whose word these are the rows of the snapshot.
    replaced
        The files of the earlier version, each with the files of the snapshot that have their rows; the version is the
        latest on whose word this is so.
    """

    names: frozenset[str]
    rewrites: tuple[int, ...] = ()
    replaced: tuple[FileRewrite, ...] = ()


def find_shared_files(names: Collection[str], rewrites: Sequence[FileRewrite], earlier: Collection[str]) -> SharedFiles:
    """Return files with the rows of a snapshot, as many of them as possible from an earlier version.

    A rewrite replaced files by others with the same rows. So where all its new files are in the snapshot, the former
    files have the same rows. Former files that were themselves written by a rewrite are followed further back. A
    rewrite is undone only if this leads to files of the earlier version alone.

    Parameters
    ----------
    names
        The names of the files of the snapshot.
    rewrites
        The rewrites, the latest first.
    earlier
        The names of the files of the earlier version.

    Examples
    --------
    >>> rewrite = FileRewrite(3, frozenset({"a", "b"}), frozenset({"ab"}))
    >>> sorted(find_shared_files({"ab", "c"}, [rewrite], {"a", "b"}).names)
    ['a', 'b', 'c']
    >>> find_shared_files({"ab", "c"}, [rewrite], {"a"}).rewrites
    ()
    """
    current = frozenset(names)
    undone: list[int] = []
    replaced: list[FileRewrite] = []
    for place, rewrite in enumerate(rewrites):
        if not rewrite.added or not rewrite.added <= current or rewrite.added & frozenset(earlier):
            continue
        former, versions = rewrite.removed, [rewrite.version]
        for older in rewrites[place + 1 :]:
            if older.added and older.added <= former and not older.added & frozenset(earlier):
                former, versions = former - older.added | older.removed, [*versions, older.version]
        if former <= frozenset(earlier):
            current, undone = current - rewrite.added | former, [*undone, *versions]
            replaced.append(FileRewrite(rewrite.version, former, rewrite.added))
    return SharedFiles(current, tuple(sorted({*undone}, reverse=True)), tuple(replaced))


def check_inside(name: str, written: str, folder: str) -> str:
    """Return the path of a file below the folder of its table.

    Parameters
    ----------
    name
        The path, without escapes.
    written
        The path as the log has it.
    folder
        The folder of the table.

    Raises
    ------
    BaseFilesError
        If the path leads out of the folder, or is one that Spark does not read.
    """
    parts = name.split("/")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", written) or name.startswith("/") or not name or {"..", ""} & {*parts}:
        raise BaseFilesError(
            f"the log of {folder} names a file outside the folder of the table: {written}",
            hint="only files below that folder are read: copy the table with all its files into one folder",
        )
    if any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in parts):
        raise BaseFilesError(
            f"the log of {folder} names the file {name}, and Spark does not read names that begin with _ or .",
            hint="write the table again, for example by a compaction",
        )
    return name


def convert_columns(schema: Any, what: str) -> tuple[FileColumn, ...]:  # noqa: ANN401 - pyarrow has no types
    """Return the columns of a schema of Arrow, exactly as those of a Parquet file with this schema."""
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import
    from pyarrow import parquet  # noqa: PLC0415

    written = io.BytesIO()
    try:
        parquet.write_table(schema.empty_table(), written)
    except pa.ArrowException as error:
        raise BaseFilesError(f"{what} has a column of a type that Parquet does not have: {error}") from error
    return read_parquet_columns(io.BytesIO(written.getvalue()), what).columns


def refuse_feature(kind: TableKind, folder: str, feature: str, hint: str) -> BaseFilesError:
    """Return the error about a table with something that the data files alone do not tell."""
    return BaseFilesError(f"the {kind} table {folder} {feature}", hint=hint)


def make_log_error(kind: TableKind, folder: str, problem: object) -> BaseFilesError:
    """Return the error about a log that cannot be read."""
    text = " ".join(str(problem).split())
    return BaseFilesError(
        f"the log of the {kind} table {folder} cannot be read: {text[:500]}",
        hint="restore the log from a backup, or repair the table with the program that wrote it",
    )


def make_version_error(kind: TableKind, folder: str, wanted: str, known: Iterable[int]) -> BaseFilesError:
    """Return the error about a version that a table does not have."""
    versions = [str(version) for version in known]
    shown = ", ".join(versions[-10:])
    more = f"the last of {len(versions)} are {shown}" if len(versions) > 10 else f"there are {shown}"
    return BaseFilesError(
        f"the {kind} table {folder} has no version {wanted}",
        hint=more if versions else "its log keeps no version: ingest the table when it has rows",
    )


def make_library_error(kind: TableKind, folder: str, library: str) -> BaseFilesError:
    """Return the error about a library that is not installed."""
    return BaseFilesError(
        f"{folder} is a table of {kind}, and reading its log needs {library}, which is not installed",
        hint="pip install 'provenn[lakehouse]'",
    )


def read_table_note(notes: Mapping[str, object]) -> str:
    """Return the kind of table and the version in the notes of files; empty if the notes have none, or junk.

    >>> read_table_note({"table": "Delta 3"}), read_table_note({"table": "Delta"}), read_table_note({})
    ('Delta 3', '', '')
    """
    note = notes.get("table")
    return note if isinstance(note, str) and re.fullmatch(r"(Delta|Iceberg) \d{1,20}", note) else ""


def lies_in_folder(path: str, folder: str) -> bool:
    """Whether a path on disk lies in a folder, after links are followed."""
    root = os.path.realpath(folder)
    return os.path.commonpath([root, os.path.realpath(path)]) == root
