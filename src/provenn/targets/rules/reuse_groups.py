"""Rule: read stored groups instead of grouping, and keep the requested groups."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.criteria import AttributeIdentity
from provenn.targets.costs import estimate_rows
from provenn.targets.pruning import prune_step
from provenn.targets.reference_steps import Group
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, FragmentScan, PlanStep, Restrict, find_key, walk_steps

__all__ = ["reuse_groups"]


def reuse_groups(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Read a fragment with the groups of more members, and restrict it to the sources by which members were chosen.

    Sound: the value of an aggregate belongs to the members of its group, so that a fragment with the same attribute has
    the same value for every group that it shares with the step. The sources of the restricted fragment are proved to be
    those of the step.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import BRIGHT, DETECTIONS, show_rewrite, store
    >>> counted = verbs.group(DETECTIONS, "star", {"n": "count(*)"}, population="star")
    >>> of_bright = verbs.lookup(DETECTIONS, BRIGHT, on="star", attributes=[], missing="drop")
    >>> again = verbs.group(of_bright, "star", {"n": "count(*)"}, population="star")
    >>> show_rewrite(reuse_groups, again, stored=[store(counted)])
    group(lookup(detections, select(stars)))
    -> restrict(fragment #1, select(stars))
    """
    if not isinstance(step, Group) or not needed:
        return None
    for stored in scene.find_stored(needed):
        if not needed <= stored.attributes.keys() or find_key(stored.attributes) != find_key(step.attributes):
            continue
        if not scene.lies_in(step.extent, stored.extent):
            continue
        for other in _find_choosing_steps(step, scene):
            statement = scene.state_equal(step.extent, stored.extent & other.extent)
            if scene.is_proved(statement):
                because = f"fragment #{stored.fragment.id} has all members of these groups"
                return Rewrite(Restrict(stored, other), because, (statement,))
    return None


def _find_choosing_steps(step: Group, scene: Scene) -> Iterator[PlanStep]:
    """Yield the steps below a grouping that have sources of the groups' population, the smallest first."""
    key = find_key(step.attributes)
    candidates = [ancestor for ancestor in walk_steps(step.input) if find_key(ancestor.attributes) == key]
    for candidate in sorted(candidates, key=lambda candidate: estimate_rows(scene, candidate)):
        pruned = prune_step(candidate, frozenset())
        calculates = any(isinstance(ancestor, Calculate) for ancestor in walk_steps(pruned))
        if not calculates and not isinstance(pruned, FragmentScan):
            yield pruned
