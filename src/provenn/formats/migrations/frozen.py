"""What released steps compute, as it was when they were released.

A step goes on making what its format prescribes, whatever later formats change; a later step then makes the change. So
the tables here have the columns of their format, and the functions repeat on purpose what `provenn.definitions` and
`provenn.people` do now. Shared with these are only promises to stored data: `restore` reads every definition that was
ever written, and digests never change; a definition whose digest or extent comes out differently stops the step.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from typing import Any

from sqlalchemy import Connection, column, insert, select, table

from provenn.catalogs.catalog import Catalog
from provenn.catalogs.restoring import restore
from provenn.digests import CatalogDigest, content_digest
from provenn.errors import CorruptArchiveError, ProvennError

__all__ = [
    "AUDIT_HEAD",
    "EPOCH",
    "compute_audit_digest",
    "fill_attributes",
    "fill_schemas",
    "fill_wordings",
    "restore_catalogs",
]

EPOCH = "epoch"
AUDIT_HEAD = "audit head"

_CATALOGS = table("catalogs", *map(column, ("digest", "kind", "population", "parameters", "notes", "extent")))
_DEPENDENCIES = table("dependencies", *map(column, ("catalog", "position", "dependency")))
_ATTRIBUTES = table("attributes", *map(column, ("catalog", "name", "identity", "population")))
_SCHEMAS = table("schemas", *map(column, ("digest", "attributes", "names")))
_WORDINGS = table("wordings", *map(column, ("catalog", "text")))
_NOT_WORDS = frozenset({"fingerprints", "contents", "was_late"})


def restore_catalogs(connection: Connection) -> list[Catalog]:
    """Return all catalogs of an archive, dependencies first, from the columns of the first format.

    Raises
    ------
    CorruptArchiveError
        If a definition cannot be restored, or was changed after it was written.
    """
    dependencies: dict[CatalogDigest, list[CatalogDigest]] = {}
    links = select(_DEPENDENCIES.c.catalog, _DEPENDENCIES.c.dependency).order_by(_DEPENDENCIES.c.position)
    for digest, dependency in connection.execute(links):
        dependencies.setdefault(digest, []).append(dependency)
    rows = {row.digest: row for row in connection.execute(select(_CATALOGS))}
    try:
        order = list(TopologicalSorter({digest: dependencies.get(digest, ()) for digest in rows}).static_order())
    except CycleError as error:
        raise CorruptArchiveError("catalogs are made from themselves") from error
    restored: dict[CatalogDigest, Catalog] = {}
    for digest in order:
        if digest not in rows:
            raise CorruptArchiveError(f"the catalog {digest} is missing")
        restored[digest] = _restore_catalog(rows[digest], [restored[part] for part in dependencies.get(digest, ())])
    return list(restored.values())


def _restore_catalog(row: Any, dependencies: list[Catalog]) -> Catalog:  # noqa: ANN401 - a row of `catalogs`
    try:
        catalog = restore(row.kind, json.loads(row.parameters), json.loads(row.notes), dependencies)
    except (ProvennError, ValueError) as error:
        raise CorruptArchiveError(f"the {row.kind} {row.digest} cannot be restored: {error}") from error
    if (catalog.digest, catalog.extent.digest, catalog.population.name) != (row.digest, row.extent, row.population):
        raise CorruptArchiveError(f"the row of the {row.kind} {row.digest} was changed after it was written")
    return catalog


def fill_attributes(connection: Connection, catalogs: Iterable[Catalog]) -> None:
    """Record the attributes that catalogs define, as format 0003 does."""
    rows = [
        {"catalog": catalog.digest, "name": name, "identity": identity, "population": catalog.population.name}
        for catalog in catalogs
        for name, identity in _list_new_attributes(catalog)
    ]
    if rows:
        connection.execute(insert(_ATTRIBUTES), rows)


def _list_new_attributes(catalog: Catalog) -> Iterator[tuple[str, str]]:
    inherited = {
        (attribute.name, attribute.identity)
        for dependency in catalog.dependencies
        for attribute in dependency.schema.attributes
    }
    for attribute in catalog.schema.attributes:
        if (attribute.name, attribute.identity) not in inherited:
            yield attribute.name, attribute.identity


def fill_schemas(connection: Connection, catalogs: Iterable[Catalog]) -> Mapping[CatalogDigest, str]:
    """Record the schemas of catalogs, as format 0004 does; return the digest of each catalog's schema, by catalog."""
    names_by_catalog = {
        catalog.digest: "\n" + "".join(f"{name.casefold()}\n" for name in catalog.schema.names) for catalog in catalogs
    }
    digests = {names: content_digest("schema", names) for names in set(names_by_catalog.values())}
    rows = [
        {"digest": digest, "attributes": names.count("\n") - 1, "names": names}
        for names, digest in sorted(digests.items())
    ]
    if rows:
        connection.execute(insert(_SCHEMAS), rows)
    return {catalog: digests[names] for catalog, names in names_by_catalog.items()}


def fill_wordings(connection: Connection, catalogs: Iterable[Catalog]) -> None:
    """Record the users' texts of catalogs for a search, as format 0004 does."""
    texts = {catalog.digest: "\n".join(_iterate_texts(catalog.notes())).casefold() for catalog in catalogs}
    # PostgreSQL allows no NUL
    rows = [{"catalog": digest, "text": text.replace("\0", " ")} for digest, text in texts.items() if text]
    if rows:
        connection.execute(insert(_WORDINGS), rows)


def _iterate_texts(notes: Mapping[str, Any]) -> Iterator[str]:
    for key, value in notes.items():
        if key in _NOT_WORDS:
            continue
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from (text for pair in value.items() for text in pair)


def compute_audit_digest(previous: str, number: int, at: datetime, *texts: str) -> str:
    """Return the digest of an entry of the audit log, as format 0008 chains them."""
    moment = at.astimezone(UTC).isoformat(timespec="microseconds")
    return content_digest("audit", [previous, number, moment, *texts])
