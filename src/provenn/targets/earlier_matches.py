"""Stored pairs of earlier matches that a match of grown catalogs may continue.

Two versions of a match have different attributes, because the value of a pair belongs to the match. So stored pairs of
an earlier version are not found by the attributes of a plan, but by the name of the separation and the population.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from provenn.catalogs import Catalog
from provenn.targets.match_steps import Match, StoredMatch
from provenn.targets.steps import FragmentScan, PlanStep, walk_steps

__all__ = ["MOST_MATCHES", "choose_earlier_pairs", "find_stored_match", "list_matches"]

MOST_MATCHES = 3
"""The most stored matches that planning considers for one match: those with the most sets in common."""


def list_matches(plan: PlanStep) -> list[Match]:
    """Return the matches that a plan computes."""
    return [step for step in walk_steps(plan) if isinstance(step, Match)]


def find_stored_match(scan: FragmentScan) -> StoredMatch | None:
    """Return the match of which a fragment holds all pairs; None without such a match."""
    catalog: Catalog | None = scan.catalog
    while catalog is not None and catalog.extent == scan.extent:
        match = catalog.find_pairing()
        if match is not None:
            return StoredMatch(scan, match) if match.separation.identity in scan.attributes else None
        catalog = catalog.row_parents[0] if catalog.row_parents else None
    return None


def choose_earlier_pairs(scans: Iterable[FragmentScan], matches: Sequence[Match]) -> list[FragmentScan]:
    """Return, for each of some matches, the few fragments of earlier matches with most in common."""
    stored = [match for match in map(find_stored_match, scans) if match is not None]
    chosen: dict[int, FragmentScan] = {}
    for match in matches:
        alike = [
            (_count_common_sets(match, other), other.scan.fragment.id, other.scan)
            for other in stored
            if match.catalog.is_like(other.catalog)
        ]
        alike.sort(key=lambda ranked: ranked[:2], reverse=True)
        chosen.update((number, scan) for _, number, scan in alike[:MOST_MATCHES])
    return [chosen[number] for number in sorted(chosen)]


def _count_common_sets(match: Match, stored: StoredMatch) -> int:
    """Return how many sets occur in the extents of both matches, less the sets in a single match."""
    own, other = match.catalog, stored.catalog
    sides = ((own.left.extent, other.left.extent), (own.right.extent, other.right.extent))
    labels = [(set(extent.labels), set(other_extent.labels)) for extent, other_extent in sides]
    return sum(len(first & second) - len(first ^ second) for first, second in labels)
