"""How many rows catalogs have, where they were counted.

A definition never changes, and neither do the base files it stands on: a count that was right once stays right.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, insert, select

from provenn.catalogs.digest import content_digest
from provenn.errors import CorruptArchiveError
from provenn.store.cones import in_batches
from provenn.store.database import Reading, Writing
from provenn.store.tables import catalogs, counts
from provenn.store.visibility import Deed, told_deeds

__all__ = ["count_digest", "known", "latest", "of_extents", "record"]

_COUNTS = select(counts.c.catalog, counts.c.rows, counts.c.digest, counts.c.counted_by, counts.c.counted_at)


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
    batches = in_batches(digests)
    return dict(
        pair for batch in batches for pair in _read(reading, _COUNTS.where(counts.c.catalog.in_(batch))).items()
    )


def latest(reading: Reading, population: str, most: int, *, rows: int | None = None) -> dict[str, int]:
    """Return the latest counts of catalogs of a population, as far as the viewer may know, by digest.

    Parameters
    ----------
    reading
        The transaction.
    population
        The name of the population.
    most
        How many counts are looked at.
    rows
        The count that is looked for; any count by default.

    Raises
    ------
    CorruptArchiveError
        If a number is not what was written.
    """
    query = _COUNTS.join(catalogs, catalogs.c.digest == counts.c.catalog).where(catalogs.c.population == population)
    if rows is not None:
        query = query.where(counts.c.rows == rows)
    return _read(reading, query.order_by(counts.c.counted_at.desc(), counts.c.catalog).limit(most))


def of_extents(reading: Reading, extents: Collection[str]) -> dict[str, int]:
    """Return the counts of all catalogs that have one of some extents, as far as the viewer may know, by extent.

    Raises
    ------
    CorruptArchiveError
        If a number is not what was written.
    """
    having = select(catalogs.c.digest, catalogs.c.extent)
    found = {
        digest: extent
        for batch in in_batches(extents)
        for digest, extent in reading.connection.execute(having.where(catalogs.c.extent.in_(batch)))
    }
    return {found[digest]: rows for digest, rows in known(reading, found).items()}


def _read(reading: Reading, query: Select[Any]) -> dict[str, int]:
    """Return the counts of a query that the viewer may know, by digest."""
    found: dict[Deed, int] = {}
    for catalog, rows, digest, who, at in reading.connection.execute(query):
        if count_digest(catalog, rows) != digest:
            raise CorruptArchiveError(f"the count of the catalog {catalog} was changed after it was written")
        found[Deed(catalog, who, at)] = rows
    return {one.catalog: found[one] for one in told_deeds(reading, found.keys())}


def count_digest(catalog: str, rows: int) -> str:
    """Return the digest by which a count that was changed is recognised."""
    return content_digest("count", [catalog, rows])
