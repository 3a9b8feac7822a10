"""The references in definitions of an archive: attributes, and the catalogs to which they lead."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sqlalchemy import select

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
    query = select(catalogs.c.digest, catalogs.c.kind, catalogs.c.parameters).where(catalogs.c.kind.in_(_REFERRING))
    query = query.where(is_visible(reading, catalogs.c.digest, by_person=True)).order_by(catalogs.c.digest)
    for digest, kind, parameters in reading.connection.execute(query).all():
        parts = select(dependencies.c.dependency).where(dependencies.c.catalog == digest)
        ordered = list(reading.connection.scalars(parts.order_by(dependencies.c.position)))
        followed = find_class(kind).find_reference(ordered, json.loads(parameters))
        if followed is not None:
            yield followed
