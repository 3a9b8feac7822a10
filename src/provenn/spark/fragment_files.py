"""Fragments: write, check and register them, and read them again."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from time import monotonic

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

from provenn.catalogs import Catalog, cone, list_bases
from provenn.catalogs.population import key_position
from provenn.catalogs.schema import Attribute
from provenn.data import fragments, pins
from provenn.data.fragment_samples import sample_fragment
from provenn.data.fragments import Fragment
from provenn.data.parquet_contents import ParquetContents, find_parquet_damage, read_parquet_contents
from provenn.data.stored_reads import note_fragment
from provenn.data.usable_fragments import get_damage, remove_checksums, require_folder, select_usable
from provenn.database.expiring_rows import Holding
from provenn.database.transactions import Database, Reading, Writing
from provenn.definitions import catalog_store
from provenn.errors import AttributeNotFoundError, KeyValuesError, ProvennError, StoreError
from provenn.files.data_folder import FRAGMENTS, DataFolder
from provenn.knowledge import counts
from provenn.knowledge.recorded_platforms import describe_platform
from provenn.knowledge.stored_facts import has_declared_fact
from provenn.spark.base_checks import check_bases
from provenn.spark.columns import normalize_zeros, quote_name
from provenn.spark.engine import Engine
from provenn.spark.progress import Listener, watch_run
from provenn.spark.row_operations import name_columns
from provenn.spark.settings import OWN_FILES
from provenn.spark.spark_errors import translate_errors
from provenn.spark.stopwatch import Stopwatch

__all__ = ["find_fragment", "read_fragment", "store_fragment"]


_WRITING = {
    # No success file: only the database decides whether a fragment is complete.
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "parquet.block.size": str(8 * 2**20),
}
"""The options of the files of fragments: row groups of half a million numbers with their keys, which can be skipped."""


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
    is_named_by_identity: bool = False,
    subject: str = "",
) -> Fragment:
    """Compute attributes of the sources of a catalog and keep them as a fragment.

    If anything fails, no part of the fragment is visible.

    Parameters
    ----------
    engine, database, folder
        Where the fragment is computed, registered and written.
    catalog
        The catalog whose sources the fragment holds.
    frame
        The data of the catalog, with the columns of its schema; see `is_named_by_identity`.
    identities
        The identities of the attributes to keep; by default all. The key is always kept.
    facts
        The numbers of the declared and observed facts on which `frame` depends.
    listener
        Receives the progress.
    stopwatch
        Has measured the calculators that `frame` calls, if it calls any.
    is_named_by_identity
        Whether the columns of `frame` have the identities of attributes as names, instead of the names of attributes.

    subject
        What messages call the catalog; by default the beginning of its digest.

    Returns
    -------
    Fragment
        The new fragment; or an earlier fragment that holds these attributes for these sources.

    Raises
    ------
    FilesChangedError, FilesMissingError
        If base files changed before or during the computation.
    KeyValuesError
        If a key is NULL.
    CorruptArchiveError
        If the number of rows differs from an earlier count.
    StoreError
        If the fragment cannot be written.
    RunError
        If the fragment cannot be computed.
    """
    columns = _choose_columns(catalog, identities)
    wanted = [attribute.identity for attribute, _ in columns]
    pairs = [
        (attribute.identity if is_named_by_identity else attribute.name, replace(attribute, name=name))
        for attribute, name in columns
    ]
    earlier = find_fragment(database, folder, catalog, wanted)
    if earlier is not None:
        return earlier
    bases = list_bases(cone(catalog))
    _require_store(database, folder)
    temporary = folder.new_temporary_address()
    place = folder.relative_path(temporary)
    target = (FRAGMENTS, place.rpartition("/")[2].partition("-")[0])
    what = f"storing {', '.join(attribute.name for attribute, _ in columns)} of {subject or catalog.digest[:12]}"
    with pins.hold_places(database, place, "/".join(target)) as pinned:
        try:
            check_bases(engine, database, folder, bases)
            started = monotonic()
            with translate_errors(what), watch_run(engine, what, listener):
                _write(frame, pairs, folder, temporary)
                remove_checksums(folder, place)  # the database has digests of all bytes, and pages have checksums
            seconds = monotonic() - started
            calculator_seconds = None if stopwatch is None else stopwatch.seconds
            require_folder(folder, place)
            written = read_parquet_contents(folder, place, len(catalog.schema.key))
            _check_keys(catalog, written)
            sample = sample_fragment(folder, place, columns)
            check_bases(engine, database, folder, bases)
            place = folder.relative_path(folder.publish(temporary, *target))

            def register(writing: Writing) -> Fragment:
                _require_unbroken(pinned, writing, what)
                # Another run may have stored the same meanwhile.
                earlier = _find_sound_holding(writing, folder, catalog, wanted, get_damage(database))
                if earlier is not None:
                    return earlier
                catalog_store.add_catalogs(writing, catalog, for_run=True)
                if not has_declared_fact(writing, facts) or counts.find_counts(writing, [catalog.digest]):
                    counts.record_count(writing, catalog.digest, written.rows, describe_platform(writing, catalog))
                return fragments.register(
                    writing,
                    catalog,
                    [(attribute.identity, name) for attribute, name in columns],
                    location=place,
                    rows=written.rows,
                    files=written.files,
                    seconds=seconds if calculator_seconds is None else min(calculator_seconds, seconds),
                    facts=facts,
                    sample=sample,
                )

            stored = database.insist(register)  # waits as long as the archive is busy, to keep the computed data
        except BaseException:
            _clean_up(database, folder, place, "/".join(target))
            raise
        if stored.location != place:
            folder.remove(place)
        return stored


def _require_unbroken(pinned: Holding, writing: Writing, what: str) -> None:
    """Check that the pins were kept all the time; otherwise `gc` may be deleting the written files."""
    if not pinned.is_unbroken(writing):
        raise StoreError(f"{what}: the process was stopped for too long", hint="run it again")


def _clean_up(database: Database, folder: DataFolder, *places: str) -> None:
    """Delete written files, except registered files, as after an interrupt at the end of a commit.

    The look-up runs in a writing transaction, and so waits until a commit without an answer has ended.
    """
    with suppress(ProvennError), database.writing() as writing:  # if this fails, `gc` finds the files later
        for place in places:
            if not fragments.is_registered(writing, place):
                folder.remove(place)


def find_fragment(
    database: Database, folder: DataFolder, catalog: Catalog, identities: Collection[str] | None = None
) -> Fragment | None:
    """Return an undamaged fragment with attributes (by default all) for the sources of a catalog, or None."""
    wanted = [attribute.identity for attribute, _ in _choose_columns(catalog, identities)]
    damaged: set[int] = set()
    while True:
        with database.reading() as reading:
            fragment = _find_holding(reading, catalog, wanted, damaged)
        if fragment is None or select_usable(database, folder, [fragment]):
            return fragment
        damaged.add(fragment.id)


def read_fragment(engine: Engine, folder: DataFolder, fragment: Fragment) -> DataFrame:
    """Return the data of a fragment, with the registered names and order of columns.

    Only registered files are read; other files in the folder are ignored.
    """
    note_fragment(fragment)
    addresses = [folder.at(fragment.location, file.name) for file in fragment.files]
    reader = engine.session.read.options(**OWN_FILES)
    with translate_errors(f"reading the fragment #{fragment.id}"):
        reader = reader.schema(_read_struct(folder, fragment))
        frame = reader.parquet(*(_format_path(folder, address, glob=True) for address in addresses))
    return normalize_zeros(frame, fragment.columns)  # an earlier version may have stored -0.0


def _read_struct(folder: DataFolder, fragment: Fragment) -> StructType:
    """Return Spark's schema of a fragment from the footer of a file, so that Spark runs no job to infer it."""
    from pyarrow import parquet  # noqa: PLC0415 - it takes a while to import

    with folder.open_filesystem(fragment.location, fragment.files[0].name) as (filesystem, path):
        metadata = parquet.read_metadata(path, filesystem=filesystem).metadata
    struct = StructType.fromJson(json.loads(metadata[b"org.apache.spark.sql.parquet.row.metadata"]))
    return StructType([struct[name] for _, name in fragment.columns])


def _require_store(database: Database, folder: DataFolder) -> None:
    """Check that the folder of registered fragments exists: a new folder would hide the loss of the old folder."""
    with database.reading() as reading:
        for place in sorted(fragments.find_locations(reading))[:1]:
            require_folder(folder, place.rpartition("/")[0])


def _find_sound_holding(
    writing: Writing, folder: DataFolder, catalog: Catalog, wanted: Collection[str], damage: Mapping[int, str]
) -> Fragment | None:
    """Return a fragment that holds attributes and whose files are undamaged, or None; drop damaged fragments."""
    while (fragment := _find_holding(writing, catalog, wanted)) is not None:
        problem = damage.get(fragment.id) or find_parquet_damage(folder, fragment.location, fragment.files)
        if not problem:
            break
        fragments.drop(writing, fragment.id, f"damaged: {problem}")
    return fragment


def _find_holding(
    reading: Reading, catalog: Catalog, wanted: Collection[str], damaged: Collection[int] = ()
) -> Fragment | None:
    """Return the smallest registered fragment with attributes for the sources of a catalog, or None."""
    candidates = (
        fragment
        for fragment in fragments.find_by_extent(reading, catalog.extent.digest)
        if fragment.identities.issuperset(wanted) and fragment.id not in damaged
    )
    return min(candidates, key=lambda fragment: fragment.size, default=None)


def _choose_columns(catalog: Catalog, identities: Collection[str] | None) -> list[tuple[Attribute, str]]:
    """Return the attributes to keep, the key first, and a column name for each.

    Columns have the names of the attributes, but no two names differ in case alone, because not all readers
    distinguish them.
    """
    by_identity = catalog.schema.by_identity
    key = [attribute.identity for attribute in catalog.schema.key]
    chosen = by_identity.keys() if identities is None else set(identities)
    for identity in chosen:
        if identity not in by_identity:
            raise AttributeNotFoundError(identity, by_identity)
    schema_order = dict.fromkeys(attribute.identity for attribute in catalog.schema.attributes)
    order = [*key, *(identity for identity in schema_order if identity in chosen)]
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


def _write(frame: DataFrame, columns: Sequence[tuple[str, Attribute]], folder: DataFolder, address: str) -> None:
    """Write columns of a frame, each given by its name there, and by the attribute that names it in the files."""
    key = [quote_name(attribute.name) for _, attribute in columns if key_position(attribute.identity) is not None]
    # Sorted by key, so that the footer bounds the keys of each row group, and few are read for few keys.
    rows = name_columns(frame, columns).sortWithinPartitions(*key)
    rows.write.options(**_WRITING).parquet(_format_path(folder, address))


def _format_path(folder: DataFolder, address: str, *, glob: bool = False) -> str:
    """Return an address in the form by which Spark finds the same file as pyarrow, special characters included."""
    path = re.sub(r"([\\*?\[\]{}])", r"\\\1", address) if glob else address
    return f"file:{path}" if folder.is_local else path


def _check_keys(catalog: Catalog, written: ParquetContents) -> None:
    for attribute, nulls in zip(catalog.schema.key, written.nulls, strict=True):
        if nulls:
            raise KeyValuesError(
                f"{nulls:,} of {written.rows:,} sources have a NULL key {attribute.name}",
                hint="every source needs a key: correct the base data",
            )
