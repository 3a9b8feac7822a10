"""Hypercubes over up to 64 regions, as one sorted array of unsigned numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np
from numpy.typing import NDArray

from provenn.logic.hypercubes.interface import Hypercubes
from provenn.logic.hypercubes.masks import choices, mask, nowhere, ones, shifts
from provenn.logic.hypercubes.wide import Wide

__all__ = ["WIDTH", "Packed"]

WIDTH = 64
"""How many regions fit."""

Numbers = NDArray[np.uint64]

_FEW_SHIFTS = 16  # as fast as looking up eight bytes in tables
_TABLE = 20  # regions: a table of all 2**20 hypercubes fits in cache


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """A sorted array of distinct 64-bit numbers; every operation is vectorised. `Hypercubes` documents the methods."""

    regions: int
    values: Numbers

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    @classmethod
    def of(cls, regions: int, values: Iterable[int]) -> Self:
        """Make it from integers."""
        return cls(regions, _distinct(np.fromiter(values, np.uint64), regions))

    @classmethod
    def every(cls, free: int, inhabited: int = 0) -> Self:
        """Every hypercube over `free` regions, followed by `inhabited` regions that all of them inhabit."""
        numbers = np.arange(1 << free, dtype=np.uint64)
        return cls(free + inhabited, numbers | np.uint64(((1 << inhabited) - 1) << free))

    def __len__(self) -> int:
        return self.values.size

    def __iter__(self) -> Iterator[int]:
        return iter(self.values.tolist())

    def __and__(self, other: Hypercubes, /) -> Self:
        both = self._merged(other)
        return self._with(both[:-1][both[1:] == both[:-1]])

    def __or__(self, other: Hypercubes, /) -> Self:
        return self._with(_without_repeats(self._merged(other)))

    def __sub__(self, other: Hypercubes, /) -> Self:
        return self._with(self.values[~_among(self.values, _values(other), self.regions)])

    def __xor__(self, other: Hypercubes, /) -> Self:
        both = self._merged(other)
        repeated = np.zeros(both.size + 1, np.bool_)
        np.equal(both[1:], both[:-1], out=repeated[1:-1])
        return self._with(both[~(repeated[1:] | repeated[:-1])])

    def inhabited(self) -> int:
        """See `Hypercubes.inhabited`."""
        return int(np.bitwise_or.reduce(self.values, initial=np.uint64(0)))

    def meeting(self, mask: int, *, keep: bool = True) -> Self:
        """See `Hypercubes.meeting`."""
        return self._with(self.values[((self.values & np.uint64(mask)) != 0) == keep])

    def carried(self, targets: Sequence[int | None], regions: int) -> Hypercubes:
        """See `Hypercubes.carried`."""
        if regions > WIDTH:
            return self._widened().carried(targets, regions)
        return Packed(regions, _distinct(_moved(self.values, targets), regions))

    def matching(self, targets: Sequence[int | None], others: Hypercubes, *, keep: bool = True) -> Self:
        """See `Hypercubes.matching`."""
        if others.regions > WIDTH:
            return self.of(self.regions, self._widened().matching(targets, others, keep=keep))
        found = _among(_moved(self.values, targets), _values(others), others.regions)
        found &= (self.values & np.uint64(nowhere(targets))) == 0
        return self._with(self.values[found == keep])

    def lifts(self, sizes: Sequence[int]) -> int:
        """See `Hypercubes.lifts`."""
        classes = _classes(sizes)
        patterns, numbers = np.unique(_patterns(self.values, classes), return_counts=True)
        ways = [(1 << size) - 1 for size in classes]
        return sum(
            number * prod(way**count for way, count in zip(ways, _counts(pattern, classes), strict=True))
            for pattern, number in zip(patterns.tolist(), numbers.tolist(), strict=True)
        )

    def lifted(self, fibres: Sequence[Sequence[int]], regions: int) -> Hypercubes:
        """See `Hypercubes.lifted`."""
        if regions > WIDTH:
            return self._widened().lifted(fibres, regions)
        values = self.meeting(mask(region for region, fibre in enumerate(fibres) if not fibre), keep=False).values
        # A region that can go only one way needs no choice. The others are spread one at a time, over all
        # hypercubes together that inhabit as many regions of each size of fibre: those have equally many lifts.
        started = _moved(values, [fibre[0] if len(fibre) == 1 else None for fibre in fibres])
        classes = _classes([len(fibre) for fibre in fibres], least=2)
        patterns = _patterns(values, classes)
        order = np.argsort(patterns, kind="stable")
        bounds = np.flatnonzero(np.diff(patterns[order])) + 1
        parts = [
            _spread(values[rows], started[rows], classes, _counts(int(patterns[rows[0]]), classes), fibres)
            for rows in np.split(order, bounds)
            if rows.size
        ]
        return Packed(regions, _sorted(np.concatenate([*parts, np.empty(0, np.uint64)]), regions))

    def _with(self, values: Numbers) -> Self:
        return type(self)(self.regions, values)

    def _merged(self, other: Hypercubes) -> Numbers:
        both = np.concatenate([self.values, _values(other)])
        both.sort(kind="stable")  # which recognises two sorted runs and merges them
        return both

    def _widened(self) -> Wide:
        return Wide.of(self.regions, self)


def _values(hypercubes: Hypercubes) -> Numbers:
    return hypercubes.values if isinstance(hypercubes, Packed) else np.fromiter(hypercubes, np.uint64)


def _sorted(values: Numbers, regions: int) -> Numbers:
    if regions > 32:
        return np.sort(values)
    return np.sort(values.astype(np.uint32)).astype(np.uint64)  # half the bytes, half the time


def _without_repeats(values: Numbers) -> Numbers:
    first = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values[first]


def _distinct(values: Numbers, regions: int) -> Numbers:
    if bool((values[1:] > values[:-1]).all()):
        return values
    if regions <= _TABLE and 1 << regions <= values.size:
        return np.flatnonzero(_table(values, regions)).astype(np.uint64)
    return _without_repeats(_sorted(values, regions))


def _table(values: Numbers, regions: int) -> NDArray[np.bool_]:
    """For each of all hypercubes, whether it is one of `values`."""
    table = np.zeros(1 << regions, np.bool_)
    table[values] = True
    return table


def _among(values: Numbers, others: Numbers, regions: int) -> NDArray[np.bool_]:
    """Whether each of `values` is one of `others`, which are sorted."""
    if regions <= _TABLE and 1 << regions <= 16 * values.size:
        return _table(others, regions)[values]
    if not others.size:
        return np.zeros(values.size, np.bool_)
    places = np.searchsorted(others, values)
    places[places == others.size] = 0
    return np.equal(others[places], values)


def _moved(values: Numbers, targets: Sequence[int | None]) -> Numbers:
    """Carry each hypercube along, in the order they are in."""
    moves = shifts(targets)
    if moves.keys() == {0} and not nowhere(targets):
        return values
    if len(moves) > _FEW_SHIFTS:
        return _looked_up(values, targets)
    result = np.zeros_like(values)
    for shift, regions in moves.items():
        part = values & np.uint64(regions)
        result |= part >> np.uint64(shift) if shift >= 0 else part << np.uint64(-shift)
    return result


def _looked_up(values: Numbers, targets: Sequence[int | None]) -> Numbers:
    """The same, one byte of the hypercube at a time."""
    images = np.array([0 if target is None else 1 << target for target in targets], np.uint64)
    result = np.zeros_like(values)
    for start in range(0, len(targets), 8):
        table = np.zeros(1, np.uint64)
        for image in images[start : start + 8]:
            table = np.concatenate([table, table | image])
        result |= table[(values >> np.uint64(start)) & np.uint64(table.size - 1)]
    return result


def _classes(sizes: Sequence[int], least: int = 0) -> dict[int, int]:
    """The regions with a fibre of each size, as masks."""
    return {
        size: mask(region for region, other in enumerate(sizes) if other == size)
        for size in sorted(set(sizes))
        if size >= least
    }


def _patterns(values: Numbers, classes: Mapping[int, int]) -> Numbers:
    """How many regions of each class each hypercube inhabits, all in one number (which 64 regions cannot exceed)."""
    pattern = np.zeros(values.size, np.uint64)
    for regions in classes.values():
        pattern *= np.uint64(regions.bit_count() + 1)
        pattern += np.bitwise_count(values & np.uint64(regions))
    return pattern


def _counts(pattern: int, classes: Mapping[int, int]) -> list[int]:
    """Read a pattern: how many regions of each class."""
    counts: list[int] = []
    for regions in reversed([*classes.values()]):
        pattern, count = divmod(pattern, regions.bit_count() + 1)
        counts.append(count)
    return counts[::-1]


def _spread(
    values: Numbers,
    started: Numbers,
    classes: Mapping[int, int],
    counts: Sequence[int],
    fibres: Sequence[Sequence[int]],
) -> Numbers:
    """Every lift of hypercubes that inhabit `counts` regions of the classes."""
    lifts = started[:, np.newaxis]
    for regions, count in zip(classes.values(), counts, strict=True):
        ways = np.array([choices(fibres[region]) for region in ones(regions)], np.uint64)
        rank = np.zeros(WIDTH, np.intp)
        rank[list(ones(regions))] = range(regions.bit_count())
        rest = values & np.uint64(regions)
        for _ in range(count):
            lower = rest - np.uint64(1)
            lowest = np.bitwise_count(rest ^ lower) - 1  # the number of the lowest region
            lifts = (lifts[:, :, np.newaxis] | ways[rank[lowest], np.newaxis, :]).reshape(values.size, -1)
            rest &= lower
    return lifts.ravel()
