"""The neighbours of a catalog, ancestors and descendants, read step by step, not by cone.

Every query is bounded by the number of catalogs wanted, however large the archive is: a catalog may have thousands of
ancestors and thousands of descendants.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import distinct, func, select

from provenn.batches import split_batches
from provenn.database.tables import catalogs, dependencies, names
from provenn.database.transactions import Reading
from provenn.definitions.ancestors import StoredDefinition, restore_definition
from provenn.digests import CatalogDigest
from provenn.errors import UnknownCatalogError
from provenn.people.visibility import filter_visible, is_visible, is_visible_name

__all__ = ["count_dependents", "read_definitions", "walk_neighbours"]


def walk_neighbours(
    reading: Reading, start: Iterable[CatalogDigest], *, up: bool, depth: int | None, most: int
) -> list[CatalogDigest]:
    """Return the digests of the ancestors of catalogs, or of their descendants, the nearest first.

    Parameters
    ----------
    reading
        The transaction.
    start
        The digests of the catalogs, which are not returned.
    up
        Whether to walk to the ancestors; otherwise to the descendants.
    depth
        The number of steps; None walks all the way.
    most
        The largest number of digests to return. Among equally near catalogs, named ones come first, by name.
    """
    frontier = list(start)
    passed, digests = set(frontier), list[CatalogDigest]()
    step = 0
    while frontier and len(digests) < most and (depth is None or step < depth):
        nearest = _find_next(reading, frontier, up=up, most=most - len(digests), passed=passed)
        digests += nearest
        passed.update(nearest)
        frontier, step = nearest, step + 1
    return digests


def _find_next(
    reading: Reading, frontier: Collection[CatalogDigest], *, up: bool, most: int, passed: Collection[CatalogDigest]
) -> list[CatalogDigest]:
    near_end, far_end = dependencies.c.catalog, dependencies.c.dependency
    if not up:
        near_end, far_end = far_end, near_end
    first_name = select(func.min(names.c.name)).where(names.c.catalog == far_end, is_visible_name(reading))
    name = first_name.scalar_subquery().label("name")
    query = select(far_end, name).where(near_end.in_(frontier), far_end.not_in(passed)).distinct()
    if not up:
        query = query.where(is_visible(reading, far_end))
    rows = reading.connection.execute(query.order_by(name.asc().nulls_last(), far_end).limit(most))
    return [digest for digest, _ in rows]


def read_definitions(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, StoredDefinition]:
    """Return the stored definitions of catalogs without their ancestors, by digest, in the order of `digests`.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold one of the catalogs, or the viewer does not see it.
    CorruptArchiveError
        If a row was changed after it was written.
    """
    heads, links = {}, dict[CatalogDigest, list[CatalogDigest]]()
    query = select(
        catalogs.c.digest,
        catalogs.c.kind,
        catalogs.c.population,
        catalogs.c.extent,
        catalogs.c.parameters,
        catalogs.c.notes,
    )
    links_query = select(dependencies.c.catalog, dependencies.c.dependency).order_by(dependencies.c.position)
    for batch in split_batches(filter_visible(reading, digests)):
        for digest, *head in reading.connection.execute(query.where(catalogs.c.digest.in_(batch))):
            heads[digest] = head
        for digest, dependency in reading.connection.execute(links_query.where(dependencies.c.catalog.in_(batch))):
            links.setdefault(digest, []).append(dependency)
    for digest in digests:
        if digest not in heads:
            raise UnknownCatalogError(f"the archive holds no catalog {digest}")
    return {digest: restore_definition(digest, heads[digest], tuple(links.get(digest, ()))) for digest in digests}


def count_dependents(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, int]:
    """Return the number of catalogs made directly from each catalog, by digest; skip catalogs with none."""
    number = func.count(distinct(dependencies.c.catalog))
    query = select(dependencies.c.dependency, number).group_by(dependencies.c.dependency)
    query = query.where(is_visible(reading, dependencies.c.catalog))
    return {
        digest: count
        for batch in split_batches(digests)
        for digest, count in reading.connection.execute(query.where(dependencies.c.dependency.in_(batch)))
    }
