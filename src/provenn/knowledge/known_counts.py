"""All counts that are known about catalogs, as premises of proofs. No count rests on a declared fact."""

from __future__ import annotations

from collections.abc import Collection

from provenn.database.transactions import Reading
from provenn.definitions.ancestors import StoredDefinition
from provenn.definitions.base_locations import find_base_locations
from provenn.digests import CatalogDigest
from provenn.knowledge import counts, verified_keys
from provenn.logic.counting import Count
from provenn.logic.terms import Term

__all__ = ["MOST_COUNTS", "collect_counts", "find_counted_catalogs"]

MOST_COUNTS = 1_000
"""How many counts of a population are considered, beyond those of the catalogs in question: the latest."""


def find_counted_catalogs(reading: Reading, population: str) -> frozenset[CatalogDigest]:
    """Return the digests of the latest counted catalogs of a population."""
    return frozenset(counts.find_latest_counts(reading, population, MOST_COUNTS))


def collect_counts(reading: Reading, definitions: Collection[StoredDefinition]) -> list[Count]:
    """Return the known counts of some catalogs; the label of each is the digest of a catalog.

    A count that a run recorded, or the verification of a key, is exact. The rows of files alone are an upper bound: as
    long as nobody has verified that the key identifies rows, several rows may be one source.
    """
    digests = [definition.digest for definition in definitions]
    base_digests = [definition.digest for definition in definitions if definition.is_base]
    counted = counts.find_counts(reading, digests)
    verified = verified_keys.find_verified_counts(reading, base_digests)
    known = [_state_count(digest, rows, rows, "counted") for digest, rows in counted.items()]
    known += [
        _state_count(digest, rows, rows, "counted when its key was verified")
        for digest, rows in verified.items()
        if digest not in counted
    ]
    known += [
        _state_count(digest, 0, location.row_count, "the rows of its files")
        for digest, location in find_base_locations(reading, base_digests).items()
        if location.row_count is not None and digest not in counted and digest not in verified
    ]
    return known


def _state_count(digest: CatalogDigest, low: int, high: int, source: str) -> Count:
    return Count(Term((digest,)), low, high, source)
