"""Rule: replace joins of catalogs that come from the same rows, because each row has or gives all attributes."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.criteria import AttributeIdentity
from provenn.targets.costs import compute_burden
from provenn.targets.gathering import find_places, find_reused_fragments, gather_rows, needs_more_calls
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Combine, PlanStep, Scan

__all__ = ["same_rows"]


def same_rows(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Take all attributes of a step, or of several members of a join, from the rows of one place.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import BRIGHT, STARS, show_rewrite
    >>> show_rewrite(same_rows, verbs.combine(BRIGHT, STARS))
    combine(select(stars), stars)
    -> select(stars)
    """
    if not step.inputs:
        return None
    rewrite = _find_cheapest(step, find_places(step), needed, scene)
    if rewrite is not None:
        return rewrite
    return _merge_members(step, needed, scene) if isinstance(step, Combine) else None


def _find_cheapest(
    step: PlanStep, from_places: Sequence[PlanStep], needed: frozenset[AttributeIdentity], scene: Scene
) -> Rewrite | None:
    """Return the cheapest replacement of a step by the rows of a place; None if nothing is cheaper."""
    best, least = None, compute_burden(scene, step, needed)
    fragments_read = find_reused_fragments(step)
    for place in from_places:
        gathered = gather_rows(scene, place, step.extent, needed)
        if (
            gathered is None
            or gathered.signature == step.signature
            or not fragments_read <= find_reused_fragments(gathered)
        ):
            continue  # never replace a read of a fragment, whatever the estimated cost
        burden = compute_burden(scene, gathered, needed)
        if burden < least and not needs_more_calls(scene, gathered, step):
            statements = (scene.state_inside(step.extent, place.extent),)
            best, least = Rewrite(gathered, _explain_place(place), statements), burden
    return best


def _merge_members(step: Combine, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Replace at least two members of a join by the rows of one place."""
    reads = step.reads(needed)
    for place in find_places(step):
        positions = [
            position
            for position, (member, read) in enumerate(zip(step.members, reads, strict=True))
            if gather_rows(scene, place, member.extent, read) is not None
        ]
        if len(positions) < 2:
            continue
        combination = Combine(tuple(step.members[position] for position in positions))
        rewrite = _find_cheapest(
            combination, [place], frozenset().union(*(reads[position] for position in positions)), scene
        )
        if rewrite is not None:
            rest = [member for position, member in enumerate(step.members) if position not in positions]
            return Rewrite(Combine((rewrite.step, *rest)), rewrite.because, rewrite.statements)
    return None


def _explain_place(place: PlanStep) -> str:
    if isinstance(place, Scan):
        key = ", ".join(place.base.key)
        return f"one base catalog has every requested attribute, and {key} identifies its rows"
    return "one table has every requested attribute"
