"""Rule: do not compute steps that are proved to be empty."""

from __future__ import annotations

from provenn.criteria import AttributeIdentity
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Concat, Nothing, PlanStep

__all__ = ["empty_branches"]


def empty_branches(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Replace a step by nothing if its extent is proved to be empty.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import BRIGHT, show_rewrite
    >>> show_rewrite(empty_branches, verbs.select(BRIGHT, "vmag > 7"))
    select(select(stars))
    -> nothing
    """
    if isinstance(step, Nothing):
        return None
    if scene.is_empty(step.extent):
        return Rewrite(Nothing(step.attributes), "proved to have no sources", (scene.state_empty(step.extent),))
    if isinstance(step, Concat):
        return _drop_empty_members(step, scene)
    return None


def _drop_empty_members(step: Concat, scene: Scene) -> Rewrite | None:
    """Drop the members of a union that are proved to be empty."""
    positions = [position for position, member in enumerate(step.members) if not scene.is_empty(member.extent)]
    if len(positions) == len(step.members):
        return None
    dropped = [member for position, member in enumerate(step.members) if position not in positions]
    columns = tuple(
        (attribute, tuple(identities[position] for position in positions)) for attribute, identities in step.columns
    )
    members = tuple(step.members[position] for position in positions)
    rest = Concat(members, columns, step.is_disjoint or len(members) == 1, step.sources)
    return Rewrite(
        rest, "members without sources add none", tuple(scene.state_empty(member.extent) for member in dropped)
    )
