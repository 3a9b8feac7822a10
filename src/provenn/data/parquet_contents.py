"""The contents of Parquet files in the data folder, checked against the written contents; no writer is trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from provenn.files.data_folder import DataFolder, StoredFile

__all__ = ["ParquetContents", "digest_bytes", "digest_footer", "find_parquet_damage", "read_parquet_contents"]

_BLOCK = 1 << 22
"""The number of bytes to read at a time."""


@dataclass(frozen=True, slots=True)
class ParquetContents:
    """The contents of the Parquet files in a folder.

    Parameters
    ----------
    files
        The files, by name, with the digests of their footers and of all their bytes.
    rows
        The number of rows in all files.
    nulls
        The number of NULLs in each of the requested columns.
    """

    files: tuple[StoredFile, ...]
    rows: int
    nulls: tuple[int, ...]


def read_parquet_contents(folder: DataFolder, location: str, columns: int = 0) -> ParquetContents:
    """Open the Parquet files of a folder; return digests, rows and NULLs.

    Parameters
    ----------
    folder
        The data folder.
    location
        The path of the folder below the data folder.
    columns
        The number of columns, from the first, in which to count NULLs; these hold no lists or structs.

    Raises
    ------
    StoreError
        If a file cannot be read, or is not Parquet.
    """
    files, rows, nulls = [], 0, [0] * columns
    for file in folder.files(location):
        with folder.open_input_file(location, file.name) as opened:
            from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - importing takes a while

            parquet = ParquetFile(opened, page_checksum_verification=True)
            rows += parquet.metadata.num_rows
            for column in range(columns):
                nulls[column] += _count_nulls(parquet, column)
            files.append(replace(file, footer=digest_footer(opened, file.size), digest=digest_bytes(opened)))
    return ParquetContents(tuple(files), rows, tuple(nulls))


def find_parquet_damage(folder: DataFolder, location: str, files: Sequence[StoredFile], *, deep: bool = False) -> str:
    """Return the problem of written files, or "": a file is missing, or differs from the written file.

    Parameters
    ----------
    folder
        The data folder.
    location
        The path of the files below the data folder.
    files
        The files as they were written.
    deep
        Whether to read all bytes. Otherwise only the sizes and the footers are compared, which is quick.

    Raises
    ------
    StoreError
        If the folder cannot be read, so that the files cannot be judged.
    """
    sizes = {file.name: file.size for file in folder.files(location)}
    for file in files:
        if file.name not in sizes:
            return f"{file.name} is missing"
        if sizes[file.name] != file.size:
            return f"{file.name} has {sizes[file.name]:,} bytes, not {file.size:,}"
    for file in files:
        with folder.open_input_file(location, file.name) as opened:
            if digest_footer(opened, file.size) != file.footer:
                return f"{file.name} is another file of the same size"
            if deep and not _is_whole(opened, file):
                return f"{file.name} differs from the bytes that were written"
    return ""


def _is_whole(opened: Any, file: StoredFile) -> bool:  # noqa: ANN401 - pyarrow has no types
    """Whether all bytes have the recorded digest; without a digest, whether all pages can be read."""
    if file.digest:
        return digest_bytes(opened) == file.digest
    from pyarrow.parquet import ParquetFile  # noqa: PLC0415 - importing takes a while

    try:
        for _ in ParquetFile(opened, page_checksum_verification=True).iter_batches():
            pass
    except (OSError, ValueError):  # of pyarrow: wrong checksums or values
        return False
    return True


def digest_bytes(opened: Any) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return the SHA-256 of all bytes of an open file."""
    opened.seek(0)
    digest = sha256()
    while block := opened.read(_BLOCK):
        digest.update(block)
    return digest.hexdigest()


def _count_nulls(parquet: Any, column: int) -> int:  # noqa: ANN401 - pyarrow has no types
    """Return the number of NULLs in a column."""
    total = 0
    for group in range(parquet.metadata.num_row_groups):
        chunk = parquet.metadata.row_group(group).column(column)
        if chunk.statistics is not None and chunk.statistics.has_null_count:
            total += chunk.statistics.null_count
        else:  # statistics are left out for very long values
            name = parquet.schema_arrow.names[column]
            total += parquet.read_row_group(group, columns=[name]).column(0).null_count
    return total


def digest_footer(opened: Any, size: int) -> str:  # noqa: ANN401 - pyarrow has no types
    """Return the digest of a Parquet footer. The file ends with the footer, its length, and 4 letters."""
    opened.seek(max(0, size - 8))
    length = int.from_bytes(opened.read(8)[:4], "little")
    opened.seek(max(0, size - 8 - length))
    return sha256(opened.read()).hexdigest()
