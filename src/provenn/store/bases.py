"""Where the files of base catalogs were last seen. That is no part of a catalog's identity, and may change."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import insert, select, update

from provenn.catalogs.base import Base
from provenn.catalogs.digest import canonical_json
from provenn.errors import CorruptArchiveError, UnknownCatalogError
from provenn.store import wordings
from provenn.store.cones import in_batches
from provenn.store.database import Reading, Writing
from provenn.store.tables import bases, catalogs

__all__ = ["Seen", "all_last_seen", "files_digests", "first_seen", "last_seen", "seen_again"]


@dataclass(frozen=True, slots=True)
class Seen:
    """Where the files of a base catalog were last seen, how many rows they hold if that is known, when and by whom."""

    location: str
    row_count: int | None
    seen_at: datetime
    seen_by: str


def last_seen(reading: Reading, digest: str) -> Seen:
    """Return where the files of a base catalog were last seen.

    Raises
    ------
    UnknownCatalogError
        If there is no such base catalog.
    """
    columns = (bases.c.location, bases.c.row_count, bases.c.seen_at, bases.c.seen_by)
    row = reading.connection.execute(select(*columns).where(bases.c.catalog == digest)).first()
    if row is None:
        raise UnknownCatalogError(f"the archive holds no base catalog {digest}")
    return Seen(*row)


def all_last_seen(reading: Reading, digests: Collection[str]) -> dict[str, Seen]:
    """Return where the files of several base catalogs were last seen, by digest; others are left out."""
    columns = (bases.c.catalog, bases.c.location, bases.c.row_count, bases.c.seen_at, bases.c.seen_by)
    return {
        digest: Seen(*seen)
        for batch in in_batches(digests)
        for digest, *seen in reading.connection.execute(select(*columns).where(bases.c.catalog.in_(batch)))
    }


def files_digests(reading: Reading) -> frozenset[str]:
    """Return the digests of the files of all base catalogs.

    Raises
    ------
    CorruptArchiveError
        If the definition of one cannot be read.
    """
    query = select(catalogs.c.digest, catalogs.c.parameters).where(catalogs.c.kind == Base.kind)
    found = set()
    for digest, parameters in reading.connection.execute(query):
        try:
            found.add(json.loads(parameters)["files"])
        except (ValueError, LookupError, TypeError) as error:
            raise CorruptArchiveError(f"the definition of the Base {digest} was changed") from error
    return frozenset(found)


def first_seen(writing: Writing, base: Base) -> None:
    """Record where the files of a new base catalog are."""
    writing.connection.execute(insert(bases), {"catalog": base.digest, **_place(writing, base)})


def seen_again(writing: Writing, base: Base) -> None:
    """Record where the files of a base catalog are now.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold it.
    """
    last_seen(writing, base.digest)
    execute = writing.connection.execute
    execute(update(bases).where(bases.c.catalog == base.digest).values(_place(writing, base)))
    notes = canonical_json(base.notes())
    execute(update(catalogs).where(catalogs.c.digest == base.digest).values(notes=notes))
    wordings.change(writing, base)


def _place(writing: Writing, base: Base) -> dict[str, object]:
    return {
        "location": base.files.location,
        "row_count": base.files.row_count,
        "seen_at": writing.when,
        "seen_by": writing.who,
    }
