"""Adding catalogs to the archive and reading catalogs back."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, insert, select

from provenn.batches import split_batches
from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.population import Population
from provenn.catalogs.restoring import cone as lineage_cone
from provenn.database.tables import catalogs, dependencies, populations, schemas
from provenn.database.transactions import Reading, Writing
from provenn.definitions import attributes, catalog_names, definers, moc_files, wordings
from provenn.definitions.ancestors import read_cone
from provenn.definitions.base_locations import record_first_location
from provenn.definitions.populations import find_population
from provenn.definitions.restored_catalogs import restore_catalog
from provenn.definitions.stored_file_bounds import record_file_bounds
from provenn.definitions.stored_samples import record_base_sample
from provenn.digests import CatalogDigest, canonical_json
from provenn.errors import CorruptArchiveError, PopulationError, ProvennError, UnknownCatalogError
from provenn.people.visibility import (
    filter_visible,
    find_nearest_creation,
    is_directly_visible,
    select_creations,
    view_as,
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

SHORTEST_DIGEST = 4
"""The smallest number of a digest's leading digits by which a catalog can be found."""

_VERSION = re.compile(r"(.+)@([0-9]{1,6})")
_DIGITS = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """A catalog's entry in a list of catalogs.

    Parameters
    ----------
    digest, kind, population
        The catalog's digest, the name of its class, the name of its population.
    names
        The catalog's names, sorted.
    created_at, created_by
        When the catalog was added first, and by which person.
    attributes
        The number of the catalog's attributes.
    """

    digest: CatalogDigest
    kind: str
    population: str
    created_at: datetime
    created_by: str
    attributes: int
    names: tuple[catalog_names.CatalogName, ...] = ()


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
    many catalogs as the previous one: the usual one or two new catalogs cost one or two queries, a long chain a few.
    """
    missing: dict[CatalogDigest, Catalog] = {}
    unseen: set[CatalogDigest] = set()
    checked: set[CatalogDigest] = set()
    frontier, most = [*new], max(1, len(new))
    while frontier:
        batch: dict[CatalogDigest, Catalog] = {}
        queue = deque(frontier)
        while queue and len(batch) < most:
            catalog = queue.popleft()
            if catalog.digest not in checked and catalog.digest not in batch:
                batch[catalog.digest] = catalog
                queue.extend(catalog.dependencies)
        checked |= batch.keys()
        stored, directly_visible = _find_stored(writing, batch, for_run=for_run)
        missing |= {digest: catalog for digest, catalog in batch.items() if digest not in stored}
        new_to_writer = [catalog for digest, catalog in batch.items() if digest not in directly_visible]
        unseen |= {catalog.digest for catalog in new_to_writer}
        parents = (dependency for catalog in new_to_writer for dependency in catalog.dependencies)
        frontier = [catalog for catalog in (*frontier, *parents) if catalog.digest not in checked]
        most *= 2
    return missing, unseen


def _find_stored(
    writing: Writing, digests: Collection[CatalogDigest], *, for_run: bool
) -> tuple[set[CatalogDigest], set[CatalogDigest]]:
    """Return the digests in the archive, and the digests directly visible to the writer."""
    own_view = view_as(writing, writing.who)
    query = select(catalogs.c.digest, is_directly_visible(own_view, catalogs.c.digest, by_person=not for_run))
    stored, directly_visible = set(), set()
    for batch in split_batches(digests):
        for digest, is_direct in writing.connection.execute(query.where(catalogs.c.digest.in_(batch))):
            stored.add(digest)
            if is_direct:
                directly_visible.add(digest)
    return stored, directly_visible


def add_populations(writing: Writing, needed: Collection[Population]) -> None:
    """Add populations missing in the archive.

    Raises
    ------
    PopulationError
        If a population has another key in this archive.
    """
    rows = writing.connection.execute(select(populations.c.name, populations.c.key))
    key_by_name = {row.name: row.key for row in rows}
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


def resolve_catalog(reading: Reading, word: str) -> CatalogDigest:
    """Return the digest of a catalog from a word: a name, a version of a name, or the beginning of a digest.

    ``stars@2`` is the second version of the name ``stars``, unless a catalog has this very name.

    The beginning of a digest needs at least `SHORTEST_DIGEST` digits.

    Raises
    ------
    UnknownCatalogError
        If no catalog fits the word, or the digests of several catalogs begin with it.
    """
    named_digest = catalog_names.find_named_digest(reading, word)
    if named_digest is not None:
        return named_digest
    version = _VERSION.fullmatch(word)
    if version is not None and word.isprintable():
        return catalog_names.find_version(reading, version[1], int(version[2]))
    if len(word) >= SHORTEST_DIGEST and _DIGITS.fullmatch(word):
        # "g" comes after every hexadecimal digit
        beginning = catalogs.c.digest.between(word, word + "g")
        query = select(catalogs.c.digest).where(beginning).order_by("digest")
        if reading.viewer is None:
            query = query.limit(4)
        digests = sorted(filter_visible(reading, reading.connection.scalars(query).all()))[:4]
        if len(digests) == 1:
            return digests[0]
        if digests:
            shown = ", ".join(digest[: len(word) + 8] for digest in digests)
            raise UnknownCatalogError(f"several digests begin with {word}", hint=f"write more digits: {shown}")
    raise catalog_names.make_unknown_name_error(reading, word)


def find_same_extent(reading: Reading, digest: CatalogDigest) -> tuple[CatalogDigest, ...]:
    """Return the digests of the other catalogs with the same sources by construction, sorted."""
    extent = select(catalogs.c.extent).where(catalogs.c.digest == digest).scalar_subquery()
    query = select(catalogs.c.digest).where(catalogs.c.extent == extent, catalogs.c.digest != digest)
    query = query.where(is_directly_visible(reading, catalogs.c.digest))
    return tuple(reading.connection.scalars(query.order_by(catalogs.c.digest)))


def count_catalogs(reading: Reading) -> int:
    """Return the number of catalogs in the viewer's lists."""
    query = select(func.count()).select_from(catalogs).where(is_directly_visible(reading, catalogs.c.digest))
    return reading.connection.execute(query).scalar_one()


def find_entries(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, CatalogEntry]:
    """Return the entries of catalogs visible to the viewer, directly or in a lineage, by digest."""
    entries = _read_entries_of(reading, select_entries(reading), digests)
    if reading.viewer is not None:
        in_lineages = filter_visible(reading, [digest for digest in digests if digest not in entries])
        query = select_entries(replace(reading, viewer=None))
        for digest, entry in (_read_entries_of(reading, query, in_lineages) if in_lineages else {}).items():
            creation = find_nearest_creation(reading, digest)
            if creation is not None:
                entries[digest] = replace(entry, created_at=creation[0], created_by=creation[1])
    return entries


def _read_entries_of(
    reading: Reading, query: Select[Any], digests: Collection[CatalogDigest]
) -> dict[CatalogDigest, CatalogEntry]:
    queries = (query.where(catalogs.c.digest.in_(batch)) for batch in split_batches(digests))
    return {entry.digest: entry for batch_query in queries for entry in read_entries(reading, batch_query)}


def select_entries(reading: Reading) -> Select[Any]:
    """Return the query for the entries, without names, of all catalogs directly visible to the viewer.

    Its columns ``created_at`` and ``created_by`` say when and by which person a catalog was added, as far as the
    viewer may know.
    """
    attribute_count = select(schemas.c.attributes).where(schemas.c.digest == catalogs.c.schema).scalar_subquery()
    columns = (catalogs.c.digest, catalogs.c.kind, catalogs.c.population)
    if reading.viewer is None:
        return select(*columns, catalogs.c.created_at, catalogs.c.created_by, attribute_count)
    creations = select_creations(reading.viewer)
    created = (creations.c.at.label("created_at"), creations.c.who.label("created_by"))
    query = select(*columns, *created, attribute_count)
    return query.join_from(catalogs, creations, creations.c.catalog == catalogs.c.digest)


def read_entries(reading: Reading, query: Select[Any]) -> list[CatalogEntry]:
    """Return the entries, with names, of the catalogs of a query: `select_entries` with further conditions."""
    entries = [CatalogEntry(*row) for row in reading.connection.execute(query)]
    names_by_digest = catalog_names.find_names_by_digest(reading, [entry.digest for entry in entries])
    return [replace(entry, names=names_by_digest.get(entry.digest, ())) for entry in entries]
