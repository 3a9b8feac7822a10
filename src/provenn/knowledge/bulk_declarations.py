"""Declaring many facts at once, as the tests of a whole project."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import insert, select

from provenn.batches import split_batches
from provenn.catalogs import Catalog, cone
from provenn.database.tables import fact_bases, fact_catalogs, facts
from provenn.database.transactions import Writing
from provenn.digests import CatalogDigest
from provenn.knowledge.declarations import declare_fact
from provenn.knowledge.stored_facts import compute_fact_digest, find_filed_numbers
from provenn.logic import empty
from provenn.people import audit_log

__all__ = ["declare_empty"]


def declare_empty(writing: Writing, declared: Sequence[tuple[Catalog, str]]) -> int:
    """Declare that catalogs are empty, each for a reason, and return how many of these facts are new.

    Sound: the emptiness of sets contradicts no definition, and no further fact of this kind. So nothing is checked if
    no earlier fact is about the same base catalogs. Otherwise each fact is declared by itself.

    Parameters
    ----------
    writing
        The transaction; it holds the catalogs.
    declared
        The catalogs, each with the reason why it is empty.

    Raises
    ------
    ContradictionError
        If a known fact says otherwise.
    """
    texts = {str(empty(catalog.digest)): (catalog, reason) for catalog, reason in declared}
    query = select(facts.c.statement).where(facts.c.origin == "declared", facts.c.retracted_at.is_(None))
    held = {
        text
        for batch in split_batches(texts)
        for text in writing.connection.scalars(query.where(facts.c.statement.in_(batch)))
    }
    new = {text: entry for text, entry in texts.items() if text not in held}
    bases = {
        text: [ancestor.digest for ancestor in cone(catalog) if not ancestor.dependencies]
        for text, (catalog, _) in new.items()
    }
    if find_filed_numbers(writing, {base for digests in bases.values() for base in digests}):
        for catalog, reason in new.values():
            declare_fact(writing, empty(catalog.digest), reason)
        return len(new)
    if new:
        _insert_facts(writing, new, bases)
    return len(new)


def _insert_facts(writing: Writing, new: dict[str, tuple[Catalog, str]], bases: dict[str, list[CatalogDigest]]) -> None:
    """Insert facts that contradict nothing."""
    rows = [
        {
            "statement": text,
            "reason": reason,
            "origin": "declared",
            "declared_by": writing.who,
            "declared_at": writing.when,
            "digest": compute_fact_digest(text, reason, "declared", writing.who),
            "visibility": "public",
            "project": None,
            "platform": None,
        }
        for text, (_, reason) in new.items()
    ]
    execute = writing.connection.execute
    inserting = insert(facts).returning(facts.c.id, sort_by_parameter_order=True)
    numbers = dict(zip(new, execute(inserting, rows).scalars().all(), strict=True))
    execute(insert(fact_catalogs), [{"fact": numbers[text], "catalog": entry[0].digest} for text, entry in new.items()])
    execute(insert(fact_bases), [{"fact": numbers[text], "base": base} for text, own in bases.items() for base in own])
    audit_log.record_actions(writing, "declare", [(f"fact #{number}", "public") for number in numbers.values()])
