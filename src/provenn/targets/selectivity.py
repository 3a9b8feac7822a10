"""Estimate the share of sources that a condition keeps. A guess, never a proof: bounds are in `provenn.targets.bounds`.

The first of these that applies decides: the same selection was counted elsewhere; a region of the sky keeps its share
of the sky; any other condition on a term keeps a third, however many comparisons it is made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from provenn.catalogs import Extent
from provenn.criteria import Atom
from provenn.errors import FilesMissingError
from provenn.sky.areas import measure_sky_share
from provenn.sky.calls import read_call
from provenn.targets.scene import Scene, split_intersection

__all__ = ["KEPT_SHARE", "estimate_kept_share"]

KEPT_SHARE: Final = 1 / 3
_NULL_SHARE: Final = 0.05
_MOST_CONDITIONS: Final = 3
"""How many conditions without any statistics count: conditions on the same sources are seldom independent."""


def estimate_kept_share(scene: Scene, condition: Extent) -> float:
    """Return the estimated share of sources for which a condition is true."""
    counted = _find_counted_share(scene, condition)
    if counted is not None:
        return counted
    atoms = {atom.label: atom for selected, _ in scene.selections for atom in selected.atoms}
    known, guessed = 1.0, 0
    for share in _iterate_shares(split_intersection(condition).values(), atoms):
        if share is None:
            guessed += 1
        else:
            known *= share
    return known * KEPT_SHARE ** min(guessed, _MOST_CONDITIONS)


def _find_counted_share(scene: Scene, condition: Extent) -> float | None:
    """Return the share that the same condition keeps of other sources, where both were counted."""
    for selected, catalog in scene.selections:
        if selected.extent.digest == condition.digest:
            kept = scene.rows.get(catalog.extent.digest)
            whole = scene.rows.get(catalog.dependencies[0].extent.digest)
            if kept is not None and whole:
                return min(1.0, kept / whole)
    return None


def _iterate_shares(parts: Iterable[Extent], atoms: Mapping[str, Atom]) -> Iterator[float | None]:
    """Yield the share of each condition; None for a condition without statistics.

    All comparisons of one term are one condition, and a comparison implies that the term is not NULL.
    """
    compared: set[str] = set()
    for part in parts:
        region_share = None if part.label is None else _measure_region(part.label)
        atom = atoms.get(part.label or "")
        if region_share is not None:
            yield 1 - region_share if part.complemented else region_share
        elif atom is not None and atom.cut is None and atom.label.endswith("IS NOT NULL"):
            if part.complemented:
                yield _NULL_SHARE
        elif atom is None or atom.term not in compared:
            compared.update([] if atom is None else [atom.term])
            yield None


def _measure_region(label: str) -> float | None:
    """Return the share of the sky in the region of a label; None for other labels, and for a MOC without its file."""
    try:
        position_and_region = read_call(label)
    except FilesMissingError:
        return None
    return None if position_and_region is None else measure_sky_share(position_and_region[1])
