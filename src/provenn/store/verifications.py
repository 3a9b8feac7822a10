"""Which keys of base catalogs were verified: that none is NULL and none occurs twice."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import insert, select

from provenn.catalogs.digest import content_digest
from provenn.errors import CorruptArchiveError
from provenn.logic import empty, nonempty
from provenn.store.cones import cone, in_batches
from provenn.store.database import Reading, Writing
from provenn.store.observations import Observed, observe
from provenn.store.tables import verifications
from provenn.store.visibility import Deed, told_deeds

__all__ = ["record", "verification_digest", "verified"]


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
        row = {"base": base, "rows": rows, "digest": verification_digest(base, rows)}
        writing.connection.execute(
            insert(verifications), {**row, "verified_at": writing.when, "verified_by": writing.who}
        )
    elif before != rows:
        raise CorruptArchiveError(f"the base catalog {base} had {before} rows, and now {rows}")
    (definition,) = (one for one in cone(writing, [base]) if one.digest == base)
    key = ", ".join(definition.parameters["key"])
    number = f"{rows:_}".replace("_", " ")
    reason = f"{number} rows read: the key {key} is unique and never NULL"
    return observe(writing, nonempty(base) if rows else empty(base), reason)


def verified(reading: Reading, bases: Collection[str]) -> dict[str, int]:
    """Return the rows of those base catalogs whose keys were verified, as far as the viewer may know, by digest.

    Raises
    ------
    CorruptArchiveError
        If a row is not what was written.
    """
    table = verifications.c
    query = select(table.base, table.rows, table.digest, table.verified_by, table.verified_at)
    found: dict[Deed, int] = {}
    for batch in in_batches(bases):
        for base, rows, digest, who, at in reading.connection.execute(query.where(table.base.in_(batch))):
            if verification_digest(base, rows) != digest:
                raise CorruptArchiveError(f"the verification of the base {base} was changed after it was written")
            found[Deed(base, who, at)] = rows
    return {one.catalog: found[one] for one in told_deeds(reading, found.keys())}


def verification_digest(base: str, rows: int) -> str:
    """Return the digest by which a verification that was changed is recognised."""
    return content_digest("verification", [base, rows])
