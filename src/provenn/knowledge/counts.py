"""The row counts of catalogs.

Definitions and their base files never change: a correct count stays correct. If the sources of a catalog may differ
between platforms, a count belongs to the platform of counting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import Select, bindparam, delete, insert, select

from provenn.batches import split_batches
from provenn.database.tables import catalogs, counts
from provenn.database.transactions import Reading, Writing
from provenn.digests import CatalogDigest, content_digest
from provenn.errors import CorruptArchiveError
from provenn.people.visibility import CatalogAction, filter_visible_actions

__all__ = ["compute_count_digest", "find_counts", "find_counts_by_extent", "find_latest_counts", "record_count"]

_COUNTS = select(
    counts.c.catalog, counts.c.rows, counts.c.digest, counts.c.platform, counts.c.counted_by, counts.c.counted_at
)
_COUNTS_OF = _COUNTS.where(counts.c.catalog.in_(bindparam("digests", expanding=True)))


def record_count(writing: Writing, digest: CatalogDigest, rows: int, platform: str | None = None) -> None:
    """Record the number of rows of a catalog, replacing a count by the same person on another platform.

    Parameters
    ----------
    writing
        The transaction.
    digest
        The digest of the catalog.
    rows
        The number of rows.
    platform
        The platform on which the rows were counted, if the count may differ elsewhere: see `describe_platform`.

    Raises
    ------
    CorruptArchiveError
        If an earlier count differs: then the data have changed, or do not match the definition.
    """
    table = counts.c
    before = find_counts(writing, [digest]).get(digest)
    if before is None:
        elsewhere = delete(counts).where(table.catalog == digest, table.counted_by == writing.who)
        writing.connection.execute(elsewhere.where(table.platform.is_not(None)))
        row = {"catalog": digest, "rows": rows, "digest": compute_count_digest(digest, rows), "platform": platform}
        writing.connection.execute(insert(counts), {**row, "counted_at": writing.when, "counted_by": writing.who})
    elif before != rows:
        raise CorruptArchiveError(f"the catalog {digest} had {before} rows, and now {rows}")


def find_counts(reading: Reading, digests: Collection[CatalogDigest]) -> dict[CatalogDigest, int]:
    """Return the counts of catalogs, as far as the viewer may know, by digest; skip uncounted catalogs.

    Raises
    ------
    CorruptArchiveError
        If a count was changed after it was written.
    """
    batches = split_batches(digests)
    return dict(pair for batch in batches for pair in _read_counts(reading, _COUNTS_OF, {"digests": batch}).items())


def find_latest_counts(
    reading: Reading, population: str, most: int, *, rows: int | None = None
) -> dict[CatalogDigest, int]:
    """Return the latest counts of catalogs of a population, as far as the viewer may know, by digest.

    Parameters
    ----------
    reading
        The transaction.
    population
        The name of the population.
    most
        The largest number of counts to read.
    rows
        The count to search for; any count by default.

    Raises
    ------
    CorruptArchiveError
        If a count was changed after it was written.
    """
    query = _COUNTS.join(catalogs, catalogs.c.digest == counts.c.catalog).where(catalogs.c.population == population)
    if rows is not None:
        query = query.where(counts.c.rows == rows)
    return _read_counts(reading, query.order_by(counts.c.counted_at.desc(), counts.c.catalog).limit(most))


def find_counts_by_extent(reading: Reading, extents: Collection[str]) -> dict[str, int]:
    """Return the counts of all catalogs with any of the extents, as far as the viewer may know, by extent.

    Raises
    ------
    CorruptArchiveError
        If a count was changed after it was written.
    """
    query = select(catalogs.c.digest, catalogs.c.extent)
    extent_by_catalog = {
        digest: extent
        for batch in split_batches(extents)
        for digest, extent in reading.connection.execute(query.where(catalogs.c.extent.in_(batch)))
    }
    return {extent_by_catalog[digest]: rows for digest, rows in find_counts(reading, extent_by_catalog).items()}


def _read_counts(
    reading: Reading, query: Select[Any], values: Mapping[str, Any] | None = None
) -> dict[CatalogDigest, int]:
    """Return the counts of a query valid on this platform, as far as the viewer may know, by digest."""
    rows_by_action: dict[CatalogAction, int] = {}
    for catalog, rows, digest, platform, who, at in reading.connection.execute(query, values or {}):
        if compute_count_digest(catalog, rows) != digest:
            raise CorruptArchiveError(f"the count of the catalog {catalog} was changed after it was written")
        if platform is None or reading.platform().serves(platform):
            rows_by_action[CatalogAction(catalog, who, at)] = rows
    visible = filter_visible_actions(reading, rows_by_action.keys())
    return {action.catalog: rows_by_action[action] for action in visible}


def compute_count_digest(catalog: CatalogDigest, rows: int) -> str:
    """Return the digest of a count, to reveal later changes of the row."""
    return content_digest("count", [catalog, rows])
