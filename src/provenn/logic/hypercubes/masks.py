"""Masks of regions, as Python integers: what both representations compute before they touch a hypercube."""

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["choices", "mask", "nowhere", "ones", "shifts"]


def mask(regions: Iterable[int]) -> int:
    """The mask of some regions.

    >>> bin(mask([0, 3]))
    '0b1001'
    """
    bits = 0
    for region in regions:
        bits |= 1 << region
    return bits


def ones(bits: int) -> Iterator[int]:
    """The regions in a mask, in ascending order.

    >>> list(ones(0b1001))
    [0, 3]
    """
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def nowhere(targets: Sequence[int | None]) -> int:
    """The mask of the regions that have no target."""
    return mask(region for region, target in enumerate(targets) if target is None)


def shifts(targets: Sequence[int | None]) -> dict[int, int]:
    """The mask of the regions that move to their targets by the same shift to the right, for every shift.

    >>> shifts([0, 1, 0, 1])
    {0: 3, 2: 12}
    """
    masks: dict[int, int] = {}
    for region, target in enumerate(targets):
        if target is not None:
            masks[region - target] = masks.get(region - target, 0) | 1 << region
    return masks


def choices(fibre: Sequence[int]) -> list[int]:
    """The mask of every nonempty choice of regions from a fibre.

    >>> choices([0, 2])
    [1, 4, 5]
    """
    masks = [0]
    for region in fibre:
        masks += [chosen | 1 << region for chosen in masks]
    return masks[1:]
