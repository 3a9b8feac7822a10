"""The last known locations of the files of base catalogs.

A location is not part of a catalog's identity, and may change.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, update

from provenn.batches import split_batches
from provenn.catalogs.base import Base
from provenn.database.tables import bases, catalogs, verifications
from provenn.database.transactions import Reading, Writing
from provenn.definitions import wordings
from provenn.definitions.ancestors import read_cone
from provenn.digests import CatalogDigest, canonical_json, content_digest
from provenn.errors import CorruptArchiveError, UnknownCatalogError
from provenn.files.fingerprints import Caveat

__all__ = [
    "BaseLocation",
    "compute_verification_digest",
    "find_base_location",
    "find_base_locations",
    "find_caveats",
    "list_files_digests",
    "record_contents",
    "record_current_location",
    "record_first_location",
    "restore_recorded_contents",
]


@dataclass(frozen=True, slots=True)
class BaseLocation:
    """The last known location of the files of a base catalog, with the time and the person.

    `row_count` is the number of rows in the files, if it is known.
    """

    location: str
    row_count: int | None
    seen_at: datetime
    seen_by: str


def find_base_location(reading: Reading, digest: CatalogDigest) -> BaseLocation:
    """Return the last known location of the files of a base catalog.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold the base catalog.
    """
    columns = (bases.c.location, bases.c.row_count, bases.c.seen_at, bases.c.seen_by)
    row = reading.connection.execute(select(*columns).where(bases.c.catalog == digest)).first()
    if row is None:
        raise UnknownCatalogError(f"the archive holds no base catalog {digest}")
    return BaseLocation(*row)


def find_base_locations(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, BaseLocation]:
    """Return the last known locations of the files of base catalogs, by digest; skip derived catalogs."""
    columns = (bases.c.catalog, bases.c.location, bases.c.row_count, bases.c.seen_at, bases.c.seen_by)
    return {
        digest: BaseLocation(*values)
        for batch in split_batches(digests)
        for digest, *values in reading.connection.execute(select(*columns).where(bases.c.catalog.in_(batch)))
    }


def find_caveats(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, Caveat]:
    """Return the caveats of the base catalogs in the lineages of some catalogs, by the base catalog's digest.

    A caveat says what is taken on trust about the files. Base catalogs without a caveat are left out.
    """
    query = select(bases.c.catalog, bases.c.caveat).where(bases.c.caveat != "")
    caveats: dict[CatalogDigest, Caveat] = dict(reading.connection.execute(query).all())
    if not caveats or not digests:
        return {}
    return {
        definition.digest: caveats[definition.digest]
        for definition in read_cone(reading, digests)
        if definition.digest in caveats
    }


def list_files_digests(reading: Reading) -> frozenset[str]:
    """Return the digests of the files of all base catalogs.

    Raises
    ------
    CorruptArchiveError
        If the definition of a base catalog cannot be read.
    """
    query = select(catalogs.c.digest, catalogs.c.parameters).where(catalogs.c.kind == Base.kind)
    files_digests = set()
    for digest, parameters in reading.connection.execute(query):
        try:
            files_digests.add(json.loads(parameters)["files"])
        except (ValueError, LookupError, TypeError) as error:
            raise CorruptArchiveError(f"the definition of the Base {digest} was changed") from error
    return frozenset(files_digests)


def record_first_location(writing: Writing, base: Base) -> None:
    """Record the location of the files of a new base catalog."""
    writing.connection.execute(insert(bases), {"catalog": base.digest, **_make_location_row(writing, base)})


def record_current_location(writing: Writing, base: Base) -> None:
    """Record the present location of the files of a base catalog.

    Raises
    ------
    UnknownCatalogError
        If the archive does not hold the base catalog.
    """
    find_base_location(writing, base.digest)
    _update_base(writing, base, _make_location_row(writing, base))


def restore_recorded_contents(reading: Reading, base: Base) -> Base:
    """Return a base catalog with the file contents recorded in the archive, wherever the files lie.

    Only base catalogs from an archive of format 0005 or older have recorded contents. A base catalog without recorded
    contents, or one that the archive does not hold, is returned unchanged.
    """
    notes = _read_notes(reading, base.digest)
    if not notes.get("contents"):
        return base
    contents = tuple(sorted(notes["contents"].items()))
    return replace(base, files=replace(base.files, contents=contents, was_late=notes.get("was_late") == "true"))


def _read_notes(reading: Reading, digest: CatalogDigest) -> dict[str, Any]:
    text = reading.connection.scalar(select(catalogs.c.notes).where(catalogs.c.digest == digest))
    notes: dict[str, Any] = {} if text is None else json.loads(text)
    return notes


def record_contents(writing: Writing, base: Base) -> None:
    """Record the contents of files ingested by an archive of format 0005 or older, read now for the first time.

    Earlier verifications stay valid only if the files cannot have changed since ingestion.
    """
    if _read_notes(writing, base.digest).get("contents"):  # another process was quicker
        return
    files = base.files
    _update_base(writing, base, {"content": files.content, "caveat": files.caveat or ""})
    is_of_base = verifications.c.base == base.digest
    rows = writing.connection.execute(select(verifications.c.rows, verifications.c.verified_by).where(is_of_base)).all()
    for count, person in rows if not files.was_late else ():
        digest = compute_verification_digest(base.digest, count, files.content)
        statement = update(verifications).where(is_of_base, verifications.c.verified_by == person)
        writing.connection.execute(statement.values(content=files.content, digest=digest))


def compute_verification_digest(base: str, rows: int, content: str) -> str:
    """Return the digest of a key's verification, to reveal later changes of the row."""
    return content_digest("verification", [base, rows, *([content] if content else [])])


def _update_base(writing: Writing, base: Base, values: dict[str, object]) -> None:
    execute = writing.connection.execute
    execute(update(bases).where(bases.c.catalog == base.digest).values(values))
    notes = canonical_json(base.notes())
    execute(update(catalogs).where(catalogs.c.digest == base.digest).values(notes=notes))
    wordings.change_wording(writing, base)


def _make_location_row(writing: Writing, base: Base) -> dict[str, object]:
    return {
        "location": base.files.location,
        "row_count": base.files.row_count,
        "seen_at": writing.when,
        "seen_by": writing.who,
        "content": base.files.content,
        "caveat": base.files.caveat or "",
    }
