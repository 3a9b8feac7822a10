"""Counts by division: the sources of a catalog are counted without reading a row, from counts that are known.

If every source of A is in exactly one of B and C, then |A| = |B| + |C|, so that two of the counts give the third. The
same holds for more than two parts. That the parts divide A is proved from definitions and observations; declarations
have no say, because a count is remembered for ever. Keys are verified before anything is counted: a row is a source.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from provenn.catalogs import Catalog, MatchedSources, cone
from provenn.errors import ContradictionError, CorruptArchiveError, DefinitionError
from provenn.logic import Knowledge, disjoint, subset
from provenn.logic.terms import nothing, term
from provenn.store import catalog_store, counts, verifications
from provenn.store.database import Reading
from provenn.targets.known import shown_by_data

__all__ = ["MOST_COUNTS", "DerivedCount", "Division", "derive_count"]

MOST_COUNTS = 100
"""How many of the latest counts of a population are considered, beside those of what a catalog is made from."""

TRIES = 50
"""How many sets are tried as parts of one set: far more than people divide a catalog into."""


@dataclass(frozen=True, slots=True)
class DerivedCount:
    """How many sources a catalog has, and how that follows from other counts."""

    rows: int
    because: str


def derive_count(reading: Reading, catalog: Catalog) -> DerivedCount | None:
    """Return how many sources a catalog has, if that follows from known counts.

    Parameters
    ----------
    reading
        The transaction.
    catalog
        The catalog, which need not be in the archive.
    """
    matched = _matched_sources(catalog)
    if matched is not None:
        found = derive_count(reading, matched)
        if found is not None:
            return DerivedCount(found.rows, "by matched sources: each is in one pair")
    try:
        counted = _counted(reading, catalog)
        return Division(shown_by_data(reading, catalog, *counted), catalog.digest, _by_digest(counted)).count()
    except (ContradictionError, CorruptArchiveError):  # what is contradictory or damaged elsewhere proves nothing
        return None


def _matched_sources(pairs: Catalog) -> Catalog | None:
    """Return the catalog that has one source for each of some pairs: the left side of best matches."""
    try:
        matched = MatchedSources.of(pairs, "left")
    except DefinitionError:  # these are no pairs of one match
        return None
    return matched if _has_one_pair_each(matched) else None


def _has_one_pair_each(matched: MatchedSources) -> bool:
    """Whether each source is in exactly one pair.

    That holds on the left side of best matches: a source is paired with the nearest one, and with no other.
    """
    return matched.side == "left" and matched.match.matches == "best"


def _counted(reading: Reading, catalog: Catalog) -> dict[Catalog, int]:
    """Return catalogs of the population of a catalog whose sources were counted."""
    made_from = {one.digest: one for one in cone(catalog) if one.population == catalog.population}
    rows = counts.known(reading, made_from) | verifications.verified(reading, made_from)
    rows |= counts.latest(reading, catalog.population.name, MOST_COUNTS)
    others = catalog_store.get_all(reading, sorted(rows.keys() - made_from.keys()))
    found = {(made_from.get(digest) or others[digest]): number for digest, number in rows.items()}
    matched = [one for one in made_from.values() if isinstance(one, MatchedSources) and _has_one_pair_each(one)]
    pairs = counts.of_extents(reading, [one.pairs.extent.digest for one in matched])
    return found | {one: pairs[one.pairs.extent.digest] for one in matched if one.pairs.extent.digest in pairs}


def _by_digest(counted: Mapping[Catalog, int]) -> dict[str, int]:
    return {one.digest: rows for one, rows in counted.items()}


class Division:
    """Finds counted sets that divide a set, or that divide a counted set together with it.

    Parameters
    ----------
    knowledge
        What is proved of the sets.
    label
        The set that is to be counted.
    rows
        The counts of other sets, by label.
    """

    def __init__(self, knowledge: Knowledge, label: str, rows: Mapping[str, int]) -> None:
        self.knowledge = knowledge
        self.label = label
        self.rows = rows
        self.tries = 0

    def count(self) -> DerivedCount | None:
        """Return the count, and the counts that it follows from."""
        parts = self._divide(self.label)
        if parts is not None:
            return DerivedCount(sum(parts), f"by division: {' + '.join(map(_shown, parts)) or 'there are none'}")
        for whole in sorted(self.rows, key=self.rows.__getitem__):
            parts = self._divide(whole, without=self.label) if self._inside(self.label, whole) else None
            if parts is not None and sum(parts) <= self.rows[whole]:
                rest = self.rows[whole] - sum(parts)
                return DerivedCount(rest, f"by division: {' - '.join(map(_shown, [self.rows[whole], *parts]))}")
        return None

    def _divide(self, whole: str, *, without: str | None = None) -> list[int] | None:
        """Return the counts of sets that divide a set, or what another one leaves of it; None if none are found."""
        inside = [one for one, rows in self.rows.items() if rows and self._inside(one, whole)]
        self.tries = TRIES
        chosen = self._cover(
            whole, () if without is None else (without,), sorted(inside, key=lambda one: -self.rows[one])
        )
        return None if chosen is None else [self.rows[one] for one in chosen]

    def _cover(self, whole: str, taken: tuple[str, ...], parts: Sequence[str]) -> list[str] | None:
        """Return sets, no two of which share a source, that hold all sources of a set which are not taken yet.

        A source that may be left is in exactly one of these sets, so that it is enough to try those that it is in.
        """
        left = self._left(whole, taken)
        if left is None:
            return []
        for one in parts:
            if self.tries and one in left and all(self._apart(one, other) for other in taken):
                self.tries -= 1
                rest = self._cover(whole, (*taken, one), parts)
                if rest is not None:
                    return [one, *rest]
        return None

    def _left(self, whole: str, taken: Collection[str]) -> frozenset[str] | None:
        """Return the sets in which a source may lie that is in one set and in no other; None if there is none."""
        world = self.knowledge.counterexample(subset(whole, reduce(or_, map(term, taken), nothing)))
        regions = () if world is None else world.regions
        return next((one for one in regions if whole in one and one.isdisjoint(taken)), None)

    def _inside(self, one: str, other: str) -> bool:
        return self.knowledge.entails(subset(one, other))

    def _apart(self, one: str, other: str) -> bool:
        return self.knowledge.entails(disjoint(one, other))


def _shown(rows: int) -> str:
    return f"{rows:,}"
