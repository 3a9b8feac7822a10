"""Entries of catalogs in lists, and catalogs found by what a user types: no definition is restored."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from provenn.batches import split_batches
from provenn.database.tables import catalogs, names, schemas
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names, naming_history
from provenn.digests import CatalogDigest
from provenn.errors import UnknownCatalogError
from provenn.people.visibility import (
    filter_visible,
    find_nearest_creation,
    is_directly_visible,
    is_visible_name,
    select_creations,
)

__all__ = [
    "SHORTEST_DIGEST",
    "CatalogEntry",
    "count_catalogs",
    "find_entries",
    "find_same_extent",
    "list_first_of_extent",
    "read_entries",
    "resolve_catalog",
    "select_entries",
]

SHORTEST_DIGEST = 4
"""The smallest number of a digest's leading digits by which a catalog can be found."""

_VERSION = re.compile(r"(.+)@([0-9]{1,6})")
_DIGITS = re.compile(r"[0-9a-f]{1,64}")

_MANY = 1_000
_STEP = 200
"""Catalogs of an extent beyond which names are read in order; and how many names are read at once."""


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
        return naming_history.find_version(reading, version[1], int(version[2]))
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


def list_first_of_extent(
    reading: Reading, digest: CatalogDigest, most: int
) -> tuple[tuple[tuple[CatalogDigest, str | None], ...], int]:
    """Return the first of the catalogs of `find_same_extent`, each with its first name or None, and the number of all.

    Named catalogs come first, by name; the others follow by digest. No more catalogs are read than are returned.
    """
    extent = select(catalogs.c.extent).where(catalogs.c.digest == digest).scalar_subquery()
    of_extent = (catalogs.c.extent == extent, is_directly_visible(reading, catalogs.c.digest))
    # Not in one query: the index of extents alone answers the first, without the rows of catalogs.
    of_all = reading.connection.scalars(select(func.count()).select_from(catalogs).where(*of_extent)).one()
    itself = select(func.count()).select_from(catalogs).where(*of_extent, catalogs.c.digest == digest)
    total = of_all - reading.connection.scalars(itself).one()
    first: list[tuple[CatalogDigest, str | None]] = list(_list_first_names(reading, of_extent[0], digest, most, of_all))
    if len(first) < min(most, total):
        with_name = select(names.c.catalog).where(is_visible_name(reading))
        others = select(catalogs.c.digest).where(*of_extent, catalogs.c.digest != digest)
        others = others.where(catalogs.c.digest.not_in(with_name)).order_by(catalogs.c.digest)
        first += [(other, None) for other in reading.connection.scalars(others.limit(most - len(first)))]
    return tuple(first), total


def _list_first_names(
    reading: Reading, of_extent: ColumnElement[bool], digest: CatalogDigest, most: int, total: int
) -> list[tuple[CatalogDigest, str]]:
    """Return the named catalogs of an extent of so many catalogs, without one of them: the first by name."""
    joined = is_visible_name(reading), of_extent, names.c.catalog != digest
    if total <= _MANY:
        query = select(names.c.catalog, func.min(names.c.name).label("first")).where(*joined)
        query = query.join(catalogs, catalogs.c.digest == names.c.catalog).group_by(names.c.catalog)
        return [(other, name) for other, name in reading.connection.execute(query.order_by("first").limit(most))]
    # Among many catalogs, the first names belong to different ones soon: walk along the names.
    extent = select(catalogs.c.digest).where(of_extent, catalogs.c.digest == names.c.catalog)
    query = select(names.c.catalog, names.c.name).where(joined[0], joined[2], extent.exists()).order_by(names.c.name)
    first: dict[CatalogDigest, str] = {}
    with reading.connection.execute(query.execution_options(yield_per=_STEP)) as rows:
        for other, name in rows:
            if len(first) >= most:
                break
            first.setdefault(other, name)
    return list(first.items())


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
