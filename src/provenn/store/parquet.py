"""What Parquet files in the data folder hold, by their footers; nothing is taken on trust from who wrote them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from provenn.store.folder import DataFolder, StoredFile

__all__ = ["Contents", "contents", "damage"]


@dataclass(frozen=True, slots=True)
class Contents:
    """What the files of a folder hold.

    Parameters
    ----------
    files
        The files, by name, with the digests of their footers.
    rows
        How many rows they hold together.
    nulls
        How many NULLs there are in each of the columns that were asked for.
    """

    files: tuple[StoredFile, ...]
    rows: int
    nulls: tuple[int, ...]


def contents(folder: DataFolder, location: str, columns: int = 0) -> Contents:
    """Look into the Parquet files of a folder.

    Parameters
    ----------
    folder
        The data folder.
    location
        Where in it.
    columns
        In how many columns NULLs are to be counted, from the first; they hold no lists or structs.

    Raises
    ------
    StoreError
        If a file cannot be read, or is not Parquet.
    """
    files, rows, nulls = [], 0, [0] * columns
    for one in folder.files(location):
        with folder.reached(location, one.name) as (filesystem, path), filesystem.open_input_file(path) as opened:
            from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - it takes a while to import

            parquet = ParquetFile(opened)
            rows += parquet.metadata.num_rows
            for column in range(columns):
                nulls[column] += _nulls(parquet, column)
            files.append(replace(one, footer=_footer(opened, one.size)))
    return Contents(tuple(files), rows, tuple(nulls))


def damage(folder: DataFolder, location: str, files: Sequence[StoredFile]) -> str:
    """Return what is wrong with files that were written: one is missing, or has another size or footer; or "".

    Raises
    ------
    StoreError
        If the folder above cannot be looked at, so that nothing can be said of them.
    """
    there = {one.name: one.size for one in folder.files(location)}
    for one in files:
        if one.name not in there:
            return f"{one.name} is missing"
        if there[one.name] != one.size:
            return f"{one.name} has {there[one.name]:,} bytes, not {one.size:,}"
    for one in files:
        with folder.reached(location, one.name) as (filesystem, path), filesystem.open_input_file(path) as opened:
            if _footer(opened, one.size) != one.footer:
                return f"{one.name} is another file of the same size"
    return ""


def _nulls(parquet: Any, column: int) -> int:  # noqa: ANN401 - pyarrow has no types
    total = 0
    for group in range(parquet.metadata.num_row_groups):
        found = parquet.metadata.row_group(group).column(column)
        if found.statistics is not None and found.statistics.has_null_count:
            total += found.statistics.null_count
        else:  # where values are very long, statistics are left out
            name = parquet.schema_arrow.names[column]
            total += parquet.read_row_group(group, columns=[name]).column(0).null_count
    return total


def _footer(opened: Any, size: int) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return the digest of the footer of a Parquet file, which ends with the footer, its length, and 4 letters."""
    opened.seek(max(0, size - 8))
    length = int.from_bytes(opened.read(8)[:4], "little")
    opened.seek(max(0, size - 8 - length))
    return sha256(opened.read()).hexdigest()
