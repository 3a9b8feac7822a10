"""Hypercubes that know which sets they speak of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

from provenn.logic.hypercubes.interface import Hypercubes
from provenn.logic.hypercubes.masks import mask, ones
from provenn.logic.hypercubes.packed import WIDTH, Packed
from provenn.logic.hypercubes.wide import Wide

__all__ = ["Labelled", "every", "made"]


def made(regions: int, values: Iterable[int]) -> Hypercubes:
    """Make hypercubes from integers, packed if they fit."""
    return Packed.of(regions, values) if regions <= WIDTH else Wide.of(regions, values)


def every(free: int, inhabited: int = 0) -> Hypercubes:
    """Every hypercube over `free` regions, followed by `inhabited` regions that all of them inhabit."""
    return (Packed if free + inhabited <= WIDTH else Wide).every(free, inhabited)


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """A set of hypercubes, and what their bits mean.

    Attributes
    ----------
    labels
        The sets. What the paper calls Λ.
    regions
        For each bit of a hypercube, the region it stands for: a number whose bit i is set if and only if the region
        lies inside set i. In any order; all inhabited by some hypercube. A region that is not here is empty in all.
    hypercubes
        What the paper calls H.
    """

    labels: tuple[str, ...]
    regions: tuple[int, ...]
    hypercubes: Hypercubes

    @classmethod
    def fitted(cls, labels: tuple[str, ...], regions: Sequence[int], hypercubes: Hypercubes) -> Self:
        """Make it from hypercubes that need not inhabit all the regions."""
        kept = list(ones(hypercubes.inhabited()))
        if len(kept) < len(regions):
            targets: list[int | None] = [None] * len(regions)
            for target, region in enumerate(kept):
                targets[region] = target
            hypercubes = hypercubes.carried(targets, len(kept))
        if isinstance(hypercubes, Wide) and hypercubes.regions <= WIDTH:
            hypercubes = made(hypercubes.regions, hypercubes)
        return cls(labels, tuple(regions[region] for region in kept), hypercubes)

    def __len__(self) -> int:
        return len(self.hypercubes)

    def equal_sets(self) -> list[list[str]]:
        """The sets, those together that are equal in all hypercubes."""
        groups: dict[int, list[str]] = {}
        for place, label in enumerate(self.labels):
            inside = mask(bit for bit, region in enumerate(self.regions) if region >> place & 1)
            groups.setdefault(inside, []).append(label)
        return list(groups.values())

    def reduced(self, labels: Sequence[str]) -> list[int]:
        """Each region as it is told apart by `labels` alone, all of which are known here."""
        places = [self.labels.index(label) for label in labels]
        return [sum((region >> place & 1) << bit for bit, place in enumerate(places)) for region in self.regions]

    def matching(self, other: Labelled, *, keep: bool = True) -> Self:
        """The hypercubes that, on the sets of `other`, are among its hypercubes; without `keep`, the remaining ones."""
        places = {region: place for place, region in enumerate(other.regions)}
        targets = [places.get(region) for region in self.reduced(other.labels)]
        found = self.hypercubes.matching(targets, other.hypercubes, keep=keep)
        return self.fitted(self.labels, self.regions, found)

    def on(self, labels: tuple[str, ...]) -> Self:
        """The same hypercubes, reduced to some of the sets."""
        reduced = self.reduced(labels)
        places = {region: place for place, region in enumerate(dict.fromkeys(reduced))}
        targets = [places[region] for region in reduced]
        return self.fitted(labels, tuple(places), self.hypercubes.carried(targets, len(places)))

    def over(self, regions: Sequence[int]) -> Hypercubes:
        """The bare hypercubes over other regions, in their order, that include all of these."""
        places = {region: place for place, region in enumerate(regions)}
        return self.hypercubes.carried([places[region] for region in self.regions], len(regions))
