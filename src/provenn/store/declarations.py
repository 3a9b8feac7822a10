"""Declaring facts and taking them back."""

from __future__ import annotations

from typing import Literal

from sqlalchemy import delete, insert, select, update

from provenn.errors import ContradictionError, FactError, PopulationError
from provenn.logic import Statement
from provenn.store.cones import cone
from provenn.store.database import Writing
from provenn.store.facts import Fact, closed_cone, fact, fact_digest
from provenn.store.knowledge import knowledge_of
from provenn.store.tables import fact_bases, fact_catalogs, facts, proof_facts, proofs

__all__ = ["declare", "retract"]


def declare(
    writing: Writing, said: Statement, reason: str, origin: Literal["declared", "observed"] = "declared"
) -> Fact:
    """Hold a statement true from now on. One that is held true for the same origin already is returned as it is.

    Parameters
    ----------
    writing
        The transaction.
    said
        What holds; the labels are digests of catalogs of one population.
    reason
        Why.
    origin
        Whether people say so or the data.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold a catalog that is mentioned.
    PopulationError
        If the catalogs are of different populations.
    ContradictionError
        If it contradicts what is known; the error carries the minimal conflict, in which the statement may occur.
    FactError
        If it mentions no catalog.
    """
    if not said.labels:
        raise FactError(f"{said} mentions no catalog", hint="a fact says something of catalogs")
    definitions, known = closed_cone(writing, said.labels)
    populations = sorted({one.population for one in definitions if one.digest in said.labels})
    if len(populations) > 1:
        raise PopulationError(
            f"a fact cannot compare catalogs of different populations: {', '.join(populations)}",
            hint="only sources of one population can be the same",
        )
    for one in known:
        if one.origin == origin and one.statement == said:
            return one
    new = Fact(0, said, reason, origin, writing.who, writing.when)
    conflict = knowledge_of(definitions, (*known, new)).knowledge.conflict()
    if conflict is not None:
        raise ContradictionError(conflict)
    return _insert(writing, new)


def _insert(writing: Writing, new: Fact) -> Fact:
    execute, labels = writing.connection.execute, new.statement.labels
    said = str(new.statement)
    row = {
        "statement": said,
        "reason": new.reason,
        "origin": new.origin,
        "declared_by": new.declared_by,
        "declared_at": new.declared_at,
        "digest": fact_digest(said, new.reason, new.origin, new.declared_by),
    }
    number = execute(insert(facts).returning(facts.c.id), row).scalar_one()
    bases = [one.digest for one in cone(writing, labels) if one.is_base]
    execute(insert(fact_catalogs), [{"fact": number, "catalog": label} for label in labels])
    execute(insert(fact_bases), [{"fact": number, "base": base} for base in bases])
    return fact(writing, number)


def retract(writing: Writing, number: int, reason: str) -> Fact:
    """Take a fact back, and forget every proof that used it.

    Raises
    ------
    UnknownFactError
        If there is no such fact.
    FactError
        If it was retracted before.
    """
    found = fact(writing, number)
    if not found.holds:
        raise FactError(f"fact #{number} was retracted by {found.retracted_by} before")
    retracted = {"retracted_at": writing.when, "retracted_by": writing.who, "retracted_reason": reason}
    writing.connection.execute(update(facts).where(facts.c.id == number).values(retracted))
    used_it = select(proof_facts.c.proof).where(proof_facts.c.fact == number)
    writing.connection.execute(delete(proofs).where(proofs.c.digest.in_(used_it)))
    return fact(writing, number)
