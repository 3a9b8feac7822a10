"""The catalogs around a catalog: what it is made from and what is made from it, step by step, not by cone.

Every query is bounded by how many are wanted, whatever the archive holds: a catalog may have thousands of ancestors,
and thousands that are made from it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import distinct, func, select

from provenn.errors import UnknownCatalogError
from provenn.store.cones import Definition, in_batches, stored_definition
from provenn.store.database import Reading
from provenn.store.tables import catalogs, dependencies, names
from provenn.store.visibility import everything_seen, is_name_for, seen

__all__ = ["definitions", "dependent_counts", "walk"]


def walk(reading: Reading, start: Iterable[str], *, up: bool, depth: int | None, most: int) -> list[str]:
    """Return the digests of what catalogs are made from, or of what is made from them: the nearest first.

    Parameters
    ----------
    reading
        The transaction.
    start
        The digests of the catalogs, which are not returned.
    up
        Whether to go to what they are made from, or to what is made from them.
    depth
        How many steps to go; None is all the way.
    most
        How many to return. Of what is equally near, catalogs with a name come first, by name.
    """
    frontier = list(start)
    passed, found = set(frontier), list[str]()
    step = 0
    while frontier and len(found) < most and (depth is None or step < depth):
        near = _next(reading, frontier, up=up, most=most - len(found), passed=passed)
        found += near
        passed.update(near)
        frontier, step = near, step + 1
    return found


def _next(reading: Reading, frontier: Collection[str], *, up: bool, most: int, passed: Collection[str]) -> list[str]:
    here, there = dependencies.c.catalog, dependencies.c.dependency
    if not up:
        here, there = there, here
    called = select(func.min(names.c.name)).where(names.c.catalog == there, is_name_for(reading))
    name = called.scalar_subquery().label("name")
    query = select(there, name).where(here.in_(frontier), there.not_in(passed)).distinct()
    if not up:
        query = query.where(everything_seen(reading, there))
    rows = reading.connection.execute(query.order_by(name.asc().nulls_last(), there).limit(most))
    return [digest for digest, _ in rows]


def definitions(reading: Reading, digests: Collection[str]) -> dict[str, Definition]:
    """Return some catalogs as they are stored, without their ancestors, by digest; in the order given.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold one of them, or the viewer does not see it.
    CorruptArchiveError
        If a row is not what was written.
    """
    heads, links = {}, dict[str, list[str]]()
    query = select(
        catalogs.c.digest,
        catalogs.c.kind,
        catalogs.c.population,
        catalogs.c.extent,
        catalogs.c.parameters,
        catalogs.c.notes,
    )
    tied = select(dependencies.c.catalog, dependencies.c.dependency).order_by(dependencies.c.position)
    for batch in in_batches(seen(reading, digests)):
        for digest, *head in reading.connection.execute(query.where(catalogs.c.digest.in_(batch))):
            heads[digest] = head
        for digest, dependency in reading.connection.execute(tied.where(dependencies.c.catalog.in_(batch))):
            links.setdefault(digest, []).append(dependency)
    for digest in digests:
        if digest not in heads:
            raise UnknownCatalogError(f"the archive holds no catalog {digest}")
    return {digest: stored_definition(digest, heads[digest], tuple(links.get(digest, ()))) for digest in digests}


def dependent_counts(reading: Reading, digests: Collection[str]) -> dict[str, int]:
    """Return how many catalogs are made from each of some catalogs directly, by digest; not of those with none."""
    number = func.count(distinct(dependencies.c.catalog))
    query = select(dependencies.c.dependency, number).group_by(dependencies.c.dependency)
    query = query.where(everything_seen(reading, dependencies.c.catalog))
    return {
        digest: count
        for batch in in_batches(digests)
        for digest, count in reading.connection.execute(query.where(dependencies.c.dependency.in_(batch)))
    }
