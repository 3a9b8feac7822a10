"""Adding catalogs to the archive and reading catalogs back; entries come from `catalog_entries`."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Select, bindparam, insert, select

from provenn.batches import split_batches
from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.population import Population
from provenn.catalogs.restoring import cone as lineage_cone
from provenn.database.tables import catalogs, dependencies, populations
from provenn.database.transactions import Reading, Writing
from provenn.definitions import attributes, definers, moc_files, wordings
from provenn.definitions.ancestors import read_cone
from provenn.definitions.base_locations import record_first_location
from provenn.definitions.catalog_entries import (
    SHORTEST_DIGEST,
    CatalogEntry,
    count_catalogs,
    find_entries,
    find_same_extent,
    read_entries,
    resolve_catalog,
    select_entries,
)
from provenn.definitions.populations import find_population
from provenn.definitions.restored_catalogs import restore_catalog
from provenn.definitions.stored_file_bounds import record_file_bounds
from provenn.definitions.stored_samples import record_base_sample
from provenn.digests import CatalogDigest, canonical_json
from provenn.errors import CorruptArchiveError, PopulationError, ProvennError
from provenn.people.visibility import (
    filter_visible,
    is_one_directly_visible_to,
)

__all__ = [
    "SHORTEST_DIGEST",
    "CatalogEntry",
    "add_catalogs",
    "add_populations",
    "confirm_definitions",
    "count_catalogs",
    "find_entries",
    "find_same_extent",
    "get_catalog",
    "get_catalogs",
    "read_entries",
    "record_unseen_definitions",
    "resolve_catalog",
    "select_entries",
]


def add_catalogs(writing: Writing, *new: Catalog, for_run: bool = False) -> int:
    """Add catalogs, with all ancestors missing in the archive.

    The writer is recorded as a definer of the catalogs and of all ancestors not visible to the writer before, even if
    another person defined them earlier.

    Parameters
    ----------
    writing
        The transaction.
    new
        The catalogs.
    for_run
        Whether only a run needs the catalogs, for its fragments or counts. Then no person has defined them.

    Returns
    -------
    int
        The number of catalogs added; 0 if the archive held all of them.

    Raises
    ------
    PopulationError
        If a population has another key in this archive.
    FilesMissingError
        If a catalog names a large MOC that no open archive holds.
    """
    missing, unseen = _find_missing(writing, new, for_run=for_run)
    moc_files.keep_named(writing, (canonical_json(catalog.parameters()) for catalog in {*missing.values(), *new}))
    if missing:
        _insert_catalogs(writing, missing)
    definers.record_definers(writing, unseen.union(catalog.digest for catalog in new), defined=not for_run)
    return len(missing)


def record_unseen_definitions(writing: Writing, stored: Sequence[Catalog]) -> None:
    """Record the writer as a definer of stored catalogs and ancestors not visible to the writer before."""
    definers.record_definers(writing, _find_missing(writing, stored, for_run=False)[1])


def confirm_definitions(writing: Writing, *new_named: Catalog) -> None:
    """Record the writer as the definer of newly named catalogs and their ancestors.

    This concerns only catalogs and ancestors without a definer, needed only by runs so far.
    """
    digests = {catalog.digest for catalog in lineage_cone(*new_named)}
    defined = filter_visible(replace(writing, viewer=None), digests, by_person=True)
    definers.record_definers(writing, digests - defined)


def _insert_catalogs(writing: Writing, missing: Mapping[CatalogDigest, Catalog]) -> None:
    add_populations(writing, {catalog.population for catalog in missing.values()})
    schema_by_catalog = attributes.add_schemas(writing, missing.values())
    rows = [_make_row(writing, catalog) | {"schema": schema_by_catalog[digest]} for digest, catalog in missing.items()]
    writing.connection.execute(insert(catalogs), rows)
    links = [
        {"catalog": digest, "position": position, "dependency": dependency.digest}
        for digest, catalog in missing.items()
        for position, dependency in enumerate(catalog.dependencies)
    ]
    if links:
        writing.connection.execute(insert(dependencies), links)
    attributes.index_attributes(writing, missing.values())
    wordings.index_wordings(writing, missing.values())
    for catalog in missing.values():
        if isinstance(catalog, Base):
            record_first_location(writing, catalog)
            record_base_sample(writing, catalog)
            record_file_bounds(writing, catalog)


def _find_missing(
    writing: Writing, new: Sequence[Catalog], *, for_run: bool
) -> tuple[Mapping[CatalogDigest, Catalog], set[CatalogDigest]]:
    """Return the catalogs and ancestors missing in the archive, and the digests not directly visible.

    If the writer sees a catalog directly, the archive holds all its ancestors and the writer sees them, so that the
    walk ends there. For a definition, only catalogs that people defined count as seen. Each query asks for twice as
    many catalogs as the previous one, ancestors included: the usual new catalog costs one query, a long chain a few.
    """
    missing: dict[CatalogDigest, Catalog] = {}
    unseen: set[CatalogDigest] = set()
    asked: set[CatalogDigest] = set()
    stored: set[CatalogDigest] = set()
    directly_visible: set[CatalogDigest] = set()
    queue, most = deque(new), max(1, len(new))
    while queue:
        catalog = queue.popleft()
        if catalog.digest in unseen:
            continue
        if catalog.digest not in asked:
            most *= 2
            batch = _list_next([catalog, *queue], most, asked)
            stored_of_batch, visible_of_batch = _find_stored(writing, batch, for_run=for_run)
            asked |= batch
            stored |= stored_of_batch
            directly_visible |= visible_of_batch
        if catalog.digest not in stored:
            missing[catalog.digest] = catalog
        if catalog.digest not in directly_visible:
            unseen.add(catalog.digest)
            queue.extend(catalog.dependencies)
    return missing, unseen


def _list_next(wanted: Sequence[Catalog], most: int, asked: Collection[CatalogDigest]) -> set[CatalogDigest]:
    """Return the digests of wanted catalogs, then of their ancestors: at most so many, none asked for before."""
    batch: set[CatalogDigest] = set()
    queue = deque(wanted)
    while queue and len(batch) < most:
        catalog = queue.popleft()
        if catalog.digest not in asked and catalog.digest not in batch:
            batch.add(catalog.digest)
            queue.extend(catalog.dependencies)
    return batch


def _select_stored(*, for_run: bool) -> Select[Any]:
    is_direct = is_one_directly_visible_to(bindparam("person"), catalogs.c.digest, by_person=not for_run)
    return select(catalogs.c.digest, is_direct).where(catalogs.c.digest.in_(bindparam("digests", expanding=True)))


_STORED, _STORED_FOR_RUN = _select_stored(for_run=False), _select_stored(for_run=True)


def _find_stored(
    writing: Writing, digests: Collection[CatalogDigest], *, for_run: bool
) -> tuple[set[CatalogDigest], set[CatalogDigest]]:
    """Return the digests in the archive, and the digests directly visible to the writer."""
    query = _STORED_FOR_RUN if for_run else _STORED
    stored, directly_visible = set(), set()
    for batch in split_batches(digests):
        for digest, is_direct in writing.connection.execute(query, {"person": writing.who, "digests": batch}):
            stored.add(digest)
            if is_direct:
                directly_visible.add(digest)
    return stored, directly_visible


_POPULATIONS = select(populations.c.name, populations.c.key)


def add_populations(writing: Writing, needed: Collection[Population]) -> None:
    """Add populations missing in the archive.

    Raises
    ------
    PopulationError
        If a population has another key in this archive.
    """
    key_by_name = dict(iter(writing.connection.execute(_POPULATIONS)))
    for population in sorted(needed, key=lambda population: population.name):
        name, key = population.name, canonical_json([str(kind) for kind in population.key])
        if name not in key_by_name:
            writing.connection.execute(insert(populations), {"name": name, "key": key})
            key_by_name[name] = key
        elif key_by_name[name] != key:
            other_key = f"the key {key_by_name[name]}" if find_population(writing, name) else "another key"
            raise PopulationError(
                f"the population {name} has {other_key} in this archive, not {key}",
                hint="a population has one key: cast the key columns, or choose another population",
            )


def _make_row(writing: Writing, catalog: Catalog) -> dict[str, object]:
    return {
        "digest": catalog.digest,
        "kind": catalog.kind,
        "population": catalog.population.name,
        "parameters": canonical_json(catalog.parameters()),
        "notes": canonical_json(catalog.notes()),
        "extent": catalog.extent.digest,
        "created_at": writing.when,
        "created_by": writing.who,
    }


def get_catalog(reading: Reading, digest: CatalogDigest) -> Catalog:
    """Return a catalog with all its ancestors; raises the same exceptions as `get_catalogs`."""
    return get_catalogs(reading, [digest])[digest]


def get_catalogs(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, Catalog]:
    """Return catalogs and all their ancestors, by digest.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold one of the catalogs, or the viewer does not see it.
    CorruptArchiveError
        If a stored definition was changed after it was written.
    """
    restored: dict[CatalogDigest, Catalog] = {}
    for definition in read_cone(reading, digests):
        kind, digest = definition.kind, definition.digest
        dependencies_of = [restored[dependency] for dependency in definition.dependencies]
        try:
            catalog = restore_catalog(definition, dependencies_of)
        except ProvennError as error:
            raise CorruptArchiveError(f"the {kind} {digest} cannot be restored: {error.message}") from error
        stored = (digest, definition.extent, definition.population)
        if (catalog.digest, catalog.extent.digest, catalog.population.name) != stored:
            raise CorruptArchiveError(f"the row of the {kind} {digest} was changed after it was written")
        restored[digest] = catalog
    return restored
