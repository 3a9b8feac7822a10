"""Populations, and the catalogs of one."""

from __future__ import annotations

import json

from sqlalchemy import Select, select

from provenn.catalogs import Population
from provenn.criteria import parse_type
from provenn.store.database import Reading
from provenn.store.tables import catalogs, populations
from provenn.store.visibility import directly_seen

__all__ = ["in_population", "population", "population_names"]


def population(reading: Reading, name: str) -> Population | None:
    """Return the population of a name as this archive knows it, or None if the viewer sees no catalog of it."""
    query = select(populations.c.key).where(populations.c.name == name)
    if reading.viewer is not None:
        query = query.where(populations.c.name.in_(_of_lists(reading)))
    key = reading.connection.scalar(query)
    return None if key is None else Population(name, tuple(map(parse_type, json.loads(key))))


def population_names(reading: Reading) -> tuple[str, ...]:
    """Return the names of the populations of which the viewer sees a catalog, sorted."""
    query = select(populations.c.name) if reading.viewer is None else _of_lists(reading)
    return tuple(sorted(reading.connection.scalars(query)))


def in_population(reading: Reading, name: str) -> frozenset[str]:
    """Return the digests of all catalogs of a population that lists show."""
    query = select(catalogs.c.digest).where(catalogs.c.population == name, directly_seen(reading, catalogs.c.digest))
    return frozenset(reading.connection.scalars(query))


def _of_lists(reading: Reading) -> Select[str]:
    return select(catalogs.c.population).where(directly_seen(reading, catalogs.c.digest)).distinct()
