"""Knowledge from counts: whether a catalog has sources, and which catalogs are equal."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from provenn.catalogs import Base, Catalog, cone
from provenn.database.transactions import Database, Writing
from provenn.definitions import catalog_store
from provenn.errors import ContradictionError, CorruptArchiveError
from provenn.knowledge import counts, verified_keys
from provenn.knowledge.observations import observe_fact
from provenn.knowledge.recorded_platforms import describe_platform
from provenn.knowledge.stored_facts import Fact, find_facts_about, has_declared_fact
from provenn.logic import empty, equal, nonempty, subset
from provenn.targets.dividing import MOST_COUNTS
from provenn.targets.doubts import suspend_by_counts
from provenn.targets.known import collect_limiting_data_knowledge

__all__ = ["learn_count"]


def learn_count(
    database: Database, catalog: Catalog, rows: int, facts: Collection[int] = (), *, reason: str = ""
) -> tuple[Fact, ...]:
    """Record the number of sources of a catalog, and the consequences: emptiness, and equality with catalogs.

    A run that depends on a declared fact teaches nothing, because the fact may be wrong and retracted.

    Parameters
    ----------
    database
        The database to write.
    catalog
        The catalog.
    rows
        The number of sources.
    facts
        The numbers of the facts behind the count.
    reason
        How the count is known, if the sources themselves were not counted.

    Returns
    -------
    tuple of Fact
        The declared facts that are suspended because the count contradicts them.
    """
    if database.read_only:
        return ()
    # The count belongs to the first catalog in the lineage with this extent: the later ones only add attributes.
    catalog = next(ancestor for ancestor in cone(catalog) if ancestor.extent == catalog.extent)

    def record_count(writing: Writing) -> list[Fact] | None:
        suspended: list[Fact] = []
        if has_declared_fact(writing, facts) or _is_learned(writing, catalog):
            return None
        catalog_store.add_catalogs(writing, catalog, for_run=True)
        counts.record_count(writing, catalog.digest, rows, describe_platform(writing, catalog))
        with suppress(ContradictionError):  # contradictions are reported where they matter; a count must not fail
            statement = nonempty(catalog.digest) if rows else empty(catalog.digest)
            suspended += observe_fact(writing, statement, f"{rows:,} sources {reason or 'counted'}").suspended
            with suppress(CorruptArchiveError):  # damage to another catalog does not concern this one
                suspended += _learn_equal(writing, catalog, rows)
        return suspended

    learned = database.note(record_count)
    return () if learned is None else (*learned, *suspend_by_counts(database, catalog))


def _is_learned(writing: Writing, catalog: Catalog) -> bool:
    """Return whether a catalog was counted and its facts were recorded.

    Storing a fragment records the count before the facts.
    """
    if not counts.find_counts(writing, [catalog.digest]):
        return False
    observed = {fact.statement for fact in find_facts_about(writing, catalog.digest) if fact.origin == "observed"}
    return not observed.isdisjoint({nonempty(catalog.digest), empty(catalog.digest)})


def _learn_equal(writing: Writing, catalog: Catalog, rows: int) -> list[Fact]:
    """Record the equality with catalogs of the same count; return the suspended facts.

    Sound: a finite subset with as many sources as the superset equals the superset. Keys are verified to be unique.
    """
    alike = _find_catalogs_with_count(writing, catalog, rows) if rows else []
    if not alike:
        return []
    suspended: list[Fact] = []
    knowledge = collect_limiting_data_knowledge(writing, catalog, *alike)
    for other in alike:
        digest, other_digest = catalog.digest, other.digest
        is_inside, is_around = (
            knowledge.entails(statement) for statement in (subset(digest, other_digest), subset(other_digest, digest))
        )
        if is_inside != is_around:
            learned = observe_fact(
                writing, equal(digest, other_digest), f"one is inside the other, and both have {rows:,} sources"
            )
            knowledge.add(learned.fact.statement)
            suspended += learned.suspended
    return suspended


def _find_catalogs_with_count(writing: Writing, catalog: Catalog, rows: int) -> list[Catalog]:
    """Return further catalogs of the population with the same count; ancestors come first."""
    own = {candidate.digest: candidate for candidate in cone(catalog) if candidate.population == catalog.population}
    known = counts.find_counts(writing, own) | verified_keys.find_verified_counts(writing, own)
    alike = [candidate for digest, candidate in own.items() if known.get(digest) == rows]
    further = counts.find_latest_counts(writing, catalog.population.name, MOST_COUNTS, rows=rows).keys() - own.keys()
    others = catalog_store.get_catalogs(writing, sorted(further)) if further else {}
    return [
        candidate
        for candidate in (*alike, *(others[digest] for digest in sorted(further)))
        if candidate.extent != catalog.extent and not _are_apart(candidate, catalog)
    ]


def _are_apart(catalog: Catalog, other: Catalog) -> bool:
    """Return whether two catalogs have all sources of files appended in sequence.

    Appended files share no source, so neither of two nonempty catalogs is inside the other. A day often has as many
    sources as another day.
    """
    files, other_files = _find_files(catalog), _find_files(other)
    if files is None or other_files is None or files.joins or other_files.joins:
        return False
    is_whole = not (files.part_of or other_files.part_of or files.rewrites or other_files.rewrites)
    return is_whole and files.origin == other_files.origin and files.digest != other_files.digest


def _find_files(catalog: Catalog) -> Base | None:
    """Return the base catalog with exactly the sources of a catalog, by definition; None without such a base."""
    bases = (ancestor for ancestor in cone(catalog) if isinstance(ancestor, Base))
    return next((base for base in bases if base.extent == catalog.extent), None)
