"""Which keys of base catalogs were verified: that none is NULL and none occurs twice."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import delete, insert, select

from provenn.errors import CorruptArchiveError, UnknownCatalogError
from provenn.logic import empty, nonempty
from provenn.store.bases import verification_digest
from provenn.store.cones import cone, in_batches
from provenn.store.database import Reading, Writing
from provenn.store.observations import Observed, observe
from provenn.store.tables import bases, verifications
from provenn.store.visibility import Deed, told_deeds

__all__ = ["record", "verified"]


def record(writing: Writing, base: str, rows: int) -> Observed:
    """Record that all keys of a base catalog were read and identify its sources, and how many there are.

    Whether it is empty becomes an observed fact, which proofs can cite.

    Raises
    ------
    CorruptArchiveError
        If another number of rows was found before.
    ContradictionError
        If it contradicts what was observed before.
    """
    before = verified(writing, [base]).get(base)
    if before is None:
        execute, table = writing.connection.execute, verifications.c
        content = execute(select(bases.c.content).where(bases.c.catalog == base)).scalar()
        if content is None:
            raise UnknownCatalogError(f"the archive holds no base catalog {base}")
        # What was verified of other contents, before the files were known by all their bytes, is not so any more.
        execute(delete(verifications).where(table.base == base, table.content != content))
        row = {"base": base, "rows": rows, "content": content, "digest": verification_digest(base, rows, content)}
        execute(insert(verifications), {**row, "verified_at": writing.when, "verified_by": writing.who})
    elif before != rows:
        raise CorruptArchiveError(f"the base catalog {base} had {before} rows, and now {rows}")
    (definition,) = (one for one in cone(writing, [base]) if one.digest == base)
    key = ", ".join(definition.parameters["key"])
    number = f"{rows:_}".replace("_", " ")
    reason = f"{number} rows read: the key {key} is unique and never NULL"
    return observe(writing, nonempty(base) if rows else empty(base), reason)


def verified(reading: Reading, digests: Collection[str]) -> dict[str, int]:
    """Return the rows of those base catalogs whose keys were verified, as far as the viewer may know, by digest.

    A verification belongs to the content of the files that were read for it. It counts while that is what is known of
    the base catalog.

    Raises
    ------
    CorruptArchiveError
        If a row is not what was written.
    """
    table = verifications.c
    query = select(table.base, table.rows, table.content, table.digest, table.verified_by, table.verified_at)
    query = query.join(bases, (bases.c.catalog == table.base) & (bases.c.content == table.content))
    found: dict[Deed, int] = {}
    for batch in in_batches(digests):
        for base, rows, content, digest, who, at in reading.connection.execute(query.where(table.base.in_(batch))):
            if verification_digest(base, rows, content) != digest:
                raise CorruptArchiveError(f"the verification of the base {base} was changed after it was written")
            found[Deed(base, who, at)] = rows
    return {one.catalog: found[one] for one in told_deeds(reading, found.keys())}
