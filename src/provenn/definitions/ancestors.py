"""Reading definitions by cone: catalogs with all their ancestors, instead of the whole archive.

One recursive query reads a cone. The result is checked before use: every digest is recomputed from the row's values,
so a definition changed after writing cannot prove anything.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

from sqlalchemy import CTE, bindparam, case, select

from provenn.batches import split_batches
from provenn.catalogs.base import Base
from provenn.catalogs.catalog import Parameters
from provenn.catalogs.restoring import definition_digest
from provenn.catalogs.verbs import CLASSES
from provenn.database.tables import catalogs, dependencies
from provenn.database.transactions import Reading
from provenn.digests import CatalogDigest
from provenn.errors import CorruptArchiveError, UnknownCatalogError
from provenn.people.visibility import filter_visible

__all__ = ["StoredDefinition", "filter_held", "read_cone", "read_population_cone", "restore_definition"]

_BASE_SETS = frozenset(kind for kind, catalog_class in CLASSES.items() if catalog_class.profile.makes_base_set)


@dataclass(frozen=True, slots=True)
class StoredDefinition:
    """The stored definition of a catalog.

    Parameters
    ----------
    digest, kind
        The catalog's digest and the name of its class.
    population
        The name of the catalog's population.
    parameters, notes
        The parameters and notes as the catalog's class made them.
    extent
        The digest of the catalog's extent.
    dependencies
        The digests of the catalog's dependencies, in order.
    """

    digest: CatalogDigest
    kind: str
    population: str
    parameters: Parameters
    notes: Parameters
    extent: str
    dependencies: tuple[CatalogDigest, ...]

    @property
    def is_base(self) -> bool:
        """Whether the catalog has no dependencies."""
        return self.kind == Base.kind

    @property
    def constituents(self) -> tuple[CatalogDigest, ...]:
        """The base catalogs from whose sources a base catalog takes its own, which are no dependencies.

        These are the joined catalogs, the catalog of which this one is a part, or those whose rows were written anew.
        """
        if not self.is_base:
            return ()
        whole = self.parameters.get("part_of")
        parts = [*self.parameters.get("joins", ()), *self.parameters.get("rewrites", ())]
        return (*([whole] if whole else ()), *(digest for digest, *_ in parts))

    @property
    def is_base_set(self) -> bool:
        """Whether the catalog is a base set, from which all sets of its population are made: a base, or pairs."""
        return self.kind in _BASE_SETS


def _select_reached_digests() -> CTE:
    start = select(catalogs.c.digest).where(catalogs.c.digest.in_(bindparam("digests", expanding=True)))
    reached = start.cte("reached", recursive=True)
    further = select(dependencies.c.dependency).join(reached, dependencies.c.catalog == reached.c.digest)
    return reached.union(further)


_reached_digests = _select_reached_digests()
# The long columns come once, with the first dependency.
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
_HELD = select(catalogs.c.digest).where(catalogs.c.digest.in_(bindparam("digests", expanding=True)))
_POPULATION = (
    select(catalogs.c.digest, *_COLUMNS)
    .outerjoin_from(catalogs, dependencies, dependencies.c.catalog == catalogs.c.digest)
    .where(catalogs.c.population == bindparam("population"))
)


def read_cone(reading: Reading, digests: Collection[CatalogDigest]) -> tuple[StoredDefinition, ...]:
    """Return the definitions of catalogs and all their ancestors, each once and after its dependencies.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold one of the catalogs, or the viewer does not see it.
    CorruptArchiveError
        If a row is missing, or was changed after it was written.
    """
    visible = filter_visible(reading, digests)
    starts = [digest for digest in digests if digest in visible]
    rows = (row for batch in split_batches(starts) for row in reading.connection.execute(_CONE, {"digests": batch}))
    definitions = _restore_definitions(rows)
    missing = set(digests) - {definition.digest for definition in definitions}
    if missing:
        raise UnknownCatalogError(f"the archive holds no catalog {min(missing)}")
    return definitions


def filter_held(reading: Reading, digests: Collection[CatalogDigest]) -> set[CatalogDigest]:
    """Return the digests of the catalogs that the archive holds, ignoring visibility."""
    return {
        digest for batch in split_batches(digests) for digest in reading.connection.scalars(_HELD, {"digests": batch})
    }


def read_population_cone(reading: Reading, population: str) -> tuple[StoredDefinition, ...]:
    """Return the definitions of all catalogs of a population and their ancestors, each after its dependencies.

    Ancestors outside the population are included.

    Raises
    ------
    CorruptArchiveError
        If a row is missing, or was changed after it was written.
    """
    rows = reading.connection.execute(_POPULATION, {"population": population}).all()
    own = {row[0] for row in rows}
    others = sorted({row[-1] for row in rows if row[-1] is not None} - own)
    query = select(catalogs.c.digest)
    stored = [
        digest
        for batch in split_batches(others)
        for digest in reading.connection.scalars(query.where(catalogs.c.digest.in_(batch)))
    ]
    if not stored:
        return _restore_definitions(rows)
    ancestors = read_cone(reading, stored)  # this cone may lead back to the population
    own_definitions = _restore_definitions(rows, known_elsewhere={ancestor.digest for ancestor in ancestors})
    definitions = {definition.digest: definition for definition in (*ancestors, *own_definitions)}
    links = {digest: definition.dependencies for digest, definition in definitions.items()}
    return tuple(definitions[digest] for digest in _sort_topologically(links))


def _restore_definitions(
    rows: Iterable[Any], known_elsewhere: Collection[CatalogDigest] = ()
) -> tuple[StoredDefinition, ...]:
    """Return the definitions in rows, each after its dependencies.

    Digests in `known_elsewhere` need no row: the caller has their definitions.
    """
    heads: dict[CatalogDigest, Any] = {}
    links: dict[CatalogDigest, list[tuple[int, CatalogDigest]]] = {}
    for digest, *head, position, dependency in rows:
        if position is None or position == 0:
            heads[digest] = head
        if position is not None:
            links.setdefault(digest, []).append((position, dependency))
    dependencies_of = {
        digest: tuple(dependency for _, dependency in sorted(set(links.get(digest, ())))) for digest in heads | links
    }
    return tuple(
        restore_definition(digest, heads.get(digest), dependencies_of.get(digest, ()))
        for digest in _sort_topologically(dependencies_of)
        if digest in heads or digest not in known_elsewhere
    )


def _sort_topologically(dependencies_of: Mapping[CatalogDigest, tuple[CatalogDigest, ...]]) -> Iterable[CatalogDigest]:
    try:
        return tuple(TopologicalSorter(dependencies_of).static_order())
    except CycleError as error:
        cycle = " <- ".join(digest[:12] for digest in error.args[1])
        raise CorruptArchiveError(f"catalogs are made from themselves: {cycle}") from error


def restore_definition(
    digest: CatalogDigest, head: Sequence[Any] | None, dependencies: tuple[CatalogDigest, ...]
) -> StoredDefinition:
    """Return the definition in a row (class, population, extent, parameters, notes), after checking the digest.

    Raises
    ------
    CorruptArchiveError
        If the row is missing, or was changed after it was written.
    """
    if head is None or head[0] is None:
        raise CorruptArchiveError(f"rows of the catalog {digest} are missing, and other catalogs depend on it")
    return _parse_definition(digest, tuple(head), dependencies)


@lru_cache(maxsize=16_384)
def _parse_definition(
    digest: CatalogDigest, head: tuple[Any, ...], dependencies: tuple[CatalogDigest, ...]
) -> StoredDefinition:
    """Return the definition in a row; plans read the same rows again and again, and a changed row is another one."""
    kind, population, extent, parameters, notes = head
    try:
        content, remarks = json.loads(parameters), json.loads(notes)
        agrees = definition_digest(kind, content, dependencies) == digest
    except (ValueError, RecursionError):
        agrees = False
    if not agrees:
        raise CorruptArchiveError(f"the definition of the {kind} {digest} was changed after it was written")
    return StoredDefinition(digest, kind, population, content, remarks, extent, dependencies)
