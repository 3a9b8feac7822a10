"""Contradictions between counts and declared facts, found without running any job."""

from __future__ import annotations

import re
from collections.abc import Collection
from contextlib import suppress
from itertools import permutations

from provenn.catalogs import Catalog, cone
from provenn.database.transactions import Database, Reading, Writing
from provenn.digests import CatalogDigest
from provenn.errors import ContradictionError, PopulationError
from provenn.knowledge import counts, verified_keys
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.declarations import suspend_fact
from provenn.knowledge.known_counts import collect_counts
from provenn.knowledge.observations import observe_fact
from provenn.knowledge.stored_facts import SUSPENDED, Fact, get_fact, read_closed_cone
from provenn.logic import Statement, nonempty, subset
from provenn.logic.counting import find_count_conflict
from provenn.logic.terms import Term
from provenn.targets.known import collect_knowledge, find_touching_facts

__all__ = ["refuse_by_counts", "suspend_by_counts"]


def suspend_by_counts(database: Database, catalog: Catalog) -> tuple[Fact, ...]:
    """Compare the count of a catalog with further counts; return the suspended declared facts.

    Sound: a set is no subset of a set with fewer sources, so some source is only in the larger set. Counts never depend
    on a declared fact.
    """
    if database.read_only:
        return ()
    catalog = next(ancestor for ancestor in cone(catalog) if ancestor.extent == catalog.extent)
    return tuple(database.note(lambda writing: _suspend_contradicted(writing, catalog)) or ())


def refuse_by_counts(writing: Writing, fact: Fact) -> None:
    """Refuse a declared fact if counts contradict the fact, within the declaring transaction.

    Raises
    ------
    ContradictionError
        If counts contradict the fact; the error carries the minimal conflict.
    """
    definitions, facts = read_closed_cone(writing, fact.catalogs)
    knowledge = build_knowledge(definitions, facts).knowledge
    numbers = _read_counts(writing, fact.catalogs)
    for larger, smaller in permutations(numbers, 2):
        if numbers[larger] > numbers[smaller] and knowledge.entails(subset(larger, smaller)):
            statement = _state_larger(larger, smaller)
            observed = Fact(0, statement, "", "observed", writing.who, writing.when)
            conflict = build_knowledge(definitions, (*facts, observed)).knowledge.conflict()
            if conflict is not None:
                raise ContradictionError(conflict)
    count_conflict = find_count_conflict(knowledge, collect_counts(writing, definitions))
    if count_conflict is not None:
        raise ContradictionError(count_conflict)


def _suspend_contradicted(writing: Writing, catalog: Catalog) -> list[Fact]:
    """Observe every contradiction between counts and declared facts; return the suspended facts."""
    suspended: list[Fact] = []
    facts = find_touching_facts(writing, catalog)
    mentioned = {digest for fact in facts if fact.origin == "declared" for digest in fact.catalogs}
    numbers = _read_counts(writing, mentioned | {catalog.digest}) if mentioned else {}
    if catalog.digest not in numbers:
        return suspended
    known = collect_knowledge(writing, catalog)
    for other, number in numbers.items():
        own = numbers[catalog.digest]
        larger, smaller = (catalog.digest, other) if own > number else (other, catalog.digest)
        if own != number and known.knowledge.entails(subset(larger, smaller)):
            reason = f"{max(own, number):,} sources cannot be in a set of {min(own, number):,}"
            with suppress(ContradictionError, PopulationError):
                suspended += observe_fact(writing, _state_larger(larger, smaller), reason).suspended
                known = collect_knowledge(writing, catalog)
    return suspended + _suspend_by_inequality(writing, catalog)


def _suspend_by_inequality(writing: Writing, catalog: Catalog) -> list[Fact]:
    """Suspend declared facts contradicted by several counts together; return the suspended facts.

    Two disjoint parts, for example, cannot have more sources together than the whole. If catalogs are hidden from
    people, only facts of the counting person are suspended: other people may not know the counts.
    """
    suspended: list[Fact] = []
    definitions, facts = read_closed_cone(writing, [catalog.digest])
    known_counts = collect_counts(writing, definitions)
    while True:
        declared = [fact for fact in facts if fact.origin == "declared"]
        if not declared:
            return suspended
        with suppress(ContradictionError):  # facts that contradict each other without counts are reported elsewhere
            conflict = find_count_conflict(build_knowledge(definitions, facts).knowledge, known_counts)
            doubted = [
                fact
                for fact in declared
                if conflict is not None
                and fact.statement in conflict.facts
                and (writing.viewer is None or fact.declared_by == writing.who)
            ]
            for fact in doubted:
                listing = ", ".join(map(str, conflict.counts)) if conflict else ""
                suspend_fact(writing, fact.id, f"{SUSPENDED}contradicted by counts: {_shorten_digests(listing)}")
                suspended.append(get_fact(writing, fact.id))
            if doubted:
                facts = tuple(fact for fact in facts if fact not in doubted)
                continue
        return suspended


def _shorten_digests(text: str) -> str:
    return re.sub("[0-9a-f]{64}", lambda digest: digest[0][:12], text)


def _read_counts(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, int]:
    """Return the numbers of sources of the counted catalogs, by digest."""
    wanted = sorted(digests)
    return counts.find_counts(reading, wanted) | verified_keys.find_verified_counts(reading, wanted)


def _state_larger(larger: CatalogDigest, smaller: CatalogDigest) -> Statement:
    """Return the statement that some source is in the larger set and not in the smaller set."""
    return nonempty(Term((larger,)) - Term((smaller,)))
