"""Hypercubes over up to 64 regions, as one sorted array of unsigned numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from provenn.logic.hypercubes.interface import Hypercubes
from provenn.logic.hypercubes.masks import choices, mask, nowhere, ones, shifts
from provenn.logic.hypercubes.wide import Wide

__all__ = ["WIDTH", "Packed"]

WIDTH = 64
"""How many regions fit."""

Numbers = NDArray[np.uint64]
N = TypeVar("N", np.uint32, np.uint64)

_FEW_SHIFTS = 16  # as fast as looking up eight bytes in tables
_BLOCK = 1 << 16  # hypercubes: half a megabyte
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
        return self._blockwise(_intersection, other)

    def __or__(self, other: Hypercubes, /) -> Self:
        return self._blockwise(_union, other)

    def __sub__(self, other: Hypercubes, /) -> Self:
        return self._blockwise(_difference, other)

    def __xor__(self, other: Hypercubes, /) -> Self:
        return self._blockwise(_symmetric_difference, other)

    def inhabited(self) -> int:
        """See `Hypercubes.inhabited`."""
        return int(np.bitwise_or.reduce(self.values, initial=np.uint64(0)))

    def meeting(self, mask: int, *, keep: bool = True) -> Self:
        """See `Hypercubes.meeting`."""
        return self._with(self.values.compress(((self.values & np.uint64(mask)) != 0) == keep))

    def carried(self, targets: Sequence[int | None], regions: int) -> Hypercubes:
        """See `Hypercubes.carried`."""
        if regions > WIDTH:
            return self._widened().carried(targets, regions)
        return Packed(regions, _distinct(_moved(self.values, targets), regions))

    def matching(self, targets: Sequence[int | None], others: Hypercubes, *, keep: bool = True) -> Self:
        """See `Hypercubes.matching`."""
        if others.regions > WIDTH:
            return self.of(self.regions, self._widened().matching(targets, others, keep=keep))
        if others.regions == self.regions and list(targets) == list(range(self.regions)):
            return self & others if keep else self - others
        found = _among(_moved(self.values, targets), _values(others), others.regions)
        found &= (self.values & np.uint64(nowhere(targets))) == 0
        return self._with(self.values.compress(found == keep))

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
        return Packed(regions, np.sort(np.concatenate([*parts, np.empty(0, np.uint64)])))

    def _with(self, values: Numbers) -> Self:
        return type(self)(self.regions, values)

    def _blockwise(self, operator: Callable[[Numbers, Numbers], Numbers], other: Hypercubes) -> Self:
        left, right = self.values, _values(other)
        # Blocks of the same range of numbers on both sides, small enough for the cache.
        cuts = range(_BLOCK, left.size, _BLOCK)
        blocks = zip(np.split(left, cuts), np.split(right, np.searchsorted(right, left[_BLOCK::_BLOCK])), strict=True)
        return self._with(np.concatenate([operator(*block) for block in blocks]))

    def _widened(self) -> Wide:
        return Wide.of(self.regions, self)


def _values(hypercubes: Hypercubes) -> Numbers:
    return hypercubes.values if isinstance(hypercubes, Packed) else np.fromiter(hypercubes, np.uint64)


def _merged(left: Numbers, right: Numbers) -> Numbers:
    both = np.concatenate([left, right])
    both.sort(kind="stable")  # which recognises two sorted runs and merges them
    return both


def _intersection(left: Numbers, right: Numbers) -> Numbers:
    both = _merged(left, right)
    return both[1:].compress(both[1:] == both[:-1])


def _union(left: Numbers, right: Numbers) -> Numbers:
    return _without_repeats(_merged(left, right))


def _difference(left: Numbers, right: Numbers) -> Numbers:
    both = np.concatenate([left, right])
    order = both.argsort(kind="stable")  # of two equal ones, that on the left comes first
    both = both.take(order)
    kept = np.ones(left.size, np.bool_)
    kept[order[:-1].compress(both[1:] == both[:-1])] = False
    return left.compress(kept)


def _symmetric_difference(left: Numbers, right: Numbers) -> Numbers:
    both = _merged(left, right)
    differs = np.ones(both.size + 1, np.bool_)
    np.not_equal(both[1:], both[:-1], out=differs[1:-1])
    return both.compress(differs[1:] & differs[:-1])


def _without_repeats(values: NDArray[N]) -> NDArray[N]:
    """The values, which are sorted, each once."""
    first = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values.compress(first)


def _distinct(values: Numbers, regions: int) -> Numbers:
    """The values sorted, each once."""
    if bool((values[1:] > values[:-1]).all()):
        return values
    if regions <= _TABLE and 1 << regions <= values.size:
        return np.flatnonzero(_table(values, regions)).astype(np.uint64)
    if regions > 32:
        return _without_repeats(np.sort(values))
    halves = values.astype(np.uint32)  # which are sorted in half the time
    halves.sort()
    return _without_repeats(halves).astype(np.uint64)


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
        if shift > 0:
            part >>= np.uint64(shift)
        elif shift < 0:
            part <<= np.uint64(-shift)
        result |= part
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
    lifts = started[np.newaxis]  # one row for each way to spread; long rows are fast
    for regions, count in zip(classes.values(), counts, strict=True):
        rank = np.zeros(WIDTH, np.intp)
        rank[list(ones(regions))] = range(regions.bit_count())
        ways = np.array([choices(fibres[region]) for region in ones(regions)], np.uint64).T
        rest = values & np.uint64(regions)
        for _ in range(count):
            lower = rest - np.uint64(1)
            lowest = np.bitwise_count(rest ^ lower) - 1  # the number of the lowest region
            lifts = (ways[:, np.newaxis, rank[lowest]] | lifts).reshape(-1, values.size)
            rest &= lower
    return lifts.ravel()
