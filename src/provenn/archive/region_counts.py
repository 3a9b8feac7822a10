"""What the numbers of sources tell of the regions of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import compress

import numpy as np

from provenn.archive.bounding import bound_regions, bound_sources
from provenn.archive.comparison import Comparison, RegionKnown
from provenn.archive.region_support import build_regions
from provenn.database.transactions import Reading
from provenn.display import RegionState
from provenn.display.row_counts import Rows
from provenn.logic import Relationship

__all__ = ["count_regions"]


def count_regions(reading: Reading, comparison: Comparison) -> Comparison:
    """Return the comparison with the number of sources of each region, as far as proved, and what the numbers tell.

    The number outside all catalogs is unknown, and None. The facts leave a region open that the counts decide, for
    instance if a catalog has more sources than a catalog inside it.
    """
    terms = list(build_regions(comparison.digests, comparison.regions))
    is_open = [region.state is not RegionState.EMPTY for region in comparison.regions[1:]]
    bounds = iter(bound_regions(reading, list(compress(terms[1:], is_open))))
    numbers = (None, *(Rows.between(*(next(bounds) if flag else (0, 0))) for flag in is_open))
    states = [_decide_state(region, rows) for region, rows in zip(comparison.regions, numbers, strict=True)]
    counted = [place for place, region in enumerate(comparison.regions) if region.state is not states[place]]
    regions = tuple(
        replace(region, state=state, sources=sources)
        for region, state, sources in zip(comparison.regions, states, numbers, strict=True)
    )
    if not counted:
        return replace(comparison, regions=regions)
    declared = {fact.id: fact for place in counted for fact in bound_sources(reading, terms[place]).rests_on}
    declared |= {fact.id: fact for fact in comparison.rests_on}
    return replace(
        comparison,
        hypercubes=_narrow(comparison.hypercubes, states),
        regions=regions,
        rests_on=tuple(declared[number] for number in sorted(declared)),
    )


def _decide_state(region: RegionKnown, rows: Rows | None) -> RegionState:
    """Return the state of a region, derived from the facts, and otherwise from its number of sources."""
    if region.state is not RegionState.UNKNOWN or rows is None:
        return region.state
    if rows.low:
        return RegionState.INHABITED
    return RegionState.EMPTY if rows.high == 0 else RegionState.UNKNOWN


def _narrow(hypercubes: Relationship, states: Sequence[RegionState]) -> Relationship:
    """Return the hypercubes in which each region has its state."""
    is_inhabited = np.array([state is RegionState.INHABITED for state in states])
    is_open = np.array([state is RegionState.UNKNOWN for state in states])
    kept = [cube for cube in hypercubes.arrays() if (is_open | (cube.ravel() == is_inhabited)).all()]
    return Relationship.from_arrays(hypercubes.labels, kept)
