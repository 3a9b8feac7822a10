"""Names: movable labels on catalogs, with their history. Deleting a name deletes no catalog.

All names of an archive are of one namespace: a name that somebody has privately is taken.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, or_, select, update

from provenn.errors import CatalogNameError, NotYoursError, UnknownCatalogError, did_you_mean
from provenn.store import audit, projects, settings
from provenn.store.cones import in_batches
from provenn.store.database import Reading, Writing
from provenn.store.tables import catalogs, name_history, names
from provenn.store.visibility import Visibility, check_visibility, is_name_for, seen

__all__ = [
    "Change",
    "Name",
    "assign",
    "check_name",
    "default_visibility",
    "find",
    "listing",
    "log",
    "move",
    "names_of",
    "owned",
    "private_names",
    "remove",
    "unknown_name",
]

LONGEST = 200
_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAMES = select(
    names.c.name,
    names.c.catalog,
    names.c.changed_at,
    names.c.changed_by,
    names.c.owner,
    names.c.visibility,
    names.c.project,
)


@dataclass(frozen=True, slots=True)
class Name:
    """A name, the digest of the catalog it is on, who put it there when, whose it is, and who sees it."""

    name: str
    catalog: str
    changed_at: datetime
    changed_by: str
    owner: str
    visibility: Visibility
    project: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a name: it came to a catalog, was shown to others, or, if `catalog` is None, was deleted."""

    name: str
    catalog: str | None
    at: datetime
    by: str
    visibility: Visibility = "public"
    project: str | None = None


def assign(
    writing: Writing, name: str, digest: str, visibility: Visibility | None = None, project: str | None = None
) -> None:
    """Give a catalog a new name. If it has that name already, nothing but who sees it can change.

    Parameters
    ----------
    writing
        The transaction.
    name, digest
        The name, and the catalog.
    visibility, project
        Who sees the name, if that is said; a new name is otherwise seen by those to whom the archive shows names.

    Raises
    ------
    CatalogNameError
        If the name is unfit, or is that of another catalog.
    UnknownCatalogError
        If there is no such catalog.
    NotYoursError
        If it is to be seen by others, and belongs to somebody else.
    VisibilityError, ProjectError
        If there is no such visibility, or no such project.
    """
    check_name(name)
    if visibility is not None or project is not None:
        check_visibility(visibility or "project", project)
    if project is not None:
        projects.require(writing, project)
    taken = _named(writing, name)
    if taken is None:
        _require(writing, digest)
        if writing.connection.scalar(select(names.c.name).where(names.c.name == name)) is not None:
            raise CatalogNameError(f"the name {name} is taken", hint="choose another name")
        shown = default_visibility(writing) if visibility is None and project is None else visibility or "project"
        row = {"name": name, "owner": writing.who, "visibility": shown, "project": project}
        writing.connection.execute(insert(names), {**row, **_changed(writing, digest)})
        _remember(writing, "name", name, digest)
    elif taken.catalog != digest:
        raise CatalogNameError(
            f"{name} is the name of the catalog {taken.catalog[:12]} already",
            hint="choose another name, or move this one",
        )
    elif visibility is not None or project is not None:
        _show(writing, taken, visibility or "project", project)


def _show(writing: Writing, named: Name, visibility: Visibility, project: str | None) -> None:
    if (named.visibility, named.project) == (visibility, project):
        return
    _own(writing, named)
    values = {"visibility": visibility, "project": project, **_changed(writing, named.catalog)}
    writing.connection.execute(update(names).where(names.c.name == named.name).values(values))
    _remember(writing, "show name", named.name, named.catalog)


def move(writing: Writing, name: str, digest: str) -> None:
    """Put a name that exists on another catalog.

    Raises
    ------
    UnknownCatalogError
        If there is no such name, or no such catalog.
    NotYoursError
        If it belongs to somebody else.
    """
    named = _known(writing, name)
    if named.catalog != digest:
        _require(writing, digest)
        _own(writing, named)
        writing.connection.execute(update(names).where(names.c.name == name).values(_changed(writing, digest)))
        _remember(writing, "move name", name, digest)


def remove(writing: Writing, name: str) -> None:
    """Delete a name; its history stays, and so does the catalog.

    Raises
    ------
    UnknownCatalogError
        If there is no such name.
    NotYoursError
        If it belongs to somebody else.
    """
    _own(writing, _known(writing, name))
    _remember(writing, "delete name", name, None)
    writing.connection.execute(delete(names).where(names.c.name == name))


def default_visibility(reading: Reading) -> Visibility:
    """Return who sees a name for which nobody says it."""
    return "private" if settings.setting(reading, settings.VISIBILITY) == "private" else "public"


def find(reading: Reading, name: str) -> str | None:
    """Return the digest of the catalog that has a name, or None."""
    if not name.isprintable():
        return None  # no name is like that, and PostgreSQL would not take it for a text
    return reading.connection.scalar(select(names.c.catalog).where(names.c.name == name, is_name_for(reading)))


def names_of(reading: Reading, digests: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of catalogs, sorted, by digest; catalogs without a name are left out."""
    query = select(names.c.catalog, names.c.name).where(is_name_for(reading)).order_by(names.c.name)
    found: dict[str, list[str]] = {}
    for batch in in_batches(digests):
        for digest, name in reading.connection.execute(query.where(names.c.catalog.in_(batch))):
            found.setdefault(digest, []).append(name)
    return {digest: tuple(several) for digest, several in found.items()}


def listing(reading: Reading) -> Sequence[Name]:
    """Return all names, sorted."""
    query = _NAMES.where(is_name_for(reading)).order_by(names.c.name)
    return [Name(*row) for row in reading.connection.execute(query)]


def owned(reading: Reading, several: Collection[str]) -> frozenset[str]:
    """Return those of some names that who writes may move: his own, or all if he sees everything."""
    if reading.viewer is None:
        return frozenset(several)
    query = select(names.c.name).where(names.c.owner == reading.viewer)
    batches = in_batches(several)
    return frozenset(
        one for batch in batches for one in reading.connection.scalars(query.where(names.c.name.in_(batch)))
    )


def private_names(reading: Reading, owner: str, digests: Collection[str]) -> tuple[str, ...]:
    """Return the names of catalogs that their owner alone sees, sorted."""
    query = select(names.c.name).where(names.c.owner == owner, names.c.visibility == "private")
    batches = in_batches(digests)
    found = (one for batch in batches for one in reading.connection.scalars(query.where(names.c.catalog.in_(batch))))
    return tuple(sorted(found))


def log(reading: Reading, name: str) -> Sequence[Change]:
    """Return what happened to a name, the latest first; also to one that was deleted.

    Raises
    ------
    UnknownCatalogError
        If there never was such a name.
    """
    history = name_history.c
    columns = (history.name, history.catalog, history.at, history.by, history.visibility, history.project)
    query = select(*columns).where(history.name == name, is_name_for(reading, name_history))
    query = query.order_by(history.id.desc())
    changes = [Change(*row) for row in reading.connection.execute(query)]
    if not changes:
        raise unknown_name(reading, name)
    return changes


def unknown_name(reading: Reading, name: str) -> UnknownCatalogError:
    """Return the error that says that there is no such name, and which was meant."""
    if not name.isprintable():
        return UnknownCatalogError(f"no catalog is called {name!r}")
    # Comparing with every name of a large archive takes seconds; who mistypes keeps the length and one of the ends.
    column = names.c.name
    ends = or_(func.substr(column, 1, 1) == name[:1], func.substr(column, func.length(column)) == name[-1:])
    near = select(column).where(func.length(column).between(len(name) - 2, len(name) + 2), ends)
    hint = did_you_mean(
        name, reading.connection.scalars(near.where(is_name_for(reading)).order_by(column).limit(10_000))
    )
    return UnknownCatalogError(f"no catalog is called {name!r}", hint=hint or "`provenn ls` lists the names")


def check_name(name: str) -> None:
    """Refuse what cannot name a catalog.

    Raises
    ------
    CatalogNameError
        If it is unfit.
    """
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > LONGEST:
        raise CatalogNameError(
            f"{name[:LONGEST]!r} cannot name a catalog",
            hint=f"a name is up to {LONGEST} printable characters, with no space at its ends",
        )
    if _DIGEST.fullmatch(name):
        raise CatalogNameError(f"{name} cannot name a catalog: it would be taken for a digest", hint="choose a word")


def _named(reading: Reading, name: str) -> Name | None:
    row = reading.connection.execute(_NAMES.where(names.c.name == name, is_name_for(reading))).first()
    return None if row is None else Name(*row)


def _known(reading: Reading, name: str) -> Name:
    named = _named(reading, name) if name.isprintable() else None
    if named is None:
        raise unknown_name(reading, name)
    return named


def _own(writing: Writing, named: Name) -> None:
    if writing.viewer not in (None, named.owner):
        raise NotYoursError(
            f"the name {named.name} belongs to {named.owner}", hint="only its owner changes it; choose another name"
        )


def _require(reading: Reading, digest: str) -> None:
    held = reading.connection.scalar(select(catalogs.c.digest).where(catalogs.c.digest == digest))
    if held is None or not seen(reading, [digest]):
        raise UnknownCatalogError(f"the archive holds no catalog {digest}", hint="add the catalog first")


def _changed(writing: Writing, digest: str) -> dict[str, object]:
    return {"catalog": digest, "changed_at": writing.when, "changed_by": writing.who}


def _remember(writing: Writing, action: str, name: str, digest: str | None) -> None:
    """Write down what happened to a name, with whose it is and who sees it."""
    columns = (names.c.owner, names.c.visibility, names.c.project)
    owner, visibility, project = writing.connection.execute(select(*columns).where(names.c.name == name)).one()
    row = {"name": name, "catalog": digest, "at": writing.when, "by": writing.who}
    shown = {"owner": owner, "visibility": visibility, "project": project}
    writing.connection.execute(insert(name_history), {**row, **shown})
    audit.record(writing, action, name, f"{digest or ''} {visibility} {project or ''}".strip())
