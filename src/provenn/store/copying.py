"""Copying a whole archive from one database to another, of whichever kind, while others write to it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, Table, func, insert, select, text

from provenn.catalogs.files import GIVEN
from provenn.errors import ArchiveError
from provenn.store import catalog_store
from provenn.store import settings as known_settings
from provenn.store.bases import files_digests
from provenn.store.database import Database, Reading, Writing
from provenn.store.folder import DataFolder
from provenn.store.fragments import Fragment, all_fragments, pinned
from provenn.store.moc_files import MOCS, named, place_of
from provenn.store.tables import (
    file_hashes,
    fragment_attributes,
    fragment_facts,
    fragments,
    leases,
    metadata,
    pins,
    settings,
)

__all__ = ["Copied", "Told", "copy_archive"]

Told = Callable[[int, int], None]
"""Who is told of the progress: how many rows are copied, and how many there are."""

_AT_ONCE = 1000
_TABLES = tuple(one for one in metadata.sorted_tables if one not in (pins, leases, file_hashes))
"""All but what only processes that run now need, and what is known of the disks of this machine."""

_FRAGMENT = {
    fragments: fragments.c.id,
    fragment_attributes: fragment_attributes.c.fragment,
    fragment_facts: fragment_facts.c.fragment,
}


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied.

    Parameters
    ----------
    catalogs, rows
        How many catalogs there are in the copy, and how many rows in all its tables.
    fragments, size
        How many fragments were copied, and how many bytes they have.
    left_out
        Why each usable fragment that was not copied was not, by number.
    """

    catalogs: int
    rows: int
    fragments: int
    size: int
    left_out: dict[int, str]


def _nobody(_done: int, _all: int) -> None:
    pass


def copy_archive(
    source: Database,
    target: Database,
    data: tuple[DataFolder, DataFolder] | None = None,
    told: Told = _nobody,
    *,
    tables: tuple[DataFolder, DataFolder] | None = None,
) -> Copied:
    """Copy an archive as it is at one moment into one that holds nothing: all of it or, if anything fails, nothing.

    Parameters
    ----------
    source
        The archive.
    target
        An archive that holds nothing, but may know where its data are to be.
    data
        Where the data of the archive are, and where those of the copy go. Without, fragments are left out: the copy
        would refer to files that are not its own. That some were dropped is copied in any case.
    told
        Who is told of the progress.
    tables
        Where tables are that were ingested from memory, and large MOCs, and where those of the copy go.

    Raises
    ------
    ArchiveError
        If the target holds something, or there is something in the source that its reader does not see.
    StoreError
        If data cannot be read or written.
    """
    if source.viewer is not None:
        raise ArchiveError(
            f"{source.viewer} may not see all of the archive {source.place}, and so cannot copy it",
            hint="ask who looks after it; `provenn archive export` takes what you see",
        )
    with source.reading() as reading:
        found = all_fragments(reading)
        kept, left_out = _copy_data(source, found, *data) if data else ([], {one.id: "no data" for one in found})
        if tables:
            _copy_given(reading, *tables)
            _copy_mocs(reading, *tables)
        with target.writing() as writing:
            _require_empty(writing, target)
            gone = {one.id for one in all_fragments(reading, dropped=True) if one.dropped_at is not None}
            rows = _copy_rows(reading, writing, gone | {one.id for one in kept}, told)
            _number_on(writing)
            catalogs = catalog_store.count(writing)
    return Copied(catalogs, rows, len(kept), sum(one.size for one in kept), left_out)


def _require_empty(writing: Writing, target: Database) -> None:
    for table in _TABLES:
        if table is not settings and writing.connection.execute(select(table).limit(1)).first() is not None:
            raise ArchiveError(
                f"the archive {target.place} holds something already", hint="nothing is overwritten: name another place"
            )


def _copy_rows(reading: Reading, writing: Writing, kept: Collection[int], told: Told) -> int:
    every = sum(reading.connection.scalar(select(func.count()).select_from(table)) or 0 for table in _TABLES)
    done = passed = 0
    for table in _TABLES:
        found = reading.connection.execute(_rows(table).execution_options(yield_per=_AT_ONCE)).mappings()
        for batch in found.partitions():
            number = _FRAGMENT.get(table)
            rows: list[Any] = [dict(row) for row in batch if number is None or row[number.name] in kept]
            if rows:
                writing.connection.execute(insert(table), rows)
            done, passed = done + len(rows), passed + len(batch)
            told(passed, every)
    return done


def _rows(table: Table) -> Select[Any]:
    """Return the query of the rows that are copied: all but where the data are, which differs."""
    query = select(table)
    return query.where(settings.c.key != known_settings.STORE) if table is settings else query


def _number_on(writing: Writing) -> None:
    """Let PostgreSQL count on from the numbers that were copied; SQLite does so by itself."""
    if writing.connection.dialect.name != "postgresql":
        return
    for table in _TABLES:
        if table.dialect_options["sqlite"]["autoincrement"]:
            count = f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), max(id)) FROM {table.name}"  # noqa: S608
            writing.connection.execute(text(count))


def _copy_data(
    source: Database, found: Iterable[Fragment], here: DataFolder, there: DataFolder
) -> tuple[list[Fragment], dict[int, str]]:
    """Copy the files of fragments; return those that are complete there, and why others are not."""
    usable = {one.id: one for one in found}
    kept, left_out = [], {}
    with pinned(source, usable) as numbers:
        for number, one in usable.items():
            problem = _copy_files(one, here, there) if number in numbers else "it was dropped meanwhile"
            if problem:
                left_out[number] = problem
            else:
                kept.append(one)
    return kept, left_out


def _copy_given(reading: Reading, here: DataFolder, there: DataFolder) -> None:
    """Copy the tables that were ingested from memory: nothing else has them."""
    lying = {one.name for one in here.entries(GIVEN)}
    for digest in sorted(lying & files_digests(reading)):
        for one in here.files(GIVEN, digest):
            _copy_file(f"{GIVEN}/{digest}/{one.name}", here, there)


def _copy_mocs(reading: Reading, here: DataFolder, there: DataFolder) -> None:
    """Copy the files of the large MOCs that definitions name."""
    lying = {f"{MOCS}/{one.name}" for one in here.entries(MOCS)}
    for place in sorted(lying & {place_of(digest) for digest in named(reading)}):
        _copy_file(place, here, there)


def _copy_file(name: str, here: DataFolder, there: DataFolder) -> None:
    from pyarrow import fs  # noqa: PLC0415 - only data need it

    with here.reached(name) as (filesystem, path), there.reached(name) as (other, destination):
        other.create_dir(destination.rpartition("/")[0])
        fs.copy_files(path, destination, source_filesystem=filesystem, destination_filesystem=other)


def _copy_files(fragment: Fragment, here: DataFolder, there: DataFolder) -> str:
    """Copy the files of a fragment; return what is wrong with it, if anything is, and then copy nothing."""
    names = [f"{fragment.location}/{one.name}" for one in fragment.files]
    if any(not part.strip(".") for name in names for part in name.split("/")):
        return "its files are not in the store"
    there_are = {one.name: one.size for one in here.files(fragment.location)}
    for one in fragment.files:
        if there_are.get(one.name) != one.size:
            return f"its file {one.name} is {'damaged' if one.name in there_are else 'missing'}"
    for name in names:
        _copy_file(name, here, there)
    arrived = {one.name: one.size for one in there.files(fragment.location)}
    return "" if all(arrived.get(one.name) == one.size for one in fragment.files) else "its copy is not complete"
