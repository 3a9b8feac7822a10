"""Fragments: written, checked, registered, and read again."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from provenn.catalogs import Base, Catalog, cone
from provenn.catalogs.schema import Attribute
from provenn.errors import AttributeNotFoundError, KeyValuesError, ProvennError, StoreError
from provenn.spark.base_checks import check_bases
from provenn.spark.columns import with_one_zero
from provenn.spark.engine import Engine
from provenn.spark.failures import told
from provenn.spark.progress import Listener, watched
from provenn.spark.rows import named
from provenn.spark.stopwatch import Stopwatch
from provenn.store import catalog_store, counts, fragments, pins
from provenn.store.database import Database, Reading
from provenn.store.facts import any_declared
from provenn.store.folder import FRAGMENTS, DataFolder
from provenn.store.fragments import Fragment
from provenn.store.parquet import Contents, contents, damage

__all__ = ["existing", "read_fragment", "store_fragment", "usable"]

_LOG = logging.getLogger(__name__)


def store_fragment(
    engine: Engine,
    database: Database,
    folder: DataFolder,
    catalog: Catalog,
    frame: DataFrame,
    *,
    identities: Collection[str] | None = None,
    facts: Collection[int] = (),
    listener: Listener | None = None,
    stopwatch: Stopwatch | None = None,
) -> Fragment:
    """Compute attributes of the sources of a catalog and keep them.

    Whatever happens, either all of it is there, or nothing that anybody sees.

    Parameters
    ----------
    engine, database, folder
        Where it is computed, registered and written.
    catalog
        The catalog whose sources it holds.
    frame
        Its data, with the columns of its schema.
    identities
        The attributes to keep, by identity; by default all. The key is always kept.
    facts
        The numbers of the declared and observed facts that `frame` leans on.
    listener
        Told of the progress.
    stopwatch
        Has measured the calculators that `frame` calls, if it calls any.

    Returns
    -------
    Fragment
        The new one; or one that was there already and holds these attributes for these sources.

    Raises
    ------
    FilesChangedError, FilesMissingError
        If base files are not what they were, before it was computed or after.
    KeyValuesError
        If a key is NULL.
    CorruptArchiveError
        If it has another number of rows than was counted before.
    StoreError
        If it cannot be written.
    RunError
        If it cannot be computed.
    """
    columns = _columns(catalog, identities)
    wanted = [one.identity for one, _ in columns]
    there = existing(database, folder, catalog, wanted)
    if there is not None:
        return there
    bases = [one for one in cone(catalog) if isinstance(one, Base)]
    _require_store(database, folder)
    temporary = folder.temporary()
    place = folder.below(temporary)
    target = (FRAGMENTS, place.rpartition("/")[2])
    what = f"storing {', '.join(one.name for one, _ in columns)} of {catalog.digest[:12]}"
    with pins.holding(database, place, "/".join(target)):
        try:
            check_bases(engine, database, folder, bases)
            started = monotonic()
            with told(what), watched(engine, what, listener):
                _write(frame, columns, folder, temporary)
            seconds = monotonic() - started
            calculated = None if stopwatch is None else stopwatch.seconds
            _require(folder, place)
            written = contents(folder, place, len(catalog.schema.key))
            _check_keys(catalog, written)
            check_bases(engine, database, folder, bases)
            place = folder.below(folder.publish(temporary, *target))
            with database.writing() as writing:
                there = _holding(writing, catalog, wanted)  # somebody may have been quicker
                if there is None:
                    catalog_store.add(writing, catalog, for_run=True)
                    if not any_declared(writing, facts) or counts.known(writing, [catalog.digest]):
                        counts.record(writing, catalog.digest, written.rows)
                    return fragments.register(
                        writing,
                        catalog,
                        [(one.identity, name) for one, name in columns],
                        location=place,
                        rows=written.rows,
                        files=written.files,
                        seconds=seconds if calculated is None else min(calculated, seconds),
                        facts=facts,
                    )
        except BaseException:
            _clean_up(database, folder, place, "/".join(target))
            raise
        folder.remove(place)
        return there


def _clean_up(database: Database, folder: DataFolder, *places: str) -> None:
    """Delete what was written; unless it is registered all the same, as when a commit was interrupted at its end."""
    with suppress(ProvennError), database.reading() as reading:  # otherwise it is found as garbage, some day
        for place in places:
            if not fragments.is_registered(reading, place):
                folder.remove(place)


def existing(
    database: Database, folder: DataFolder, catalog: Catalog, identities: Collection[str] | None = None
) -> Fragment | None:
    """Return a sound fragment that holds attributes, by default all, for the sources of a catalog; or None."""
    wanted = [one.identity for one, _ in _columns(catalog, identities)]
    while True:
        with database.reading() as reading:
            found = _holding(reading, catalog, wanted)
        if found is None or usable(database, folder, [found]):
            return found
        if database.read_only:
            return None


def read_fragment(engine: Engine, folder: DataFolder, fragment: Fragment) -> DataFrame:
    """Return the data of a fragment; columns have the names under which they are registered, and their order.

    Only the files that were registered are read, whatever else lies there.
    """
    addresses = [folder.at(fragment.location, one.name) for one in fragment.files]
    reader = engine.session.read.option("parquet.page.verify-checksum.enabled", "true")
    with told(f"reading the fragment #{fragment.id}"):
        reader = reader.schema(_struct(folder, fragment))
        frame = reader.parquet(*(_spark_path(folder, one, glob=True) for one in addresses))
    return with_one_zero(frame, fragment.columns)  # an earlier version may have stored -0.0


def _struct(folder: DataFolder, fragment: Fragment) -> StructType:
    """Return the columns of a fragment as Spark has noted them in each file: it need not run a job to find them."""
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    with folder.reached(fragment.location, fragment.files[0].name) as (filesystem, path):
        notes = parquet.read_metadata(path, filesystem=filesystem).metadata
    noted = StructType.fromJson(json.loads(notes[b"org.apache.spark.sql.parquet.row.metadata"]))
    return StructType([noted[name] for _, name in fragment.columns])


def usable(database: Database, folder: DataFolder, candidates: Iterable[Fragment]) -> list[Fragment]:
    """Return the fragments whose files are there, with the sizes and footers that were registered.

    The others are dropped, where the archive can be written, and a warning is logged.

    Raises
    ------
    StoreError
        If the folder of all fragments is not there: then a disk is, and no fragment is to blame.
    """
    sound = []
    for one in candidates:
        if not one.usable:
            continue
        problem = damage(folder, one.location, one.files)
        if not problem:
            sound.append(one)
            continue
        _require(folder, one.location.rpartition("/")[0])
        _LOG.warning("fragment #%s is not used any more: %s", one.id, problem)
        if not database.read_only:
            with database.writing() as writing:
                fragments.drop(writing, one.id, f"damaged: {problem}")
    return sound


def _require_store(database: Database, folder: DataFolder) -> None:
    """Make sure that the folder of all fragments is there, if there are any: a new one would hide that it is gone."""
    with database.reading() as reading:
        for place in sorted(fragments.locations(reading))[:1]:
            _require(folder, place.rpartition("/")[0])


def _require(folder: DataFolder, *parts: str) -> None:
    with folder.reached(*parts) as (filesystem, path):
        if filesystem.get_file_info(path).type.name == "NotFound":
            raise StoreError(
                f"{folder.at(*parts)} is not there, where the data of the archive are kept",
                hint="is the disk mounted? If its data were deleted on purpose, make an empty folder there",
            )


def _holding(reading: Reading, catalog: Catalog, wanted: Collection[str]) -> Fragment | None:
    found = (one for one in fragments.of_extent(reading, catalog.extent.digest) if one.identities.issuperset(wanted))
    return min(found, key=lambda one: one.size, default=None)


def _columns(catalog: Catalog, identities: Collection[str] | None) -> list[tuple[Attribute, str]]:
    """Return the attributes to keep, the key first, and a column for each.

    Columns have the names of the attributes, but no two differ in case alone: not everybody can tell them apart.
    """
    by_identity = catalog.schema.by_identity
    key = [one.identity for one in catalog.schema.key]
    chosen = by_identity.keys() if identities is None else set(identities)
    for one in chosen:
        if one not in by_identity:
            raise AttributeNotFoundError(one, by_identity)
    order = [*key, *(one for one in dict.fromkeys(a.identity for a in catalog.schema.attributes) if one in chosen)]
    taken: set[str] = set()
    columns = []
    for identity in dict.fromkeys(order):
        attribute = by_identity[identity]
        name, number = attribute.name, 1
        while name.casefold() in taken:
            number += 1
            name = f"{attribute.name}_{number}"
        taken.add(name.casefold())
        columns.append((attribute, name))
    return columns


def _write(frame: DataFrame, columns: Sequence[tuple[Attribute, str]], folder: DataFolder, address: str) -> None:
    chosen = named(frame, [(one.name, replace(one, name=name)) for one, name in columns])
    # A file that says "success" says nothing here: only the database does.
    writer = chosen.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    writer.parquet(_spark_path(folder, address))


def _spark_path(folder: DataFolder, address: str, *, glob: bool = False) -> str:
    """Return an address so that Spark means the same by it as pyarrow, whatever is in it."""
    path = re.sub(r"([\\*?\[\]{}])", r"\\\1", address) if glob else address
    return f"file:{path}" if folder.local else path


def _check_keys(catalog: Catalog, written: Contents) -> None:
    for one, nulls in zip(catalog.schema.key, written.nulls, strict=True):
        if nulls:
            raise KeyValuesError(
                f"{nulls:,} of {written.rows:,} sources have no {one.name}, which is their key",
                hint="a row without a key is no source: correct the base data",
            )
