"""Names: movable labels on catalogs, with their history. Deleting a name deletes no catalog."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, or_, select, update

from provenn.errors import CatalogNameError, UnknownCatalogError, did_you_mean
from provenn.store.cones import in_batches
from provenn.store.database import Reading, Writing
from provenn.store.tables import catalogs, name_history, names

__all__ = ["Change", "Name", "assign", "find", "listing", "log", "move", "names_of", "remove", "unknown_name"]

LONGEST = 200
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Name:
    """A name, the digest of the catalog it is on, and who put it there when."""

    name: str
    catalog: str
    changed_at: datetime
    changed_by: str


@dataclass(frozen=True, slots=True)
class Change:
    """What happened to a name: it came to a catalog, or, if `catalog` is None, was deleted."""

    name: str
    catalog: str | None
    at: datetime
    by: str


def assign(writing: Writing, name: str, digest: str) -> None:
    """Give a catalog a new name. If it has that name already, nothing happens.

    Raises
    ------
    CatalogNameError
        If the name is unfit, or is that of another catalog.
    UnknownCatalogError
        If there is no such catalog.
    """
    _check(name)
    taken = find(writing, name)
    if taken is None:
        _require(writing, digest)
        row = {"name": name, "catalog": digest, "changed_at": writing.when, "changed_by": writing.who}
        writing.connection.execute(insert(names), row)
        _remember(writing, name, digest)
    elif taken != digest:
        raise CatalogNameError(
            f"{name} is the name of the catalog {taken[:12]} already", hint="choose another name, or move this one"
        )


def move(writing: Writing, name: str, digest: str) -> None:
    """Put a name that exists on another catalog.

    Raises
    ------
    UnknownCatalogError
        If there is no such name, or no such catalog.
    """
    if _known(writing, name) != digest:
        _require(writing, digest)
        changed = {"catalog": digest, "changed_at": writing.when, "changed_by": writing.who}
        writing.connection.execute(update(names).where(names.c.name == name).values(changed))
        _remember(writing, name, digest)


def remove(writing: Writing, name: str) -> None:
    """Delete a name; its history stays, and so does the catalog.

    Raises
    ------
    UnknownCatalogError
        If there is no such name.
    """
    _known(writing, name)
    writing.connection.execute(delete(names).where(names.c.name == name))
    _remember(writing, name, None)


def find(reading: Reading, name: str) -> str | None:
    """Return the digest of the catalog that has a name, or None."""
    if not name.isprintable():
        return None  # no name is like that, and PostgreSQL would not take it for a text
    return reading.connection.scalar(select(names.c.catalog).where(names.c.name == name))


def names_of(reading: Reading, digests: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the names of catalogs, sorted, by digest; catalogs without a name are left out."""
    query = select(names.c.catalog, names.c.name).order_by(names.c.name)
    found: dict[str, list[str]] = {}
    for batch in in_batches(digests):
        for digest, name in reading.connection.execute(query.where(names.c.catalog.in_(batch))):
            found.setdefault(digest, []).append(name)
    return {digest: tuple(several) for digest, several in found.items()}


def listing(reading: Reading) -> Sequence[Name]:
    """Return all names, sorted."""
    query = select(names.c.name, names.c.catalog, names.c.changed_at, names.c.changed_by).order_by(names.c.name)
    return [Name(*row) for row in reading.connection.execute(query)]


def log(reading: Reading, name: str) -> Sequence[Change]:
    """Return what happened to a name, the latest first; also to one that was deleted.

    Raises
    ------
    UnknownCatalogError
        If there never was such a name.
    """
    columns = (name_history.c.name, name_history.c.catalog, name_history.c.at, name_history.c.by)
    query = select(*columns).where(name_history.c.name == name).order_by(name_history.c.id.desc())
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
    near = select(column).where(func.length(column).between(len(name) - 2, len(name) + 2), ends).limit(10_000)
    hint = did_you_mean(name, reading.connection.scalars(near))
    return UnknownCatalogError(f"no catalog is called {name!r}", hint=hint or "`provenn ls` lists the names")


def _check(name: str) -> None:
    if not name.strip() or name != name.strip() or not name.isprintable() or len(name) > LONGEST:
        raise CatalogNameError(
            f"{name[:LONGEST]!r} cannot name a catalog",
            hint=f"a name is up to {LONGEST} printable characters, with no space at its ends",
        )
    if _DIGEST.fullmatch(name):
        raise CatalogNameError(f"{name} cannot name a catalog: it would be taken for a digest", hint="choose a word")


def _known(reading: Reading, name: str) -> str:
    digest = find(reading, name)
    if digest is None:
        raise unknown_name(reading, name)
    return digest


def _require(reading: Reading, digest: str) -> None:
    if reading.connection.scalar(select(catalogs.c.digest).where(catalogs.c.digest == digest)) is None:
        raise UnknownCatalogError(f"the archive holds no catalog {digest}", hint="add the catalog first")


def _remember(writing: Writing, name: str, digest: str | None) -> None:
    row = {"name": name, "catalog": digest, "at": writing.when, "by": writing.who}
    writing.connection.execute(insert(name_history), row)
