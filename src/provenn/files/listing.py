"""The files at a location: a file, a folder or a glob, on disk or on any file system of pyarrow."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from glob import has_magic
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from provenn.errors import BaseFilesError, FilesMissingError, ProvennError, did_you_mean
from provenn.files.folder_names import read_folder_values
from provenn.files.lakehouses import refuse_lakehouses
from provenn.gate.expansion import BoundedStream
from provenn.gate.local_paths import expand_home

__all__ = [
    "File",
    "choose_files",
    "choose_known_files",
    "list_file_names",
    "list_files",
    "list_named_files",
    "make_absolute",
]

_UNLISTED_HINT = "check that the place exists, and that you may read it"
_HIDDEN = r"(^|/)[_.]"
_OBJECT_STORES = ("s3", "gcs", "abfs")


@dataclass(frozen=True, slots=True)
class File:
    """A single file.

    Parameters
    ----------
    name
        Its path below the location; its file name if the location is the file.
    size
        Its length in bytes.
    modified
        The time of the last write, in nanoseconds.
    partitions
        Columns and values from the names of the folders above the file, as in ``year=2026``; None stands for NULL.
    address
        Its path or URI, without escapes.
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
        """The path, if the file is on a local or mounted disk; otherwise None."""
        return self._path if self._filesystem.type_name == "local" else None

    def read_store_notes(self) -> dict[str, str]:
        """Return the notes of an object store about the file, by lower-case name, such as etag; empty elsewhere."""
        if self._filesystem.type_name not in _OBJECT_STORES:
            return {}
        try:
            with self._filesystem.open_input_file(self._path) as opened:
                notes = opened.metadata() or {}
        except OSError as error:
            raise BaseFilesError(f"{self.name} cannot be opened: {error}") from error
        return {key.lower(): value.decode("utf-8", "replace") for key, value in notes.items()}

    @contextmanager
    def open(self, *, decompressed: bool = False) -> Iterator[Any]:
        """Open the file for reading: decompressed, as a stream limited to the allowed size; otherwise with seeking.

        Raises
        ------
        BaseFilesError
            If the file cannot be opened, or reading fails in the body.
        """
        try:
            if decompressed:
                opened = self._filesystem.open_input_stream(self._path, compression="detect")
            else:
                opened = self._filesystem.open_input_file(self._path)
        except OSError as error:
            raise BaseFilesError(f"{self.name} cannot be opened: {error}") from error
        try:
            with opened:
                yield BoundedStream(opened, self.size, self.name) if decompressed else opened
        except ProvennError:
            raise
        except OSError as error:
            raise BaseFilesError(f"{self.name} cannot be read: {error}") from error


def make_absolute(location: str | PathLike[str]) -> str:
    """Return the absolute path of a location; a URI stays the same."""
    text = fspath(location)
    return text if "://" in text else str(expand_home(text).absolute())


def list_files(location: str, names: Collection[str] | None = None) -> list[File]:
    """Return the files at a location, by name; skip files and folders with names beginning with ``_`` or ``.``.

    Parameters
    ----------
    location
        A file, a folder or a pattern.
    names
        The names of the files to return, below the folder; None for all. Nothing else is looked at, so that a few of
        many files take little time.

    Raises
    ------
    FilesMissingError
        If there are no files.
    BaseFilesError
        If the location cannot be read, or the files belong to a table of Delta, Iceberg or Hudi.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only files need it
    from pyarrow import fs  # noqa: PLC0415

    try:
        filesystem, path = fs.FileSystem.from_uri(location)
        location_info = filesystem.get_file_info(path)
        if location_info.type == fs.FileType.File:
            refuse_lakehouses(filesystem, path.rpartition("/")[0], [path], ())
            file = _make_file(location_info, path.rpartition("/")[2], filesystem, location)
            return [file] if names is None or file.name in names else []
        if location_info.type == fs.FileType.Directory:
            root, pattern = path, re.compile(".*", re.DOTALL)
        elif has_magic(path):
            root, pattern = _split_glob(path)
        else:
            root, pattern = path, None
        inside = filesystem.get_file_info(fs.FileSelector(root, allow_not_found=True, recursive=True))
    except (pa.ArrowException, OSError, re.error) as error:
        is_web = location.startswith(("http:", "https:", "ftp:"))
        hint = "download it first, and name the file" if is_web else _UNLISTED_HINT
        raise BaseFilesError(f"{location} cannot be listed: {error}", hint=hint) from error
    if pattern is None:
        raise FilesMissingError(f"nothing exists at {location}", hint=_suggest_nearby(location))
    start = len(root.rstrip("/")) + 1

    def is_present(info: Any) -> bool:  # noqa: ANN401 - pyarrow has no types
        name = info.path[start:]
        is_shown = info.type == fs.FileType.File and not re.search(_HIDDEN, name)
        return is_shown and pattern.fullmatch(name) is not None

    chosen = [info for info in inside if (names is None or info.path[start:] in names) and is_present(info)]
    refuse_lakehouses(filesystem, root, [info.path for info in chosen], (info.path for info in inside))
    if not chosen and not any(map(is_present, inside)):
        raise FilesMissingError(f"no files at {location}", hint="name a folder with files, or a pattern that fits some")
    is_folder = location_info.type == fs.FileType.Directory
    files = [_make_file(info, info.path[start:], filesystem, location, folders=is_folder) for info in chosen]
    return sorted(files, key=lambda file: file.name)


def list_named_files(folder: str, names: Collection[str], partitions: Collection[str] = ()) -> list[File]:
    """Return the files of a folder with some names, by name; files that do not exist are left out.

    Nothing else in the folder is looked at. The caller knows that these files belong together: from the log of a table.

    Parameters
    ----------
    folder
        The folder.
    names
        The paths of the files below the folder.
    partitions
        The columns with values from the names of folders. Other folders such as ``year=2026`` mean nothing.

    Raises
    ------
    BaseFilesError
        If a name leads out of the folder, or the folder cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only files need it
    from pyarrow import fs  # noqa: PLC0415

    ordered = sorted(names)
    for name in ordered:
        if name.startswith("/") or {"..", ""} & {*name.split("/")}:
            raise BaseFilesError(f"the name of a file leads out of {folder}: {name}")
    try:
        filesystem, path = fs.FileSystem.from_uri(folder)
        infos = filesystem.get_file_info([f"{path.rstrip('/')}/{name}" for name in ordered])
    except (pa.ArrowException, OSError) as error:
        raise BaseFilesError(f"{folder} cannot be listed: {error}", hint=_UNLISTED_HINT) from error
    files = [
        _make_file(info, name, filesystem, folder, folders=True)
        for info, name in zip(infos, ordered, strict=True)
        if info.type == fs.FileType.File
    ]
    return [
        replace(file, partitions=tuple(pair for pair in file.partitions if pair[0] in partitions)) for file in files
    ]


def list_file_names(folder: str) -> list[str]:
    """Return the names of all files below a folder, but for those that begin with ``_`` or ``.``.

    Raises
    ------
    BaseFilesError
        If the folder cannot be read.
    """
    import pyarrow as pa  # noqa: PLC0415 - it takes a while to import, and only files need it
    from pyarrow import fs  # noqa: PLC0415

    try:
        filesystem, path = fs.FileSystem.from_uri(folder)
        infos = filesystem.get_file_info(fs.FileSelector(path, allow_not_found=True, recursive=True))
    except (pa.ArrowException, OSError) as error:
        raise BaseFilesError(f"{folder} cannot be listed: {error}", hint=_UNLISTED_HINT) from error
    start = len(path.rstrip("/")) + 1
    names = [info.path[start:] for info in infos if info.type == fs.FileType.File]
    return sorted(name for name in names if not re.search(_HIDDEN, name))


def choose_files(files: list[File], names: Collection[str] | None) -> list[File]:
    """Return the files with some names; all files for None.

    Raises
    ------
    FilesMissingError
        If no file has one of the names.
    """
    if names is None:
        return files
    chosen = [file for file in files if file.name in names]
    if not chosen:
        raise FilesMissingError(f"{min(names, default='each file')} is missing")
    return chosen


def choose_known_files(files: list[File], known: Collection[str]) -> list[File]:
    """Return the files with known names, if all of these are there: others came later. Otherwise return all files.

    If a name is missing, the file is gone or has another name: then the content of all files tells which.
    """
    own = [file for file in files if file.name in known]
    return own if len(own) == len(known) else files


def _make_file(info: Any, name: str, filesystem: Any, location: str, *, folders: bool = False) -> File:  # noqa: ANN401 - no types
    scheme, is_uri, rest = location.partition("://")
    host = rest.partition("/")[0] if info.path.startswith("/") else ""
    address = f"{scheme}://{host}{info.path}" if is_uri else info.path
    return File(
        name, info.size, info.mtime_ns, read_folder_values(name) if folders else (), address, info.path, filesystem
    )


def _split_glob(path: str) -> tuple[str, re.Pattern[str]]:
    """Return the fixed folder of a glob, and the pattern of paths below the folder.

    A matching folder stands for all files below.
    """
    parts = path.split("/")
    first = next(place for place, part in enumerate(parts) if has_magic(part))
    *folders, last = parts[first:]
    pattern = "".join("(.*/)?" if part == "**" else _make_part_pattern(part) + "/" for part in folders)
    return "/".join(parts[:first]) or "/", re.compile(f"{pattern}{_make_part_pattern(last)}(/.*)?", re.DOTALL)


def _make_part_pattern(part: str) -> str:
    pieces = re.split(r"(\*+|\?|\[!?[^\]]+\])", part)
    return "".join(
        re.escape(piece) if place % 2 == 0 else {"*": "[^/]*", "?": "[^/]"}.get(piece[0]) or _make_class_pattern(piece)
        for place, piece in enumerate(pieces)
    )


def _make_class_pattern(piece: str) -> str:
    """Return the pattern of a character class, ``[ab]`` or ``[!ab]``."""
    inside = piece[1:-1].replace("\\", "\\\\").replace("[", "\\[")
    return f"[^{inside[1:]}]" if inside.startswith("!") else f"[{inside}]"


def _suggest_nearby(location: str) -> str:
    """Return a hint with a similar name in the same local folder; empty if there is none."""
    path = Path(location)
    near = (
        [neighbour.name for neighbour in path.parent.iterdir()]
        if "://" not in location and path.parent.is_dir()
        else []
    )
    same = [name for name in near if Path(name).stem == path.name]
    return f"did you mean {' or '.join(same[:3])}?" if same else did_you_mean(path.name, near)
