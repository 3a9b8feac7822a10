"""The knowledge about two or three catalogs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from numpy.typing import NDArray

from provenn.archive.relation import Relation
from provenn.display import RegionState, venn_states_svg
from provenn.display.row_counts import Rows
from provenn.display.venn_regions import name_region
from provenn.knowledge.stored_facts import Fact
from provenn.logic import Relationship
from provenn.words.proof_chains import name_support

__all__ = ["Comparison", "RegionKnown", "describe_regions"]

_SAYS: Final = {
    RegionState.EMPTY: "must be empty",
    RegionState.INHABITED: "must hold something",
    RegionState.UNKNOWN: "unknown",
}


@dataclass(frozen=True, slots=True)
class RegionKnown:
    """A region of a Venn diagram, and the knowledge about the region.

    Attributes
    ----------
    inside
        For each catalog, whether the region lies inside.
    words
        The region in words, such as ``"in A and B only"``.
    state
        Whether the region is empty in all possible worlds, inhabited in all of them, or neither.
    sources
        The number of its sources, as far as proved; None for the region outside all catalogs, where it is not known.
    """

    inside: tuple[bool, ...]
    words: str
    state: RegionState
    sources: Rows | None = None

    @property
    def says(self) -> str:
        """The state of the region, in words."""
        return _SAYS[self.state]

    def describe(self) -> str:
        """The state in words, with the number of sources as far as it adds anything."""
        number = "" if self.sources is None or self.sources.high == 0 else self.sources.describe("source")
        return f"{self.says}, {number}" if number else self.says

    def __str__(self) -> str:
        return f"{self.words}: {self.describe()}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """The knowledge about two or three catalogs together, without reading their sources.

    Attributes
    ----------
    names, digests
        The catalogs, each of them once, even if named twice.
    hypercubes
        The exact relationship: all possible worlds.
    regions
        Each region of their Venn diagram; the last catalog changes fastest, outside before inside.
    relations
        How each pair relates, with reasons. A single catalog is paired with itself.
    rests_on
        The declared facts on which the regions rest, by number.
    """

    names: tuple[str, ...]
    digests: tuple[str, ...]
    hypercubes: Relationship
    regions: tuple[RegionKnown, ...]
    relations: tuple[Relation, ...]
    rests_on: tuple[Fact, ...] = ()

    @property
    def caveats(self) -> tuple[str, ...]:
        """The assumptions of the answer about base files, a sentence each."""
        return tuple(dict.fromkeys(line for relation in self.relations for line in relation.caveats))

    @property
    def _support(self) -> tuple[str, ...]:
        return tuple(f"rests on {fact.words}" for fact in self.rests_on)

    def venn_svg(self, *, inline: bool = False) -> str:
        """Draw the Venn diagram with the state of each region; `inline` uses the colours of the surrounding page."""
        return venn_states_svg(self.names, [region.state for region in self.regions], inline=inline)

    def __repr__(self) -> str:
        relations = "; ".join(relation.words for relation in self.relations)
        return f"<Comparison: {relations}{name_support(self.rests_on)}>"

    def __str__(self) -> str:
        lines = (*self.regions, *self._support, *self.caveats)
        return "\n".join([*(relation.words for relation in self.relations), *(f"  {line}" for line in lines)])

    def _repr_html_(self) -> str:
        from provenn.display.catalog_card import Card, Table, card_html  # noqa: PLC0415 - only a notebook needs it

        reasons = tuple(
            (relation.words, reason.words, reason.because) for relation in self.relations for reason in relation.lines
        )
        return card_html(
            Card(
                ", ".join(self.names),
                "compared",
                what="; ".join(relation.words for relation in self.relations),
                rows=tuple((region.words, region.describe()) for region in self.regions),
                tables=(Table("reasons", ("what", "fact", "because"), reasons),),
                warnings=(*self._support, *self.caveats),
                picture=self.venn_svg(inline=True),
            )
        )


def describe_regions(names: Sequence[str], possible: Relationship) -> tuple[RegionKnown, ...]:
    """Return the state of each region, derived from the possible worlds."""
    cubes = np.array(list(possible.arrays())).reshape(len(possible), -1)
    return tuple(
        RegionKnown(tuple(map(bool, inside)), name_region(names, inside), _classify_region(column))
        for inside, column in zip(product((0, 1), repeat=len(names)), cubes.T, strict=True)
    )


def _classify_region(inhabited: NDArray[np.bool_]) -> RegionState:
    """Return the state of a region from the region's values in all possible worlds."""
    if inhabited.all():
        return RegionState.INHABITED
    return RegionState.UNKNOWN if inhabited.any() else RegionState.EMPTY
