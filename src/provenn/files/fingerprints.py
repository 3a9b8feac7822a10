"""Fingerprints of files, to notice changes. The prefix of a fingerprint names the basis.

==================== ==================================================================================
``blake3:…``         the digest of all bytes
``rows:…``           the digest of all rows, for a table without files
``store:…``          the notes of an object store: address, size, ETag and version of the object
``metadata:…``       size and footer of a Parquet file; otherwise size, time, and first and last 64 KiB
64 digits alone      the same, from an archive of format 0005 or older
==================== ==================================================================================

The name and folder of a file are not part of the fingerprint, so a file may be moved. The address of an object in a
store is part, because an ETag is meaningless for a different object. Values from the names of folders are always part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Literal

from provenn.digests import Json, canonical_json, content_digest
from provenn.errors import BaseFilesError
from provenn.files.hashing import HashMemory, ReadingProgress, hash_files
from provenn.files.listing import File
from provenn.hints import NAME_FORMAT

__all__ = ["ROWS", "Basis", "Caveat", "Trust", "find_basis", "make_fingerprints", "make_old_fingerprint"]

Trust = Literal["content", "metadata"]
"""The user's choice for files: read all bytes wherever the files lie; or trust metadata alone."""

Basis = Literal["content", "store", "metadata", "unverified"]
"""The basis of fingerprints; "unverified" means metadata in older archives, which no user has chosen to trust."""

Caveat = Literal["metadata", "unverified", "late"]
"""An assumption about files. "metadata": metadata show every change, as the user says. "unverified": the same, as
provenn has not read all bytes yet. "late": nothing changed between ingestion by an older version and reading."""

_EDGE = 64 * 1024
_AT_ONCE = 16
_CONTENT, _STORE, _METADATA = "blake3:", "store:", "metadata:"
ROWS = "rows:"


def find_basis(prints: Iterable[str]) -> Basis | None:
    """Return the basis of fingerprints: the weakest if there are several, None without fingerprints.

    >>> find_basis(["blake3:00", "metadata:00"]), find_basis(["blake3:00", "0f"]), find_basis([])
    ('metadata', 'unverified', None)
    """
    weakest: Basis | None = None
    for text in prints:
        if text.startswith((_CONTENT, ROWS)):
            weakest = weakest or "content"
        elif text.startswith(_METADATA):
            return "metadata"
        elif text.startswith(_STORE):
            weakest = "store"
        else:
            return "unverified"
    return weakest


def make_fingerprints(
    files: Sequence[File],
    format: str,  # noqa: A002 - Spark's word
    trust: Trust | None = None,
    memory: HashMemory | None = None,
    progress: ReadingProgress | None = None,
) -> dict[str, str]:
    """Return the fingerprints of files, by name.

    Parameters
    ----------
    files
        The files.
    format
        The format.
    trust
        The user's choice. By default all bytes are read, except for objects in a store with ETags or versions.
    memory, progress
        As for `provenn.files.hashing.hash_files`.

    Raises
    ------
    BaseFilesError
        If a file cannot be read; or, with trusted metadata, does not have this format.
    """
    if trust == "metadata":
        return {file.name: _METADATA + make_old_fingerprint(file, format) for file in files}
    store_prints = {} if trust == "content" else _make_store_fingerprints(files)
    rest = [file for file in files if file.name not in store_prints]
    digests = hash_files(rest, memory, progress)
    return store_prints | {file.name: f"{_CONTENT}{digests[file.name]}{_format_partitions(file)}" for file in rest}


def _format_partitions(file: File) -> str:
    return f" {canonical_json(file.partitions)}" if file.partitions else ""


def _make_store_fingerprints(files: Sequence[File]) -> dict[str, str]:
    """Return fingerprints from the notes of an object store, by name, where the notes suffice."""
    if not files or files[0].local_path is not None:
        return {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        notes = pool.map(File.read_store_notes, files)
        prints = {
            file.name: _make_store_fingerprint(file, file_notes) for file, file_notes in zip(files, notes, strict=True)
        }
    return {name: text for name, text in prints.items() if text}


def _make_store_fingerprint(file: File, notes: dict[str, str]) -> str:
    """Return the fingerprint of an object; empty if the store gives neither an ETag nor a version.

    Different contents of the same object have different ETags. Each store makes ETags in a private manner (some from
    the time), so equal ETags of two objects prove nothing: the address is part of the fingerprint.
    """
    version = notes.get("versionid") or notes.get("generation") or ""
    if not notes.get("etag") and not version:
        return ""
    content: dict[str, Json] = {
        "address": file.address,
        "size": file.size,
        "etag": notes.get("etag", ""),
        "version": version,
        "partitions": file.partitions,
    }
    return _STORE + content_digest("object", content)


def make_old_fingerprint(file: File, format: str) -> str:  # noqa: A002 - Spark's word
    """Return the fingerprint of a file from metadata, as in archives of format 0005 and older.

    A Parquet file is identified by size and footer; the footer holds the position, size and statistics of all content.
    Any other file is identified by size, time of the last write, and first and last 64 KiB.

    Raises
    ------
    BaseFilesError
        If the file cannot be read, or does not have this format.
    """
    try:
        content: dict[str, Json] = _hash_footer(file) if format == "parquet" else _hash_edges(file)
    except OSError as error:
        raise BaseFilesError(f"{file.name} cannot be read: {error}") from error
    if file.partitions:
        content["partitions"] = file.partitions
    return content_digest("file", {"size": file.size, **content})


def _hash_footer(file: File) -> dict[str, Json]:
    # A Parquet file ends with the footer, its length in 4 bytes, and 4 letters.
    with file.open() as opened:
        opened.seek(max(0, file.size - 8))
        tail = opened.read(8)
        length = int.from_bytes(tail[:4], "little")
        if tail[4:] != b"PAR1" or length + 8 > file.size:
            raise BaseFilesError(f"{file.name} is not a Parquet file", hint=NAME_FORMAT)
        opened.seek(file.size - 8 - length)
        return {"footer": sha256(opened.read(length)).hexdigest()}


def _hash_edges(file: File) -> dict[str, Json]:
    with file.open() as opened:
        first = opened.read(_EDGE)
        opened.seek(max(0, file.size - _EDGE))
        last = opened.read(_EDGE)
    return {"modified": file.modified, "edges": sha256(first + last).hexdigest()}
