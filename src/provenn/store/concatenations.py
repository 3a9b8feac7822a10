"""Which attributes concatenations put together from those that their members define differently."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import select

from provenn.catalogs.concat_sources import ConcatSources
from provenn.store.cones import in_batches
from provenn.store.database import Reading
from provenn.store.tables import attributes, catalogs, dependencies

__all__ = ["joined_below"]


def joined_below(reading: Reading, identities: Collection[str]) -> frozenset[str]:
    """Return the identities of attributes that concatenations define below the catalogs which define some attributes.

    Each attribute that is put together from one of these is among them; others may be too.
    """
    found: set[str] = set()
    for batch in in_batches(identities):
        below = select(attributes.c.catalog).where(attributes.c.identity.in_(batch)).cte("below", recursive=True)
        further = select(dependencies.c.catalog).join(below, dependencies.c.dependency == below.c.catalog)
        below = below.union(further)
        query = (
            select(attributes.c.identity)
            .join(catalogs, catalogs.c.digest == attributes.c.catalog)
            .join(below, below.c.catalog == attributes.c.catalog)
            .where(catalogs.c.kind == ConcatSources.kind)
        )
        found.update(reading.connection.scalars(query.distinct()))
    return frozenset(found)
