"""Hypercubes with the labels of their sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from provenn.logic.hypercubes.interface import Hypercubes
from provenn.logic.hypercubes.masks import build_mask, iterate_bits
from provenn.logic.hypercubes.packed import WIDTH, PackedHypercubes
from provenn.logic.hypercubes.wide import WideHypercubes

__all__ = ["LabelledHypercubes", "build_all_hypercubes", "build_hypercubes"]


def build_hypercubes(regions: int, values: Iterable[int]) -> Hypercubes:
    """Return the hypercubes given as integers, packed if they fit."""
    return PackedHypercubes.of(regions, values) if regions <= WIDTH else WideHypercubes.of(regions, values)


def build_all_hypercubes(free: int, inhabited: int = 0) -> Hypercubes:
    """Return every hypercube over `free` regions, followed by `inhabited` regions that are always inhabited."""
    return (PackedHypercubes if free + inhabited <= WIDTH else WideHypercubes).build_all(free, inhabited)


@dataclass(frozen=True, slots=True, eq=False)
class LabelledHypercubes:
    """A set of hypercubes, and the meaning of their bits.

    Attributes
    ----------
    labels
        The sets; Λ in the paper.
    regions
        For each bit of a hypercube, its region: a number whose bit i is set if and only if the region lies inside set
        i. The order is free. Each region is inhabited by some hypercube; an unlisted region is empty in all hypercubes.
    hypercubes
        The hypercubes; H in the paper.
    """

    labels: tuple[str, ...]
    regions: tuple[int, ...]
    hypercubes: Hypercubes

    @classmethod
    def fit_regions(cls, labels: tuple[str, ...], regions: Sequence[int], hypercubes: Hypercubes) -> Self:
        """Return labelled hypercubes from hypercubes that may leave some regions uninhabited in all of them."""
        kept = list(iterate_bits(hypercubes.find_inhabited()))
        if len(kept) < len(regions):
            targets: list[int | None] = [None] * len(regions)
            for target, region in enumerate(kept):
                targets[region] = target
            hypercubes = hypercubes.move_regions(targets, len(kept))
        if isinstance(hypercubes, WideHypercubes) and hypercubes.regions <= WIDTH:
            hypercubes = build_hypercubes(hypercubes.regions, hypercubes)
        return cls(labels, tuple(regions[region] for region in kept), hypercubes)

    def __len__(self) -> int:
        return len(self.hypercubes)

    def equal_sets(self) -> list[list[str]]:
        """Return the labels in groups of sets that are equal in all hypercubes."""
        groups: dict[int, list[str]] = {}
        for place, label in enumerate(self.labels):
            inside = build_mask(bit for bit, region in enumerate(self.regions) if region >> place & 1)
            groups.setdefault(inside, []).append(label)
        return list(groups.values())

    def reduce_regions(self, labels: Sequence[str]) -> list[int]:
        """Return each region as a number over the sets `labels` alone."""
        places = [self.labels.index(label) for label in labels]
        return [sum((region >> place & 1) << bit for bit, place in enumerate(places)) for region in self.regions]

    def select_matching(self, other: LabelledHypercubes, *, keep: bool = True) -> Self:
        """Return the hypercubes whose reduction to the sets of `other` is in `other`; without `keep`, the rest."""
        places = {region: place for place, region in enumerate(other.regions)}
        targets = [places.get(region) for region in self.reduce_regions(other.labels)]
        matches = self.hypercubes.select_matching(targets, other.hypercubes, keep=keep)
        return self.fit_regions(self.labels, self.regions, matches)

    def on(self, labels: tuple[str, ...]) -> Self:
        """Return the hypercubes reduced to the given sets."""
        reduced = self.reduce_regions(labels)
        places = {region: place for place, region in enumerate(dict.fromkeys(reduced))}
        targets = [places[region] for region in reduced]
        return self.fit_regions(labels, tuple(places), self.hypercubes.move_regions(targets, len(places)))

    def over(self, regions: Sequence[int]) -> Hypercubes:
        """Return the bare hypercubes over the given regions, which include all regions of these hypercubes."""
        places = {region: place for place, region in enumerate(regions)}
        return self.hypercubes.move_regions([places[region] for region in self.regions], len(regions))
