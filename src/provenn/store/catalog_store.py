"""Catalogs in and out of the archive."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, insert, select

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Catalog
from provenn.catalogs.digest import canonical_json
from provenn.catalogs.lineage import cone as lineage_cone
from provenn.catalogs.lineage import restore
from provenn.catalogs.population import Population
from provenn.errors import CorruptArchiveError, PopulationError, ProvennError, UnknownCatalogError
from provenn.store import attributes, definers, moc_files, names, wordings
from provenn.store.bases import first_seen
from provenn.store.cones import cone, in_batches
from provenn.store.database import Reading, Writing
from provenn.store.populations import population
from provenn.store.tables import catalogs, dependencies, populations, schemas
from provenn.store.visibility import as_seen_by, creations, directly_seen, nearest_creation, seen

__all__ = [
    "SHORTEST",
    "Entry",
    "add",
    "confirm",
    "count",
    "entries",
    "entries_query",
    "get",
    "get_all",
    "read_entries",
    "resolve",
    "same_extent",
]

SHORTEST = 4
"""How many digits of a digest are needed to find a catalog."""

_DIGITS = re.compile(r"[0-9a-f]{1,64}")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a list of catalogs shows of one of them.

    Parameters
    ----------
    digest, kind, population
        Its digest, the name of its class, the name of its population.
    names
        Its names, sorted.
    created_at, created_by
        When it was added first, and by whom.
    attributes
        How many attributes it has.
    """

    digest: str
    kind: str
    population: str
    created_at: datetime
    created_by: str
    attributes: int
    names: tuple[str, ...] = ()


def add(writing: Writing, *new: Catalog, for_run: bool = False) -> int:
    """Add catalogs, with all ancestors that the archive does not hold yet.

    The writer is recorded to have defined them, and all ancestors that the writer did not see, even if others defined
    them before.

    Parameters
    ----------
    writing
        The transaction.
    new
        The catalogs.
    for_run
        Whether only a run needs them, for what it stores or has counted. Then nobody has defined them.

    Returns
    -------
    int
        How many rows that made; none if all were there.

    Raises
    ------
    PopulationError
        If a population of that name has another key in this archive.
    FilesMissingError
        If one names a large MOC that no open archive holds.
    """
    missing, unseen = _missing(writing, new, for_run=for_run)
    moc_files.keep_named(writing, (canonical_json(one.parameters()) for one in {*missing.values(), *new}))
    if missing:
        _insert(writing, missing)
    definers.record(writing, unseen.union(one.digest for one in new), defined=not for_run)
    return len(missing)


def confirm(writing: Writing, *called: Catalog) -> None:
    """Let catalogs that get a name be definitions of the writer, with their ancestors, if only runs needed them."""
    digests = {one.digest for one in lineage_cone(*called)}
    known = seen(replace(writing, viewer=None), digests, by_person=True)
    definers.record(writing, digests - known)


def _insert(writing: Writing, missing: Mapping[str, Catalog]) -> None:
    _add_populations(writing, {one.population for one in missing.values()})
    held = attributes.add_schemas(writing, missing.values())
    rows = [_row(writing, one) | {"schema": held[digest]} for digest, one in missing.items()]
    writing.connection.execute(insert(catalogs), rows)
    links = [
        {"catalog": digest, "position": position, "dependency": dependency.digest}
        for digest, one in missing.items()
        for position, dependency in enumerate(one.dependencies)
    ]
    if links:
        writing.connection.execute(insert(dependencies), links)
    attributes.index(writing, missing.values())
    wordings.index(writing, missing.values())
    for one in missing.values():
        if isinstance(one, Base):
            first_seen(writing, one)


def _missing(writing: Writing, new: Sequence[Catalog], *, for_run: bool) -> tuple[Mapping[str, Catalog], set[str]]:
    """Return the catalogs and ancestors that the archive does not hold; and the digests of those not seen directly.

    If the writer sees a catalog directly, the archive holds all its ancestors and the writer sees them, so that the
    walk ends there. For a definition, only what people defined counts as seen. Each look at the database asks for
    twice as many as the one before: the usual one or two new catalogs cost one or two looks, a long chain a few.
    """
    missing: dict[str, Catalog] = {}
    unseen: set[str] = set()
    asked: set[str] = set()
    frontier, most = [*new], max(1, len(new))
    while frontier:
        batch: dict[str, Catalog] = {}
        queue = deque(frontier)
        while queue and len(batch) < most:
            one = queue.popleft()
            if one.digest not in asked and one.digest not in batch:
                batch[one.digest] = one
                queue.extend(one.dependencies)
        asked |= batch.keys()
        held, listed = _held(writing, batch, for_run=for_run)
        missing |= {digest: one for digest, one in batch.items() if digest not in held}
        fresh = [one for digest, one in batch.items() if digest not in listed]
        unseen |= {one.digest for one in fresh}
        above = (dependency for one in fresh for dependency in one.dependencies)
        frontier = [one for one in (*frontier, *above) if one.digest not in asked]
        most *= 2
    return missing, unseen


def _held(writing: Writing, digests: Collection[str], *, for_run: bool) -> tuple[set[str], set[str]]:
    """Return which catalogs the archive holds, and which of them the writer sees directly."""
    own = as_seen_by(writing, writing.who)
    query = select(catalogs.c.digest, directly_seen(own, catalogs.c.digest, by_person=not for_run))
    held, listed = set(), set()
    for batch in in_batches(digests):
        for digest, direct in writing.connection.execute(query.where(catalogs.c.digest.in_(batch))):
            held.add(digest)
            if direct:
                listed.add(digest)
    return held, listed


def _add_populations(writing: Writing, needed: Collection[Population]) -> None:
    rows = writing.connection.execute(select(populations.c.name, populations.c.key))
    known = {row.name: row.key for row in rows}
    for one in sorted(needed, key=lambda population: population.name):
        key = canonical_json([str(kind) for kind in one.key])
        if one.name not in known:
            writing.connection.execute(insert(populations), {"name": one.name, "key": key})
            known[one.name] = key
        elif known[one.name] != key:
            which = f"the key {known[one.name]}" if population(writing, one.name) else "another key"
            raise PopulationError(
                f"the population {one.name} has {which} in this archive, not {key}",
                hint="what one row is fixes its key: cast the key columns, or name another population",
            )


def _row(writing: Writing, catalog: Catalog) -> dict[str, object]:
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


def get(reading: Reading, digest: str) -> Catalog:
    """Return a catalog with all its ancestors; the exceptions are those of `get_all`."""
    return get_all(reading, [digest])[digest]


def get_all(reading: Reading, digests: Collection[str]) -> dict[str, Catalog]:
    """Return catalogs and all their ancestors, by digest.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold one of them.
    CorruptArchiveError
        If what is stored is not what was written.
    """
    made: dict[str, Catalog] = {}
    for one in cone(reading, digests):
        try:
            catalog = restore(one.kind, one.parameters, one.notes, [made[digest] for digest in one.dependencies])
        except ProvennError as error:
            raise CorruptArchiveError(f"the {one.kind} {one.digest} cannot be restored: {error.message}") from error
        if (catalog.digest, catalog.extent.digest, catalog.population.name) != (one.digest, one.extent, one.population):
            raise CorruptArchiveError(f"the row of the {one.kind} {one.digest} was changed after it was written")
        made[one.digest] = catalog
    return made


def resolve(reading: Reading, word: str) -> str:
    """Return the digest of the catalog that has a name, or whose digest begins so, with at least `SHORTEST` digits.

    Raises
    ------
    UnknownCatalogError
        If there is none, or digests of several catalogs begin so.
    """
    named = names.find(reading, word)
    if named is not None:
        return named
    if len(word) >= SHORTEST and _DIGITS.fullmatch(word):
        # "g" comes after every hexadecimal digit
        beginning = catalogs.c.digest.between(word, word + "g")
        query = select(catalogs.c.digest).where(beginning).order_by("digest")
        if reading.viewer is None:
            query = query.limit(4)
        found = sorted(seen(reading, reading.connection.scalars(query).all()))[:4]
        if len(found) == 1:
            return found[0]
        if found:
            shown = ", ".join(digest[: len(word) + 8] for digest in found)
            raise UnknownCatalogError(f"the digests of several catalogs begin with {word}", hint=f"say more: {shown}")
    raise names.unknown_name(reading, word)


def same_extent(reading: Reading, digest: str) -> tuple[str, ...]:
    """Return the digests of the other catalogs whose sources are the same by construction, sorted."""
    extent = select(catalogs.c.extent).where(catalogs.c.digest == digest).scalar_subquery()
    query = select(catalogs.c.digest).where(catalogs.c.extent == extent, catalogs.c.digest != digest)
    query = query.where(directly_seen(reading, catalogs.c.digest))
    return tuple(reading.connection.scalars(query.order_by(catalogs.c.digest)))


def count(reading: Reading) -> int:
    """Return how many catalogs there are that lists show."""
    query = select(func.count()).select_from(catalogs).where(directly_seen(reading, catalogs.c.digest))
    return reading.connection.execute(query).scalar_one()


def entries(reading: Reading, digests: Collection[str]) -> dict[str, Entry]:
    """Return what a list shows of some catalogs, by digest; of those that the viewer sees, be it in a lineage."""
    listed = entries_query(reading)
    found = _entries(reading, listed, digests)
    if reading.viewer is not None:
        rest = seen(reading, [one for one in digests if one not in found])
        plain = entries_query(replace(reading, viewer=None))
        for digest, one in (_entries(reading, plain, rest) if rest else {}).items():
            made = nearest_creation(reading, digest)
            if made is not None:
                found[digest] = replace(one, created_at=made[0], created_by=made[1])
    return found


def _entries(reading: Reading, query: Select[Any], digests: Collection[str]) -> dict[str, Entry]:
    queries = (query.where(catalogs.c.digest.in_(batch)) for batch in in_batches(digests))
    return {one.digest: one for each in queries for one in read_entries(reading, each)}


def entries_query(reading: Reading) -> Select[Any]:
    """Return the query of all that a list shows of catalogs, but for their names.

    When and by whom a catalog was added are its columns ``created_at`` and ``created_by``, as far as the viewer may
    know.
    """
    held = select(schemas.c.attributes).where(schemas.c.digest == catalogs.c.schema).scalar_subquery()
    columns = (catalogs.c.digest, catalogs.c.kind, catalogs.c.population)
    if reading.viewer is None:
        return select(*columns, catalogs.c.created_at, catalogs.c.created_by, held)
    known = creations(reading.viewer)
    query = select(*columns, known.c.at.label("created_at"), known.c.who.label("created_by"), held)
    return query.join_from(catalogs, known, known.c.catalog == catalogs.c.digest)


def read_entries(reading: Reading, query: Select[Any]) -> list[Entry]:
    """Return what a list shows of the catalogs of a query, which is `entries_query` with conditions."""
    found = [Entry(*row) for row in reading.connection.execute(query)]
    called = names.names_of(reading, [one.digest for one in found])
    return [replace(one, names=called.get(one.digest, ())) for one in found]
