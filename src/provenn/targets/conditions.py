"""Conditions for Spark: a set of atoms, as SQL that is TRUE for the rows of the set.

For a row outside an atom, the atom is FALSE or NULL, so the complement of an atom is ``IS NOT TRUE``. If a catalog's
criterion says the same as several parts together, the SQL uses the criterion as written: Spark can do more with
``x > 5`` than with the parts.
"""

from __future__ import annotations

from collections.abc import Sequence

from provenn import deadline
from provenn.catalogs import Attribute, Extent
from provenn.catalogs.sample_sources import parse_sample_rule
from provenn.criteria import backquoted, identities_in, parse_criterion, render
from provenn.sky import FUNCTIONS as REGIONS
from provenn.targets.scene import Scene, split_intersection
from provenn.targets.steps import Select, find_condition_attributes, find_key

__all__ = ["write_condition_sql"]


def write_condition_sql(scene: Scene, step: Select) -> str:
    """Return the condition of a selection as SQL, with attributes named by identity."""
    return _write_all(_ConditionContext(scene, step), dict(split_intersection(step.condition)))


class _ConditionContext:
    """The context of a condition: the readable attributes, and the extent of the input rows."""

    def __init__(self, scene: Scene, step: Select) -> None:
        self.scene = scene
        self.input_extent = step.input.extent
        attributes = step.input.attributes
        # In canonical text the name of an attribute is its identity, and so is the name of its column in a plan.
        self.by_name: dict[str, Attribute] = dict(attributes.items())
        self.names = {identity: identity for identity in attributes}
        self.key = find_key(attributes)
        self.readable = find_condition_attributes(step.condition).union(self.key)

    def contains_rows(self, part: Extent) -> bool:
        """Return whether a set contains all input rows."""
        return part.digest in split_intersection(self.input_extent) or self.scene.is_proved(
            self.scene.state_inside(self.input_extent, part)
        )


def _write_all(context: _ConditionContext, remaining: dict[str, Extent]) -> str:
    """Return the condition that a row is in all of some sets."""
    texts = []
    deadline.check()
    for condition, _ in context.scene.selections:
        extent = condition.extent
        own = split_intersection(extent)
        if extent.label is not None or not own.keys() & remaining.keys():
            continue  # a single atom is written below
        # A criterion may read attributes that its set does not depend on: `(x > 1 AND NULL) OR y > 0` is `y > 0`.
        if context.readable.issuperset(identities_in(condition.criterion)) and all(
            digest in remaining or context.contains_rows(part) for digest, part in own.items()
        ):
            criterion = parse_criterion(condition.criterion, context.by_name, canonical=True)
            texts.append(f"({render(criterion, context.names)})")
            remaining = {digest: part for digest, part in remaining.items() if digest not in own}
    outside = [part for part in remaining.values() if part.complemented and _is_region(part)]
    if len(outside) > 1:
        texts.append(f"(({_write_any_region(context, outside)}) IS NOT TRUE)")
        remaining = {digest: part for digest, part in remaining.items() if part not in outside}
    texts += [_write_part(context, part) for part in remaining.values()]
    return " AND ".join(texts) or "true"


def _write_part(context: _ConditionContext, part: Extent) -> str:
    """Return the condition that a row is in a set."""
    if part.label is None:  # the complement of an intersection: a row is outside one of its sets
        regions = [~inner_part for inner_part in part.parts if inner_part.complemented and _is_region(inner_part)]
        united = [f"({_write_any_region(context, regions)})"] if len(regions) > 1 else []
        rest = [inner_part for inner_part in part.parts if not united or ~inner_part not in regions]
        inside = [*united, *(_write_all(context, dict(split_intersection(~inner_part))) for inner_part in rest)]
        return f"({' OR '.join(inside) or 'false'})"
    text = _write_atom(context, part.label)
    return f"(({text}) IS NOT TRUE)" if part.complemented else f"({text})"


def _is_region(part: Extent) -> bool:
    """Return whether a set is a region of the sky, or the complement of one."""
    return part.label is not None and part.label.partition("(")[0] in REGIONS


def _write_any_region(context: _ConditionContext, regions: Sequence[Extent]) -> str:
    """Return a single criterion for membership in any of some regions, because Spark plans it faster.

    The label of an atom is a criterion, so the labels joined by OR are TRUE where any label is.
    """
    criterion = " OR ".join(str(region.label) for region in regions)
    return render(parse_criterion(criterion, context.by_name), context.names)


def _write_atom(context: _ConditionContext, label: str) -> str:
    """Return the SQL of an atom: a criterion or a sample."""
    rule = parse_sample_rule(label)
    if rule is None:
        return render(parse_criterion(label, context.by_name, canonical=True), context.names)
    seed, threshold = rule
    key = ", ".join(map(backquoted, context.key))
    return f"(xxhash64(CAST('{seed}' AS BIGINT), {key}) & {2**63 - 1}L) < {threshold}L"
