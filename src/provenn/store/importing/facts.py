"""Taking over facts: statements are parsed, and must not contradict each other, nor what is known."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, insert, select, update

from provenn.errors import ContradictionError, FactError
from provenn.logic import statement
from provenn.store.cones import cone
from provenn.store.declarations import retract, suspend
from provenn.store.facts import closed_cone, fact_digest
from provenn.store.importing.taking import Import, require_held
from provenn.store.knowledge import knowledge_of
from provenn.store.portable import Line, moment, plain_text
from provenn.store.tables import (
    catalogs,
    fact_bases,
    fact_catalogs,
    facts,
)
from provenn.store.visibility import as_seen_by, check_visibility, seen

__all__ = ["consistent", "suspend_hidden", "take_facts"]


def take_facts(taking: Import, lines: Sequence[Line]) -> int:
    """Take facts over, and retractions; return how many came."""
    return sum(_take_fact(taking, line) for line in lines)


def _take_fact(taking: Import, line: Line) -> bool:
    """Take a fact over, or its retraction; return whether there is anything new in that."""
    writing = taking.writing
    with line.readable("statement"):
        said = statement(line.text("statement"))
        if not said.labels:
            raise FactError(f"{said} mentions no catalog")
    origin, reason = line.text("origin"), line.text("reason")
    if origin not in ("declared", "observed"):
        raise line.wrong(f"it is neither declared nor observed, but {origin[:40]!r}")
    who, at = taking.by(line.text("by")), line.moment("at")
    with line.readable("visibility"):
        visibility, project = line.text("visibility"), line.optional("project")
        check_visibility(visibility, project)
    gone = _retraction(taking, line)
    _require_one_population(taking, line, said.labels)
    text = str(said)
    row = {
        "statement": text,
        "reason": reason,
        "origin": origin,
        "declared_by": who,
        "declared_at": at,
        "digest": fact_digest(text, reason, origin, who),
        "visibility": visibility,
        "project": project,
    }
    same = select(*facts.c["id", "retracted_at"]).where(facts.c.digest == row["digest"], facts.c.declared_at == at)
    found = writing.connection.execute(same.where(*_shown_to_the_same(row))).first()
    if found is not None:
        if gone is None or found.retracted_at is not None:
            return False
        retract(writing, found.id, gone["retracted_reason"])
        writing.connection.execute(update(facts).where(facts.c.id == found.id).values(gone))
        return True
    if gone is None and _is_held(taking, row):
        return False
    number = writing.connection.execute(insert(facts).returning(facts.c.id), row | (gone or {})).scalar_one()
    below = [one.digest for one in cone(taking.everything, said.labels) if one.is_base]
    writing.connection.execute(insert(fact_catalogs), [{"fact": number, "catalog": one} for one in said.labels])
    writing.connection.execute(insert(fact_bases), [{"fact": number, "base": one} for one in below])
    if gone is None:
        taking.labels.update(said.labels)
    return True


def _is_held(taking: Import, row: dict[str, Any]) -> bool:
    """Whether the same is held true for the same origin already, and is seen by the same."""
    same = [*(facts.c[key] == row[key] for key in ("statement", "origin")), *_shown_to_the_same(row)]
    if row["visibility"] != "public":
        same += [facts.c.declared_by == row["declared_by"]]
    query = select(facts.c.id).where(*same, facts.c.retracted_at.is_(None)).limit(1)
    return taking.writing.connection.scalar(query) is not None


def _shown_to_the_same(row: dict[str, Any]) -> list[ColumnElement[bool]]:
    return [facts.c[key].is_not_distinct_from(row[key]) for key in ("visibility", "project")]


def _retraction(taking: Import, line: Line) -> dict[str, Any] | None:
    if line.get("retracted", lambda value: value) is None:
        return None
    with line.readable("retracted"):
        at, by, reason = line.several("retracted")
        return {
            "retracted_at": moment(at),
            "retracted_by": taking.by(plain_text(by)),
            "retracted_reason": plain_text(reason),
        }


def _require_one_population(taking: Import, line: Line, labels: Collection[str]) -> None:
    require_held(taking, line, labels)
    query = select(catalogs.c.population).where(catalogs.c.digest.in_(list(labels))).distinct()
    if len(taking.writing.connection.scalars(query).all()) > 1:
        raise line.wrong("it compares catalogs of different populations")


def consistent(taking: Import) -> set[int]:
    """Refuse facts for everybody that contradict each other, as far as who imports may know.

    Returns
    -------
    set of int
        The numbers of these facts.
    """
    definitions, known = closed_cone(taking.writing, taking.labels)
    query = select(facts.c.id).where(facts.c.visibility == "public")
    public = set(taking.writing.connection.scalars(query)).intersection(one.id for one in known)
    conflict = knowledge_of(definitions, [one for one in known if one.id in public]).knowledge.conflict()
    if conflict is not None:
        raise ContradictionError(conflict)
    return public


def suspend_hidden(taking: Import, public: Collection[int]) -> None:
    """Suspend other facts than these, where to their owner they contradict what came, as `declare` does."""
    writing, table = taking.writing, facts.c
    query = select(table.id, table.declared_by).where(table.retracted_at.is_(None))
    hidden = {row.id: row.declared_by for row in writing.connection.execute(query) if row.id not in public}
    for person in sorted(set(hidden.values())):
        view = as_seen_by(writing, person)
        labels = seen(view, taking.labels)
        while labels:
            definitions, known = closed_cone(view, labels)
            conflict = knowledge_of(definitions, known).knowledge.conflict()
            against = frozenset() if conflict is None else frozenset(conflict.facts)
            own = [one for one in known if hidden.get(one.id) == person and one.statement in against]
            doubted = [one for one in own if one.origin == "declared"] or own
            if not doubted:
                break
            for one in doubted:
                suspend(writing, one.id, "suspended: contradicted by what was imported")
