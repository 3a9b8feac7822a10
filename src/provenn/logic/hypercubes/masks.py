"""Masks of regions, as Python integers, for both representations of hypercubes."""

from collections.abc import Iterable, Iterator, Sequence

__all__ = ["build_mask", "group_by_shift", "iterate_bits", "list_choices", "mask_lost_regions"]


def build_mask(regions: Iterable[int]) -> int:
    """Return the mask of regions.

    >>> bin(build_mask([0, 3]))
    '0b1001'
    """
    bits = 0
    for region in regions:
        bits |= 1 << region
    return bits


def iterate_bits(bits: int) -> Iterator[int]:
    """Yield the regions in a mask, in ascending order.

    >>> list(iterate_bits(0b1001))
    [0, 3]
    """
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def mask_lost_regions(targets: Sequence[int | None]) -> int:
    """Return the mask of the regions without a target."""
    return build_mask(region for region, target in enumerate(targets) if target is None)


def group_by_shift(targets: Sequence[int | None]) -> dict[int, int]:
    """Return, for every shift to the right, the mask of the regions that reach their targets by this shift.

    >>> group_by_shift([0, 1, 0, 1])
    {0: 3, 2: 12}
    """
    masks: dict[int, int] = {}
    for region, target in enumerate(targets):
        if target is not None:
            masks[region - target] = masks.get(region - target, 0) | 1 << region
    return masks


def list_choices(fibre: Sequence[int]) -> list[int]:
    """Return the mask of every nonempty choice of regions from a fibre.

    >>> list_choices([0, 2])
    [1, 4, 5]
    """
    masks = [0]
    for region in fibre:
        masks += [chosen | 1 << region for chosen in masks]
    return masks[1:]
