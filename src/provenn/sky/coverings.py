"""Cover each region with a few cells, so that regions without a common cell need not be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from provenn.sky.cells import DEEPEST, build_base_cells
from provenn.sky.region import OUTSIDE, Region

__all__ = ["Covering", "covering", "meeting"]

Covering = tuple[int, tuple[int, ...]]
"""The order of the cells, and their sorted numbers."""

_MOST_CELLS, _DEEPEST_ORDER = 12, 10


@lru_cache(maxsize=100_000)
def covering(region: Region) -> Covering:
    """Return a few cells of the same order that contain a region."""
    cells = build_base_cells()
    cells = cells.select_cells(region.sides(cells) != OUTSIDE)
    while cells.order < _DEEPEST_ORDER:
        finer = cells.subdivide()
        finer = finer.select_cells(region.sides(finer) != OUTSIDE)
        if len(finer) > _MOST_CELLS:
            break
        cells = finer
    return cells.order, tuple(sorted(cells.compute_numbers().tolist()))


def meeting(coverings: Sequence[Covering]) -> Iterator[tuple[int, int]]:
    """Yield the pairs of coverings that share a place, each pair once, with the lower index first."""
    ranges = sorted(
        (cell << 2 * (DEEPEST - order), (cell + 1) << 2 * (DEEPEST - order), index)
        for index, (order, cells) in enumerate(coverings)
        for cell in cells
    )
    yielded: set[tuple[int, int]] = set()
    open_ranges: list[tuple[int, int]] = []  # the end and the index of each range that has begun
    for start, end, index in ranges:
        open_ranges = [(other_end, other) for other_end, other in open_ranges if other_end > start]
        for _, other in open_ranges:
            pair = (min(index, other), max(index, other))
            if other != index and pair not in yielded:
                yielded.add(pair)
                yield pair
        open_ranges.append((end, index))
