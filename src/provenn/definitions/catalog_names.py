"""Names: movable labels on catalogs. Deleting a name deletes no catalog, and `naming_history` lists its changes.

All names of an archive share a namespace: even private names are unique.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, NewType
from urllib.parse import quote

from sqlalchemy import bindparam, delete, func, insert, or_, select, update

from provenn.batches import split_batches
from provenn.database import settings
from provenn.database.tables import catalogs, name_history, names
from provenn.digests import CatalogDigest, is_digest
from provenn.errors import CatalogNameError, NotYoursError, UnknownCatalogError, did_you_mean
from provenn.hints import Hint
from provenn.people import audit_log, projects
from provenn.people.visibility import Visibility, check_visibility, filter_visible, is_visible_name

if TYPE_CHECKING:
    from provenn.database.transactions import Reading, Writing

__all__ = [
    "CatalogName",
    "NameRecord",
    "assign_name",
    "assign_names",
    "check_movable",
    "check_name",
    "check_new_name",
    "filter_owned_names",
    "find_named_digest",
    "find_names_by_digest",
    "find_private_names",
    "list_names",
    "make_unknown_name_error",
    "move_name",
    "move_names",
    "read_default_visibility",
    "remove_name",
]

CatalogName = NewType("CatalogName", str)
"""A name that a catalog may have; a text that a user types becomes one by `check_name`."""

LONGEST = 200
_MANY = 5_000  # catalogs for which all names are read at once
_NAMES = select(
    names.c.name,
    names.c.catalog,
    names.c.changed_at,
    names.c.changed_by,
    names.c.owner,
    names.c.visibility,
    names.c.project,
)
_INSERT_NAMES, _INSERT_CHANGES = insert(names), insert(name_history)
_STORED = select(catalogs.c.digest).where(catalogs.c.digest.in_(bindparam("digests", expanding=True)))


@dataclass(frozen=True, slots=True)
class NameRecord:
    """A name with the digest of the catalog, the last change, the owner and the visibility."""

    name: CatalogName
    catalog: CatalogDigest
    changed_at: datetime
    changed_by: str
    owner: str
    visibility: Visibility
    project: str | None


def assign_name(
    writing: Writing, name: str, digest: CatalogDigest, visibility: Visibility | None = None, project: str | None = None
) -> None:
    """Give a catalog a new name, or change the visibility of an existing name of the catalog.

    Parameters
    ----------
    writing
        The transaction.
    name, digest
        The name, and the digest of the catalog.
    visibility, project
        The visibility of the name. By default a new name gets the archive's default visibility, and an existing name
        keeps its visibility.

    Raises
    ------
    CatalogNameError
        If the name is unfit, or belongs to another catalog.
    UnknownCatalogError
        If the archive does not hold the catalog, or the viewer does not see it.
    NotYoursError
        If the visibility is to change, and the name belongs to another person.
    VisibilityError, ProjectError
        If the visibility or the project does not exist.
    """
    checked_name = check_name(name)
    if visibility is not None or project is not None:
        check_visibility(visibility or "project", project)
    if project is not None:
        projects.require_project(writing, project)
    existing = _find_name(writing, name)
    if existing is None:
        check_new_name(name)
        _require_catalog(writing, digest)
        if _is_taken_by_others(writing, name):
            raise CatalogNameError(f"the name {name} is taken", hint="choose another name")
        if visibility is None and project is None:
            new_visibility = read_default_visibility(writing)
        else:
            new_visibility = visibility or "project"
        record = NameRecord(checked_name, digest, writing.when, writing.who, writing.who, new_visibility, project)
        _insert_names(writing, [record])
    elif existing.catalog != digest:
        raise CatalogNameError(
            f"{name} already names the catalog {existing.catalog[:12]}",
            hint=Hint(
                "choose another name; archive.name(…, move=True) moves a name",
                command="choose another name; `provenn name NAME CATALOG --move` moves a name",
                page="choose another name, or move this one: tick Move in the form Name a catalog",
            ),
        )
    elif visibility is not None or project is not None:
        _change_visibility(writing, existing, visibility or "project", project)


def assign_names(writing: Writing, digests: Mapping[str, CatalogDigest]) -> None:
    """Give catalogs new names with the archive's default visibility, with a few statements for all of them.

    Raises
    ------
    CatalogNameError
        If a name is unfit, or belongs to another catalog.
    UnknownCatalogError
        If the archive does not hold a catalog, or the viewer does not see it.
    """
    checked_names = [check_name(name) for name in digests]
    existing = _find_names(writing, checked_names)
    for name, record in existing.items():
        if record.catalog != digests[name]:
            raise CatalogNameError(
                f"{name} already names the catalog {record.catalog[:12]}", hint="choose another name"
            )
    new_names = [check_new_name(name) for name in checked_names if name not in existing]
    if not new_names:
        return
    _require_catalogs(writing, {digests[name] for name in new_names})
    taken = _find_names(replace(writing, viewer=None), new_names)
    for name in taken:
        raise CatalogNameError(f"the name {name} is taken", hint="choose another name")
    visibility = read_default_visibility(writing)
    records = [
        NameRecord(name, digests[name], writing.when, writing.who, writing.who, visibility, None) for name in new_names
    ]
    _insert_names(writing, records)


def _insert_names(writing: Writing, records: Sequence[NameRecord]) -> None:
    rows = [
        {
            "name": record.name,
            "owner": record.owner,
            "visibility": record.visibility,
            "project": record.project,
            **_make_change_values(writing, record.catalog),
        }
        for record in records
    ]
    writing.connection.execute(_INSERT_NAMES, rows)
    _record_changes(writing, "name", [(record, record.catalog) for record in records])


def _change_visibility(writing: Writing, record: NameRecord, visibility: Visibility, project: str | None) -> None:
    if (record.visibility, record.project) == (visibility, project):
        return
    _check_owner(writing, record)
    values = {"visibility": visibility, "project": project, **_make_change_values(writing, record.catalog)}
    writing.connection.execute(update(names).where(names.c.name == record.name).values(values))
    _record_change(writing, "show name", record.name, record.catalog)


def move_name(writing: Writing, name: str, digest: CatalogDigest) -> None:
    """Move an existing name to another catalog.

    Raises
    ------
    UnknownCatalogError
        If the viewer sees no such name, or no such catalog.
    NotYoursError
        If the name belongs to another person.
    """
    move_names(writing, {name: digest})


def move_names(writing: Writing, digests: Mapping[str, CatalogDigest]) -> None:
    """Move existing names to other catalogs, with a few statements for all of them.

    Raises
    ------
    UnknownCatalogError
        If the viewer does not see one of the names, or one of the catalogs.
    NotYoursError
        If a name belongs to another person.
    """
    records = _find_names(writing, digests)
    for name in digests:
        if name not in records:
            raise make_unknown_name_error(writing, name)
    moved = [record for name, record in records.items() if record.catalog != digests[name]]
    if not moved:
        return
    _require_catalogs(writing, {digests[record.name] for record in moved})
    for record in moved:
        _check_owner(writing, record)
    change = {"at": writing.when, "by": writing.who}
    writing.connection.execute(
        update(names)
        .where(names.c.name == bindparam("moved"))
        .values(catalog=bindparam("target"), changed_at=bindparam("at"), changed_by=bindparam("by")),
        [{"moved": record.name, "target": digests[record.name], **change} for record in moved],
    )
    _record_changes(writing, "move name", [(record, digests[record.name]) for record in moved])


def remove_name(writing: Writing, name: str) -> None:
    """Delete a name, but keep the history and the catalog.

    Raises
    ------
    UnknownCatalogError
        If the viewer sees no such name.
    NotYoursError
        If the name belongs to another person.
    """
    record = _require_name(writing, name)
    _check_owner(writing, record)
    _record_change(writing, "delete name", record.name, None)
    writing.connection.execute(delete(names).where(names.c.name == name))


def read_default_visibility(reading: Reading) -> Visibility:
    """Return the default visibility of new names."""
    return "private" if settings.read_setting(reading, settings.VISIBILITY) == "private" else "public"


def find_named_digest(reading: Reading, name: str) -> CatalogDigest | None:
    """Return the digest of the catalog with a name, or None if the name does not exist for the viewer."""
    if not name.isprintable():
        return None  # no name has such characters, and PostgreSQL would not accept them in a text
    return reading.connection.scalar(select(names.c.catalog).where(names.c.name == name, is_visible_name(reading)))


def find_names_by_digest(
    reading: Reading, digests: Collection[CatalogDigest]
) -> dict[CatalogDigest, tuple[CatalogName, ...]]:
    """Return the names of catalogs, sorted, by digest; skip catalogs without a name."""
    query = select(names.c.catalog, names.c.name).where(is_visible_name(reading)).order_by(names.c.name)
    names_by_digest: dict[CatalogDigest, list[CatalogName]] = {}
    wanted = frozenset(digest for digest in digests if isinstance(digest, str))  # a damaged row may hold bytes
    queries = (
        [query] if len(wanted) > _MANY else [query.where(names.c.catalog.in_(batch)) for batch in split_batches(wanted)]
    )
    for digest, name in (row for query in queries for row in reading.connection.execute(query)):
        if digest in wanted:
            names_by_digest.setdefault(digest, []).append(name)
    return {digest: tuple(catalog_names) for digest, catalog_names in names_by_digest.items()}


def list_names(reading: Reading) -> Sequence[NameRecord]:
    """Return all names visible to the viewer, sorted."""
    query = _NAMES.where(is_visible_name(reading)).order_by(names.c.name)
    return [NameRecord(*row) for row in reading.connection.execute(query)]


def filter_owned_names(reading: Reading, candidates: Collection[CatalogName]) -> frozenset[CatalogName]:
    """Return the names movable by the viewer: the viewer's own names, or all names without a viewer."""
    if reading.viewer is None:
        return frozenset(candidates)
    query = select(names.c.name).where(names.c.owner == reading.viewer)
    queries = (query.where(names.c.name.in_(batch)) for batch in split_batches(candidates))
    return frozenset(name for batch_query in queries for name in reading.connection.scalars(batch_query))


def find_private_names(reading: Reading, owner: str, digests: Collection[CatalogDigest]) -> tuple[CatalogName, ...]:
    """Return the private names of an owner for some catalogs, sorted."""
    query = select(names.c.name).where(names.c.owner == owner, names.c.visibility == "private")
    queries = (query.where(names.c.catalog.in_(batch)) for batch in split_batches(digests))
    return tuple(sorted(name for batch_query in queries for name in reading.connection.scalars(batch_query)))


_LIST: Final = Hint(
    "archive.search() lists catalogs with names",
    command="`provenn ls` lists the names",
    page="see the list of catalogs",
    target="/catalogs",
)


def make_unknown_name_error(reading: Reading, name: str) -> UnknownCatalogError:
    """Return the error for an unknown name, with a similar name as a hint."""
    if not name.isprintable():
        return UnknownCatalogError(f"no catalog is named {name!r}")
    # Comparing with every name of a large archive takes seconds; a typo mostly keeps the length and one of the ends.
    column = names.c.name
    ends = or_(func.substr(column, 1, 1) == name[:1], func.substr(column, func.length(column)) == name[-1:])
    similar = select(column).where(func.length(column).between(len(name) - 2, len(name) + 2), ends)
    visible = reading.connection.scalars(similar.where(is_visible_name(reading)).order_by(column).limit(10_000))
    return UnknownCatalogError(f"no catalog is named {name!r}", hint=_suggest_name(name, list(visible)))


def _suggest_name(name: str, known: Sequence[str]) -> Hint:
    """Return the hint at similar names; on a page it is a link that searches the catalogs with the nearest name."""
    nearest = get_close_matches(name, known, n=1)
    if not nearest:
        return _LIST
    return Hint(did_you_mean(name, known), target=f"/catalogs?text={quote(nearest[0], safe='')}")


def check_name(name: str) -> CatalogName:
    """Return a text as the name of a catalog, if it can be one.

    Raises
    ------
    CatalogNameError
        If the text is unfit.
    """
    if not isinstance(name, str):
        raise CatalogNameError(f"expected a name for the catalog, got {name!r}", hint="pass a text")
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > LONGEST:
        raise CatalogNameError(
            f"{name[:LONGEST]!r} cannot name a catalog",
            hint=f"use up to {LONGEST} printable characters, without spaces at the ends",
        )
    if is_digest(name):
        raise CatalogNameError(
            f"{name} cannot name a catalog: it looks like a digest", hint="choose a name that is not hexadecimal"
        )
    return CatalogName(name)


def check_new_name(name: str) -> CatalogName:
    """Return a text as a name to be given to a catalog; what earlier versions named otherwise keeps its name.

    Raises
    ------
    CatalogNameError
        If the text is unfit, or a command would take it for an option.
    """
    if isinstance(name, str) and name.startswith("-"):
        raise CatalogNameError(
            f"{name[:LONGEST]!r} cannot name a catalog: commands take it for an option",
            hint="choose a name that begins with another character",
        )
    return check_name(name)


def _find_name(reading: Reading, name: str) -> NameRecord | None:
    row = reading.connection.execute(_NAMES.where(names.c.name == name, is_visible_name(reading))).first()
    return None if row is None else NameRecord(*row)


def _find_names(reading: Reading, wanted: Collection[str]) -> dict[str, NameRecord]:
    """Return the visible ones of some names, in the given order."""
    printable = [name for name in wanted if name.isprintable()]
    query = _NAMES.where(is_visible_name(reading))
    records = {
        row.name: NameRecord(*row)
        for batch in split_batches(printable)
        for row in reading.connection.execute(query.where(names.c.name.in_(batch)))
    }
    return {name: records[name] for name in printable if name in records}


def _is_taken_by_others(reading: Reading, name: str) -> bool:
    """Return whether a name exists although the viewer does not see it; without a viewer, every name is visible."""
    if reading.viewer is None:
        return False
    return reading.connection.scalar(select(names.c.name).where(names.c.name == name)) is not None


def _require_name(reading: Reading, name: str) -> NameRecord:
    record = _find_name(reading, name) if name.isprintable() else None
    if record is None:
        raise make_unknown_name_error(reading, name)
    return record


def check_movable(reading: Reading, name: str) -> None:
    """Check that the viewer may move a name, before anything is computed for its sake.

    Raises
    ------
    UnknownCatalogError
        If the viewer sees no such name.
    NotYoursError
        If the name belongs to another person.
    """
    _check_owner(reading, _require_name(reading, name))


def _check_owner(reading: Reading, record: NameRecord) -> None:
    if reading.viewer not in (None, record.owner):
        raise NotYoursError(
            f"the name {record.name} belongs to {record.owner}",
            hint="only its owner can change it; choose another name",
        )


def _require_catalog(reading: Reading, digest: CatalogDigest) -> None:
    _require_catalogs(reading, [digest])


def _require_catalogs(reading: Reading, digests: Collection[CatalogDigest]) -> None:
    stored = {
        digest for batch in split_batches(digests) for digest in reading.connection.scalars(_STORED, {"digests": batch})
    }
    missing = sorted({*digests} - (stored & {*filter_visible(reading, digests)}))
    if missing:
        raise UnknownCatalogError(f"the archive holds no catalog {missing[0]}", hint="add the catalog first")


def _make_change_values(writing: Writing, digest: CatalogDigest) -> dict[str, object]:
    return {"catalog": digest, "changed_at": writing.when, "changed_by": writing.who}


def _record_change(writing: Writing, action: str, name: CatalogName, digest: CatalogDigest | None) -> None:
    """Record a change of a name in the name history and in the audit log, with owner and visibility."""
    columns = (names.c.owner, names.c.visibility, names.c.project)
    owner, visibility, project = writing.connection.execute(select(*columns).where(names.c.name == name)).one()
    changed = NameRecord(name, digest or CatalogDigest(""), writing.when, writing.who, owner, visibility, project)
    _record_changes(writing, action, [(changed, digest)])


def _record_changes(writing: Writing, action: str, changes: Sequence[tuple[NameRecord, CatalogDigest | None]]) -> None:
    """Record changes of names, each with its catalog afterwards, in the name history and in the audit log."""
    rows = [
        {
            "name": record.name,
            "catalog": digest,
            "at": writing.when,
            "by": writing.who,
            "owner": record.owner,
            "visibility": record.visibility,
            "project": record.project,
        }
        for record, digest in changes
    ]
    writing.connection.execute(_INSERT_CHANGES, rows)
    details = [f"{digest or ''} {record.visibility} {record.project or ''}".strip() for record, digest in changes]
    audit_log.record_actions(
        writing, action, [(record.name, detail) for (record, _), detail in zip(changes, details, strict=True)]
    )
