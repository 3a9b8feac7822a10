"""Rule: merge selections, and select where the rows are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from provenn.catalogs import Extent
from provenn.catalogs.extent import everything, intersection, leaf
from provenn.catalogs.preimages import lift_extent, split_group_parts
from provenn.catalogs.set_labels import is_criterion
from provenn.criteria import AttributeIdentity
from provenn.criteria.writing import with_identities
from provenn.targets.match_steps import Matched
from provenn.targets.opaque_steps import FilterBySql
from provenn.targets.reference_steps import First, Group, Lookup, Partnered
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene, split_intersection
from provenn.targets.steps import Combine, Concat, Exclude, PlanStep, Restrict, Select, find_condition_attributes

__all__ = ["select_early"]


def select_early(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Move a selection before the preceding join, difference, union, lookup or grouping.

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
        case Select(input=(Partnered(input=input_step) | FilterBySql(input=input_step)) as filtered):
            early = replace(filtered, input=_select_from(step, input_step), sources=step.sources)
            return Rewrite(early, _BECAUSE)
        case Select(input=Lookup() as lookup):
            return _push_into_lookup(step, lookup)
        case Select(input=First() as first):
            return _push_into_groups(step, first)
        case Select(input=Group() as group):
            return _push_into_members_of_groups(step, group)
        case Select(input=Combine() as combination):
            return _push_into_members(step, combination)
        case Select(input=Concat() as union_step):
            return _push_into_union(step, union_step)
    return None


_BECAUSE = "selecting first leaves fewer rows for later steps"


def _select_from(step: Select, input_step: PlanStep) -> PlanStep:
    return Select(input_step, step.condition, input_step.extent & step.condition)


def _push_into_lookup(step: Select, lookup: Lookup) -> Rewrite | None:
    """Select from the sources and from the partners, each by the parts of the condition on its own attributes.

    Sound: a source without a partner among the selected partners has no partner, or one that is not selected.
    """
    looked_up = {} if lookup.keeps_all else {attribute.identity: own for attribute, own in lookup.columns}
    own_parts, partner_parts, rest = [], [], []
    for part in split_intersection(step.condition).values():
        reads = find_condition_attributes(part)
        if reads <= lookup.input.attributes.keys():
            own_parts.append(part)
        elif reads <= looked_up.keys():
            partner_parts.append(part)
        else:
            rest.append(part)
    if not own_parts and not partner_parts:
        return None
    input_step, other = lookup.input, lookup.other
    if own_parts:
        input_step = Select(input_step, intersection(own_parts), intersection([input_step.extent, *own_parts]))
    if partner_parts:
        condition = _rename_columns(intersection(partner_parts), looked_up)
        other = Select(other, condition, other.extent & condition)
    sources = intersection([lookup.sources, *own_parts, *partner_parts]) if rest else step.sources
    early = replace(lookup, input=input_step, other=other, sources=sources)
    return Rewrite(Select(early, intersection(rest), step.sources) if rest else early, _BECAUSE)


def _rename_columns(condition: Extent, names: Mapping[AttributeIdentity, AttributeIdentity]) -> Extent:
    """Return a condition on looked-up attributes as a condition on the attributes of the partner."""
    return condition.evaluate(lambda label: leaf(with_identities(label, names)), everything)


def _push_into_groups(step: Select, first: First) -> Rewrite | None:
    """Select groups before their first sources are sought; None if the condition does not select whole groups.

    Sound: all sources of a group fulfil such a condition, or none; so each remaining group is complete.
    """
    common, rest = split_group_parts(first.by, step.condition)
    if common == everything or not find_condition_attributes(common) <= first.input.attributes.keys():
        return None
    early = Select(first.input, common, first.input.extent & common)
    sources = step.sources if rest == everything else first.sources & common
    after = replace(first, input=early, sources=sources)
    return Rewrite(after if rest == everything else Select(after, rest, step.sources), _BECAUSE)


def _push_into_members_of_groups(step: Select, group: Group) -> Rewrite | None:
    """Select the members of groups by their key; None if the condition reads other attributes of the groups."""
    if not find_condition_attributes(step.condition) <= {attribute.identity for attribute in group.key}:
        return None
    condition = lift_extent(group.reference, step.condition)
    if not all(map(is_criterion, condition.labels)):
        return None
    early = Select(group.input, condition, group.input.extent & condition)
    return Rewrite(replace(group, input=early, sources=step.sources), _BECAUSE)


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
