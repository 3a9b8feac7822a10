"""Data: fragments and their files, what lies in the store and nothing refers to, and the files of base catalogs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from sqlalchemy import select, update

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.files import GIVEN
from provenn.errors import FilesChangedError, ProvennError, StoreError
from provenn.store import clock, fragments, garbage, names
from provenn.store.base_files import check_base, read_contents
from provenn.store.checks import Problem, Progress, no_progress
from provenn.store.database import Database, Reading, Writing
from provenn.store.folder import DataFolder
from provenn.store.fragments import Fragment
from provenn.store.moc_files import named as named_mocs
from provenn.store.moc_files import problem_of
from provenn.store.parquet import contents, damage
from provenn.store.tables import fragments as fragment_rows

__all__ = ["base_files", "fragment_problems", "leftovers", "moc_problems"]


def fragment_problems(
    reading: Reading,
    folder: DataFolder | None,
    sound: Mapping[str, Catalog],
    *,
    deep: bool,
    told: Progress = no_progress,
) -> Iterator[Problem]:
    """Look at all fragments and their files."""
    every = list(fragments.each(reading))
    usable = [one for one in every if isinstance(one, Fragment) and one.usable]
    missing = _missing(folder, usable)
    if missing:
        yield Problem("store", missing)
    for number, one in enumerate(every):
        told("fragments", number, len(every))
        if not isinstance(one, Fragment):
            identifier, what = one
            yield Problem(f"fragment #{identifier}", what, remedy="forget", mend=partial(_forget, identifier))
            continue
        yield from _row_problems(reading, one, sound.get(one.catalog))
        if one.usable and folder is not None and not missing:
            yield from _file_problems(folder, one, deep=deep)


def _missing(folder: DataFolder | None, usable: list[Fragment]) -> str:
    """Return what is wrong if the place of all data is not there: then a disk is, and no fragment is to blame."""
    if not usable:
        return ""
    if folder is None:
        return 'nobody has said where data are kept; open the archive with store="…" once'
    for above in sorted({one.location.rpartition("/")[0] for one in usable}):
        try:
            with folder.reached(above) as (filesystem, path):
                there = filesystem.get_file_info(path).type.name != "NotFound"
        except StoreError as error:
            return error.message
        if not there:
            return f"{folder.at(above)} is not there, which should hold fragments; is the disk mounted?"
    return ""


def _row_problems(reading: Reading, one: Fragment, catalog: Catalog | None) -> Iterator[Problem]:
    where = f"fragment #{one.id}"
    if catalog is not None and (one.extent, one.population) != (catalog.extent.digest, catalog.population.name):
        yield Problem(where, "it is not of its catalog", remedy="forget", mend=partial(_forget, one.id))
    elif catalog is not None and not one.identities <= catalog.schema.by_identity.keys():
        yield Problem(
            where, "it has attributes that its catalog has not", remedy="forget", mend=partial(_forget, one.id)
        )
    if len({one.dropped_at is None, one.dropped_by is None, one.dropped_reason is None}) > 1:
        mend = partial(_drop_wholly, one.id)
        yield Problem(where, "it is told neither that it is used, nor that it was dropped", remedy="forget", mend=mend)
    elif one.removed_at is not None and one.dropped_at is None:
        mend = partial(_change, one.id, {"removed_at": None})
        yield Problem(where, "its files are told to be deleted, and it is in use", remedy="index", mend=mend)
    size = reading.connection.scalar(select(fragment_rows.c.size).where(fragment_rows.c.id == one.id))
    if size != one.size:
        mend = partial(_change, one.id, {"size": one.size})
        yield Problem(where, f"its files have {one.size:,} bytes, not {size}", remedy="index", mend=mend)


def _file_problems(folder: DataFolder, one: Fragment, *, deep: bool) -> Iterator[Problem]:
    where = f"fragment #{one.id}"
    try:
        problem = damage(folder, one.location, one.files, deep=deep)
        if not problem and deep and (rows := contents(folder, one.location).rows) != one.rows:
            problem = f"its files have {rows:,} rows, not {one.rows:,}"
    except StoreError as error:
        problem = error.message
    if problem:
        mend = partial(_drop, one.id, problem)
        yield Problem(where, problem, remedy="compute", mend=mend, stored=(one.catalog, one.identities))
        return
    known = {each.name for each in one.files}
    for stray in folder.files(one.location):
        if stray.name not in known:
            mend = partial(_remove, folder, one.location, stray.name)
            yield Problem(where, f"{stray.name} lies there, and is none of its files", "leftover", "delete", mend)


def leftovers(reading: Reading, folder: DataFolder | None) -> Iterator[Problem]:
    """Look at what nothing refers to."""
    if folder is None:
        return
    now = clock.now(reading.connection)
    for place, size, goes in garbage.unreferred(reading, garbage.lying(folder), now):
        what = f"nothing refers to it: {size:,} bytes"
        yield Problem(place, what if goes else f"{what}; it is young, and left alone for a day", "leftover", "delete")


def base_files(
    database: Database,
    reading: Reading,
    sound: Mapping[str, Catalog],
    folder: DataFolder | None = None,
    *,
    deep: bool = False,
    told: Progress = no_progress,
) -> Iterator[Problem]:
    """Look at the files of base catalogs, with `deep` at every byte; those of old archives are read then.

    Files that are missing, or that changed and whose catalog has no name any more, are only remarked on: they are not
    part of the archive. Tables that were ingested from memory are.
    """
    every = [one for one in sound.values() if isinstance(one, Base)]
    named = names.names_of(reading, [one.digest for one in every])
    for number, one in enumerate(every):
        told("base files", number, len(every))

        def tell(done: int, total: int, where: str = one.files.location) -> None:
            told(f"MB of {where}", done // 10**6, total // 10**6)

        called, where = named.get(one.digest, ()), f"catalog {one.digest}"
        try:
            if deep:
                read_contents(database, folder, one, tell)
            check_base(database, folder, one, deep=deep, progress=tell)
        except ProvennError as error:
            is_damage = one.files.format == GIVEN or (deep and bool(called) and isinstance(error, FilesChangedError))
            what = f"{', '.join(called)}: {error.message}" if called else error.message
            yield Problem(where, what) if is_damage else Problem(where, what, "remark", "none")


def moc_problems(reading: Reading, folder: DataFolder | None) -> Iterator[Problem]:
    """Look at the files of the large MOCs that definitions name: only the store has them."""
    if folder is None:
        return
    for digest in sorted(named_mocs(reading)):
        problem = problem_of(folder, digest)
        if problem:
            yield Problem(f"MOC {digest}", problem)


# --- mending ---


def _forget(number: int, writing: Writing) -> None:
    fragments.forget(writing, number)


def _drop(number: int, problem: str, writing: Writing) -> None:
    fragments.drop(writing, number, f"damaged: {problem}")


def _drop_wholly(number: int, writing: Writing) -> None:
    values = {"dropped_at": writing.when, "dropped_by": writing.who, "dropped_reason": "its row was changed"}
    _change(number, values, writing)


def _change(number: int, values: dict[str, object], writing: Writing) -> None:
    writing.connection.execute(update(fragment_rows).where(fragment_rows.c.id == number).values(values))


def _remove(folder: DataFolder, location: str, name: str, writing: Writing) -> None:  # noqa: ARG001 - the interface
    folder.remove(location, name)
