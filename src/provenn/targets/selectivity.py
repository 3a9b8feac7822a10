"""Estimate the share of sources that a condition keeps. A guess, never a proof: bounds are in `provenn.targets.bounds`.

The first of these that applies decides: the same selection was counted elsewhere; a sample of the rows shows how many
of them it selects (`provenn.targets.sampled_shares`); conditions on a column keep what the statistics of its files
suggest (`provenn.targets.column_shares`); a region of the sky keeps its share of the sky; any other condition on a term
keeps a third, however many comparisons it is made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final

from provenn.catalogs import Extent
from provenn.catalogs.extent import intersection
from provenn.criteria import Atom
from provenn.errors import FilesMissingError
from provenn.sky.areas import measure_sky_share
from provenn.sky.calls import read_call
from provenn.targets.column_shares import KEPT_SHARE, NULL_SHARE, estimate_column_share
from provenn.targets.sampled_shares import estimate_sampled_share
from provenn.targets.scene import DescribedColumn, Scene, split_intersection

__all__ = ["estimate_common_share", "estimate_kept_share"]

_MOST_CONDITIONS: Final = 3
"""How many conditions without any statistics count: conditions on the same sources are seldom independent."""
_MOST_LABELS: Final = 100
"""The most comparisons in a union with an estimate of its own; also limits the depth of nested unions."""


def estimate_kept_share(scene: Scene, condition: Extent, whole: Extent) -> float:
    """Return the estimated share of sources for which a condition is true.

    Parameters
    ----------
    scene
        The knowledge for planning.
    condition
        The set of sources for which the condition is true.
    whole
        The set of sources from which the condition selects.
    """
    counted = _find_counted_share(scene, condition)
    if counted is not None:
        return counted
    sampled = _estimate_by_sample(scene, list(split_intersection(condition).values()), whole)
    if sampled is None:
        return _guess_share(scene, condition)
    share, undecided = sampled
    return share * _guess_share(scene, intersection(undecided))


def estimate_common_share(scene: Scene, extent: Extent, whole: Extent) -> float | None:
    """Return the share of a set that lies in another set, too; None if no sample decides it."""
    whole_parts = split_intersection(whole)
    parts = [part for digest, part in split_intersection(extent).items() if digest not in whole_parts]
    sampled = _estimate_by_sample(scene, parts, whole)
    return None if sampled is None or sampled[1] else sampled[0]


def _estimate_by_sample(scene: Scene, parts: Sequence[Extent], whole: Extent) -> tuple[float, list[Extent]] | None:
    """Return the share of a set in some others, and the sets that no sample decides; None without a sample."""
    if not scene.samples:
        return None
    return estimate_sampled_share(scene, parts, whole, lambda decided: _guess_share(scene, intersection(decided)))


def _guess_share(scene: Scene, condition: Extent) -> float:
    """Return the share of sources for which a condition is true, from statistics and fixed fractions."""
    known, guessed = 1.0, 0
    for share in _Shares(scene.described_columns, scene.atoms).iterate_shares(condition):
        if share is None:
            guessed += 1
        else:
            known *= share
    return known * KEPT_SHARE ** min(guessed, _MOST_CONDITIONS)


def _find_counted_share(scene: Scene, condition: Extent) -> float | None:
    """Return the share that the same condition keeps of other sources, where both were counted."""
    for selected, catalog in scene.selections:
        if selected.extent.digest == condition.digest:
            kept = scene.rows.get(catalog.extent.digest)
            whole = scene.rows.get(catalog.dependencies[0].extent.digest)
            if kept is not None and whole:
                return min(1.0, kept / whole)
    return None


@dataclass(frozen=True, slots=True)
class _Shares:
    """Estimates the shares of conditions, each union once: unions can share members many times."""

    columns: Mapping[str, DescribedColumn]
    atoms: Mapping[str, Atom]
    unions: dict[str, float | None] = field(default_factory=dict)

    def iterate_shares(self, condition: Extent) -> Iterator[float | None]:
        """Yield the share of each part of a condition; None for a part without statistics.

        All comparisons of one term are one part, and a comparison implies that the term is not NULL.
        """
        compared: set[str] = set()
        by_column: dict[str, list[Extent]] = {}
        for part in split_intersection(condition).values():
            atom = self.atoms.get(part.label or "")
            terms = {self.atoms[label].term if label in self.atoms else "" for label in part.labels}
            region_share = None if part.label is None else _measure_region(part.label)
            if len(terms) == 1 and terms <= self.columns.keys():
                by_column.setdefault(terms.pop(), []).append(part)
            elif region_share is not None:
                yield 1 - region_share if part.complemented else region_share
            elif part.label is None:
                yield self._estimate_union(part)
            elif atom is not None and atom.cut is None and atom.label.endswith("IS NOT NULL"):
                if part.complemented:
                    yield NULL_SHARE
            elif atom is None or atom.term not in compared:
                compared.update([] if atom is None else [atom.term])
                yield None
        for column, conditions in by_column.items():
            yield estimate_column_share(self.columns[column], intersection(conditions), self.atoms)

    def _estimate_union(self, union: Extent) -> float | None:
        """Return the share of a union, as if its members were independent; None if a member has no statistics."""
        if len(union.labels) > _MOST_LABELS:
            return None
        if union.digest not in self.unions:
            shares = list(self.iterate_shares(~union))
            known = [share for share in shares if share is not None]
            self.unions[union.digest] = 1 - prod(known) if len(known) == len(shares) else None
        return self.unions[union.digest]


def _measure_region(label: str) -> float | None:
    """Return the share of the sky in the region of a label; None for other labels, and for a MOC without its file."""
    try:
        position_and_region = read_call(label)
    except FilesMissingError:
        return None
    return None if position_and_region is None else measure_sky_share(position_and_region[1])
