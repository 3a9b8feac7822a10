"""How many rows catalogs have, where they were counted.

A definition never changes, and neither do the base files it stands on: a count that was right once stays right.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import insert, select

from provenn.catalogs.digest import content_digest
from provenn.errors import CorruptArchiveError
from provenn.store.cones import in_batches
from provenn.store.database import Reading, Writing
from provenn.store.tables import counts
from provenn.store.visibility import Deed, told_deeds

__all__ = ["count_digest", "known", "record"]


def record(writing: Writing, digest: str, rows: int) -> None:
    """Record how many rows a catalog has.

    Raises
    ------
    CorruptArchiveError
        If another number was counted before: the data are not what they were, or not what the definition says.
    """
    before = known(writing, [digest]).get(digest)
    if before is None:
        row = {"catalog": digest, "rows": rows, "digest": count_digest(digest, rows)}
        writing.connection.execute(insert(counts), {**row, "counted_at": writing.when, "counted_by": writing.who})
    elif before != rows:
        raise CorruptArchiveError(f"the catalog {digest} had {before} rows, and now {rows}")


def known(reading: Reading, digests: Collection[str]) -> dict[str, int]:
    """Return the rows of those catalogs that were counted, as far as the viewer may know, by digest.

    Raises
    ------
    CorruptArchiveError
        If a number is not what was written.
    """
    query = select(counts.c.catalog, counts.c.rows, counts.c.digest, counts.c.counted_by, counts.c.counted_at)
    found: dict[Deed, int] = {}
    for batch in in_batches(digests):
        for catalog, rows, digest, who, at in reading.connection.execute(query.where(counts.c.catalog.in_(batch))):
            if count_digest(catalog, rows) != digest:
                raise CorruptArchiveError(f"the count of the catalog {catalog} was changed after it was written")
            found[Deed(catalog, who, at)] = rows
    return {one.catalog: found[one] for one in told_deeds(reading, found.keys())}


def count_digest(catalog: str, rows: int) -> str:
    """Return the digest by which a count that was changed is recognised."""
    return content_digest("count", [catalog, rows])
