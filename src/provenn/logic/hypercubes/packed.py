"""Hypercubes over up to 64 regions, as a sorted array of unsigned numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from provenn.logic.hypercubes.interface import Hypercubes
from provenn.logic.hypercubes.masks import build_mask, group_by_shift, iterate_bits, list_choices, mask_lost_regions
from provenn.logic.hypercubes.wide import WideHypercubes

__all__ = ["WIDTH", "PackedHypercubes"]

WIDTH = 64
"""The most regions of a hypercube."""

Numbers = NDArray[np.uint64]
N = TypeVar("N", np.uint32, np.uint64)

_FEW_SHIFTS = 16  # this many shifts are as fast as eight table look-ups
_BLOCK = 1 << 16  # hypercubes: half a megabyte
_MOST_TABLE_REGIONS = 20  # regions: a table of all 2**20 hypercubes fits in cache


@dataclass(frozen=True, slots=True, eq=False)
class PackedHypercubes:
    """A sorted array of distinct 64-bit numbers; all operations are vectorised. `Hypercubes` documents the methods."""

    regions: int
    values: Numbers

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    @classmethod
    def of(cls, regions: int, values: Iterable[int]) -> Self:
        """Return the hypercubes given as integers."""
        return cls(regions, _sort_distinct(np.fromiter(values, np.uint64), regions))

    @classmethod
    def build_all(cls, free: int, inhabited: int = 0) -> Self:
        """Return every hypercube over `free` regions, followed by `inhabited` regions that are always inhabited."""
        numbers = np.arange(1 << free, dtype=np.uint64)
        return cls(free + inhabited, numbers | np.uint64(((1 << inhabited) - 1) << free))

    def __len__(self) -> int:
        return self.values.size

    def __iter__(self) -> Iterator[int]:
        return iter(self.values.tolist())

    def __and__(self, other: Hypercubes, /) -> Self:
        return self._apply_blockwise(_intersect, other)

    def __or__(self, other: Hypercubes, /) -> Self:
        return self._apply_blockwise(_unite, other)

    def __sub__(self, other: Hypercubes, /) -> Self:
        return self._apply_blockwise(_subtract, other)

    def __xor__(self, other: Hypercubes, /) -> Self:
        return self._apply_blockwise(_subtract_symmetrically, other)

    def find_inhabited(self) -> int:
        """See `Hypercubes.find_inhabited`."""
        return int(np.bitwise_or.reduce(self.values, initial=np.uint64(0)))

    def select_meeting(self, mask: int, *, keep: bool = True) -> Self:
        """See `Hypercubes.select_meeting`."""
        return self._replace_values(self.values.compress(((self.values & np.uint64(mask)) != 0) == keep))

    def move_regions(self, targets: Sequence[int | None], regions: int) -> Hypercubes:
        """See `Hypercubes.move_regions`."""
        if regions > WIDTH:
            return self._widen().move_regions(targets, regions)
        return PackedHypercubes(regions, _sort_distinct(_move_bits(self.values, targets), regions))

    def select_matching(self, targets: Sequence[int | None], others: Hypercubes, *, keep: bool = True) -> Self:
        """See `Hypercubes.select_matching`."""
        if others.regions > WIDTH:
            return self.of(self.regions, self._widen().select_matching(targets, others, keep=keep))
        if others.regions == self.regions and list(targets) == list(range(self.regions)):
            return self & others if keep else self - others
        is_match = _find_members(_move_bits(self.values, targets), _get_values(others), others.regions)
        is_match &= (self.values & np.uint64(mask_lost_regions(targets))) == 0
        return self._replace_values(self.values.compress(is_match == keep))

    def count_lifts(self, sizes: Sequence[int]) -> int:
        """See `Hypercubes.count_lifts`."""
        classes = _group_by_size(sizes)
        patterns, numbers = np.unique(_count_patterns(self.values, classes), return_counts=True)
        choices_per_region = [(1 << size) - 1 for size in classes]
        return sum(
            number
            * prod(
                choice_count**count
                for choice_count, count in zip(choices_per_region, _read_pattern(pattern, classes), strict=True)
            )
            for pattern, number in zip(patterns.tolist(), numbers.tolist(), strict=True)
        )

    def lift_hypercubes(self, fibres: Sequence[Sequence[int]], regions: int) -> Hypercubes:
        """See `Hypercubes.lift_hypercubes`."""
        if regions > WIDTH:
            return self._widen().lift_hypercubes(fibres, regions)
        values = self.select_meeting(
            build_mask(region for region, fibre in enumerate(fibres) if not fibre), keep=False
        ).values
        # A region with a fibre of size 1 needs no choice. The other regions are spread in turn, for all hypercubes
        # together that inhabit the same number of regions of each size of fibre: their numbers of lifts are equal.
        started = _move_bits(values, [fibre[0] if len(fibre) == 1 else None for fibre in fibres])
        classes = _group_by_size([len(fibre) for fibre in fibres], least=2)
        patterns = _count_patterns(values, classes)
        order = np.argsort(patterns, kind="stable")
        bounds = np.flatnonzero(np.diff(patterns[order])) + 1
        parts = [
            _spread_regions(
                values[rows], started[rows], classes, _read_pattern(int(patterns[rows[0]]), classes), fibres
            )
            for rows in np.split(order, bounds)
            if rows.size
        ]
        return PackedHypercubes(regions, np.sort(np.concatenate([*parts, np.empty(0, np.uint64)])))

    def _replace_values(self, values: Numbers) -> Self:
        return type(self)(self.regions, values)

    def _apply_blockwise(self, operator: Callable[[Numbers, Numbers], Numbers], other: Hypercubes) -> Self:
        left, right = self.values, _get_values(other)
        # The blocks cover the same range of numbers on both sides and are small enough for the cache.
        cuts = range(_BLOCK, left.size, _BLOCK)
        blocks = zip(np.split(left, cuts), np.split(right, np.searchsorted(right, left[_BLOCK::_BLOCK])), strict=True)
        return self._replace_values(np.concatenate([operator(*block) for block in blocks]))

    def _widen(self) -> WideHypercubes:
        return WideHypercubes.of(self.regions, self)


def _get_values(hypercubes: Hypercubes) -> Numbers:
    return hypercubes.values if isinstance(hypercubes, PackedHypercubes) else np.fromiter(hypercubes, np.uint64)


def _merge_sorted(left: Numbers, right: Numbers) -> Numbers:
    both = np.concatenate([left, right])
    both.sort(kind="stable")  # the stable sort merges two sorted runs
    return both


def _intersect(left: Numbers, right: Numbers) -> Numbers:
    both = _merge_sorted(left, right)
    return both[1:].compress(both[1:] == both[:-1])


def _unite(left: Numbers, right: Numbers) -> Numbers:
    return _drop_repeats(_merge_sorted(left, right))


def _subtract(left: Numbers, right: Numbers) -> Numbers:
    both = np.concatenate([left, right])
    order = both.argsort(kind="stable")  # of two equal numbers, the left number comes first
    both = both.take(order)
    kept = np.ones(left.size, np.bool_)
    kept[order[:-1].compress(both[1:] == both[:-1])] = False
    return left.compress(kept)


def _subtract_symmetrically(left: Numbers, right: Numbers) -> Numbers:
    both = _merge_sorted(left, right)
    differs = np.ones(both.size + 1, np.bool_)
    np.not_equal(both[1:], both[:-1], out=differs[1:-1])
    return both.compress(differs[1:] & differs[:-1])


def _drop_repeats(values: NDArray[N]) -> NDArray[N]:
    """Return sorted values without repeats."""
    first = np.ones(values.size, np.bool_)
    np.not_equal(values[1:], values[:-1], out=first[1:])
    return values.compress(first)


def _sort_distinct(values: Numbers, regions: int) -> Numbers:
    """Return the values sorted, without repeats."""
    if bool((values[1:] > values[:-1]).all()):
        return values
    if regions <= _MOST_TABLE_REGIONS and 1 << regions <= values.size:
        return np.flatnonzero(_build_table(values, regions)).astype(np.uint64)
    if regions > 32:
        return _drop_repeats(np.sort(values))
    halves = values.astype(np.uint32)  # 32-bit numbers are sorted in half the time
    halves.sort()
    return _drop_repeats(halves).astype(np.uint64)


def _build_table(values: Numbers, regions: int) -> NDArray[np.bool_]:
    """Return a flag for each possible hypercube: whether it is in `values`."""
    table = np.zeros(1 << regions, np.bool_)
    table[values] = True
    return table


def _find_members(values: Numbers, others: Numbers, regions: int) -> NDArray[np.bool_]:
    """Return a flag for each value: whether it is in `others`, a sorted array."""
    if regions <= _MOST_TABLE_REGIONS and 1 << regions <= 16 * values.size:
        return _build_table(others, regions)[values]
    if not others.size:
        return np.zeros(values.size, np.bool_)
    places = np.searchsorted(others, values)
    places[places == others.size] = 0
    return np.equal(others[places], values)


def _move_bits(values: Numbers, targets: Sequence[int | None]) -> Numbers:
    """Move the regions of each hypercube to their targets, keeping the order of the hypercubes."""
    moves = group_by_shift(targets)
    if moves.keys() == {0} and not mask_lost_regions(targets):
        return values
    if len(moves) > _FEW_SHIFTS:
        return _move_bits_by_table(values, targets)
    result = np.zeros_like(values)
    for shift, regions in moves.items():
        part = values & np.uint64(regions)
        if shift > 0:
            part >>= np.uint64(shift)
        elif shift < 0:
            part <<= np.uint64(-shift)
        result |= part
    return result


def _move_bits_by_table(values: Numbers, targets: Sequence[int | None]) -> Numbers:
    """Do the same as `_move_bits`, a byte of the hypercube at a time."""
    images = np.array([0 if target is None else 1 << target for target in targets], np.uint64)
    result = np.zeros_like(values)
    for start in range(0, len(targets), 8):
        table = np.zeros(1, np.uint64)
        for image in images[start : start + 8]:
            table = np.concatenate([table, table | image])
        result |= table[(values >> np.uint64(start)) & np.uint64(table.size - 1)]
    return result


def _group_by_size(sizes: Sequence[int], least: int = 0) -> dict[int, int]:
    """Return the mask of the regions with a fibre of each size."""
    return {
        size: build_mask(region for region, region_size in enumerate(sizes) if region_size == size)
        for size in sorted(set(sizes))
        if size >= least
    }


def _count_patterns(values: Numbers, classes: Mapping[int, int]) -> Numbers:
    """Return for each hypercube its numbers of inhabited regions by class, encoded as a number below 2**64."""
    pattern = np.zeros(values.size, np.uint64)
    for regions in classes.values():
        pattern *= np.uint64(regions.bit_count() + 1)
        pattern += np.bitwise_count(values & np.uint64(regions))
    return pattern


def _read_pattern(pattern: int, classes: Mapping[int, int]) -> list[int]:
    """Return the numbers of inhabited regions by class from their encoding."""
    counts: list[int] = []
    for regions in reversed([*classes.values()]):
        pattern, count = divmod(pattern, regions.bit_count() + 1)
        counts.append(count)
    return counts[::-1]


def _spread_regions(
    values: Numbers,
    started: Numbers,
    classes: Mapping[int, int],
    counts: Sequence[int],
    fibres: Sequence[Sequence[int]],
) -> Numbers:
    """Return every lift of hypercubes that inhabit `counts` regions of the classes."""
    lifts = started[np.newaxis]  # a row per combination of choices; long rows are fast
    for regions, count in zip(classes.values(), counts, strict=True):
        rank = np.zeros(WIDTH, np.intp)
        rank[list(iterate_bits(regions))] = range(regions.bit_count())
        spreads = np.array([list_choices(fibres[region]) for region in iterate_bits(regions)], np.uint64).T
        rest = values & np.uint64(regions)
        for _ in range(count):
            lower = rest - np.uint64(1)
            lowest = np.bitwise_count(rest ^ lower) - 1  # the index of the lowest region
            lifts = (spreads[:, np.newaxis, rank[lowest]] | lifts).reshape(-1, values.size)
            rest &= lower
    return lifts.ravel()
