"""Where the files of base catalogs were last seen. That is no part of a catalog's identity, and may change."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from provenn.catalogs.base import Base
from provenn.catalogs.digest import canonical_json, content_digest
from provenn.catalogs.fingerprints import Caveat
from provenn.errors import CorruptArchiveError, UnknownCatalogError
from provenn.store import wordings
from provenn.store.cones import cone, in_batches
from provenn.store.database import Reading, Writing
from provenn.store.tables import bases, catalogs, verifications

__all__ = [
    "Seen",
    "all_last_seen",
    "caveats",
    "files_digests",
    "first_seen",
    "last_seen",
    "record_contents",
    "recorded",
    "seen_again",
    "verification_digest",
]


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


def caveats(reading: Reading, digests: Collection[str]) -> dict[str, Caveat]:
    """Return what is taken on trust of the files of base catalogs in the lineages of some catalogs, by digest.

    Base catalogs of which nothing is taken on trust are left out.
    """
    query = select(bases.c.catalog, bases.c.caveat).where(bases.c.caveat != "")
    trusted: dict[str, Caveat] = dict(reading.connection.execute(query).all())
    if not trusted or not digests:
        return {}
    return {one.digest: trusted[one.digest] for one in cone(reading, digests) if one.digest in trusted}


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
    _change(writing, base, _place(writing, base))


def recorded(reading: Reading, base: Base) -> Base:
    """Return a base catalog with the contents that the archive has recorded of its files, wherever they lie.

    Only base catalogs that an archive of format 0005 or older made have any. One that the archive does not hold, or of
    whose files no contents are recorded, is returned as it is.
    """
    notes = _notes(reading, base.digest)
    if not notes.get("contents"):
        return base
    contents = tuple(sorted(notes["contents"].items()))
    return replace(base, files=replace(base.files, contents=contents, was_late=notes.get("was_late") == "true"))


def _notes(reading: Reading, digest: str) -> dict[str, Any]:
    text = reading.connection.scalar(select(catalogs.c.notes).where(catalogs.c.digest == digest))
    found: dict[str, Any] = {} if text is None else json.loads(text)
    return found


def record_contents(writing: Writing, base: Base) -> None:
    """Record the contents of files that an archive of format 0005 or older ingested, read now for the first time.

    What was verified before stays verified only where the files cannot have changed between.
    """
    if _notes(writing, base.digest).get("contents"):  # somebody was quicker
        return
    files = base.files
    _change(writing, base, {"content": files.content, "caveat": files.caveat or ""})
    before = verifications.c.base == base.digest
    rows = writing.connection.execute(select(verifications.c.rows, verifications.c.verified_by).where(before)).all()
    for count, person in rows if not files.was_late else ():
        digest = verification_digest(base.digest, count, files.content)
        row = update(verifications).where(before, verifications.c.verified_by == person)
        writing.connection.execute(row.values(content=files.content, digest=digest))


def verification_digest(base: str, rows: int, content: str) -> str:
    """Return the digest by which a verification of a key that was changed is recognised."""
    return content_digest("verification", [base, rows, *([content] if content else [])])


def _change(writing: Writing, base: Base, values: dict[str, object]) -> None:
    execute = writing.connection.execute
    execute(update(bases).where(bases.c.catalog == base.digest).values(values))
    notes = canonical_json(base.notes())
    execute(update(catalogs).where(catalogs.c.digest == base.digest).values(notes=notes))
    wordings.change(writing, base)


def _place(writing: Writing, base: Base) -> dict[str, object]:
    return {
        "location": base.files.location,
        "row_count": base.files.row_count,
        "seen_at": writing.when,
        "seen_by": writing.who,
        "content": base.files.content,
        "caveat": base.files.caveat or "",
    }
