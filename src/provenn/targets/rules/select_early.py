"""Rule: merge selections, and select where the rows are read."""

from __future__ import annotations

from provenn.catalogs.extent import intersection
from provenn.criteria import AttributeIdentity
from provenn.targets.match_steps import Matched
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene, split_intersection
from provenn.targets.steps import Combine, Concat, Exclude, PlanStep, Restrict, Select, find_condition_attributes

__all__ = ["select_early"]


def select_early(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Move a selection before the preceding join, difference or union.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import BRIGHT, STARS, TYCHO, show_rewrite
    >>> show_rewrite(select_early, verbs.select(BRIGHT, "plx > 10"))
    select(select(stars))
    -> select(stars)
    >>> show_rewrite(select_early, verbs.select(verbs.combine(STARS, TYCHO), "vmag < 6"))
    select(combine(stars, tycho))
    -> combine(select(stars), tycho)
    """
    if isinstance(step, Select) and isinstance(step.input, Select):
        both = step.input.condition & step.condition
        return Rewrite(Select(step.input.input, both, step.sources), "two selections become one")
    # A condition on an attribute in pieces is no set of its own: it must be evaluated after the concatenation.
    if not isinstance(step, Select) or not scene.is_proved(
        scene.state_equal(step.extent, step.input.extent & step.condition)
    ):
        return None
    match step:
        case Select(input=Restrict(input=input_step, other=other)):
            return Rewrite(Restrict(_select_from(step, input_step), other), _BECAUSE)
        case Select(input=Exclude(input=input_step, other=other)):
            return Rewrite(Exclude(_select_from(step, input_step), other), _BECAUSE)
        case Select(input=Matched(input=input_step, pairs=pairs) as matched):
            return Rewrite(matched.replace_inputs([_select_from(step, input_step), pairs]), _BECAUSE)
        case Select(input=Combine() as combination):
            return _push_into_members(step, combination)
        case Select(input=Concat() as union_step):
            return _push_into_union(step, union_step)
    return None


_BECAUSE = "selecting first leaves fewer rows for later steps"


def _select_from(step: Select, input_step: PlanStep) -> PlanStep:
    return Select(input_step, step.condition, input_step.extent & step.condition)


def _push_into_members(step: Select, combination: Combine) -> Rewrite | None:
    """Select from every member that has all attributes of a part of the condition."""
    remaining = dict(split_intersection(step.condition))
    members = list(combination.members)
    for position, member in enumerate(members):
        own = [
            part
            for part in split_intersection(step.condition).values()
            if find_condition_attributes(part) <= member.attributes.keys()
        ]
        if own:
            members[position] = Select(member, intersection(own), intersection([member.extent, *own]))
        for part in own:
            remaining.pop(part.digest, None)
    if len(remaining) == len(split_intersection(step.condition)):
        return None
    inside = Combine(tuple(members))
    rest = Select(inside, intersection(remaining.values()), step.sources) if remaining else inside
    return Rewrite(rest, _BECAUSE)


def _push_into_union(step: Select, union_step: Concat) -> Rewrite | None:
    """Select from each member, if all members have the same identities for the attributes of the condition."""
    reads = find_condition_attributes(step.condition)
    if any(
        set(identities) != {attribute.identity}
        for attribute, identities in union_step.columns
        if attribute.identity in reads
    ):
        return None
    members = tuple(_select_from(step, member) for member in union_step.members)
    return Rewrite(Concat(members, union_step.columns, union_step.is_disjoint, step.sources), _BECAUSE)
