"""What every representation of a set of hypercubes can do."""

from collections.abc import Iterator, Sequence
from typing import Protocol, Self

__all__ = ["Hypercubes"]


class Hypercubes(Protocol):
    """A set of hypercubes over the same regions. Immutable.

    A hypercube is an integer: bit i is set if and only if region i holds any object. Operands of binary operators
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

    def inhabited(self) -> int:
        """The regions that at least one hypercube inhabits, as a mask."""

    def meeting(self, mask: int, *, keep: bool = True) -> Self:
        """The hypercubes that inhabit a region in `mask`; without `keep`, the others."""

    def carried(self, targets: Sequence[int | None], regions: int) -> "Hypercubes":
        """The hypercubes with region i moved to region ``targets[i]``, of `regions`; to nowhere if that is None.

        A target is inhabited if any of the regions moved to it is. This removes sets and reorders regions.
        """

    def matching(self, targets: Sequence[int | None], others: "Hypercubes", *, keep: bool = True) -> Self:
        """The hypercubes that, carried along `targets`, are among `others`; without `keep`, the remaining ones.

        A hypercube that inhabits a region whose target is None is not among them.
        """

    def lifts(self, sizes: Sequence[int]) -> int:
        """How many hypercubes `lifted` makes with fibres of these sizes: the sum of the products of ``2**size - 1``."""

    def lifted(self, fibres: Sequence[Sequence[int]], regions: int) -> "Hypercubes":
        """Every way to spread each inhabited region i over regions of ``fibres[i]``, at least one of them.

        The fibres share no region; there are `regions` in all. A hypercube that inhabits a region with an empty
        fibre has no lift. This adds sets.
        """
