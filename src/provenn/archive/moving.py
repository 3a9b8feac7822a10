"""Copies of an archive: portable files of what it knows, and backups, which are archives themselves."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from provenn.archive.handle import Catalog
from provenn.archive.places import DATABASE, data_folder
from provenn.archive.questions import in_words
from provenn.catalogs.files import GIVEN
from provenn.errors import ArchiveError, FileError, ProvennError
from provenn.store import audit
from provenn.store.catalog_store import resolve
from provenn.store.copying import Copied, copy_archive
from provenn.store.database import Database, open_database
from provenn.store.exporting import export_archive
from provenn.store.folder import DataFolder, reaching
from provenn.store.importing import Imported, import_archive
from provenn.store.moc_files import MOCS

__all__ = ["back_up", "export_definitions", "import_definitions"]

_File = str | PathLike[str] | BinaryIO


def export_definitions(database: Database, file: _File, which: Iterable[Catalog | str] | None) -> dict[str, int]:
    """Write a portable file; `Archive.export_definitions` says how."""
    with database.reading() as reading:
        only = (
            None
            if which is None
            else {one.digest if isinstance(one, Catalog) else resolve(reading, one) for one in which}
        )
        with _new_file(file) as opened:
            return export_archive(reading, opened, only, database.folder)


@contextmanager
def _new_file(file: _File) -> Iterator[BinaryIO]:
    """Open a new file, which is not there unless all of it is written."""
    if not isinstance(file, str | PathLike):
        yield file
        return
    path = Path(file)
    if path.exists():
        raise FileError(f"{path} is there already", hint="nothing is overwritten: name another file")
    unfinished = path.absolute().with_name(f".{path.name}-{uuid4().hex[:8]}")
    try:
        with unfinished.open("xb") as opened:
            yield opened
            opened.flush()
            os.fsync(opened.fileno())
        os.link(unfinished, path)  # never onto a file
    except ProvennError:  # some are an OSError, too
        raise
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        unfinished.unlink(missing_ok=True)


def import_definitions(database: Database, file: _File, prefix: str) -> Imported:
    """Take over what a portable file holds; `Archive.import_definitions` says how."""
    with _readable(file) as (opened, name), database.writing() as writing:
        with in_words(writing, {}):
            came = import_archive(writing, opened, name, prefix=prefix)
        told = ", ".join(f"{count} {kind}" for kind, count in came.new.items())
        audit.record(writing, "import", name, told)
        return came


@contextmanager
def _readable(file: _File) -> Iterator[tuple[BinaryIO, str]]:
    if not isinstance(file, str | PathLike):
        yield file, "the file"
        return
    try:
        with Path(file).open("rb") as opened:
            yield opened, fspath(file)
    except ProvennError:
        raise
    except OSError as error:
        raise FileError(f"{fspath(file)} cannot be read: {error.strerror or error}") from error


def back_up(
    source: Database,
    folder: DataFolder | None,
    place: str | Path,
    store: str | Path | None,
    told: Callable[[int, int], None] | None,
    *,
    data: bool,
) -> Copied:
    """Copy an archive to a new folder, or into a database on a server.

    Parameters
    ----------
    source, folder
        The archive; and where its data are.
    place, store, told, data
        As for `Archive.backup`.
    """

    def copied(where: str | Path) -> Copied:
        with open_database(where, create=True, who=source.who, via=source.via) as target:
            there = data_folder(target, where, store)
            folders = (folder, there) if folder is not None and there is not None else None
            told_of = told or (lambda _done, _all: None)
            return copy_archive(source, target, folders if data else None, told_of, tables=folders)

    if "://" not in str(place):
        return _in_new_folder(Path(place), copied)
    if store is None and folder is not None and (data or folder.entries(GIVEN) or folder.entries(MOCS)):
        raise ArchiveError("nobody has said where the data of the copy are to be", hint="say so: --store, or store=")
    return copied(str(place))


def _in_new_folder(place: Path, copied: Callable[[Path], Copied]) -> Copied:
    """Copy into a folder beside the place, and move it there at the end: a copy that is there is complete."""
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise ArchiveError(f"{place} is there already", hint="nothing is overwritten: name another place")
    unfinished = place.absolute().with_name(f".{place.name}-{uuid4().hex[:8]}")
    with reaching(str(place)):
        try:
            told = copied(unfinished / DATABASE)
            os.rename(unfinished, place)  # noqa: PTH104 - never onto a folder that holds something
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return told
