"""Definitions read by cone: catalogs with all their ancestors, not the archive.

A cone is read by one recursive query. What comes out is checked before anybody sees it: every digest is computed anew
from what the row holds, so that a definition which is not the one that was written cannot prove anything.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import CTE, bindparam, case, select

from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.cross_match import CrossMatch
from provenn.catalogs.lineage import definition_digest
from provenn.errors import CorruptArchiveError, UnknownCatalogError
from provenn.store.database import Reading
from provenn.store.tables import catalogs, dependencies
from provenn.store.visibility import seen

__all__ = ["Definition", "cone", "in_batches", "population_cone", "stored_definition"]

_LARGEST_BATCH = 10_000  # databases limit how many values a query may be given

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Definition:
    """A catalog as it is stored.

    Parameters
    ----------
    digest, kind
        Its digest and the name of its class.
    population
        The name of its population.
    parameters, notes
        As the class made them.
    extent
        The digest of its extent.
    dependencies
        The digests of its dependencies, in order.
    """

    digest: str
    kind: str
    population: str
    parameters: Parameters
    notes: Parameters
    extent: str
    dependencies: tuple[str, ...]

    @property
    def is_base(self) -> bool:
        """Whether it is made from no other catalog."""
        return self.kind == Base.kind

    @property
    def is_base_set(self) -> bool:
        """Whether it is one of the sets of which all others of its population are made: a base, or pairs."""
        return self.is_base or self.kind == CrossMatch.kind


def _reached() -> CTE:
    start = select(catalogs.c.digest).where(catalogs.c.digest.in_(bindparam("digests", expanding=True)))
    reached = start.cte("reached", recursive=True)
    further = select(dependencies.c.dependency).join(reached, dependencies.c.catalog == reached.c.digest)
    return reached.union(further)


_reached_digests = _reached()
# What is long comes once, with the first dependency.
_is_first = dependencies.c.position.is_(None) | (dependencies.c.position == 0)
_COLUMNS = (
    catalogs.c.kind,
    catalogs.c.population,
    catalogs.c.extent,
    case((_is_first, catalogs.c.parameters)),
    case((_is_first, catalogs.c.notes)),
    dependencies.c.position,
    dependencies.c.dependency,
)
_CONE = (
    select(_reached_digests.c.digest, *_COLUMNS)
    .outerjoin_from(_reached_digests, catalogs, catalogs.c.digest == _reached_digests.c.digest)
    .outerjoin(dependencies, dependencies.c.catalog == _reached_digests.c.digest)
)
_POPULATION = (
    select(catalogs.c.digest, *_COLUMNS)
    .outerjoin_from(catalogs, dependencies, dependencies.c.catalog == catalogs.c.digest)
    .where(catalogs.c.population == bindparam("population"))
)


def cone(reading: Reading, digests: Collection[str]) -> tuple[Definition, ...]:
    """Return catalogs and all their ancestors, each once and after its dependencies.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold one of the catalogs, or the viewer does not see it.
    CorruptArchiveError
        If a row is missing, or is not what was written.
    """
    there = seen(reading, digests)
    asked = [one for one in digests if one in there]
    rows = (row for batch in in_batches(asked) for row in reading.connection.execute(_CONE, {"digests": batch}))
    found = _definitions(rows)
    missing = set(digests) - {one.digest for one in found}
    if missing:
        raise UnknownCatalogError(f"the archive holds no catalog {min(missing)}")
    return found


def population_cone(reading: Reading, population: str) -> tuple[Definition, ...]:
    """Return all catalogs of a population, each after its dependencies; with those of other populations, if any.

    Raises
    ------
    CorruptArchiveError
        If a row is missing, or is not what was written.
    """
    rows = reading.connection.execute(_POPULATION, {"population": population}).all()
    own = {row[0] for row in rows}
    others = sorted({row[-1] for row in rows if row[-1] is not None} - own)
    held = select(catalogs.c.digest)
    there = [
        one
        for batch in in_batches(others)
        for one in reading.connection.scalars(held.where(catalogs.c.digest.in_(batch)))
    ]
    if not there:
        return _definitions(rows)
    further = cone(reading, there)  # it may lead back to this population
    made = {one.digest: one for one in (*further, *_definitions(rows, given={one.digest for one in further}))}
    return tuple(made[digest] for digest in _sorted({digest: one.dependencies for digest, one in made.items()}))


def _definitions(rows: Iterable[Any], given: Collection[str] = ()) -> tuple[Definition, ...]:
    """Return the definitions of rows, each after its dependencies; those of some are given elsewhere."""
    heads: dict[str, Any] = {}
    links: dict[str, list[tuple[int, str]]] = {}
    for digest, *head, position, dependency in rows:
        if position is None or position == 0:
            heads[digest] = head
        if position is not None:
            links.setdefault(digest, []).append((position, dependency))
    made_of = {digest: tuple(one for _, one in sorted(set(links.get(digest, ())))) for digest in heads | links}
    return tuple(
        stored_definition(digest, heads.get(digest), made_of.get(digest, ()))
        for digest in _sorted(made_of)
        if digest in heads or digest not in given
    )


def in_batches(values: Iterable[T]) -> Iterator[list[T]]:
    """Yield the values in lists that are not too long for a query."""
    rest = iter(values)
    while batch := list(islice(rest, _LARGEST_BATCH)):
        yield batch


def _sorted(made_of: Mapping[str, tuple[str, ...]]) -> Iterable[str]:
    try:
        return tuple(TopologicalSorter(made_of).static_order())
    except CycleError as error:
        cycle = " <- ".join(digest[:12] for digest in error.args[1])
        raise CorruptArchiveError(f"catalogs are made from themselves: {cycle}") from error


def stored_definition(digest: str, head: list[Any] | None, made_of: tuple[str, ...]) -> Definition:
    """Return a definition, checked, from its row (class, population, extent, parameters, notes) and dependencies."""
    kind, population, extent, parameters, notes = head or [None] * 5
    if kind is None:
        raise CorruptArchiveError(f"rows of the catalog {digest} are missing, from which others are made")
    try:
        content, remarks = json.loads(parameters), json.loads(notes)
        agrees = definition_digest(kind, content, made_of) == digest
    except (ValueError, RecursionError):
        agrees = False
    if not agrees:
        raise CorruptArchiveError(f"the definition of the {kind} {digest} was changed after it was written")
    return Definition(digest, kind, population, content, remarks, extent, made_of)
