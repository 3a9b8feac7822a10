"""Members of intersections, differences and unions that change nothing are dropped."""

from __future__ import annotations

from provenn.catalogs.extent import union
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Concat, Exclude, Restrict, Step

__all__ = ["redundant_members"]


def redundant_members(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    """Drop what an intersection, a difference or a union does without."""
    match step:
        case Restrict(input=one, other=other) if scene.lies_in(one.extent, other.extent):
            said = scene.inside(one.extent, other.extent)
            return Rewrite(one, "all its sources are in the other one too", (said,))
        case Exclude(input=one, other=other):
            said = scene.apart(one.extent, other.extent)
            if scene.holds(said):
                return Rewrite(one, "none of its sources is in the other one", (said,))
        case Concat(members=(one,)) if all(given == (each.identity,) for each, given in step.columns):
            return Rewrite(one, "it is the only member")
        case Concat():
            return _smaller_union(step, needed, scene)
    return None


def _smaller_union(step: Concat, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    """Drop a member whose sources others give with the same values: earlier ones, or any, if all give the same."""
    columns = [given for one, given in step.columns if one.identity in needed]
    for place in reversed(range(len(step.members))):
        alike = all(len(set(given)) == 1 for given in columns)
        others = [at for at in range(len(step.members)) if at != place and (alike or at < place)]
        if not others:
            continue
        rest = union(step.members[at].extent for at in others)
        if scene.lies_in(step.members[place].extent, rest):
            kept = [at for at in range(len(step.members)) if at != place]
            narrowed = tuple((one, tuple(given[at] for at in kept)) for one, given in step.columns)
            members = tuple(step.members[at] for at in kept)
            smaller = Concat(members, narrowed, step.disjoint or len(members) == 1, step.sources)
            said = scene.inside(step.members[place].extent, rest)
            return Rewrite(smaller, "the other members give all its sources", (said,))
    return None
