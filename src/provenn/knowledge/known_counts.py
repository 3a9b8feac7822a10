"""All known counts of catalogs, as premises of proofs. No count rests on a declared fact."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from provenn.definitions.base_locations import find_base_locations, find_caveats
from provenn.digests import CatalogDigest
from provenn.files.column_statistics import decode_statistics
from provenn.knowledge import counts, verified_keys
from provenn.logic.counting import Count
from provenn.logic.terms import Term
from provenn.people.visibility import filter_visible

if TYPE_CHECKING:
    from provenn.database.transactions import Reading
    from provenn.definitions.ancestors import StoredDefinition

__all__ = ["MOST_COUNTS", "collect_counts", "find_counted_catalogs"]

_PRESENT = re.compile(r"`([0-9a-f]{64}):((?:[^`]|``)*)` IS NOT NULL\Z")
"""The label of the sources that have a value of a column of a base catalog."""

MOST_COUNTS = 1_000
"""How many counts of a population are considered, beyond those of the catalogs in question: the latest."""


def find_counted_catalogs(reading: Reading, population: str) -> frozenset[CatalogDigest]:
    """Return the digests of the latest counted catalogs of a population."""
    return frozenset(counts.find_latest_counts(reading, population, MOST_COUNTS))


def collect_counts(
    reading: Reading, definitions: Collection[StoredDefinition], labels: Iterable[str] = ()
) -> list[Count]:
    """Return the known counts of some catalogs, and of the sources of base catalogs without a value of a column.

    A count from a run, or from the verification of a key, is exact. The rows of files alone are an upper bound: before
    a verification that the key identifies rows, several rows may be a single source.

    Parameters
    ----------
    reading
        The transaction.
    definitions
        The definitions of the catalogs.
    labels
        The labels of sets for which counts of NULLs matter: ``x IS NOT NULL`` for a column x of a base catalog.
    """
    visible = filter_visible(reading, [definition.digest for definition in definitions])
    definitions = [definition for definition in definitions if definition.digest in visible]
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
    return [*known, *_count_nulls(reading, definitions, labels, counted | verified)]


def _count_nulls(
    reading: Reading,
    definitions: Collection[StoredDefinition],
    labels: Iterable[str],
    sources: Mapping[CatalogDigest, int],
) -> Iterator[Count]:
    """Yield how many sources of base catalogs have no value of a column, and how many at most have a value.

    Sound: every row group of the files states its NULLs, the fingerprints of the files cover the statements of the
    footers, and nothing about the content is taken on trust. If there are as many sources as rows, the NULLs of rows
    are the NULLs of sources; otherwise there are at most as many sources as such rows.
    """
    columns = [(label, match[1], match[2].replace("``", "`")) for label in labels if (match := _PRESENT.match(label))]
    wanted = {digest for _, digest, _ in columns}
    bases = {definition.digest: definition for definition in definitions if definition.is_base}
    chosen = [CatalogDigest(digest) for digest in sorted(wanted & bases.keys())]
    caveats = find_caveats(reading, chosen) if chosen else {}
    statistics = {
        digest: decode_statistics((name, text) for name, text in bases[digest].notes.get("statistics", ()))
        for digest in chosen
        if digest not in caveats
    }
    locations = find_base_locations(reading, list(statistics))
    for label, digest, name in columns:
        column = statistics.get(CatalogDigest(digest), {}).get(name)
        location = locations.get(CatalogDigest(digest))
        if column is None or column.nulls is None or location is None or location.row_count != column.rows:
            continue
        base, present, because = Term((digest,)), Term((label,)), f"the NULLs of {name} in its files"
        if sources.get(CatalogDigest(digest)) == column.rows:
            yield Count(base - present, column.nulls, column.nulls, because)  # the others follow from all sources
        else:
            yield Count(base - present, 0, column.nulls, because)
            if column.nulls:  # otherwise the rows of the files say the same
                yield Count(base & present, 0, column.rows - column.nulls, because)


def _state_count(digest: CatalogDigest, low: int, high: int, source: str) -> Count:
    return Count(Term((digest,)), low, high, source)
