"""The folders from which a server reads base files on behalf of its users.

An archive says where the base files are and how Spark reads them. Every user able to define a catalog could therefore
name any file of the machine, or make Spark open a connection. So a server reads only below the places listed by the
operator, only file formats, and only with options about parsing.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable
from glob import has_magic
from pathlib import Path
from urllib.parse import unquote

from provenn.catalogs.base import Base
from provenn.errors import BaseFilesError
from provenn.files.file_set import EXTERNAL, GIVEN, TABLE, Files
from provenn.gate.formats import can_be_read

__all__ = ["Roots", "check_roots", "lies_within"]

Roots = tuple[str, ...]
"""Folders: paths on disk, URIs elsewhere; tables of Spark's catalog as ``table://NAME``."""


def check_roots(bases: Iterable[Base], roots: Roots | None) -> None:
    """Make sure that the files of base catalogs lie below the roots; files elsewhere are not looked at.

    Parameters
    ----------
    bases
        The catalogs.
    roots
        Where files may lie; None for anywhere.

    Raises
    ------
    BaseFilesError
        If files lie elsewhere, or the format or an option is not known to be harmless. The error names the catalog, and
        does not reveal whether the file exists.
    """
    for base in bases:
        if roots is not None and not _may_be_read(base.files, roots):
            raise BaseFilesError(
                f"this server may not read the files of the base catalog {base.digest[:12]}",
                hint="the administrator allows folders with: provenn serve --root PATH",
            )


def _may_be_read(files: Files, roots: Roots) -> bool:
    if files.format == TABLE:
        return lies_within(f"{TABLE}://{files.location}", roots)
    if files.format == GIVEN:  # in the archive's own store, by its digest
        return True
    if files.format == EXTERNAL or not can_be_read(files.format, dict(files.options)):
        return False
    # Links inside a folder can lead anywhere, so every file is checked as well, also those that came later.
    return lies_within(files.location, roots) and all(
        lies_within(file.address, roots) for file in files.list_present_files()
    )


def lies_within(location: str, roots: Roots) -> bool:
    """Whether a file, folder or glob lies below a root after links are followed.

    >>> lies_within("/data/survey/*.parquet", ("/data/survey",))
    True
    >>> lies_within("/data/survey/../other", ("/data/survey",))
    False
    >>> lies_within("s3://b/x", ("/data",)), lies_within("s3://bucket/a/x", ("s3://bucket/a",))
    (False, True)
    >>> lies_within("file:/etc", ("/etc",)), lies_within("file:///etc/x", ("/etc",))
    (False, True)
    """
    paths = _find_local_paths(location)
    if not paths:
        # pyarrow takes options from a URI, such as another server to be asked.
        is_plain = not set("?#") & set(location) and ".." not in unquote(location).split("/")
        return is_plain and any(
            location == root or location.startswith(f"{root.rstrip('/')}/") for root in roots if _is_uri(root)
        )
    folders = [_resolve_path(path) for root in roots for path in ([root], _find_local_paths(root)[-1:])[_is_uri(root)]]
    return all(
        any(place.is_relative_to(folder) for folder in folders) for path in paths for place in _find_places(path)
    )


def _find_local_paths(location: str) -> tuple[str, ...]:
    """Return the paths on this machine that a location may mean, the usual meaning last; none for other locations.

    A ``file:`` URI encodes its path, but the address of a listed file is the path as it is.
    """
    if location.startswith("/"):
        return (location,)
    path = location.removeprefix("file://")
    return (path, unquote(path)) if path != location and path.startswith("/") else ()


def _find_places(path: str) -> set[Path]:
    """Return where a path leads; a name with a star in it may be a glob, or the name of a file."""
    parts = path.split("/")
    before = next((place for place, part in enumerate(parts) if has_magic(part)), len(parts))
    return {_resolve_path("/".join(parts[:before]) or "/"), _resolve_path(path)}


def _is_uri(root: str) -> bool:
    return "://" in root


def _resolve_path(path: str) -> Path:
    return Path(os.path.realpath(path))
