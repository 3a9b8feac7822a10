"""A few cells that a region lies in, and which regions meet in one: what is far apart need not be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from provenn.sky.cells import DEEPEST, all_sky
from provenn.sky.region import OUTSIDE, Region

__all__ = ["Covering", "covering", "meeting"]

Covering = tuple[int, tuple[int, ...]]
"""The order of some cells, and their numbers, sorted."""

_MOST, _DEEPEST = 12, 10


@lru_cache(maxsize=100_000)
def covering(region: Region) -> Covering:
    """Return a few cells of one order that all of a region lies in."""
    cells = all_sky()
    cells = cells.kept(region.sides(cells) != OUTSIDE)
    while cells.order < _DEEPEST:
        finer = cells.divided()
        finer = finer.kept(region.sides(finer) != OUTSIDE)
        if len(finer) > _MOST:
            break
        cells = finer
    return cells.order, tuple(sorted(cells.numbers().tolist()))


def meeting(coverings: Sequence[Covering]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of coverings that have a place in common, each once, the lower number first."""
    ranges = sorted(
        (cell << 2 * (DEEPEST - order), (cell + 1) << 2 * (DEEPEST - order), number)
        for number, (order, cells) in enumerate(coverings)
        for cell in cells
    )
    seen: set[tuple[int, int]] = set()
    reached: list[tuple[int, int]] = []  # the ranges that have begun, and where they end
    for start, end, number in ranges:
        reached = [(until, other) for until, other in reached if until > start]
        for _, other in reached:
            pair = (min(number, other), max(number, other))
            if other != number and pair not in seen:
                seen.add(pair)
                yield pair
        reached.append((end, number))
