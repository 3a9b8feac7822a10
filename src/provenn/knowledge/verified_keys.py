"""Verified keys of base catalogs: no key is NULL, and no key occurs twice."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import bindparam, delete, insert, select

from provenn.batches import split_batches
from provenn.database.tables import bases, verifications
from provenn.database.transactions import Reading, Writing
from provenn.definitions.ancestors import read_cone
from provenn.definitions.base_locations import compute_verification_digest
from provenn.digests import CatalogDigest
from provenn.errors import CorruptArchiveError, UnknownCatalogError
from provenn.knowledge.observations import ObservedFact, observe_fact
from provenn.logic import empty, nonempty
from provenn.people.visibility import CatalogAction, filter_visible_actions

__all__ = ["find_verified_counts", "record_verification"]

_VERIFIED = (
    select(
        verifications.c.base,
        verifications.c.rows,
        verifications.c.content,
        verifications.c.digest,
        verifications.c.verified_by,
        verifications.c.verified_at,
    )
    .join(bases, (bases.c.catalog == verifications.c.base) & (bases.c.content == verifications.c.content))
    .where(verifications.c.base.in_(bindparam("digests", expanding=True)))
)


def record_verification(writing: Writing, base: CatalogDigest, rows: int) -> ObservedFact:
    """Record that all keys of a base catalog were read and identify the sources, with the number of rows.

    Whether the base catalog is empty becomes an observed fact for proofs to cite.

    Raises
    ------
    CorruptArchiveError
        If an earlier verification found another number of rows.
    ContradictionError
        If the observed fact contradicts an earlier observation.
    """
    before = find_verified_counts(writing, [base]).get(base)
    if before is None:
        execute, table = writing.connection.execute, verifications.c
        content = execute(select(bases.c.content).where(bases.c.catalog == base)).scalar()
        if content is None:
            raise UnknownCatalogError(f"the archive holds no base catalog {base}")
        # Verifications of other contents, from before all bytes of the files were known, are no longer valid.
        execute(delete(verifications).where(table.base == base, table.content != content))
        row = {
            "base": base,
            "rows": rows,
            "content": content,
            "digest": compute_verification_digest(base, rows, content),
        }
        execute(insert(verifications), {**row, "verified_at": writing.when, "verified_by": writing.who})
    elif before != rows:
        raise CorruptArchiveError(f"the base catalog {base} had {before} rows, and now {rows}")
    (definition,) = (definition for definition in read_cone(writing, [base]) if definition.digest == base)
    key = ", ".join(definition.parameters["key"])
    number = f"{rows:,} row{'' if rows == 1 else 's'}"
    reason = f"{number} read: the key {key} is unique and never NULL"
    return observe_fact(writing, nonempty(base) if rows else empty(base), reason)


def find_verified_counts(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, int]:
    """Return the row counts of base catalogs with verified keys, as far as the viewer may know, by digest.

    A verification belongs to the content of the files read at the time. The verification counts as long as the archive
    records the same content for the base catalog.

    Raises
    ------
    CorruptArchiveError
        If a row was changed after it was written.
    """
    rows_by_action: dict[CatalogAction, int] = {}
    for batch in split_batches(digests):
        for base, rows, content, digest, who, at in reading.connection.execute(_VERIFIED, {"digests": batch}):
            if compute_verification_digest(base, rows, content) != digest:
                raise CorruptArchiveError(f"the verification of the base {base} was changed after it was written")
            rows_by_action[CatalogAction(base, who, at)] = rows
    visible = filter_visible_actions(reading, rows_by_action.keys())
    return {action.catalog: rows_by_action[action] for action in visible}
