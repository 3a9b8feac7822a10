"""The descendants of a catalog."""

from __future__ import annotations

from graphlib import TopologicalSorter

from sqlalchemy import select

from provenn.database.tables import dependencies
from provenn.database.transactions import Reading
from provenn.digests import CatalogDigest

__all__ = ["find_descendants"]


def find_descendants(reading: Reading, digest: CatalogDigest) -> tuple[CatalogDigest, ...]:
    """Return the digests of all catalogs made from a catalog, directly or not, each after its dependencies."""
    reached = select(dependencies.c.catalog).where(dependencies.c.dependency == digest).cte("made", recursive=True)
    further = select(dependencies.c.catalog).join(reached, reached.c.catalog == dependencies.c.dependency)
    reached = reached.union(further)
    links = select(dependencies.c.catalog, dependencies.c.dependency).join(
        reached, reached.c.catalog == dependencies.c.catalog
    )
    parents: dict[CatalogDigest, set[CatalogDigest]] = {}
    for catalog, dependency in reading.connection.execute(links):
        parents.setdefault(catalog, set()).add(dependency)
    inner_links = {catalog: digests & parents.keys() for catalog, digests in parents.items()}
    return tuple(TopologicalSorter(inner_links).static_order())
