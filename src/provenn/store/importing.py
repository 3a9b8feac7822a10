"""Taking over what a portable file holds. Nothing in it is believed that can be computed, and nothing is executed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any, BinaryIO

from sqlalchemy import ColumnElement, Table, delete, insert, select, tuple_, update

from provenn.catalogs import Base, Catalog
from provenn.catalogs.calculators import calculator_from
from provenn.catalogs.digest import canonical_json
from provenn.catalogs.lineage import restore
from provenn.errors import CatalogNameError, ContradictionError, FactError
from provenn.logic import statement
from provenn.store import catalog_store
from provenn.store.cones import cone, in_batches
from provenn.store.database import Writing
from provenn.store.declarations import retract, suspend
from provenn.store.facts import closed_cone, fact_digest
from provenn.store.knowledge import knowledge_of
from provenn.store.names import check_name
from provenn.store.portable import KINDS, Line, moment, plain_text, read_lines
from provenn.store.tables import (
    bases,
    calculators,
    catalogs,
    definers,
    fact_bases,
    fact_catalogs,
    facts,
    name_history,
    names,
    preferences,
)
from provenn.store.visibility import as_seen_by, check_visibility, seen

__all__ = ["Imported", "import_archive"]

_AT_ONCE = 500
_REMEMBERED = 20_000
"""How many catalogs are kept in memory, for those that are made from them."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came with a file.

    Parameters
    ----------
    new, there
        How many definitions, names, facts, calculators and preferences came, and how many were there before; by kind.
    kept
        The attributes whose names mean something else here, and still do.
    """

    new: dict[str, int]
    there: dict[str, int]
    kept: tuple[str, ...] = ()


@dataclass(slots=True)
class _Import:
    """A file being taken over."""

    writing: Writing
    prefix: str
    made: dict[str, Catalog] = field(default_factory=dict)
    labels: set[str] = field(default_factory=set)
    kept: list[str] = field(default_factory=list)

    @property
    def everything(self) -> Writing:
        """The transaction, of somebody who sees everything: what is there is there, whoever imports."""
        return replace(self.writing, viewer=None)

    def by(self, said: str) -> str:
        """Return who is recorded: as the file says; but who is confined can speak for nobody else."""
        return said if self.writing.viewer is None else self.writing.who


def import_archive(writing: Writing, file: BinaryIO, name: str, *, prefix: str = "") -> Imported:
    """Take over definitions, names, facts, calculators and preferences from a portable file.

    What is there already stays as it is, so that a file which is imported twice is imported once.

    Parameters
    ----------
    writing
        The transaction; it must not be committed if this raises.
    file, name
        The file, and what it is called.
    prefix
        Put before every name in it.

    Raises
    ------
    FileError
        If the file cannot be read, or anything in it is not what it says.
    CatalogNameError
        If another catalog has a name in it.
    ContradictionError
        If facts in it contradict each other, or what is known.
    PopulationError
        If a population of that name has another key here.
    """
    taking = _Import(writing, prefix)
    new, there = dict.fromkeys(KINDS, 0), dict.fromkeys(KINDS, 0)
    for kind, lines in groupby(read_lines(file, name), key=lambda line: line.kind):
        while batch := tuple(islice(lines, _AT_ONCE)):
            came = _TAKING[kind](taking, batch)
            new[kind] += came
            there[kind] += len(batch) - came
    if taking.labels:
        _suspend_hidden(taking, _consistent(taking))
    return Imported(new, there, tuple(taking.kept))


def _held(writing: Writing, digests: Collection[str]) -> set[str]:
    query = select(catalogs.c.digest)
    return {
        digest
        for batch in in_batches(digests)
        for digest in writing.connection.scalars(query.where(catalogs.c.digest.in_(batch)))
    }


def _require_held(taking: _Import, line: Line, digests: Collection[str]) -> None:
    """Refuse digests of catalogs that there are not, as far as who imports may know."""
    missing = set(digests) - seen(taking.writing, _held(taking.writing, digests))
    if missing:
        raise line.wrong(f"there is no catalog {min(missing)[:64]!r}")


# -- definitions -----------------------------------------------------------------------------------------------------


def _take_definitions(taking: _Import, lines: Sequence[Line]) -> int:
    new = {digest: line for line in lines if (digest := line.text("digest"))}
    if len(new) < len(lines):
        raise lines[0].wrong("it, or one of those after it, occurs twice")
    _remember(taking, new)
    for digest, line in new.items():
        made = [taking.made[one] for one in _dependencies(taking, line)]
        with line.readable("definition"):
            catalog = restore(line.text("kind"), line.mapping("parameters"), _notes(line), made)
            if catalog.digest != digest:
                raise line.wrong("its digest is not that of what it says")
        taking.made[digest] = catalog
    held = _held(taking.writing, new)
    fresh = {digest: line for digest, line in new.items() if digest not in held}
    catalog_store.add(taking.everything, *(taking.made[digest] for digest in fresh))
    _record_creation(taking, fresh.values())
    _record_definers(taking, lines, fresh)
    return len(fresh)


def _remember(taking: _Import, new: Collection[str]) -> None:
    if len(taking.made) + len(new) > _REMEMBERED:
        taking.made.clear()


def _dependencies(taking: _Import, line: Line) -> list[str]:
    found: list[str] = line.get("dependencies", lambda several: [plain_text(one) for one in several])
    missing = [one for one in found if one not in taking.made]
    if missing:
        _require_held(taking, line, missing)
        taking.made |= catalog_store.get_all(taking.everything, missing)
    return found


def _created(line: Line) -> list[tuple[Any, str]]:
    with line.readable("created"):
        return [(moment(at), plain_text(who)) for at, who in line.several("created")]


def _record_creation(taking: _Import, lines: Iterable[Line]) -> None:
    """Say of new catalogs who made them when, and of their files who last saw them when: as it is said in the file."""
    execute = taking.writing.connection.execute
    for line in lines:
        digest, created = line.text("digest"), _created(line)
        if not created:
            raise line.wrong("nobody has made it")
        (at, who), *_ = created
        made = {"created_at": at, "created_by": taking.by(who)}
        execute(update(catalogs).where(catalogs.c.digest == digest).values(made))
        if isinstance(taking.made[digest], Base):
            with line.readable("seen"):
                at, who = line.several("seen")
                seen = {"seen_at": moment(at), "seen_by": taking.by(plain_text(who))}
            execute(update(bases).where(bases.c.catalog == digest).values(seen))


def _record_definers(taking: _Import, lines: Iterable[Line], fresh: Collection[str]) -> None:
    """Say who defined catalogs: not who imports them, unless he can speak for nobody else."""
    writing, table = taking.writing, definers
    writing.connection.execute(delete(table).where(table.c.catalog.in_(list(fresh))))
    rows = {
        (line.text("digest"), taking.by(who)): {"catalog": line.text("digest"), "who": taking.by(who), "at": at}
        for line in lines
        for at, who in reversed(_created(line))
    }
    _insert_missing(writing, table, ("catalog", "who"), rows)


def _insert_missing(writing: Writing, table: Table, key: tuple[str, ...], rows: dict[Any, dict[str, Any]]) -> int:
    """Insert the rows that are not there; return how many these are."""
    columns = [table.c[one] for one in key]
    query = select(*columns).where(tuple_(*columns).in_(list(rows)))
    there = {tuple(row) for row in writing.connection.execute(query)} if rows else set()
    missing = [row for one, row in rows.items() if one not in there]
    if missing:
        writing.connection.execute(insert(table), missing)
    return len(missing)


def _notes(line: Line) -> dict[str, Any]:
    """Return the notes of a definition, which no digest vouches for: texts, texts by name, a number of rows."""
    notes = line.mapping("notes")
    for key, value in notes.items():
        texts = value.values() if isinstance(value, dict) and key not in ("text", "location") else [value]
        counted = key == "row_count" and (value is None or (type(value) is int and value >= 0))
        if not counted and not all(isinstance(one, str) for one in texts):
            raise line.wrong(f"its {key} is not as it should be")
    return notes


# -- names -----------------------------------------------------------------------------------------------------------


def _take_names(taking: _Import, lines: Sequence[Line]) -> int:
    execute = taking.writing.connection.execute
    called = {taking.prefix + line.text("name"): line for line in lines}
    taken = {
        row.name: row.catalog
        for row in execute(select(names.c.name, names.c.catalog).where(names.c.name.in_(list(called))))
    }
    known = set(
        taking.writing.connection.scalars(
            select(name_history.c.name).where(name_history.c.name.in_(list(called))).distinct()
        )
    )
    came = 0
    for name, line in called.items():
        with line.readable("name"):
            check_name(name)
        digest = line.optional("catalog")
        if digest is not None and taken.get(name, digest) != digest:
            raise CatalogNameError(
                f"{name} is the name of another catalog here", hint="put something before every name: --prefix"
            )
        if name in taken or (digest is None and name in known):
            continue
        came += 1
        changes = _changes(taking, line, name)
        while digest is None and changes and changes[-1]["catalog"] is not None:
            changes.pop()  # who exported it did not see how it ended: what is gone here has been deleted here
        if digest is not None:
            last = changes[-1] if changes else None
            if last is None or last["catalog"] != digest:
                raise line.wrong("its history does not end where it is")
            if taking.writing.viewer is not None:
                last["at"] = taking.writing.when  # since when a name is there decides what its owner may know
            row = {"name": name, "catalog": digest, "changed_at": last["at"], "changed_by": last["by"]}
            execute(insert(names), row | _whose(taking, line, line.content))
        if changes:
            execute(insert(name_history), changes)
    return came


def _changes(taking: _Import, line: Line, name: str) -> list[dict[str, Any]]:
    changes = []
    with line.readable("history"):
        for digest, at, by, owner, visibility, project in line.several("history"):
            whose = _whose(taking, line, {"owner": owner, "visibility": visibility, "project": project})
            said = {"name": name, "catalog": digest, "at": moment(at), "by": taking.by(plain_text(by))}
            changes.append(said | whose)
    _require_held(taking, line, {one["catalog"] for one in changes if one["catalog"] is not None})
    return changes


def _whose(taking: _Import, line: Line, said: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
    with line.readable("visibility"):
        whose = Line(line.number, line.kind, said)
        visibility, project = whose.text("visibility"), whose.optional("project")
        check_visibility(visibility, project)
        return {"owner": taking.by(whose.text("owner")), "visibility": visibility, "project": project}


# -- facts -----------------------------------------------------------------------------------------------------------


def _take_facts(taking: _Import, lines: Sequence[Line]) -> int:
    return sum(_take_fact(taking, line) for line in lines)


def _take_fact(taking: _Import, line: Line) -> bool:
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


def _is_held(taking: _Import, row: dict[str, Any]) -> bool:
    """Whether the same is held true for the same origin already, and is seen by the same."""
    same = [*(facts.c[key] == row[key] for key in ("statement", "origin")), *_shown_to_the_same(row)]
    if row["visibility"] != "public":
        same += [facts.c.declared_by == row["declared_by"]]
    query = select(facts.c.id).where(*same, facts.c.retracted_at.is_(None)).limit(1)
    return taking.writing.connection.scalar(query) is not None


def _shown_to_the_same(row: dict[str, Any]) -> list[ColumnElement[bool]]:
    return [facts.c[key].is_not_distinct_from(row[key]) for key in ("visibility", "project")]


def _retraction(taking: _Import, line: Line) -> dict[str, Any] | None:
    if line.get("retracted", lambda value: value) is None:
        return None
    with line.readable("retracted"):
        at, by, reason = line.several("retracted")
        return {
            "retracted_at": moment(at),
            "retracted_by": taking.by(plain_text(by)),
            "retracted_reason": plain_text(reason),
        }


def _require_one_population(taking: _Import, line: Line, labels: Collection[str]) -> None:
    _require_held(taking, line, labels)
    query = select(catalogs.c.population).where(catalogs.c.digest.in_(list(labels))).distinct()
    if len(taking.writing.connection.scalars(query).all()) > 1:
        raise line.wrong("it compares catalogs of different populations")


def _consistent(taking: _Import) -> set[int]:
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


def _suspend_hidden(taking: _Import, public: Collection[int]) -> None:
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


# -- calculators -----------------------------------------------------------------------------------------------------


def _take_calculators(taking: _Import, lines: Sequence[Line]) -> int:
    rows: dict[Any, dict[str, Any]] = {}
    for line in lines:
        with line.readable("definition"):
            made = calculator_from(line.mapping("definition"))
            if made.digest != line.text("digest"):
                raise line.wrong("its digest is not that of what it says")
            definition = canonical_json(made.definition())
        who, at = taking.by(line.text("by")), line.moment("at")
        said = {"definition": definition, "registered_at": at, "registered_by": who}
        rows[(made.digest,)] = {"digest": made.digest, "name": line.text("name"), **said}
    return _insert_missing(taking.writing, calculators, ("digest",), rows)


def _take_preferences(taking: _Import, lines: Sequence[Line]) -> int:
    rows: dict[Any, dict[str, Any]] = {}
    for line in lines:
        said = {key: line.text(key) for key in ("attribute", "identity")}
        rows[(said["attribute"],)] = {**said, "at": line.moment("at"), "by": taking.by(line.text("by"))}
    query = select(*preferences.c["attribute", "identity"])
    here = {row.attribute: row.identity for row in taking.writing.connection.execute(query)}
    meant = {row["attribute"]: row["identity"] for row in rows.values()}
    taking.kept += sorted(one for one, identity in meant.items() if here.get(one, identity) != identity)
    return _insert_missing(taking.writing, preferences, ("attribute",), rows)


_TAKING: dict[str, Callable[[_Import, Sequence[Line]], int]] = {
    "definition": _take_definitions,
    "name": _take_names,
    "fact": _take_facts,
    "calculator": _take_calculators,
    "preference": _take_preferences,
}
