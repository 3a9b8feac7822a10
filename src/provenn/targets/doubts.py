"""What data that were read anyway say against declared facts. No job runs for it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from itertools import permutations

from provenn.catalogs import Catalog, cone
from provenn.errors import ArchiveBusyError, ContradictionError, PopulationError
from provenn.logic import Statement, nonempty, subset
from provenn.logic.terms import Term
from provenn.store import counts, verifications
from provenn.store.database import Database, Reading, Writing
from provenn.store.facts import Fact, closed_cone
from provenn.store.knowledge import knowledge_of
from provenn.store.observations import observe
from provenn.targets.known import known_of

__all__ = ["doubted_by_counts", "refuse_by_counts"]


def doubted_by_counts(database: Database, catalog: Catalog) -> tuple[Fact, ...]:
    """Compare the count of a catalog with others; return the declared facts that are suspended for it.

    Sound: a set with more sources than another one does not lie in it, so that some source is in the first and not in
    the second. Counts never lean on a declaration.
    """
    if database.read_only:
        return ()
    catalog = next(one for one in cone(catalog) if one.extent == catalog.extent)
    with suppress(ArchiveBusyError), database.writing() as writing:
        return tuple(_doubted(writing, catalog))
    return ()


def refuse_by_counts(writing: Writing, fact: Fact) -> None:
    """Refuse a declared fact, within the transaction in which it is declared, that counts contradict.

    Raises
    ------
    ContradictionError
        If they do; it carries the minimal conflict.
    """
    definitions, held = closed_cone(writing, fact.statement.labels)
    knowledge = knowledge_of(definitions, held).knowledge
    numbers = _numbers(writing, fact.statement.labels)
    for larger, smaller in permutations(numbers, 2):
        if numbers[larger] > numbers[smaller] and knowledge.entails(subset(larger, smaller)):
            said = _more_in(larger, smaller)
            seen = Fact(0, said, "", "observed", writing.who, writing.when)
            conflict = knowledge_of(definitions, (*held, seen)).knowledge.conflict()
            if conflict is not None:
                raise ContradictionError(conflict)


def _doubted(writing: Writing, catalog: Catalog) -> list[Fact]:
    suspended: list[Fact] = []
    known = known_of(writing, catalog)
    mentioned = {label for fact in known.facts if fact.origin == "declared" for label in fact.statement.labels}
    numbers = _numbers(writing, mentioned | {catalog.digest}) if mentioned else {}
    if catalog.digest not in numbers:
        return suspended
    for other, number in numbers.items():
        own = numbers[catalog.digest]
        larger, smaller = (catalog.digest, other) if own > number else (other, catalog.digest)
        if own != number and known.knowledge.entails(subset(larger, smaller)):
            reason = f"{max(own, number):,} sources do not fit among {min(own, number):,}"
            with suppress(ContradictionError, PopulationError):
                suspended += observe(writing, _more_in(larger, smaller), reason).suspended
                known = known_of(writing, catalog)
    return suspended


def _numbers(reading: Reading, digests: Collection[str]) -> dict[str, int]:
    """Return how many sources catalogs have, of those that were counted."""
    labels = sorted(digests)
    return counts.known(reading, labels) | verifications.verified(reading, labels)


def _more_in(larger: str, smaller: str) -> Statement:
    return nonempty(Term((larger,)) - Term((smaller,)))
