"""Selections are merged, and done where the rows are read."""

from __future__ import annotations

from provenn.catalogs.extent import intersection
from provenn.targets.match_steps import Matched
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene, parts
from provenn.targets.steps import Combine, Concat, Exclude, Restrict, Select, Step, condition_reads

__all__ = ["select_early"]


def select_early(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Move a selection before the join, the difference or the union that it follows."""
    if isinstance(step, Select) and isinstance(step.input, Select):
        both = step.input.condition & step.condition
        return Rewrite(Select(step.input.input, both, step.sources), "two selections are one")
    # A condition on what a concatenation gives in pieces is no set of its own: it can only be told after it.
    if not isinstance(step, Select) or not scene.holds(scene.same(step.extent, step.input.extent & step.condition)):
        return None
    match step:
        case Select(input=Restrict(input=one, other=other)):
            return Rewrite(Restrict(_selected(step, one), other), _BECAUSE)
        case Select(input=Exclude(input=one, other=other)):
            return Rewrite(Exclude(_selected(step, one), other), _BECAUSE)
        case Select(input=Matched(input=one, pairs=pairs) as matched):
            return Rewrite(matched.on([_selected(step, one), pairs]), _BECAUSE)
        case Select(input=Combine() as joined):
            return _into_members(step, joined)
        case Select(input=Concat() as together):
            return _into_union(step, together)
    return None


_BECAUSE = "a row that is not selected need not be brought along"


def _selected(step: Select, one: Step) -> Step:
    return Select(one, step.condition, one.extent & step.condition)


def _into_members(step: Select, joined: Combine) -> Rewrite | None:
    """Select from every member that has the attributes which a part of the condition reads."""
    left = dict(parts(step.condition))
    members = list(joined.members)
    for at, one in enumerate(members):
        own = [part for part in parts(step.condition).values() if condition_reads(part) <= one.attributes.keys()]
        if own:
            members[at] = Select(one, intersection(own), intersection([one.extent, *own]))
        for part in own:
            left.pop(part.digest, None)
    if len(left) == len(parts(step.condition)):
        return None
    inside = Combine(tuple(members))
    rest = Select(inside, intersection(left.values()), step.sources) if left else inside
    return Rewrite(rest, _BECAUSE)


def _into_union(step: Select, together: Concat) -> Rewrite | None:
    """Select from each member, if all members mean the same by what the condition reads."""
    reads = condition_reads(step.condition)
    if any(set(given) != {one.identity} for one, given in together.columns if one.identity in reads):
        return None
    members = tuple(_selected(step, one) for one in together.members)
    return Rewrite(Concat(members, together.columns, together.disjoint, step.sources), _BECAUSE)
