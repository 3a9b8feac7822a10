"""What is made from a catalog."""

from __future__ import annotations

from graphlib import TopologicalSorter

from sqlalchemy import select

from provenn.store.database import Reading
from provenn.store.tables import dependencies

__all__ = ["descendants"]


def descendants(reading: Reading, digest: str) -> tuple[str, ...]:
    """Return the digests of all catalogs that are made from one, each after those of them that it is made from."""
    made_from = select(dependencies.c.catalog).where(dependencies.c.dependency == digest).cte("made", recursive=True)
    further = select(dependencies.c.catalog).join(made_from, made_from.c.catalog == dependencies.c.dependency)
    made_from = made_from.union(further)
    links = select(dependencies.c.catalog, dependencies.c.dependency).join(
        made_from, made_from.c.catalog == dependencies.c.catalog
    )
    made_of: dict[str, set[str]] = {}
    for catalog, dependency in reading.connection.execute(links):
        made_of.setdefault(catalog, set()).add(dependency)
    return tuple(TopologicalSorter({one: parts & made_of.keys() for one, parts in made_of.items()}).static_order())
