"""Declaring and retracting facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

from sqlalchemy import delete, insert, select, update

from provenn.batches import split_batches
from provenn.catalogs.population import ONE_POPULATION
from provenn.database.tables import fact_bases, fact_catalogs, facts, proof_facts, proofs
from provenn.database.transactions import Reading, Writing
from provenn.definitions.ancestors import StoredDefinition, read_cone
from provenn.errors import ContradictionError, FactError, NotYoursError, PopulationError
from provenn.knowledge.consequences import build_knowledge, crosses_populations
from provenn.knowledge.limiting_facts import find_limiting_facts
from provenn.knowledge.stored_facts import (
    SUSPENDED,
    Fact,
    add_constituents,
    add_defined_sets,
    compute_fact_digest,
    excludes_objects,
    find_facts_touching,
    find_filed_numbers,
    find_usable_numbers,
    get_fact,
    list_catalogs,
    read_closed_cone,
)
from provenn.logic import Explanation, Statement, empty, nonempty
from provenn.people import audit_log, projects
from provenn.people.visibility import Visibility, check_visibility, view_as

__all__ = ["declare_fact", "forget_proofs", "retract_fact", "suspend_fact"]


def declare_fact(
    writing: Writing,
    statement: Statement,
    reason: str,
    origin: Literal["declared", "observed"] = "declared",
    *,
    visibility: Visibility = "public",
    project: str | None = None,
    platform: str | None = None,
) -> Fact:
    """Record a statement as a fact, or return an equal fact of the same origin.

    If a repeated declaration gives another reason, the audit log keeps the new reason, person and time.

    The statement is checked against all facts known to the writer. The statement may contradict a fact hidden from the
    writer. The hidden fact is suspended if its owner sees the new fact.

    Parameters
    ----------
    writing
        The transaction.
    statement
        The statement; its labels are digests of catalogs of one population.
    reason
        Why the statement is true.
    origin
        Whether a person declares the statement, or the data show it.
    visibility, project
        Whose proofs may use the fact: only the declarer's; also those of a project's members; everybody's.
    platform
        The platform on which the fact was observed, if it is known to hold there alone.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold a catalog of the statement.
    PopulationError
        If the catalogs belong to different populations.
    ContradictionError
        If the statement contradicts known facts; the error carries the minimal conflict, which may contain it.
    FactError
        If the statement mentions no catalog.
    VisibilityError, ProjectError
        If the visibility or the project does not exist.
    """
    check_visibility(visibility, project)
    if project is not None:
        projects.require_project(writing, project)
    if not statement.labels:
        raise FactError(f"{statement} mentions no catalogs", hint="a fact is a statement about catalogs")
    lineage = add_constituents(writing, read_cone(writing, list_catalogs(statement)))
    bases = [definition.digest for definition in lineage if definition.is_base]
    known = find_facts_touching(writing, bases)
    populations = sorted({definition.population for definition in lineage if definition.digest in statement.labels})
    if len(populations) > 1:
        raise PopulationError(
            f"a fact cannot compare catalogs of different populations: {', '.join(populations)}",
            hint=ONE_POPULATION,
        )
    for fact in known:
        is_as_visible = fact.visibility == "public" or (fact.visibility, fact.project) == (visibility, project)
        if fact.origin == origin and fact.statement == statement and is_as_visible:
            if origin == "declared" and reason not in ("", fact.reason):
                audit_log.record_action(writing, "declare again", f"fact #{fact.id}", reason)
            return fact
    who, when = writing.who, writing.when
    new = Fact(0, statement, reason, origin, who, when, visibility=visibility, project=project, platform=platform)
    is_first = not known and _leaves_free(lineage, statement)
    conflict = None if is_first else _find_conflict(writing, lineage, known, new)
    if conflict is not None:
        raise ContradictionError(conflict)
    inserted = _insert_fact(writing, new)
    if origin == "declared":
        audit_log.record_action(writing, "declare", f"fact #{inserted.id}", f"{visibility} {project or ''}".strip())
    all_bases = {*bases, *(digest for definition in lineage for digest in definition.constituents)}
    unread = find_filed_numbers(writing, all_bases) - {inserted.id, *(fact.id for fact in known)}
    _suspend_hidden_facts(writing, inserted, unread - find_usable_numbers(writing, unread))
    return inserted


def _find_conflict(
    reading: Reading, lineage: Sequence[StoredDefinition], known: Sequence[Fact], new: Fact
) -> Explanation | None:
    """Return the conflict between a new fact and all known ones, which have none without it.

    Only facts that limit sets can contradict a fact that some set has sources: see `limiting_facts`.
    """
    limiting = known
    if not excludes_objects(new.statement):
        limiting = find_limiting_facts(known, {definition.digest for definition in lineage})
    definitions = add_defined_sets(reading, lineage, limiting)
    extended = add_constituents(reading, definitions)
    if len(extended) > len(definitions):  # facts about these bear on the new fact, too
        bases = [definition.digest for definition in extended if definition.is_base]
        return _find_conflict(reading, extended, find_facts_touching(reading, bases), new)
    if len(limiting) < len(known) and crosses_populations(definitions):  # a partner may pass sources on
        limiting, definitions = known, add_defined_sets(reading, lineage, known)
    return build_knowledge(definitions, (*limiting, new)).knowledge.conflict()


def _leaves_free(definitions: Sequence[StoredDefinition], statement: Statement) -> bool:
    """Return whether a statement says no more than whether a single base catalog has sources.

    Such a statement contradicts no definition: a base catalog is a fresh set, the union of fresh sets that may share no
    source, or the rest of a fresh set without other fresh sets. Each can have sources or none, and an object outside.
    Rows of former files are sets of another form, and are not included.
    """
    if len(definitions) != 1 or not definitions[0].is_base or definitions[0].parameters.get("rewrites"):
        return False
    digest = definitions[0].digest
    return statement in (nonempty(digest), empty(digest))


def _suspend_hidden_facts(writing: Writing, new: Fact, hidden: Collection[int]) -> None:
    """Suspend the facts contradicting a new fact but hidden from its declarer, if their owner sees the new fact."""
    if new.visibility == "private":
        return
    for person in _list_declarers(writing, hidden):
        view = view_as(writing, person)
        while True:
            definitions, known = read_closed_cone(view, new.catalogs) if _can_use(view, new) else ((), ())
            conflict = build_knowledge(definitions, known).knowledge.conflict()
            conflicting = frozenset() if conflict is None else frozenset(conflict.facts)
            own = [
                fact
                for fact in known
                if fact.id in hidden and fact.declared_by == person and fact.statement in conflicting
            ]
            doubted = [fact for fact in own if fact.origin == "declared"] or own
            if not doubted:
                break
            for fact in doubted:
                suspend_fact(writing, fact.id, f"{SUSPENDED}contradicted by fact #{new.id}")


def _list_declarers(reading: Reading, numbers: Collection[int]) -> list[str]:
    query = select(facts.c.declared_by).distinct()
    queries = (query.where(facts.c.id.in_(batch)) for batch in split_batches(numbers))
    return sorted({person for batch_query in queries for person in reading.connection.scalars(batch_query)})


def _can_use(reading: Reading, fact: Fact) -> bool:
    return bool(find_usable_numbers(reading, [fact.id]))


def _insert_fact(writing: Writing, new: Fact) -> Fact:
    execute = writing.connection.execute
    text = str(new.statement)
    row = {
        "statement": text,
        "reason": new.reason,
        "origin": new.origin,
        "declared_by": new.declared_by,
        "declared_at": new.declared_at,
        "digest": compute_fact_digest(text, new.reason, new.origin, new.declared_by),
        "visibility": new.visibility,
        "project": new.project,
        "platform": new.platform,
    }
    number = execute(insert(facts).returning(facts.c.id), row).scalar_one()
    bases = [definition.digest for definition in read_cone(writing, new.catalogs) if definition.is_base]
    execute(insert(fact_catalogs), [{"fact": number, "catalog": digest} for digest in new.catalogs])
    execute(insert(fact_bases), [{"fact": number, "base": base} for base in bases])
    return get_fact(writing, number)


def retract_fact(writing: Writing, number: int, reason: str) -> Fact:
    """Retract a fact, and forget every proof based on the fact.

    Raises
    ------
    UnknownFactError
        If the viewer sees no fact with this number.
    FactError
        If the fact was retracted before.
    NotYoursError
        If another person declared the fact.
    """
    fact = get_fact(writing, number)
    if not fact.holds:
        raise FactError(f"fact #{number} was already retracted by {fact.retracted_by}")
    if writing.viewer not in (None, fact.declared_by):
        raise NotYoursError(
            f"fact #{number} was declared by {fact.declared_by}", hint="only {fact.declared_by} can retract it"
        )
    audit_log.record_action(writing, "retract", f"fact #{number}", reason)
    _mark_retracted(writing, number, reason)
    return get_fact(writing, number)


def suspend_fact(writing: Writing, number: int, reason: str) -> None:
    """Retract a fact because of a contradicting new fact, even if another person declared it."""
    audit_log.record_action(writing, "suspend", f"fact #{number}", reason)
    _mark_retracted(writing, number, reason)


def _mark_retracted(writing: Writing, number: int, reason: str) -> None:
    retracted = {"retracted_at": writing.when, "retracted_by": writing.who, "retracted_reason": reason}
    writing.connection.execute(update(facts).where(facts.c.id == number).values(retracted))
    forget_proofs(writing, number)


def forget_proofs(writing: Writing, number: int) -> None:
    """Forget every proof based on a fact; the next question finds another proof, if possible."""
    dependent = select(proof_facts.c.proof).where(proof_facts.c.fact == number)
    writing.connection.execute(delete(proofs).where(proofs.c.digest.in_(dependent)))
