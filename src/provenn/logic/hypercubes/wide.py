"""Hypercubes over any number of regions, as Python integers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from math import prod
from operator import or_
from typing import Self

from provenn.logic.hypercubes.interface import Hypercubes
from provenn.logic.hypercubes.masks import choices, nowhere, ones, shifts

__all__ = ["Wide"]


@dataclass(frozen=True, slots=True)
class Wide:
    """A set of Python integers: plain, and not limited to 64 regions. `Hypercubes` documents the methods."""

    regions: int
    values: frozenset[int]

    @classmethod
    def of(cls, regions: int, values: Iterable[int]) -> Self:
        """Make it from integers."""
        return cls(regions, frozenset(values))

    @classmethod
    def every(cls, free: int, inhabited: int = 0) -> Self:
        """Every hypercube over `free` regions, followed by `inhabited` regions that all of them inhabit."""
        return cls.of(free + inhabited, range(((1 << inhabited) - 1) << free, 1 << (free + inhabited)))

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self.values))

    def __and__(self, other: Hypercubes, /) -> Self:
        return self._with(self.values & _values(other))

    def __or__(self, other: Hypercubes, /) -> Self:
        return self._with(self.values | _values(other))

    def __sub__(self, other: Hypercubes, /) -> Self:
        return self._with(self.values - _values(other))

    def __xor__(self, other: Hypercubes, /) -> Self:
        return self._with(self.values ^ _values(other))

    def inhabited(self) -> int:
        """See `Hypercubes.inhabited`."""
        return reduce(or_, self.values, 0)

    def meeting(self, mask: int, *, keep: bool = True) -> Self:
        """See `Hypercubes.meeting`."""
        return self._with(value for value in self.values if bool(value & mask) is keep)

    def carried(self, targets: Sequence[int | None], regions: int) -> Wide:
        """See `Hypercubes.carried`."""
        moves = shifts(targets)
        return Wide.of(regions, (_carried(value, moves) for value in self.values))

    def matching(self, targets: Sequence[int | None], others: Hypercubes, *, keep: bool = True) -> Self:
        """See `Hypercubes.matching`."""
        lost, moves, wanted = nowhere(targets), shifts(targets), _values(others)
        return self._with(
            value for value in self.values if (not value & lost and _carried(value, moves) in wanted) is keep
        )

    def lifts(self, sizes: Sequence[int]) -> int:
        """See `Hypercubes.lifts`."""
        ways = [(1 << size) - 1 for size in sizes]
        return sum(prod(ways[region] for region in ones(value)) for value in self.values)

    def lifted(self, fibres: Sequence[Sequence[int]], regions: int) -> Wide:
        """See `Hypercubes.lifted`."""
        spreads = [choices(fibre) for fibre in fibres]
        result: set[int] = set()
        for value in self.values:
            lifts = [0]
            for region in ones(value):
                lifts = [lift | spread for lift in lifts for spread in spreads[region]]
            result.update(lifts)
        return Wide.of(regions, result)

    def _with(self, values: Iterable[int]) -> Self:
        return self.of(self.regions, values)


def _values(hypercubes: Hypercubes) -> frozenset[int]:
    return hypercubes.values if isinstance(hypercubes, Wide) else frozenset(hypercubes)


def _carried(value: int, moves: Mapping[int, int]) -> int:
    result = 0
    for shift, regions in moves.items():
        part = value & regions
        result |= part >> shift if shift >= 0 else part << -shift
    return result
