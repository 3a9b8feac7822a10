"""Steps that are proved to give no source give none, without being computed."""

from __future__ import annotations

from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Concat, Nothing, Step

__all__ = ["empty_branches"]


def empty_branches(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Put nothing in the place of a step whose extent is proved to be empty."""
    if isinstance(step, Nothing):
        return None
    if scene.is_empty(step.extent):
        return Rewrite(Nothing(step.attributes), "no source can be in it", (scene.vanishing(step.extent),))
    if isinstance(step, Concat):
        return _without_empty_members(step, scene)
    return None


def _without_empty_members(step: Concat, scene: Scene) -> Rewrite | None:
    kept = [place for place, one in enumerate(step.members) if not scene.is_empty(one.extent)]
    if len(kept) == len(step.members):
        return None
    gone = [one for place, one in enumerate(step.members) if place not in kept]
    columns = tuple((one, tuple(given[place] for place in kept)) for one, given in step.columns)
    members = tuple(step.members[place] for place in kept)
    rest = Concat(members, columns, step.disjoint or len(members) == 1, step.sources)
    return Rewrite(rest, "members without sources add none", tuple(scene.vanishing(one.extent) for one in gone))
