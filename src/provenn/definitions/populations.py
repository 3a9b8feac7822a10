"""Populations, and the catalogs of a population."""

from __future__ import annotations

import json

from sqlalchemy import Select, func, select

from provenn.catalogs import Population
from provenn.criteria import parse_type
from provenn.database.tables import catalogs, populations
from provenn.database.transactions import Reading
from provenn.digests import CatalogDigest
from provenn.people.visibility import is_directly_visible

__all__ = [
    "count_catalogs_in_population",
    "filter_directly_visible",
    "find_catalogs_in_population",
    "find_population",
    "list_population_names",
]

_FEW = 5_000
"""So many catalogs are looked up by digest; for more, all catalogs of the population are read."""


def find_population(reading: Reading, name: str) -> Population | None:
    """Return the population with a name, or None if the population does not exist for the viewer."""
    query = select(populations.c.key).where(populations.c.name == name)
    if reading.viewer is not None:
        query = query.where(populations.c.name.in_(_select_visible_populations(reading)))
    key = reading.connection.scalar(query)
    return None if key is None else Population(name, tuple(map(parse_type, json.loads(key))))


def list_population_names(reading: Reading) -> tuple[str, ...]:
    """Return the names of the populations with a catalog visible to the viewer, sorted."""
    query = select(populations.c.name) if reading.viewer is None else _select_visible_populations(reading)
    return tuple(sorted(reading.connection.scalars(query)))


def find_catalogs_in_population(reading: Reading, name: str) -> frozenset[CatalogDigest]:
    """Return the digests of all catalogs of a population directly visible to the viewer."""
    query = select(catalogs.c.digest).where(
        catalogs.c.population == name, is_directly_visible(reading, catalogs.c.digest)
    )
    return frozenset(reading.connection.scalars(query))


def count_catalogs_in_population(reading: Reading, name: str) -> int:
    """Return the number of catalogs of a population, ignoring visibility."""
    query = select(func.count()).select_from(catalogs).where(catalogs.c.population == name)
    return reading.connection.scalar(query) or 0


def filter_directly_visible(reading: Reading, name: str, digests: list[CatalogDigest]) -> list[CatalogDigest]:
    """Return the catalogs of a population among some that are directly visible to the viewer, in their order."""
    if reading.viewer is None:
        return digests
    if len(digests) > _FEW:
        visible = find_catalogs_in_population(reading, name)
    else:
        query = select(catalogs.c.digest).where(
            catalogs.c.digest.in_(digests), is_directly_visible(reading, catalogs.c.digest)
        )
        visible = frozenset(reading.connection.scalars(query))
    return [digest for digest in digests if digest in visible]


def _select_visible_populations(reading: Reading) -> Select[str]:
    return select(catalogs.c.population).where(is_directly_visible(reading, catalogs.c.digest)).distinct()
