"""The descendants of a catalog."""

from __future__ import annotations

from collections.abc import Collection
from graphlib import TopologicalSorter

from sqlalchemy import select

from provenn.batches import split_batches
from provenn.database.tables import dependencies
from provenn.database.transactions import Reading
from provenn.digests import CatalogDigest

__all__ = ["filter_made_from", "find_descendants"]


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


def filter_made_from(
    reading: Reading, among: Collection[CatalogDigest], digests: Collection[CatalogDigest]
) -> frozenset[CatalogDigest]:
    """Return the catalogs, among some, that have dependencies, all of which are given."""
    rows = (
        row
        for batch in split_batches(among)
        for row in reading.connection.execute(
            select(dependencies.c.catalog, dependencies.c.dependency).where(dependencies.c.catalog.in_(batch))
        )
    )
    with_given: set[CatalogDigest] = set()
    with_others: set[CatalogDigest] = set()
    for catalog, dependency in rows:
        (with_given if dependency in digests else with_others).add(catalog)
    return frozenset(with_given - with_others)
