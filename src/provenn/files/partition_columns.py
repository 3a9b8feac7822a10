"""Columns with values from the names of folders, such as ``year=2026``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provenn.criteria import Type, parse_type
from provenn.errors import BaseFilesError
from provenn.files.column_bounds import ColumnBounds, bound_folder_values
from provenn.files.columns import FileColumn
from provenn.files.listing import File

__all__ = ["bound_partition_columns", "find_partition_columns"]


def find_partition_columns(files: Sequence[File]) -> list[FileColumn]:
    """Return the columns with values from the names of folders; all files must lie in folders for the same columns."""
    names = [name for name, _ in files[0].partitions]
    for file in files:
        if [name for name, _ in file.partitions] != names:
            raise BaseFilesError(
                f"{files[0].name} and {file.name} are in folders for different columns",
                hint="select files with a pattern, for example *.parquet",
            )
    values = zip(*(file.partitions for file in files), strict=True)
    return [
        FileColumn(name, _infer_partition_type([value for _, value in column]), nullable=True)
        for name, column in zip(names, values, strict=True)
    ]


def bound_partition_columns(files: Sequence[File], partitions: Sequence[FileColumn]) -> dict[str, ColumnBounds]:
    """Return the bounds of columns with values from the names of folders, by name."""
    return {
        column.name: bound_folder_values((dict(file.partitions)[column.name] for file in files), column.type)
        for column in partitions
    }


def _infer_partition_type(values: Sequence[str | None]) -> Type:
    """Return the type of values in names of folders: integers if all are, otherwise strings."""
    texts = [value for value in values if value is not None]
    all_integers = texts and all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", value) for value in texts)
    return parse_type("bigint" if all_integers else "string")
