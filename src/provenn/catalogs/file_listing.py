"""Which files a location means: a file, a folder or a glob, on disk or wherever pyarrow can look."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote

from provenn.catalogs.lakehouses import refuse_lakehouses
from provenn.errors import BaseFilesError, FilesMissingError, did_you_mean

__all__ = ["File", "absolute", "listed"]

_OBJECT_STORES = ("s3", "gcs", "abfs")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class File:
    """One file.

    Parameters
    ----------
    name
        Its path below the location; its own name if it is the location.
    size
        Its length in bytes.
    modified
        When it was last written, in nanoseconds.
    partitions
        Values that the names of the folders above it give, as in ``year=2026``.
    address
        Its path or URI; nothing in it is escaped.
    """

    name: str
    size: int
    modified: int | None
    partitions: tuple[tuple[str, str | None], ...]
    address: str
    _path: str = field(repr=False)
    _filesystem: Any = field(repr=False, compare=False)  # pyarrow has no types

    @property
    def local_path(self) -> str | None:
        """Its path, if it is on a disk of this machine or on one that is mounted here; otherwise None."""
        return self._path if self._filesystem.type_name == "local" else None

    def store_notes(self) -> dict[str, str]:
        """Return what an object store says of it, by lower-case name: etag, version and others; nothing elsewhere."""
        if self._filesystem.type_name not in _OBJECT_STORES:
            return {}
        try:
            with self._filesystem.open_input_file(self._path) as opened:
                notes = opened.metadata() or {}
        except OSError as error:
            raise BaseFilesError(f"{self.name} cannot be opened: {error}") from error
        return {key.lower(): value.decode("utf-8", "replace") for key, value in notes.items()}

    @contextmanager
    def open(self, *, decompressed: bool = False) -> Iterator[IO[bytes]]:
        """Open it for reading, as a stream if it is to be decompressed."""
        try:
            if decompressed:
                opened = self._filesystem.open_input_stream(self._path, compression="detect")
            else:
                opened = self._filesystem.open_input_file(self._path)
        except OSError as error:
            raise BaseFilesError(f"{self.name} cannot be opened: {error}") from error
        with opened:
            yield opened


def absolute(location: str | PathLike[str]) -> str:
    """Return a path as it is understood from everywhere; a URI as it is."""
    text = fspath(location)
    return text if "://" in text else str(Path(text).expanduser().absolute())


def listed(location: str) -> list[File]:
    """Return the files at a location, by name; those whose name or folder begins with ``_`` or ``.`` are none.

    Raises
    ------
    FilesMissingError
        If there are none.
    BaseFilesError
        If the location cannot be looked at, or the files belong to a table of Delta, Iceberg or Hudi.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only files need it
    from pyarrow import fs  # noqa: PLC0415

    try:
        filesystem, path = fs.FileSystem.from_uri(location)
        info = filesystem.get_file_info(path)
        if info.type == fs.FileType.File:
            refuse_lakehouses(filesystem, path.rpartition("/")[0], [path], ())
            return [_file(info, path.rpartition("/")[2], filesystem, location)]
        if info.type == fs.FileType.Directory:
            root, pattern = path, re.compile(".*", re.DOTALL)
        elif has_magic(path):
            root, pattern = _globbed(path)
        else:
            root, pattern = path, None
        inside = filesystem.get_file_info(fs.FileSelector(root, allow_not_found=True, recursive=True))
    except (pa.ArrowException, OSError, re.error) as error:
        raise BaseFilesError(f"{location} cannot be looked at: {error}") from error
    if pattern is None:
        raise FilesMissingError(f"there is nothing at {location}", hint=_nearby(location))
    start = len(root.rstrip("/")) + 1
    chosen = [
        one
        for one in inside
        if one.type == fs.FileType.File
        and not re.search(r"(^|/)[_.]", one.path[start:])
        and pattern.fullmatch(one.path[start:])
    ]
    refuse_lakehouses(filesystem, root, [one.path for one in chosen], (one.path for one in inside))
    if not chosen:
        raise FilesMissingError(f"there are no files at {location}")
    folders = info.type == fs.FileType.Directory
    files = [_file(one, one.path[start:], filesystem, location, folders=folders) for one in chosen]
    return sorted(files, key=lambda one: one.name)


def _file(info: Any, name: str, filesystem: Any, location: str, *, folders: bool = False) -> File:  # noqa: ANN401 - no types
    scheme, is_uri, rest = location.partition("://")
    host = rest.partition("/")[0] if info.path.startswith("/") else ""
    address = f"{scheme}://{host}{info.path}" if is_uri else info.path
    return File(name, info.size, info.mtime_ns, _partitions(name) if folders else (), address, info.path, filesystem)


def _partitions(name: str) -> tuple[tuple[str, str | None], ...]:
    pairs = (folder.partition("=") for folder in name.split("/")[:-1])
    return tuple(
        (unquote(column), None if value == _NO_VALUE else unquote(value)) for column, equals, value in pairs if equals
    )


def _globbed(path: str) -> tuple[str, re.Pattern[str]]:
    """Return the folder in which a glob begins, and the pattern of what lies below it; of a folder, all in it."""
    parts = path.split("/")
    first = next(place for place, part in enumerate(parts) if has_magic(part))
    *folders, last = parts[first:]
    pattern = "".join("(.*/)?" if part == "**" else _part_pattern(part) + "/" for part in folders)
    return "/".join(parts[:first]) or "/", re.compile(f"{pattern}{_part_pattern(last)}(/.*)?", re.DOTALL)


def _part_pattern(part: str) -> str:
    pieces = re.split(r"(\*+|\?|\[!?[^\]]+\])", part)
    return "".join(
        re.escape(piece) if place % 2 == 0 else {"*": "[^/]*", "?": "[^/]"}.get(piece[0]) or _class_pattern(piece)
        for place, piece in enumerate(pieces)
    )


def _class_pattern(piece: str) -> str:
    """Return the pattern of one of several characters, ``[ab]`` or ``[!ab]``."""
    inside = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"


def _nearby(location: str) -> str:
    path = Path(location)
    near = [one.name for one in path.parent.iterdir()] if "://" not in location and path.parent.is_dir() else []
    return did_you_mean(path.name, near)
