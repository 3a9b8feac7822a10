"""Hypercubes over any number of regions, as Python integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import or_
from typing import Self

from provenn.logic.hypercubes.interface import Hypercubes
from provenn.logic.hypercubes.masks import group_by_shift, iterate_bits, list_choices, mask_lost_regions

__all__ = ["WideHypercubes"]


@dataclass(frozen=True, slots=True)
class WideHypercubes:
    """A set of Python integers: plain, and not limited to 64 regions. `Hypercubes` documents the methods."""

    regions: int
    values: frozenset[int]

    @classmethod
    def of(cls, regions: int, values: Iterable[int]) -> Self:
        """Return the hypercubes given as integers."""
        return cls(regions, frozenset(values))

    @classmethod
    def build_all(cls, free: int, inhabited: int = 0) -> Self:
        """Return every hypercube over `free` regions, followed by `inhabited` regions that are always inhabited."""
        return cls.of(free + inhabited, range(((1 << inhabited) - 1) << free, 1 << (free + inhabited)))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self.values))

    def __and__(self, other: Hypercubes, /) -> Self:
        return self._replace_values(self.values & _get_values(other))

    def __or__(self, other: Hypercubes, /) -> Self:
        return self._replace_values(self.values | _get_values(other))

    def __sub__(self, other: Hypercubes, /) -> Self:
        return self._replace_values(self.values - _get_values(other))

    def __xor__(self, other: Hypercubes, /) -> Self:
        return self._replace_values(self.values ^ _get_values(other))

    def find_inhabited(self) -> int:
        """See `Hypercubes.find_inhabited`."""
        return reduce(or_, self.values, 0)

    def select_meeting(self, mask: int, *, keep: bool = True) -> Self:
        """See `Hypercubes.select_meeting`."""
        return self._replace_values(value for value in self.values if bool(value & mask) is keep)

    def move_regions(self, targets: Sequence[int | None], regions: int) -> WideHypercubes:
        """See `Hypercubes.move_regions`."""
        moves = group_by_shift(targets)
        return WideHypercubes.of(regions, (_move_bits(value, moves) for value in self.values))

    def select_matching(self, targets: Sequence[int | None], others: Hypercubes, *, keep: bool = True) -> Self:
        """See `Hypercubes.select_matching`."""
        lost, moves, other_values = mask_lost_regions(targets), group_by_shift(targets), _get_values(others)
        return self._replace_values(
            value for value in self.values if (not value & lost and _move_bits(value, moves) in other_values) is keep
        )

    def count_lifts(self, sizes: Sequence[int]) -> int:
        """See `Hypercubes.count_lifts`."""
        choices_per_region = [(1 << size) - 1 for size in sizes]
        return sum(prod(choices_per_region[region] for region in iterate_bits(value)) for value in self.values)

    def lift_hypercubes(self, fibres: Sequence[Sequence[int]], regions: int) -> WideHypercubes:
        """See `Hypercubes.lift_hypercubes`."""
        spreads = [list_choices(fibre) for fibre in fibres]
        result: set[int] = set()
        for value in self.values:
            lifts = [0]
            for region in iterate_bits(value):
                lifts = [lift | spread for lift in lifts for spread in spreads[region]]
            result.update(lifts)
        return WideHypercubes.of(regions, result)

    def _replace_values(self, values: Iterable[int]) -> Self:
        return self.of(self.regions, values)


def _get_values(hypercubes: Hypercubes) -> frozenset[int]:
    return hypercubes.values if isinstance(hypercubes, WideHypercubes) else frozenset(hypercubes)


def _move_bits(value: int, moves: Mapping[int, int]) -> int:
    result = 0
    for shift, regions in moves.items():
        part = value & regions
        result |= part >> shift if shift >= 0 else part << -shift
    return result
