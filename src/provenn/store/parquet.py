"""What Parquet files in the data folder hold, and whether it is what was written; nobody who wrote them is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from provenn.store.folder import DataFolder, StoredFile

__all__ = ["Contents", "contents", "damage"]

_BLOCK = 1 << 22
"""How many bytes are read at a time."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What the files of a folder hold.

    Parameters
    ----------
    files
        The files, by name, with the digests of their footers and of all their bytes.
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
            files.append(replace(one, footer=_footer(opened, one.size), digest=_digest(opened)))
    return Contents(tuple(files), rows, tuple(nulls))


def damage(folder: DataFolder, location: str, files: Sequence[StoredFile], *, deep: bool = False) -> str:
    """Return what is wrong with files that were written: one is missing, or is not what was written; or "".

    Parameters
    ----------
    folder
        The data folder.
    location
        Where in it.
    files
        What was written.
    deep
        Whether to read all bytes. Otherwise only the sizes and the footers are compared, which is quick.

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
            if deep and not _is_whole(opened, one):
                return f"{one.name} has other bytes than were written"
    return ""


def _is_whole(opened: Any, one: StoredFile) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Whether all bytes are as they were; of a file without a digest, whether all its pages can be read."""
    if one.digest:
        return _digest(opened) == one.digest
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - it takes a while to import

    try:
        for _ in ParquetFile(opened, page_checksum_verification=True).iter_batches():
            pass
    except (OSError, ValueError):  # pyarrow's, for checksums and values that are not what they should be
        return False
    return True


def _digest(opened: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    opened.seek(0)
    digest = sha256()
    while block := opened.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


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
