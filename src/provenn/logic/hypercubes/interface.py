"""The interface of all representations of a set of hypercubes."""

from collections.abc import Iterator, Sequence
from typing import Protocol, Self

__all__ = ["Hypercubes"]


class Hypercubes(Protocol):
    """A set of hypercubes over the same regions. Immutable.

    A hypercube is an integer: bit i is set if and only if region i holds any object. Both operands of a binary operator
    are over the same regions.
    """

    @property
    def regions(self) -> int:
        """The number of regions."""

    def __len__(self) -> int:
        """The number of hypercubes."""

    def __iter__(self) -> Iterator[int]:
        """The hypercubes, in ascending order."""

    def __and__(self, other: "Hypercubes", /) -> Self: ...
    def __or__(self, other: "Hypercubes", /) -> Self: ...
    def __sub__(self, other: "Hypercubes", /) -> Self: ...
    def __xor__(self, other: "Hypercubes", /) -> Self: ...

    def find_inhabited(self) -> int:
        """Return the mask of the regions inhabited by at least one hypercube."""

    def select_meeting(self, mask: int, *, keep: bool = True) -> Self:
        """Return the hypercubes that inhabit a region in `mask`; without `keep`, all others."""

    def move_regions(self, targets: Sequence[int | None], regions: int) -> "Hypercubes":
        """Return the hypercubes with region i moved to region ``targets[i]``, of `regions`; None drops the region.

        A target is inhabited if any region moved to the target is. This operation removes sets and reorders regions.
        """

    def select_matching(self, targets: Sequence[int | None], others: "Hypercubes", *, keep: bool = True) -> Self:
        """Return the hypercubes whose image under `move_regions` is among `others`; without `keep`, all others.

        A hypercube does not match if it inhabits a region with the target None.
        """

    def count_lifts(self, sizes: Sequence[int]) -> int:
        """Return the number of lifts for fibres of these sizes: the sum of the products of ``2**size - 1``."""

    def lift_hypercubes(self, fibres: Sequence[Sequence[int]], regions: int) -> "Hypercubes":
        """Return every way to spread each inhabited region i over regions of ``fibres[i]``, at least one per fibre.

        The fibres share no region; they have `regions` regions in all. A hypercube that inhabits a region with an empty
        fibre has no lift. This operation adds sets.
        """
