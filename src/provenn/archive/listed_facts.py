"""Facts as listed for users: with names, and with the statement to repeat about a newer version.

A fact is bound to the catalogs of the statement. When a name moves to a new version, a declared fact stays with the
earlier version: the fact was somebody's word about different sources. Nothing unproved is carried over.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields

from sqlalchemy import select

from provenn.batches import split_batches
from provenn.database.tables import name_history
from provenn.database.transactions import Reading
from provenn.definitions import catalog_names, catalog_store, naming_history
from provenn.digests import CatalogDigest
from provenn.errors import ProvennError
from provenn.knowledge.stored_facts import Fact, list_catalogs
from provenn.logic import Statement
from provenn.people.visibility import is_visible_name
from provenn.words.vocabulary import Vocabulary

__all__ = ["ListedFact", "list_facts_by_name"]


@dataclass(frozen=True, slots=True, repr=False)
class ListedFact(Fact):
    """A fact with names in the statement.

    Attributes
    ----------
    outdated
        For a declared fact about an earlier version of a name: which one, and the version that the name is on now, such
        as ``"survey@1; survey is now version 2"``.
    again
        The same statement about the current versions, which would have to be declared again; None if there are none, or
        if it holds for them by proof.
    """

    outdated: str = ""
    again: Statement | None = None


@dataclass(frozen=True, slots=True)
class _PastVersion:
    """The former and the present catalog of a name, with the numbers of both versions."""

    name: str
    number: int
    current: CatalogDigest
    current_number: int

    @property
    def word(self) -> str:
        """The version, as named by users."""
        return f"{self.name}@{self.number}"


def list_facts_by_name(reading: Reading, facts: Sequence[Fact]) -> list[ListedFact]:
    """Return facts with names in their statements; an earlier version of a name is called ``name@1``."""
    digests = {digest for fact in facts for digest in fact.catalogs}
    past = _find_past_versions(reading, digests)
    vocabulary = Vocabulary.of(reading, digests, {digest: version.word for digest, version in past.items()})
    return [_list_fact(reading, fact, past, vocabulary) for fact in facts]


def _list_fact(
    reading: Reading, fact: Fact, past: Mapping[CatalogDigest, _PastVersion], vocabulary: Vocabulary
) -> ListedFact:
    translated = vocabulary.translate_fact(fact)
    values = {field.name: getattr(translated, field.name) for field in fields(translated)}
    versions = {digest: past[digest] for digest in fact.catalogs if digest in past}
    if fact.origin != "declared" or not fact.holds or not versions:
        return ListedFact(**values)
    parts = [f"{version.word}; {version.name} is now version {version.current_number}" for version in versions.values()]
    current: dict[str, str] = {digest: version.current for digest, version in versions.items()}
    names: dict[str, str] = {digest: version.name for digest, version in versions.items()}
    statement = fact.statement.relabelled(lambda label: current.get(label, label))
    again = fact.statement.relabelled(lambda label: names.get(label) or vocabulary.word(label))
    return ListedFact(**values, outdated="; ".join(parts), again=None if _holds(reading, fact, statement) else again)


def _holds(reading: Reading, fact: Fact, statement: Statement) -> bool:
    """Return whether a statement is proved anyway, by all knowledge about its catalogs and the catalogs of a fact."""
    from provenn.targets.known import collect_knowledge  # noqa: PLC0415 - few facts are about an earlier version

    digests = sorted({*fact.catalogs, *list_catalogs(statement)})
    try:
        catalogs = catalog_store.get_catalogs(reading, digests)
        return collect_knowledge(reading, *catalogs.values()).knowledge.entails(statement)
    except ProvennError:  # contradictory facts prove nothing; a catalog may have another population now
        return False


def _find_past_versions(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, _PastVersion]:
    """Return the unnamed catalogs that were earlier versions of a name, now on another catalog."""
    named = catalog_names.find_names_by_digest(reading, digests)
    nameless = sorted(digest for digest in digests if digest not in named)
    past: dict[CatalogDigest, _PastVersion] = {}
    query = select(name_history.c.name).where(is_visible_name(reading, name_history)).distinct()
    for batch in split_batches(nameless):
        for name in sorted(reading.connection.scalars(query.where(name_history.c.catalog.in_(batch)))):
            current = catalog_names.find_named_digest(reading, name)
            versions = [change.catalog for change in naming_history.list_versions(reading, name)]
            if current is None or not versions or versions[-1] != current:
                continue  # the name is deleted, or the viewer does not see all of its history
            for number, digest in enumerate(versions[:-1], 1):
                if digest is not None and digest in batch:
                    past.setdefault(digest, _PastVersion(name, number, current, len(versions)))
    return past
