"""Stored pairs of earlier matches: those that a match of grown catalogs may continue.

Two versions of a match have different attributes, because the value of a pair belongs to the match. So stored pairs of
an earlier version are not found by the attributes of a plan, but by the name of the separation and the population.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from provenn.catalogs import Catalog
from provenn.catalogs.catalog import Pairing
from provenn.targets.match_steps import Match
from provenn.targets.steps import FragmentScan, PlanStep, walk_steps

__all__ = ["MOST_MATCHES", "choose_earlier_pairs", "find_stored_match", "is_like", "list_matches"]

MOST_MATCHES = 3
"""The most stored matches that planning considers for one match: those with the most sets in common."""


def list_matches(plan: PlanStep) -> list[Pairing]:
    """Return the matches that a plan computes."""
    return [step.catalog for step in walk_steps(plan) if isinstance(step, Match)]


def find_stored_match(scan: FragmentScan) -> Pairing | None:
    """Return the match of which a fragment holds all pairs; None for any other fragment."""
    catalog: Catalog | None = scan.catalog
    while catalog is not None and catalog.extent == scan.extent:
        match = catalog.find_pairing()
        if match is not None:
            return match if match.separation.identity in scan.attributes else None
        catalog = catalog.row_parents[0] if catalog.row_parents else None
    return None


def is_like(match: Pairing, other: Pairing) -> bool:
    """Return whether two matches pair the same populations within the same radius, and keep the same kind of pairs."""
    return (match.left.population, match.right.population, match.radius, match.matches) == (
        other.left.population,
        other.right.population,
        other.radius,
        other.matches,
    )


def choose_earlier_pairs(scans: Iterable[FragmentScan], matches: Sequence[Pairing]) -> list[FragmentScan]:
    """Return, for each of some matches, the few fragments of earlier matches that have most in common with it."""
    stored = [(scan, match) for scan in scans if (match := find_stored_match(scan)) is not None]
    chosen: dict[int, FragmentScan] = {}
    for match in matches:
        alike = [
            (_count_common_sets(match, other), scan.fragment.id, scan)
            for scan, other in stored
            if is_like(match, other)
        ]
        alike.sort(key=lambda ranked: ranked[:2], reverse=True)
        chosen.update((number, scan) for _, number, scan in alike[:MOST_MATCHES])
    return [chosen[number] for number in sorted(chosen)]


def _count_common_sets(match: Pairing, other: Pairing) -> int:
    """Return how many sets occur in the extents of both matches, less those that occur in one alone."""
    sides = ((match.left.extent, other.left.extent), (match.right.extent, other.right.extent))
    labels = [(set(own.labels), set(others.labels)) for own, others in sides]
    return sum(len(own & others) - len(own ^ others) for own, others in labels)
