"""The columns of files: what each format tells of them without reading the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from provenn.catalogs.type_names import known_type
from provenn.criteria import Type
from provenn.errors import BaseFilesError

__all__ = ["Column", "Contents", "check_columns", "given_columns"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of files.

    Parameters
    ----------
    name
        Its name.
    type
        Its type, as Spark has it; one that provenn cannot compare is kept by its name.
    nullable
        Whether a value can be missing.
    unit, description, ucd
        For people and their tools; empty if nothing is known. A UCD is a word of the Virtual Observatory for what is
        measured, such as ``pos.eq.ra;meta.main``.
    """

    name: str
    type: Type
    nullable: bool
    unit: str = ""
    description: str = ""
    ucd: str = ""


@dataclass(frozen=True, slots=True)
class Contents:
    """What a file tells of itself.

    Parameters
    ----------
    columns
        Its columns.
    rows
        How many rows it has; None if only the data tell.
    options
        Options that are needed to read it, besides those that were given.
    metadata
        What it says of the table as a whole, by keyword: values as JSON has them.
    """

    columns: tuple[Column, ...]
    rows: int | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)


def check_columns(columns: Sequence[Column], file: str) -> tuple[Column, ...]:
    """Return columns if there are any and their names are fit to be names of attributes."""
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


def given_columns(schema: Mapping[str, str]) -> tuple[Column, ...]:
    """Return the columns of files that do not tell what they hold."""
    return tuple(Column(name, known_type(text), nullable=True) for name, text in schema.items())
