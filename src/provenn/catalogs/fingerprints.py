"""Fingerprints: what tells, without reading all of it, whether a file is still the same.

The name of a file and its folder are no part of it, so that a file may be moved; values that are read from the names
of folders are.
"""

from __future__ import annotations

from hashlib import sha256

from provenn.catalogs.digest import Json, content_digest
from provenn.catalogs.file_listing import File
from provenn.errors import BaseFilesError

__all__ = ["fingerprint"]

_EDGE = 64 * 1024


def fingerprint(file: File, format: str) -> str:  # noqa: A002 - Spark's word
    """Return the fingerprint of a file.

    A Parquet file is known by its size and its footer, which holds the place, size and statistics of all it contains.
    Any other file is known by its size, the time it was last written, and its first and last 64 KiB.

    Raises
    ------
    BaseFilesError
        If it cannot be read, or is not of this format.
    """
    try:
        content: dict[str, Json] = _footer(file) if format == "parquet" else _edges(file)
    except OSError as error:
        raise BaseFilesError(f"{file.name} cannot be read: {error}") from error
    if file.partitions:
        content["partitions"] = file.partitions
    return content_digest("file", {"size": file.size, **content})


def _footer(file: File) -> dict[str, Json]:
    # A Parquet file ends with the footer, its length in 4 bytes, and 4 letters.
    with file.open() as opened:
        opened.seek(max(0, file.size - 8))
        tail = opened.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != b"PAR1" or length + 8 > file.size:
            raise BaseFilesError(f"{file.name} is not a Parquet file", hint="say what it is with format=")
        opened.seek(file.size - 8 - length)
        return {"footer": sha256(opened.read(length)).hexdigest()}


def _edges(file: File) -> dict[str, Json]:
    with file.open() as opened:
        first = opened.read(_EDGE)
        opened.seek(max(0, file.size - _EDGE))
        last = opened.read(_EDGE)
    return {"modified": file.modified, "edges": sha256(first + last).hexdigest()}
