"""The columns of files, read without the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from provenn.criteria import Type
from provenn.errors import BaseFilesError
from provenn.files.column_bounds import ColumnBounds
from provenn.files.column_statistics import ColumnStatistics
from provenn.files.type_names import parse_spark_type

__all__ = [
    "METADATA_KEYS",
    "ColumnWithMetadata",
    "FileColumn",
    "FileContents",
    "build_metadata",
    "check_columns",
    "parse_schema",
]

METADATA_KEYS = ("unit", "description", "ucd")
"""The keys of the metadata of a column."""


class ColumnWithMetadata(Protocol):
    """A column or an attribute with metadata for people and tools; each is empty if unknown."""

    @property
    def unit(self) -> str:
        """The unit of the values."""

    @property
    def description(self) -> str:
        """The description of the values."""

    @property
    def ucd(self) -> str:
        """The UCD of the values."""


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of files.

    Parameters
    ----------
    name
        Its name.
    type
        Its type in Spark; a type without comparison in provenn is kept by name.
    nullable
        Whether a value can be missing.
    unit, description, ucd
        Metadata for people and tools; empty if unknown. A UCD is a word of the Virtual Observatory for what is
        measured, such as ``pos.eq.ra;meta.main``.
    """

    name: str
    type: Type
    nullable: bool
    unit: str = ""
    description: str = ""
    ucd: str = ""


@dataclass(frozen=True, slots=True)
class FileContents:
    """The description of a file by the file itself.

    Parameters
    ----------
    columns
        Its columns.
    rows
        The number of rows; None if unknown without reading the data.
    options
        Additional options needed to read the file.
    metadata
        The metadata of the table as a whole, by keyword: JSON values.
    statistics
        What the file states about the values of columns, by name.
    bounds
        The bounds of the values of columns that the file states, by name.
    file_bounds
        Of several files together: the bounds that each file states, in the order of the files.
    """

    columns: tuple[FileColumn, ...]
    rows: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    statistics: Mapping[str, ColumnStatistics] = field(default_factory=dict)
    bounds: Mapping[str, ColumnBounds] = field(default_factory=dict)
    file_bounds: tuple[Mapping[str, ColumnBounds], ...] = ()


def build_metadata(column: ColumnWithMetadata) -> dict[str, str]:
    """Return the unit, description and UCD of a column as metadata."""
    return {key: text for key in METADATA_KEYS if (text := getattr(column, key))}


def check_columns(columns: Sequence[FileColumn], file: str) -> tuple[FileColumn, ...]:
    """Return the columns if there are any and all names can be names of attributes."""
    if not columns:
        raise BaseFilesError(f"{file} has no columns")
    seen: set[str] = set()
    for name in (column.name for column in columns):
        if not name.strip() or not name.isprintable():
            raise BaseFilesError(f"{file} has a column named {name!r}", hint="rename it in the file")
        if name in seen:
            raise BaseFilesError(f"{file} has two columns {name}", hint="rename one in the file")
        seen.add(name)
    return tuple(columns)


def parse_schema(schema: Mapping[str, str]) -> tuple[FileColumn, ...]:
    """Return the columns declared by the user, for formats without column descriptions."""
    return tuple(FileColumn(name, parse_spark_type(text), nullable=True) for name, text in schema.items())
