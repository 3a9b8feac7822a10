"""The references in definitions of an archive: attributes, and the catalogs to which they lead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from sqlalchemy import select

from provenn.batches import split_batches
from provenn.catalogs.references import Reference
from provenn.catalogs.restoring import find_class
from provenn.catalogs.verbs import CLASSES
from provenn.database.tables import catalogs, dependencies
from provenn.database.transactions import Reading
from provenn.digests import CatalogDigest
from provenn.people.visibility import is_visible

__all__ = ["list_references"]

_REFERRING = sorted(kind for kind, catalog_class in CLASSES.items() if catalog_class.profile.follows_reference)


def list_references(reading: Reading) -> dict[Reference, tuple[CatalogDigest, ...]]:
    """Return the references that visible catalogs of people follow, each with the catalogs that it leads to.

    Catalogs needed only by runs are left out: the meaning of a name must not depend on earlier runs.
    """
    by_reference: dict[Reference, dict[CatalogDigest, None]] = {}
    for reference, partners in _read_references(reading):
        by_reference.setdefault(reference, {})[partners] = None
    return {reference: tuple(partners) for reference, partners in by_reference.items()}


def _read_references(reading: Reading) -> Iterator[tuple[Reference, CatalogDigest]]:
    # An index tells the kinds of catalogs; the rows themselves are long, and only those of referring catalogs are read.
    of_kind = select(catalogs.c.digest).where(catalogs.c.kind.in_(_REFERRING))
    for batch in split_batches(sorted(reading.connection.scalars(of_kind))):
        query = select(catalogs.c.digest, catalogs.c.kind, catalogs.c.parameters).where(catalogs.c.digest.in_(batch))
        query = query.where(is_visible(reading, catalogs.c.digest, by_person=True)).order_by(catalogs.c.digest)
        rows = reading.connection.execute(query).all()
        members = _read_members(reading, [digest for digest, _, _ in rows])
        for digest, kind, parameters in rows:
            followed = find_class(kind).find_reference(members[digest], json.loads(parameters))
            if followed is not None:
                yield followed


def _read_members(reading: Reading, digests: Sequence[CatalogDigest]) -> dict[CatalogDigest, list[CatalogDigest]]:
    """Return the dependencies of catalogs, in order."""
    query = select(dependencies.c.catalog, dependencies.c.dependency).where(dependencies.c.catalog.in_(digests))
    members: dict[CatalogDigest, list[CatalogDigest]] = {digest: [] for digest in digests}
    for catalog, dependency in reading.connection.execute(query.order_by(dependencies.c.position)):
        members[catalog].append(dependency)
    return members
