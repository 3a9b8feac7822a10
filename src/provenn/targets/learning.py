"""What counts teach: whether a catalog has sources, and which other catalogs it is equal to."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from provenn.catalogs import Catalog, cone
from provenn.errors import ArchiveBusyError, ContradictionError, CorruptArchiveError
from provenn.logic import empty, equal, nonempty, subset
from provenn.store import catalog_store, counts, verifications
from provenn.store.database import Database, Writing
from provenn.store.facts import Fact, any_declared, facts_about
from provenn.store.observations import observe
from provenn.targets.dividing import MOST_COUNTS
from provenn.targets.doubts import doubted_by_counts
from provenn.targets.known import shown_by_data

__all__ = ["learn_count"]


def learn_count(
    database: Database, catalog: Catalog, rows: int, facts: Collection[int] = (), *, reason: str = ""
) -> tuple[Fact, ...]:
    """Remember how many sources a catalog has, and what follows: it is empty or not, or equal to another catalog.

    Nothing is learned from a run that leans on a declaration, which may be wrong, and taken back.

    Parameters
    ----------
    database
        Where it is remembered.
    catalog
        The catalog.
    rows
        How many sources it has.
    facts
        The numbers of the facts on which that leans.
    reason
        How that is known, if the sources themselves were not counted.

    Returns
    -------
    tuple of Fact
        The declared facts that are suspended, because the count contradicts them.
    """
    if database.read_only:
        return ()
    suspended: list[Fact] = []
    # The count of a set is that of the first catalog which was defined by it: others only add attributes.
    catalog = next(one for one in cone(catalog) if one.extent == catalog.extent)
    with suppress(ArchiveBusyError), database.writing() as writing:
        if any_declared(writing, facts) or _is_learned(writing, catalog):
            return ()
        catalog_store.add(writing, catalog, for_run=True)
        counts.record(writing, catalog.digest, rows)
        with suppress(ContradictionError):  # what data show is told where it is used; a count is no reason to fail
            said = nonempty(catalog.digest) if rows else empty(catalog.digest)
            suspended += observe(writing, said, f"{rows:,} sources {reason or 'counted'}").suspended
            with suppress(CorruptArchiveError):  # damage of another catalog is none of this one
                suspended += _learn_equal(writing, catalog, rows)
    return (*suspended, *doubted_by_counts(database, catalog))


def _is_learned(writing: Writing, catalog: Catalog) -> bool:
    """Whether a catalog was counted, and all was learned from that. What is stored is counted before it is learned."""
    if not counts.known(writing, [catalog.digest]):
        return False
    seen = {fact.statement for fact in facts_about(writing, catalog.digest) if fact.origin == "observed"}
    return not seen.isdisjoint({nonempty(catalog.digest), empty(catalog.digest)})


def _learn_equal(writing: Writing, catalog: Catalog, rows: int) -> list[Fact]:
    """Learn which other catalogs of the population have the same sources; return the facts that are suspended for it.

    A finite set that lies in another one with as many sources is that set. Keys are unique, as was verified.
    """
    alike = _with_count(writing, catalog, rows) if rows else []
    if not alike:
        return []
    suspended: list[Fact] = []
    knowledge = shown_by_data(writing, catalog, *alike)
    for other in alike:
        here, there = catalog.digest, other.digest
        inside, around = (knowledge.entails(one) for one in (subset(here, there), subset(there, here)))
        if inside != around:
            learned = observe(writing, equal(here, there), f"one lies in the other, and both have {rows:,} sources")
            knowledge.add(learned.fact.statement)
            suspended += learned.suspended
    return suspended


def _with_count(writing: Writing, catalog: Catalog, rows: int) -> list[Catalog]:
    """Return other catalogs of the population of a catalog that have so many sources: those first it is made from."""
    own = {one.digest: one for one in cone(catalog) if one.population == catalog.population}
    known = counts.known(writing, own) | verifications.verified(writing, own)
    alike = [one for digest, one in own.items() if known.get(digest) == rows]
    further = counts.latest(writing, catalog.population.name, MOST_COUNTS, rows=rows).keys() - own.keys()
    others = catalog_store.get_all(writing, sorted(further)) if further else {}
    return [one for one in (*alike, *(others[digest] for digest in sorted(further))) if one.extent != catalog.extent]
