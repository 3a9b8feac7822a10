"""Declaring facts and taking them back."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from sqlalchemy import delete, insert, select, update

from provenn.errors import ContradictionError, FactError, NotYoursError, PopulationError
from provenn.logic import Statement
from provenn.store import audit, projects
from provenn.store.cones import cone, in_batches
from provenn.store.database import Reading, Writing
from provenn.store.facts import Fact, closed_cone, fact, fact_digest, filed_with, visible
from provenn.store.knowledge import knowledge_of
from provenn.store.tables import fact_bases, fact_catalogs, facts, proof_facts, proofs
from provenn.store.visibility import Visibility, as_seen_by, check_visibility

__all__ = ["declare", "forget_proofs", "retract", "suspend"]


def declare(
    writing: Writing,
    said: Statement,
    reason: str,
    origin: Literal["declared", "observed"] = "declared",
    *,
    visibility: Visibility = "public",
    project: str | None = None,
) -> Fact:
    """Hold a statement true from now on. One that is held true for the same origin already is returned as it is.

    It is checked against what who writes may know. A fact that he does not see, whose owner sees the new one, and that
    cannot be true beside it, is suspended.

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
    visibility, project
        In whose proofs it is used: of who declares it; of the members of a project, too; of everybody.

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
    VisibilityError, ProjectError
        If there is no such visibility, or no such project.
    """
    check_visibility(visibility, project)
    if project is not None:
        projects.require(writing, project)
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
        shown = one.visibility == "public" or (one.visibility, one.project) == (visibility, project)
        if one.origin == origin and one.statement == said and shown:
            return one
    new = Fact(0, said, reason, origin, writing.who, writing.when, visibility=visibility, project=project)
    conflict = knowledge_of(definitions, (*known, new)).knowledge.conflict()
    if conflict is not None:
        raise ContradictionError(conflict)
    told = _insert(writing, new)
    if origin == "declared":
        audit.record(writing, "declare", f"fact #{told.id}", f"{visibility} {project or ''}".strip())
    bases = [one.digest for one in definitions if one.is_base]
    _suspend_unseen(writing, told, filed_with(writing, bases) - {told.id, *(one.id for one in known)})
    return told


def _suspend_unseen(writing: Writing, new: Fact, hidden: Collection[int]) -> None:
    """Suspend facts that who declared a fact does not see, where their owner sees it and they contradict it."""
    if new.visibility == "private":
        return
    for person in _owners(writing, hidden):
        view = as_seen_by(writing, person)
        while True:
            definitions, held = closed_cone(view, new.statement.labels) if _sees(view, new) else ((), ())
            conflict = knowledge_of(definitions, held).knowledge.conflict()
            against = frozenset() if conflict is None else frozenset(conflict.facts)
            own = [one for one in held if one.id in hidden and one.declared_by == person and one.statement in against]
            doubted = [one for one in own if one.origin == "declared"] or own
            if not doubted:
                break
            for one in doubted:
                suspend(writing, one.id, f"suspended: contradicted by fact #{new.id}")


def _owners(reading: Reading, numbers: Collection[int]) -> list[str]:
    query = select(facts.c.declared_by).distinct()
    batches = in_batches(numbers)
    return sorted({one for batch in batches for one in reading.connection.scalars(query.where(facts.c.id.in_(batch)))})


def _sees(reading: Reading, new: Fact) -> bool:
    return bool(visible(reading, [new.id]))


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
        "visibility": new.visibility,
        "project": new.project,
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
    NotYoursError
        If somebody else declared it.
    """
    found = fact(writing, number)
    if not found.holds:
        raise FactError(f"fact #{number} was retracted by {found.retracted_by} before")
    if writing.viewer not in (None, found.declared_by):
        raise NotYoursError(
            f"fact #{number} was declared by {found.declared_by}", hint="only who declared a fact takes it back"
        )
    audit.record(writing, "retract", f"fact #{number}", reason)
    _end(writing, number, reason)
    return fact(writing, number)


def suspend(writing: Writing, number: int, reason: str) -> None:
    """Take a fact back that cannot be true beside a new one, whoever declared it."""
    audit.record(writing, "suspend", f"fact #{number}", reason)
    _end(writing, number, reason)


def _end(writing: Writing, number: int, reason: str) -> None:
    retracted = {"retracted_at": writing.when, "retracted_by": writing.who, "retracted_reason": reason}
    writing.connection.execute(update(facts).where(facts.c.id == number).values(retracted))
    forget_proofs(writing, number)


def forget_proofs(writing: Writing, number: int) -> None:
    """Forget every proof that used a fact; whoever asks next finds another one, if there is one."""
    used_it = select(proof_facts.c.proof).where(proof_facts.c.fact == number)
    writing.connection.execute(delete(proofs).where(proofs.c.digest.in_(used_it)))
