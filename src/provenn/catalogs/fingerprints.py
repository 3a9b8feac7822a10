"""Fingerprints: what tells whether a file is still the same. A fingerprint says itself what it was made from.

==================== ==================================================================================
``blake3:…``         the digest of all bytes
``rows:…``           the digest of all rows, of a table that is not in files
``store:…``          what an object store vouches for: address, size, ETag and version of the object
``metadata:…``       size and footer of a Parquet file; of others size, time, and first and last 64 KiB
64 digits alone      the same, of an archive of format 0005 or older
==================== ==================================================================================

The name of a file and its folder are no part of it, so that a file may be moved; but the address of an object in a
store is, as its ETag means nothing for other objects. Values that the names of folders give are part of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Literal

from provenn.catalogs.digest import Json, canonical_json, content_digest
from provenn.catalogs.file_listing import File
from provenn.catalogs.hashing import HashMemory, ReadingProgress, hash_files
from provenn.errors import BaseFilesError

__all__ = ["ROWS", "Basis", "Caveat", "Trust", "basis_of", "fingerprints", "old_fingerprint"]

Trust = Literal["content", "metadata"]
"""What a user says of files: that all bytes are to be read wherever they lie; or that metadata alone are trusted."""

Basis = Literal["content", "store", "metadata", "unverified"]
"""What fingerprints were made from; "unverified" are those of older archives, which nobody has asked to trust."""

Caveat = Literal["metadata", "unverified", "late"]
"""What is taken on trust of files: that their metadata show every change, as the user says; the same, as nobody has
read all bytes yet; or that nothing changed between when an older version ingested them and when they were read."""

_EDGE = 64 * 1024
_AT_ONCE = 16
_CONTENT, _STORE, _METADATA = "blake3:", "store:", "metadata:"
ROWS = "rows:"


def basis_of(prints: Iterable[str]) -> Basis | None:
    """Return what fingerprints were made from: if several things, the weakest; None if there are no fingerprints.

    >>> basis_of(["blake3:00", "metadata:00"]), basis_of(["blake3:00", "0f"]), basis_of([])
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


def fingerprints(
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
        Their format.
    trust
        What the user trusts. By default all bytes are read, but for objects in a store that gives ETags or versions.
    memory, progress
        As for `provenn.catalogs.hashing.hash_files`.

    Raises
    ------
    BaseFilesError
        If a file cannot be read; or, where metadata are trusted, is not of this format.
    """
    if trust == "metadata":
        return {file.name: _METADATA + old_fingerprint(file, format) for file in files}
    vouched = {} if trust == "content" else _vouched(files)
    rest = [file for file in files if file.name not in vouched]
    digests = hash_files(rest, memory, progress)
    return vouched | {file.name: f"{_CONTENT}{digests[file.name]}{_partitions(file)}" for file in rest}


def _partitions(file: File) -> str:
    return f" {canonical_json(file.partitions)}" if file.partitions else ""


def _vouched(files: Sequence[File]) -> dict[str, str]:
    """Return fingerprints from what an object store says of its objects, by name, where it says enough."""
    if not files or files[0].local_path is not None:
        return {}
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        notes = pool.map(File.store_notes, files)
        found = {file.name: _store_fingerprint(file, said) for file, said in zip(files, notes, strict=True)}
    return {name: text for name, text in found.items() if text}


def _store_fingerprint(file: File, notes: dict[str, str]) -> str:
    """Return the fingerprint of an object; nothing if the store says neither an ETag nor a version.

    An ETag differs between two contents of the same object. What it is made from is the store's business (of some, it
    is the time), so that equal ETags of two objects show nothing: the address is part of the fingerprint.
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


def old_fingerprint(file: File, format: str) -> str:  # noqa: A002 - Spark's word
    """Return the fingerprint of a file made from its metadata, as archives of format 0005 and older have it.

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
