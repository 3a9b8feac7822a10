"""Rule: drop members of intersections, differences and unions that change nothing."""

from __future__ import annotations

from provenn.catalogs.extent import union
from provenn.criteria import AttributeIdentity
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Concat, Exclude, PlanStep, Restrict

__all__ = ["redundant_members"]


def redundant_members(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Drop the redundant member of an intersection, a difference or a union.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.logic import subset
    >>> from provenn.targets.rules.examples import BRIGHT, STARS, TYCHO, show_rewrite
    >>> show_rewrite(redundant_members, verbs.restrict(BRIGHT, STARS))
    restrict(select(stars), stars)
    -> select(stars)
    >>> show_rewrite(redundant_members, verbs.restrict(STARS, TYCHO), subset(STARS.digest, TYCHO.digest))
    restrict(stars, tycho)
    -> stars
    """
    match step:
        case Restrict(input=input_step, other=other) if scene.lies_in(input_step.extent, other.extent):
            statement = scene.state_inside(input_step.extent, other.extent)
            return Rewrite(input_step, "the other catalog has all these sources", (statement,))
        case Exclude(input=input_step, other=other):
            statement = scene.state_disjoint(input_step.extent, other.extent)
            if scene.is_proved(statement):
                return Rewrite(input_step, "the other catalog has none of these sources", (statement,))
        case Concat(members=(member,)) if all(
            identities == (attribute.identity,) for attribute, identities in step.columns
        ):
            return Rewrite(member, "it is the only member")
        case Concat():
            return _shrink_union(step, needed, scene)
    return None


def _shrink_union(step: Concat, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Drop a member if further members give all sources of the member with the same values.

    Earlier members always qualify; later members only if all members give the same values. If no two members share a
    source, one question decides: only a member without sources is redundant, and `empty_branches` drops that.
    """
    if all(map(scene.is_proved, scene.state_apart(member.extent for member in step.members))):
        return None
    columns = [identities for attribute, identities in step.columns if attribute.identity in needed]
    for position in reversed(range(len(step.members))):
        is_uniform = all(len(set(identities)) == 1 for identities in columns)
        others = [index for index in range(len(step.members)) if index != position and (is_uniform or index < position)]
        if not others:
            continue
        rest = union(step.members[index].extent for index in others)
        if scene.lies_in(step.members[position].extent, rest):
            kept = [index for index in range(len(step.members)) if index != position]
            narrowed = tuple(
                (attribute, tuple(identities[index] for index in kept)) for attribute, identities in step.columns
            )
            members = tuple(step.members[index] for index in kept)
            smaller = Concat(members, narrowed, step.is_disjoint or len(members) == 1, step.sources)
            statement = scene.state_inside(step.members[position].extent, rest)
            return Rewrite(smaller, "the other members provide all its sources", (statement,))
    return None
