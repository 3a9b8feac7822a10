"""Columns with values from the names of folders, such as ``year=2026``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from provenn.criteria import Type, parse_type
from provenn.errors import BaseFilesError
from provenn.files.column_bounds import ColumnBounds, bound_folder_values
from provenn.files.columns import FileColumn
from provenn.files.folder_names import NO_VALUE, decode_escapes, split_folders
from provenn.files.listing import File

__all__ = ["bound_partition_columns", "find_partition_columns"]


def find_partition_columns(files: Sequence[File]) -> list[FileColumn]:
    """Return the columns with values from the names of folders; all files must lie in folders for the same columns.

    Raises
    ------
    BaseFilesError
        If files lie in folders for different columns, or a folder lacks the column or the value.
    """
    names = [name for name, _ in files[0].partitions]
    for file in files:
        if [name for name, _ in file.partitions] != names:
            raise BaseFilesError(
                f"{files[0].name} and {file.name} are in folders for different columns",
                hint="select files with a pattern, for example *.parquet",
            )
        if any("" in pair for pair in file.partitions):
            raise BaseFilesError(
                f"{file.name} is in a folder without the name or the value of a column, which Spark cannot read",
                hint=f"rename the folder; if values are missing, its value is {NO_VALUE}",
            )
        _refuse_separated_folders(file)
    written = [{decode_escapes(column): value for column, value in split_folders(file.name)} for file in files]
    return [
        FileColumn(name, _infer_partition_type([values[name] for values in written]), nullable=True) for name in names
    ]


def _refuse_separated_folders(file: File) -> None:
    """Refuse a file with a value in the name of a folder that Spark does not read: it lies above a plain folder."""
    folders = [folder for folder in file.name.split("/")[:-1] if "=" in folder]
    if file.partitions and len(folders) > len(split_folders(file.name)):
        raise BaseFilesError(
            f"{file.name} is in the folder {folders[0]}, whose value Spark does not read: a folder without a value "
            "lies between it and the next",
            hint="move the folders with values next to each other, or select files with a pattern: without these "
            "columns",
        )


def bound_partition_columns(files: Sequence[File], partitions: Sequence[FileColumn]) -> dict[str, ColumnBounds]:
    """Return the bounds of columns with values from the names of folders, by name."""
    return {
        column.name: bound_folder_values((dict(file.partitions)[column.name] for file in files), column.type)
        for column in partitions
    }


def _infer_partition_type(written: Sequence[str]) -> Type:
    """Return the type of values in names of folders: integers if all are, otherwise strings.

    The values are as they are written: Spark decodes the escapes of strings alone.
    """
    texts = [value for value in written if value != NO_VALUE]
    all_integers = texts and all(re.fullmatch(r"0|-?[1-9][0-9]{0,17}", value) for value in texts)
    return parse_type("bigint" if all_integers else "string")
