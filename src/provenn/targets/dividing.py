"""Counts by division and by bounds: count the sources of a catalog from known counts, without reading a row.

If every source of A is in exactly one of B and C, then |A| = |B| + |C|, so two of the counts give the third. The same
holds for more than two parts. Definitions and observations must prove that the parts divide A. Where no parts divide A,
all counts together may still prove an equal lower and upper bound for the sources of A (`provenn.logic.counting`).
Declared facts are not used, because a count is recorded for ever. Keys are verified before any count, so each row is a
source. That other catalogs have sources, which every count leaves as a fact, is not used either: it divides nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

from provenn import deadline
from provenn.catalogs import Catalog, cone, verbs
from provenn.database.transactions import Reading
from provenn.definitions import catalog_store
from provenn.errors import ContradictionError, CorruptArchiveError, DefinitionError
from provenn.knowledge import counts, verified_keys
from provenn.knowledge.known_counts import collect_counts
from provenn.logic import Knowledge, disjoint, subset
from provenn.logic.counting import bound_count, bound_numbers
from provenn.logic.counting.proofs import BoundProof
from provenn.logic.terms import nothing, term
from provenn.targets.known import build_definition, collect_limiting_data_knowledge

__all__ = ["MOST_COUNTS", "DerivedCount", "Division", "derive_count"]

MOST_COUNTS = 100
"""How many of the latest counts of a population are considered, besides the counts of ancestors."""

_FEW_COUNTS = 10
"""The same where counting takes a moment: to derive a count from many others takes seconds."""

TRIES = 50
"""How many sets are tried as parts of a set: far more than the parts of any real catalog."""


@dataclass(frozen=True, slots=True)
class DerivedCount:
    """The number of sources of a catalog, and the sum or difference behind the number."""

    rows: int
    because: str


def derive_count(reading: Reading, catalog: Catalog, *, is_counted_soon: bool = False) -> DerivedCount | None:
    """Return how many sources a catalog has, if known counts imply it.

    Parameters
    ----------
    reading
        The transaction.
    catalog
        The catalog, stored or not.
    is_counted_soon
        Whether counting takes a moment: then few counts are considered, and bounds only without further counts.
    """
    matched = _build_matched_sources(catalog)
    if matched is not None:
        matched_count = derive_count(reading, matched, is_counted_soon=is_counted_soon)
        if matched_count is not None:
            return DerivedCount(matched_count.rows, "by matched sources: each is in one pair")
    try:
        counted = _find_counts(reading, catalog, _FEW_COUNTS if is_counted_soon else MOST_COUNTS)
        knowledge = collect_limiting_data_knowledge(reading, catalog, *counted)
        division = Division(knowledge, catalog.digest, _key_by_digest(counted)).count()
        if division is not None or (is_counted_soon and len(counted) > _FEW_COUNTS):
            return division
        return _derive_from_bounds(reading, knowledge, catalog, counted)
    except (ContradictionError, CorruptArchiveError):  # contradictory or damaged catalogs prove nothing
        return None


def _derive_from_bounds(
    reading: Reading, knowledge: Knowledge, catalog: Catalog, counted: Collection[Catalog]
) -> DerivedCount | None:
    """Return how many sources a catalog has, if counts prove an equal lower and upper bound.

    Cases are not distinguished: that may take a minute where counting takes a moment, and hardly ever closes a gap.
    """
    definitions = [build_definition(ancestor) for ancestor in cone(catalog, *counted)]
    known = collect_counts(reading, definitions, knowledge.labels)
    low, high, _ = bound_numbers(knowledge, term(catalog.digest), known, is_divided=False)
    if low != high:  # as nearly always: then no proof is needed
        return None
    bounds = bound_count(knowledge, term(catalog.digest), known, is_divided=False)
    return DerivedCount(bounds.low, f"by bounds: {_write_proof(bounds.low_proof)}; {_write_proof(bounds.high_proof)}")


def _write_proof(proof: BoundProof) -> str:
    """Return the inequality of a proof; sets are numbered, because not everybody sees the catalogs behind it."""
    labels = (label for count in proof.counts for label in count.region.labels if label not in proof.region.labels)
    names = {label: f"S{number}" for number, label in enumerate(dict.fromkeys(labels), 1)}
    return proof.relabelled(lambda label: names.get(label, "S")).sentence


def _build_matched_sources(pairs: Catalog) -> Catalog | None:
    """Return the catalog with one source for each pair: the left side of best matches, or None."""
    try:
        matched = verbs.matched(pairs, "left")
    except DefinitionError:  # the catalog does not hold the pairs of one match
        return None
    return matched if matched.find_single_pairs() is not None else None


def _find_counts(reading: Reading, catalog: Catalog, most: int) -> dict[Catalog, int]:
    """Return counted catalogs of the same population, with their counts."""
    ancestors = {ancestor.digest: ancestor for ancestor in cone(catalog) if ancestor.population == catalog.population}
    rows = counts.find_counts(reading, ancestors) | verified_keys.find_verified_counts(reading, ancestors)
    rows |= counts.find_latest_counts(reading, catalog.population.name, most)
    others = catalog_store.get_catalogs(reading, sorted(rows.keys() - ancestors.keys()))
    counted = {(ancestors.get(digest) or others[digest]): number for digest, number in rows.items()}
    pairs_by_source = {
        ancestor: pairs.extent.digest
        for ancestor in ancestors.values()
        if (pairs := ancestor.find_single_pairs()) is not None
    }
    pair_counts = counts.find_counts_by_extent(reading, list(pairs_by_source.values()))
    return counted | {
        matched: pair_counts[extent] for matched, extent in pairs_by_source.items() if extent in pair_counts
    }


def _key_by_digest(counted: Mapping[Catalog, int]) -> dict[str, int]:
    return {catalog.digest: rows for catalog, rows in counted.items()}


class Division:
    """Finds counted sets to divide a set, or to complete the set to a counted set.

    Parameters
    ----------
    knowledge
        The knowledge about the sets.
    label
        The set to count.
    rows
        The counts of further sets, by label.
    """

    def __init__(self, knowledge: Knowledge, label: str, rows: Mapping[str, int]) -> None:
        self.knowledge = knowledge
        self.label = label
        self.rows = rows
        self.tries = 0

    def count(self) -> DerivedCount | None:
        """Return the derived count; None if no division is found."""
        parts = self._divide(self.label)
        if parts is not None:
            return DerivedCount(sum(parts), f"by division: {' + '.join(map(_format_count, parts)) or 'there are none'}")
        for whole in sorted(self.rows, key=self.rows.__getitem__):
            parts = self._divide(whole, without=self.label) if self._is_inside(self.label, whole) else None
            if parts is not None and sum(parts) <= self.rows[whole]:
                rest = self.rows[whole] - sum(parts)
                return DerivedCount(rest, f"by division: {' - '.join(map(_format_count, [self.rows[whole], *parts]))}")
        return None

    def _divide(self, whole: str, *, without: str | None = None) -> list[int] | None:
        """Return the counts of sets that divide `whole`, or `whole` minus another set; None if none are found."""
        inside = [label for label, rows in self.rows.items() if rows and self._is_inside(label, whole)]
        self.tries = TRIES
        chosen = self._find_cover(
            whole, () if without is None else (without,), sorted(inside, key=lambda label: -self.rows[label])
        )
        return None if chosen is None else [self.rows[label] for label in chosen]

    def _find_cover(self, whole: str, taken: tuple[str, ...], parts: Sequence[str]) -> list[str] | None:
        """Return disjoint sets around all sources of `whole` outside `taken`; None if none are found.

        A source left over is in exactly one of these sets, so only sets around this source need to be tried.
        """
        deadline.check()
        left_region = self._find_left_region(whole, taken)
        if left_region is None:
            return []
        for part in parts:
            if self.tries and part in left_region and all(self._are_apart(part, other) for other in taken):
                self.tries -= 1
                rest = self._find_cover(whole, (*taken, part), parts)
                if rest is not None:
                    return [part, *rest]
        return None

    def _find_left_region(self, whole: str, taken: Collection[str]) -> frozenset[str] | None:
        """Return the sets around a possible source of `whole` outside `taken`; None if no source is possible."""
        world = self.knowledge.counterexample(subset(whole, reduce(or_, map(term, taken), nothing)))
        regions = () if world is None else world.regions
        return next((region for region in regions if whole in region and region.isdisjoint(taken)), None)

    def _is_inside(self, label: str, other: str) -> bool:
        return self.knowledge.entails(subset(label, other))

    def _are_apart(self, label: str, other: str) -> bool:
        return self.knowledge.entails(disjoint(label, other))


def _format_count(rows: int) -> str:
    return f"{rows:,}"
