"""Importing facts: statements are parsed, and must contradict neither each other nor known facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, insert, select, update

from provenn.catalogs.platform_traits import find_lineage_traits
from provenn.database.tables import audit as audit_entries
from provenn.database.tables import (
    catalogs,
    fact_bases,
    fact_catalogs,
    facts,
)
from provenn.definitions import catalog_store
from provenn.definitions.ancestors import read_cone
from provenn.digests import CatalogDigest
from provenn.errors import ContradictionError, FactError
from provenn.knowledge.consequences import build_knowledge
from provenn.knowledge.declarations import retract_fact, suspend_fact
from provenn.knowledge.stored_facts import (
    SUSPENDED,
    compute_fact_digest,
    find_usable_numbers,
    list_catalogs,
    read_closed_cone,
)
from provenn.logic import statement
from provenn.people import audit_log
from provenn.people.visibility import check_visibility, filter_visible, view_as
from provenn.transfer.importing.taking import ImportSession, require_held
from provenn.transfer.portable_files import Line, parse_moment, parse_text

__all__ = ["refuse_contradictions", "suspend_hidden", "take_facts"]


def take_facts(session: ImportSession, lines: Sequence[Line]) -> int:
    """Import facts and retractions; return the number of new facts and retractions."""
    scalars = session.writing.connection.scalars
    known_facts = _KnownFacts(set(scalars(select(facts.c.digest))), set(scalars(select(facts.c.statement))))
    return sum(_take_fact(session, line, known_facts) for line in lines)


@dataclass(frozen=True, slots=True)
class _KnownFacts:
    """The digests and statements of all facts in the archive: most facts of a file are new, and need no query."""

    digests: set[str]
    statements: set[str]


def _find_fact(session: ImportSession, row: dict[str, Any]) -> Any:  # noqa: ANN401 - a row
    """Return number, time and reason of retraction of the same fact in the archive, or None."""
    conditions = (facts.c.digest == row["digest"], facts.c.declared_at == row["declared_at"], *_same_visibility(row))
    query = select(*facts.c["id", "retracted_at", "retracted_reason"]).where(*conditions)
    return session.writing.connection.execute(query).first()


def _find_bases(session: ImportSession, mentioned: Collection[CatalogDigest]) -> list[CatalogDigest]:
    """Return the digests of the base catalogs in the lineages of some catalogs."""
    staged = session.staged.definitions
    outside = [digest for digest in mentioned if digest not in staged]
    base_digests = (
        {definition.digest for definition in read_cone(session.unrestricted, outside) if definition.is_base}
        if outside
        else set()
    )
    return sorted(base_digests.union(*(staged[digest].bases for digest in mentioned if digest in staged)))


def _take_fact(session: ImportSession, line: Line, known_facts: _KnownFacts) -> bool:
    """Import a fact, or its retraction; return whether anything is new."""
    writing = session.writing
    with line.report_errors("statement"):
        parsed = statement(line.get_text("statement"))
        if not parsed.labels:
            raise FactError(f"{parsed} mentions no catalog")
    origin, reason = line.get_text("origin"), line.get_text("reason")
    if origin not in ("declared", "observed"):
        raise line.make_error(f"expected a declared or observed fact, got {origin[:40]!r}")
    author, at = session.choose_author(line.get_text("by")), line.get_moment("at")
    with line.report_errors("visibility"):
        visibility, project = line.get_text("visibility"), line.get_optional_text("project")
        check_visibility(visibility, project)
    retraction = _read_retraction(session, line)
    mentioned = list_catalogs(parsed)
    _require_one_population(session, line, mentioned)
    if origin == "observed" and find_lineage_traits(
        *catalog_store.get_catalogs(session.unrestricted, mentioned).values()
    ):
        return False  # an observation on another platform may not hold on the platform of this archive
    text = str(parsed)
    digest = compute_fact_digest(text, reason, origin, author)
    row = {
        "statement": text,
        "reason": reason,
        "origin": origin,
        "declared_by": author,
        "declared_at": at,
        "digest": digest,
        "visibility": visibility,
        "project": project,
    }
    existing = _find_fact(session, row) if digest in known_facts.digests else None
    if existing is not None:
        if retraction is None:
            return False
        if existing.retracted_at is not None:
            if retraction["retracted_reason"] != existing.retracted_reason:
                reason = f"{retraction['retracted_reason']} (retracted by {retraction['retracted_by']}, imported)"
                _keep_reason(session, existing.id, "retract again", reason)
            return False
        retract_fact(writing, existing.id, retraction["retracted_reason"])
        writing.connection.execute(update(facts).where(facts.c.id == existing.id).values(retraction))
        return True
    held = _find_held_fact(session, row) if retraction is None and text in known_facts.statements else None
    if held is not None:
        if origin == "declared" and reason not in ("", held.reason):
            _keep_reason(session, held.id, "declare again", f"{reason} (declared by {author}, imported)")
        return False
    number = writing.connection.execute(insert(facts).returning(facts.c.id), row | (retraction or {})).scalar_one()
    known_facts.digests.add(digest)
    known_facts.statements.add(text)
    base_digests = _find_bases(session, mentioned)
    writing.connection.execute(
        insert(fact_catalogs), [{"fact": number, "catalog": mentioned_digest} for mentioned_digest in mentioned]
    )
    writing.connection.execute(insert(fact_bases), [{"fact": number, "base": base} for base in base_digests])
    if retraction is None:
        session.catalogs.update(mentioned)
    return True


def _keep_reason(
    session: ImportSession, number: int, action: Literal["declare again", "retract again"], reason: str
) -> None:
    """Record once in the audit log a reason that the archive does not take; note it if the importer sees the fact."""
    execute = session.writing.connection.execute
    same = (audit_entries.c.action == action, audit_entries.c.subject == f"fact #{number}")
    if execute(select(audit_entries.c.id).where(*same, audit_entries.c.detail == reason).limit(1)).first() is None:
        audit_log.record_action(session.writing, action, f"fact #{number}", reason)
    if find_usable_numbers(session.writing, [number]):
        session.repeated[number] = "held" if action == "declare again" else "retracted"


def _find_held_fact(session: ImportSession, row: dict[str, Any]) -> Any:  # noqa: ANN401 - a row
    """Return a held fact with equal statement, origin and visibility, or None; unless public, by the same person."""
    conditions = [*(facts.c[key] == row[key] for key in ("statement", "origin")), *_same_visibility(row)]
    if row["visibility"] != "public":
        conditions += [facts.c.declared_by == row["declared_by"]]
    query = select(*facts.c["id", "reason"]).where(*conditions, facts.c.retracted_at.is_(None)).order_by(facts.c.id)
    return session.writing.connection.execute(query.limit(1)).first()


def _same_visibility(row: dict[str, Any]) -> list[ColumnElement[bool]]:
    """Return the conditions for facts with the visibility of a row."""
    return [facts.c[key].is_not_distinct_from(row[key]) for key in ("visibility", "project")]


def _read_retraction(session: ImportSession, line: Line) -> dict[str, Any] | None:
    """Return the columns of a retraction; None if the fact holds."""
    if line.get_value("retracted", lambda value: value) is None:
        return None
    with line.report_errors("retracted"):
        at, by, reason = line.get_list("retracted")
        return {
            "retracted_at": parse_moment(at),
            "retracted_by": session.choose_author(parse_text(by)),
            "retracted_reason": parse_text(reason),
        }


def _require_one_population(session: ImportSession, line: Line, mentioned: Collection[CatalogDigest]) -> None:
    """Refuse a fact about missing catalogs, or about catalogs of different populations."""
    require_held(session, line, mentioned)
    staged = session.staged.definitions
    populations = {staged[digest].population for digest in mentioned if digest in staged}
    outside = [digest for digest in mentioned if digest not in staged]
    if outside:
        query = select(catalogs.c.population).where(catalogs.c.digest.in_(outside)).distinct()
        populations.update(session.writing.connection.scalars(query))
    if len(populations) > 1:
        raise line.make_error("it compares catalogs of different populations")


def refuse_contradictions(session: ImportSession) -> set[int]:
    """Raise an error if public facts contradict each other, considering the facts visible to the importer.

    Returns
    -------
    set of int
        The numbers of these public facts.
    """
    definitions, known_facts = read_closed_cone(session.writing, session.catalogs)
    query = select(facts.c.id).where(facts.c.visibility == "public")
    public = set(session.writing.connection.scalars(query)).intersection(fact.id for fact in known_facts)
    conflict = build_knowledge(definitions, [fact for fact in known_facts if fact.id in public]).knowledge.conflict()
    if conflict is not None:
        raise ContradictionError(conflict)
    return public


def suspend_hidden(session: ImportSession, public: Collection[int]) -> None:
    """Suspend hidden facts if their owner would see a contradiction with imported facts, as `declare` does."""
    writing, table = session.writing, facts.c
    query = select(table.id, table.declared_by).where(table.retracted_at.is_(None))
    hidden = {row.id: row.declared_by for row in writing.connection.execute(query) if row.id not in public}
    for person in sorted(set(hidden.values())):
        view = view_as(writing, person)
        digests = filter_visible(view, session.catalogs)
        while digests:
            definitions, known_facts = read_closed_cone(view, digests)
            conflict = build_knowledge(definitions, known_facts).knowledge.conflict()
            contradictory = frozenset() if conflict is None else frozenset(conflict.facts)
            own_facts = [
                fact for fact in known_facts if hidden.get(fact.id) == person and fact.statement in contradictory
            ]
            doubted = [fact for fact in own_facts if fact.origin == "declared"] or own_facts
            if not doubted:
                break
            for fact in doubted:
                suspend_fact(writing, fact.id, f"{SUSPENDED}contradicted by the imported facts")
