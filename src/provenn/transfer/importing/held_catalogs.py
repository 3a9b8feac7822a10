"""Which catalogs the importing archive already holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import select

from provenn.batches import split_batches
from provenn.database.tables import catalogs
from provenn.database.transactions import Reading
from provenn.digests import CatalogDigest
from provenn.people.visibility import filter_visible
from provenn.transfer.portable_files import Line

__all__ = ["find_held_digests", "refuse_missing"]


def find_held_digests(reading: Reading, digests: Collection[CatalogDigest]) -> set[CatalogDigest]:
    """Return the digests of the catalogs that the archive holds, ignoring visibility."""
    query = select(catalogs.c.digest)
    return {
        digest
        for batch in split_batches(digests)
        for digest in reading.connection.scalars(query.where(catalogs.c.digest.in_(batch)))
    }


def refuse_missing(reading: Reading, needed: Mapping[CatalogDigest, Line]) -> None:
    """Refuse catalogs missing from the archive, as far as the viewer sees the archive.

    Parameters
    ----------
    reading
        The transaction.
    needed
        The line that needs a catalog, by the digest of the catalog.
    """
    missing = needed.keys() - filter_visible(reading, find_held_digests(reading, needed))
    if missing:
        raise needed[min(missing)].make_error(f"there is no catalog {min(missing)[:64]!r}")
