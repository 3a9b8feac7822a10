"""Populations, and the catalogs of one."""

from __future__ import annotations

import json

from sqlalchemy import select

from provenn.catalogs import Population
from provenn.criteria import parse_type
from provenn.store.database import Reading
from provenn.store.tables import catalogs, populations

__all__ = ["in_population", "population"]


def population(reading: Reading, name: str) -> Population | None:
    """Return the population of a name as this archive knows it, or None if it does not."""
    key = reading.connection.scalar(select(populations.c.key).where(populations.c.name == name))
    return None if key is None else Population(name, tuple(map(parse_type, json.loads(key))))


def in_population(reading: Reading, name: str) -> frozenset[str]:
    """Return the digests of all catalogs of a population."""
    return frozenset(reading.connection.scalars(select(catalogs.c.digest).where(catalogs.c.population == name)))
