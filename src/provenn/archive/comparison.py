"""What is known of two or three catalogs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from provenn.archive.relation import Relation
from provenn.display import RegionState, venn_states_svg
from provenn.display.regions import region_name
from provenn.logic import Relationship

__all__ = ["Comparison", "RegionKnown", "regions_of"]

_SAYS: Final = {
    RegionState.EMPTY: "must be empty",
    RegionState.INHABITED: "must hold something",
    RegionState.UNKNOWN: "unknown",
}


@dataclass(frozen=True, slots=True)
class RegionKnown:
    """A region of a Venn diagram, and what is known of it.

    Attributes
    ----------
    inside
        For each catalog, whether the region lies inside.
    words
        The region in words, such as ``"in A and B only"``.
    state
        Whether it is empty in all that is possible, inhabited in all, or neither.
    """

    inside: tuple[bool, ...]
    words: str
    state: RegionState

    @property
    def says(self) -> str:
        """What is known of it, in words."""
        return _SAYS[self.state]

    def __str__(self) -> str:
        return f"{self.words}: {self.says}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What is known of two or three catalogs together, without looking at their sources.

    Attributes
    ----------
    names, digests
        The catalogs, each once, even if it was named twice.
    hypercubes
        All that is possible, exactly.
    regions
        Each region of their Venn diagram; the last catalog changes fastest, outside before inside.
    relations
        How each pair relates, and why. One catalog alone is paired with itself.
    """

    names: tuple[str, ...]
    digests: tuple[str, ...]
    hypercubes: Relationship
    regions: tuple[RegionKnown, ...]
    relations: tuple[Relation, ...]

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the answer takes on trust of base files, a sentence each."""
        return tuple(dict.fromkeys(line for one in self.relations for line in one.caveats))

    def venn_svg(self, *, inline: bool = False) -> str:
        """Draw what is known of each region; `inline` takes the colours of the page it is put in."""
        return venn_states_svg(self.names, [one.state for one in self.regions], inline=inline)

    def __str__(self) -> str:
        lines = (*self.regions, *self.caveats)
        return "\n".join([*(one.words for one in self.relations), *(f"  {one}" for one in lines)])

    def _repr_html_(self) -> str:
        from provenn.display.catalog import Card, Table, card_html  # noqa: PLC0415 - only a notebook needs it

        reasons = tuple(
            (one.words, str(reason.statement), reason.because) for one in self.relations for reason in one.reasons
        )
        return card_html(
            Card(
                ", ".join(self.names),
                "compared",
                what="; ".join(one.words for one in self.relations),
                rows=tuple((one.words, one.says) for one in self.regions),
                tables=(Table("reasons", ("what", "fact", "because"), reasons),),
                warnings=self.caveats,
                picture=self.venn_svg(inline=True),
            )
        )


def regions_of(names: Sequence[str], possible: Relationship) -> tuple[RegionKnown, ...]:
    """Return what is known of each region, given all that is possible."""
    cubes = np.array(list(possible.arrays())).reshape(len(possible), -1)
    return tuple(
        RegionKnown(tuple(map(bool, inside)), region_name(names, inside), _state(column))
        for inside, column in zip(product((0, 1), repeat=len(names)), cubes.T, strict=True)
    )


def _state(inhabited: NDArray[np.bool_]) -> RegionState:
    if inhabited.all():
        return RegionState.INHABITED
    return RegionState.UNKNOWN if inhabited.any() else RegionState.EMPTY
