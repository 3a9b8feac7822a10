"""Members of a union that share no source need not be compared with one another."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from provenn.catalogs import Extent
from provenn.catalogs.extent import union
from provenn.targets.gathering import calls_more, gathered, places
from provenn.targets.pruning import pruned
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Concat, Exclude, Step, walk

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
    for at, (one, read) in enumerate(zip(step.members, step.reads(needed), strict=True)):
        if at > 0:
            rest = _told_by_rows(scene, one, union(each.extent for each in step.members[:at]), read)
            if rest is None and not _calculates(step):
                return None
            members.append(_told_by_keys(scene, one, step.members[:at]) if rest is None else rest)
    apart = Concat(tuple(members), step.columns, True, step.sources)
    return Rewrite(apart, "each member gives only the sources that no earlier one gives")


def _told_by_rows(scene: Scene, one: Step, before: Extent, read: frozenset[str]) -> Step | None:
    """Return the sources of a member that are not in a set, if rows tell it, and no more is calculated for that."""
    ways = (gathered(scene, place, one.extent - before, read) for place in places(one))
    return next((made for made in ways if made is not None and not calls_more(scene, made, one)), None)


def _told_by_keys(scene: Scene, one: Step, earlier: Iterable[Step]) -> Step:
    """Return the sources of a member that no earlier one gives. What is calculated for it is calculated for these."""
    for other in earlier:
        if not scene.holds(scene.apart(one.extent, other.extent)):
            one = Exclude(one, pruned(other, frozenset()))
    return one


def _calculates(step: Concat) -> bool:
    return any(isinstance(one, Calculate) for one in walk(*step.members[1:]))


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
