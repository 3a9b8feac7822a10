"""Conditions for Spark: a set over atoms, as SQL that is TRUE for the rows whose sources are in it.

A source that is not in an atom has FALSE or NULL there, so that the complement of an atom is ``IS NOT TRUE``. Where
a criterion that somebody wrote says the same as several parts together, it is taken as it was written: Spark can do
more with ``x > 5`` than with its parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from provenn.catalogs import Extent
from provenn.catalogs.sample_sources import sample_rule
from provenn.criteria import backquoted, parse_criterion, render
from provenn.sky import FUNCTIONS as REGIONS
from provenn.targets.scene import Scene, parts
from provenn.targets.steps import Attributes, Select, condition_reads, key_of

__all__ = ["condition_sql"]


def condition_sql(scene: Scene, step: Select) -> str:
    """Return the condition of a selection, with attributes called by identity."""
    return _all_of(_Writing(scene, step), dict(parts(step.condition)))


class _Writing:
    """What is needed to write a condition: which attributes are read, and what holds of every row already."""

    def __init__(self, scene: Scene, step: Select) -> None:
        self.scene = scene
        self.given = step.input.extent
        self.attributes: Attributes = step.input.attributes
        self.names = {identity: identity for identity in self.attributes}
        self.key = key_of(self.attributes)
        self.read = condition_reads(step.condition).union(self.key)

    def holds(self, part: Extent) -> bool:
        """Whether all rows are in a set."""
        return part.digest in parts(self.given) or self.scene.holds(self.scene.inside(self.given, part))


def _all_of(writing: _Writing, left: dict[str, Extent]) -> str:
    """Return the condition that a row is in all of some sets."""
    texts = []
    for extent, catalog in writing.scene.selections:
        own = parts(extent)
        if extent.label is not None or not own.keys() & left.keys():
            continue  # one atom is written below as it is
        if condition_reads(extent) <= writing.read and all(
            digest in left or writing.holds(one) for digest, one in own.items()
        ):
            criterion = parse_criterion(catalog.selection.criterion, writing.attributes, canonical=True)
            texts.append(f"({render(criterion, writing.names)})")
            left = {digest: one for digest, one in left.items() if digest not in own}
    outside = [one for one in left.values() if one.complemented and _is_region(one)]
    if len(outside) > 1:
        texts.append(f"(({_in_any(writing, outside)}) IS NOT TRUE)")
        left = {digest: one for digest, one in left.items() if one not in outside}
    texts += [_one(writing, one) for one in left.values()]
    return " AND ".join(texts) or "true"


def _one(writing: _Writing, part: Extent) -> str:
    if part.label is None:  # the complement of an intersection: a row is outside one of its sets
        regions = [~one for one in part.parts if one.complemented and _is_region(one)]
        united = [f"({_in_any(writing, regions)})"] if len(regions) > 1 else []
        rest = [one for one in part.parts if not united or ~one not in regions]
        inside = [*united, *(_all_of(writing, dict(parts(~one))) for one in rest)]
        return f"({' OR '.join(inside) or 'false'})"
    text = _atom(writing, part.label)
    return f"(({text}) IS NOT TRUE)" if part.complemented else f"({text})"


def _is_region(part: Extent) -> bool:
    """Tell whether a set is one region of the sky, or all but one."""
    return part.label is not None and part.label.partition("(")[0] in REGIONS


def _in_any(writing: _Writing, regions: Sequence[Extent]) -> str:
    """Return the condition that a row is in any of some regions: as one criterion, which Spark plans faster.

    An atom's label is its criterion, so that the criterion joined of them by OR is TRUE where any of them is.
    """
    criterion = " OR ".join(str(one.label) for one in regions)
    return render(parse_criterion(criterion, writing.attributes), writing.names)


def _atom(writing: _Writing, label: str) -> str:
    rule = sample_rule(label)
    if rule is None:
        return render(parse_criterion(label, writing.attributes, canonical=True), writing.names)
    seed, threshold = rule
    key = ", ".join(map(backquoted, writing.key))
    return f"(xxhash64(CAST('{seed}' AS BIGINT), {key}) & {2**63 - 1}L) < {threshold}L"
