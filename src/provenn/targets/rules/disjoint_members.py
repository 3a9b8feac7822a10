"""Members of a union that share no source need not be compared with one another."""

from __future__ import annotations

from itertools import combinations

from provenn.catalogs.extent import union
from provenn.targets.gathering import gathered, places
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Concat, Step

__all__ = ["disjoint_members"]


def disjoint_members(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    """See that members share no source; or let each one give only the sources that no earlier one gives."""
    if not isinstance(step, Concat):
        return None
    if step.disjoint:
        return _flat(step)
    pairs = [scene.apart(one.extent, other.extent) for one, other in combinations(step.members, 2)]
    if all(map(scene.holds, pairs)):
        apart = Concat(step.members, step.columns, True, step.sources)
        return Rewrite(apart, "no two members share a source", tuple(pairs))
    members = [step.members[0]]
    for at, read in enumerate(step.reads(needed)):
        if at == 0:
            continue
        one, before = step.members[at], union(each.extent for each in step.members[:at])
        found = (gathered(scene, place, one.extent - before, read) for place in places(one))
        rest = next((each for each in found if each is not None), None)
        if rest is None:
            return None
        members.append(rest)
    apart = Concat(tuple(members), step.columns, True, step.sources)
    return Rewrite(apart, "a row tells whether an earlier member gives its source too")


def _flat(step: Concat) -> Rewrite | None:
    """Put the members of a union in a union beside the others."""
    for at, one in enumerate(step.members):
        if isinstance(one, Concat) and one.disjoint:
            inner = {each.identity: given for each, given in one.columns}
            columns = tuple(
                (each, (*given[:at], *inner[given[at]], *given[at + 1 :]))
                for each, given in step.columns
                if given[at] in inner
            )
            members = (*step.members[:at], *one.members, *step.members[at + 1 :])
            return Rewrite(Concat(members, columns, True, step.sources), "a union of unions is one union")
    return None
