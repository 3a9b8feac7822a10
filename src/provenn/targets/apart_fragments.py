"""Fragments of other appended files, useless for every step of a plan.

A catalog that grows every day leaves a fragment a day, all with the same attributes. A plan for the files of a single
day needs no such fragment, and would otherwise compare each with every step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from provenn.catalogs import Base, Catalog, cone
from provenn.digests import CatalogDigest
from provenn.targets.scene import find_joined_labels
from provenn.targets.steps import FragmentScan

__all__ = ["divide_fragments"]


@dataclass(frozen=True, slots=True)
class _AppendedFiles:
    """Files appended in sequence.

    Parameters
    ----------
    origin
        The digest of the base catalog whose attributes all of them continue.
    labels
        The labels of their sets.
    """

    origin: CatalogDigest
    labels: frozenset[str]


def divide_fragments(
    scans: Sequence[FragmentScan], lineage: Sequence[Catalog]
) -> tuple[list[FragmentScan], frozenset[int]]:
    """Return the fragments that may have a source of a lineage, and the numbers of those without, by definition.

    Sound: a set of sources lies in the union of the base sets of its population in its lineage, as every class selects,
    joins or keeps sources. Base catalogs that continue the attributes of the same base catalog share no source
    (`Base`). So if all base sets of the lineage are such files, and all base sets of a fragment are other files that
    continue the same base catalog, no step of a plan for the lineage has a source of the fragment.
    """
    requested: dict[str, _AppendedFiles | None] = {}
    kept: list[FragmentScan] = []
    apart: set[int] = set()
    for scan in scans:
        population = scan.catalog.population.name
        if population not in requested:
            requested[population] = _find_appended_files(lineage, population)
        own = requested[population]
        other = None if own is None else _find_appended_files(cone(scan.catalog), population)
        if own is None or other is None or own.origin != other.origin or own.labels & other.labels:
            kept.append(scan)
        else:
            apart.add(scan.fragment.id)
    return kept, frozenset(apart)


def _find_appended_files(lineage: Iterable[Catalog], population: str) -> _AppendedFiles | None:
    """Return the files behind all catalogs of a population; None if some were not appended."""
    labels: set[str] = set()
    origins: set[CatalogDigest] = set()
    for catalog in lineage:
        if catalog.population.name != population or not catalog.profile.makes_base_set:
            continue
        if not isinstance(catalog, Base) or catalog.part_of is not None or catalog.rewrites:
            return None
        labels |= find_joined_labels(catalog.extent)
        origins.add(catalog.origin)
    return _AppendedFiles(origins.pop(), frozenset(labels)) if len(origins) == 1 and labels else None
