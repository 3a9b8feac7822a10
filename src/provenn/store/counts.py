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

__all__ = ["known", "record"]


def record(writing: Writing, digest: str, rows: int) -> None:
    """Record how many rows a catalog has.

    Raises
    ------
    CorruptArchiveError
        If another number was counted before: the data are not what they were, or not what the definition says.
    """
    before = known(writing, [digest]).get(digest)
    if before is None:
        row = {"catalog": digest, "rows": rows, "digest": _digest(digest, rows)}
        writing.connection.execute(insert(counts), {**row, "counted_at": writing.when, "counted_by": writing.who})
    elif before != rows:
        raise CorruptArchiveError(f"the catalog {digest} had {before} rows, and now {rows}")


def known(reading: Reading, digests: Collection[str]) -> dict[str, int]:
    """Return the rows of those catalogs that were counted, by digest.

    Raises
    ------
    CorruptArchiveError
        If a number is not what was written.
    """
    query = select(counts.c.catalog, counts.c.rows, counts.c.digest)
    found: dict[str, int] = {}
    for batch in in_batches(digests):
        for catalog, rows, digest in reading.connection.execute(query.where(counts.c.catalog.in_(batch))):
            if _digest(catalog, rows) != digest:
                raise CorruptArchiveError(f"the count of the catalog {catalog} was changed after it was written")
            found[catalog] = rows
    return found


def _digest(catalog: str, rows: int) -> str:
    return content_digest("count", [catalog, rows])
