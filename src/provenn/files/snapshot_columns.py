"""The columns of a version of a table, compared with the columns of its files.

Spark reads a column of Parquet by its name, and gives NULL where a file lacks it. That is right for a column that was
added later. It is wrong for a column that was renamed, dropped and added again, or whose type became wider: then the
names or types of the files and the log differ, and the table is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from provenn.files.column_bounds import ColumnBounds, bound_folder_values, join_bounds
from provenn.files.column_statistics import join_statistics
from provenn.files.columns import FileColumn, FileContents
from provenn.files.listing import File
from provenn.files.parquet_columns import read_parquet_columns
from provenn.files.snapshots import TableSnapshot, refuse_feature
from provenn.files.table_metadata import clean_metadata, find_common_metadata

__all__ = ["read_snapshot_contents"]

_REWRITE_HINT = "write its rows into new files with the present columns, by a compaction, and ingest it again"

_WHOLE = ("int", "bigint")
_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,8}")
"""A whole number in the name of a folder that every reader takes for the same, and that fits all these types."""


def read_snapshot_contents(snapshot: TableSnapshot, files: Sequence[File]) -> FileContents:
    """Return the columns of a version of a table, partition columns last, and what its files say of themselves.

    Raises
    ------
    BaseFilesError
        If a file cannot be read, or its columns are not those of the table by name and type.
    """
    contents_by_name: dict[str, FileContents] = {}
    for file in files:
        with file.open() as opened:
            contents_by_name[file.name] = read_parquet_columns(opened, file.name)
        if snapshot.kind == "Iceberg":
            _check_field_ids(snapshot, file)
    columns = [
        _find_column(snapshot, column, contents_by_name)
        for column in snapshot.columns
        if column.name not in snapshot.partitions
    ]
    for name, contents in contents_by_name.items():
        for column in contents.columns:
            if column.name in snapshot.partitions:
                raise refuse_feature(
                    snapshot.kind,
                    snapshot.folder,
                    f"has the partition column {column.name} also in the file {name}",
                    _REWRITE_HINT,
                )
    partitions = [replace(column, nullable=True) for column in snapshot.columns if column.name in snapshot.partitions]
    everywhere = {
        column.name
        for column in columns
        if all(column.name in {own.name for own in contents.columns} for contents in contents_by_name.values())
    }
    rows = [contents.rows for contents in contents_by_name.values()]
    options: dict[str, str] = {}
    for contents in contents_by_name.values():
        options |= contents.options
    statistics = join_statistics([contents.statistics for contents in contents_by_name.values()])
    file_bounds = tuple(_bound_file(file, contents_by_name[file.name], columns, partitions) for file in files)
    return FileContents(
        (*columns, *partitions),
        None if None in rows else sum(filter(None, rows)),
        options,
        find_common_metadata([clean_metadata(contents.metadata) for contents in contents_by_name.values()]),
        # A file without a column has NULL for it, which the statistics of other files do not count.
        {name: column_statistics for name, column_statistics in statistics.items() if name in everywhere},
        join_bounds(file_bounds),
        file_bounds,
    )


def _bound_file(
    file: File, contents: FileContents, columns: Sequence[FileColumn], partitions: Sequence[FileColumn]
) -> dict[str, ColumnBounds]:
    """Return the bounds of all columns in a file, as the file is read.

    Sound: a column that the file lacks is read as NULL; a partition column is read from the name of the folder.
    """
    own = {column.name for column in contents.columns}
    folders = dict(file.partitions)
    missing = ColumnBounds(has_values=False)
    bounds = {
        column.name: contents.bounds.get(column.name, ColumnBounds()) if column.name in own else missing
        for column in columns
    }
    for column in partitions:
        value = folders.get(column.name)
        is_understood = column.type.name == "string" or (
            column.type.name in _WHOLE and (value is None or _NUMBER.fullmatch(value))
        )
        is_stated = column.name in folders and bool(is_understood)
        bounds[column.name] = bound_folder_values([value], column.type) if is_stated else ColumnBounds()
    return bounds


def _find_column(
    snapshot: TableSnapshot, column: FileColumn, contents_by_name: Mapping[str, FileContents]
) -> FileColumn:
    """Return a column as the files describe it; refuse a type that differs from the type of the table."""
    described, is_nullable = column, False
    for name, contents in contents_by_name.items():
        own = {file_column.name: file_column for file_column in contents.columns}.get(column.name)
        if own is None and column.name in snapshot.unread:
            raise refuse_feature(
                snapshot.kind,
                snapshot.folder,
                f"has the values of its partition column {column.name} in the log, and not in the file {name}",
                _REWRITE_HINT,
            )
        if own is not None and own.type != column.type:
            raise refuse_feature(
                snapshot.kind,
                snapshot.folder,
                f"has the column {column.name} as a {column.type}, and as a {own.type} in the file {name}",
                _REWRITE_HINT,
            )
        is_nullable |= own is None or own.nullable
        described = own or described
    return replace(described, nullable=is_nullable)


def _check_field_ids(snapshot: TableSnapshot, file: File) -> None:
    """Refuse a file whose fields are not those of the table under the same names, by the numbers of Iceberg."""
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    from provenn.files.iceberg_tables import collect_field_ids  # noqa: PLC0415 - few files have a log

    by_path = dict(snapshot.field_ids)
    by_number = {number: path for path, number in snapshot.field_ids}
    with file.open() as opened:
        own = list(collect_field_ids(parquet.ParquetFile(opened).schema_arrow))
    for path, number in own:
        present = by_number.get(number)
        if number == -1 and path.partition(".")[0] in by_path:
            problem = f"has the file {file.name}, whose column {path} has no number"
        elif present is not None and present != path:
            problem = f"has renamed {path}, as the file {file.name} has it, to {present}"
        elif path in by_path and by_path[path] != number:
            problem = f"has dropped the column {path} of the file {file.name}, and added another of that name"
        else:
            continue
        raise refuse_feature(snapshot.kind, snapshot.folder, problem, _REWRITE_HINT)
