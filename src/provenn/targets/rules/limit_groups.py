"""Rule: group only the members of the requested groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from provenn.catalogs.preimages import lift_extent
from provenn.criteria import AttributeIdentity
from provenn.targets.costs import estimate_rows
from provenn.targets.pruning import prune_step
from provenn.targets.reference_steps import Group, Partnered
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, PlanStep, Restrict, find_key, walk_steps

__all__ = ["limit_groups"]

_SMALL_SHARE = 0.5
"""Members are chosen before they are grouped if the requested groups are at most this share of all groups."""


def limit_groups(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Choose the members of the requested groups before grouping, if few groups are requested.

    Sound: whether a member is chosen depends on its group alone, so that every requested group keeps all its members.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import BRIGHT, DETECTIONS, show_rewrite
    >>> counted = verbs.group(DETECTIONS, "star", {"n": "count(*)"}, population="star")
    >>> show_rewrite(limit_groups, verbs.restrict(counted, verbs.select(BRIGHT, "plx > 100 AND plx < 101")))
    restrict(group(detections), select(select(stars)))
    -> restrict(group(partnered(detections, select(select(stars)))), select(select(stars)))
    """
    match step:
        case Restrict(input=Group() as group, other=other):
            limited = _limit_group(group, [other], scene)
            return None if limited is None else Rewrite(Restrict(limited, other), _BECAUSE)
        case Combine(members=members):
            for position, member in enumerate(members):
                if isinstance(member, Group):
                    others = [other for place, other in enumerate(members) if place != position]
                    limited = _limit_group(member, others, scene)
                    if limited is not None:
                        changed = (*members[:position], limited, *members[position + 1 :])
                        return Rewrite(Combine(changed), _BECAUSE)
    return None


_BECAUSE = "only members of the requested groups are grouped"


def _limit_group(group: Group, others: Sequence[PlanStep], scene: Scene) -> Group | None:
    """Return a grouping of the members whose groups are in the smallest of some steps; None if that saves little."""
    if any(isinstance(ancestor, Partnered) for ancestor in walk_steps(group.input)) or scene.find_stored(
        attribute.identity for attribute, _ in group.values
    ):
        return None
    for other in sorted(_list_cheap_keys(others), key=lambda candidate: estimate_rows(scene, candidate)):
        if estimate_rows(scene, other) > _SMALL_SHARE * estimate_rows(scene, group):
            return None
        key, own = tuple(find_key(other.attributes)), group.reference.identities
        sources = group.input.extent & lift_extent(group.reference, other.extent)
        chosen = Partnered(group.input, other, own, key, True, sources)
        return replace(group, input=chosen, sources=group.sources & other.extent)
    return None


def _list_cheap_keys(steps: Sequence[PlanStep]) -> Iterator[PlanStep]:
    """Yield steps reduced to their keys, without those whose sources depend on a calculator or on a grouping."""
    for step in steps:
        pruned = prune_step(step, frozenset())
        if not any(isinstance(ancestor, Calculate | Group) for ancestor in walk_steps(pruned)):
            yield pruned
