"""Rule: call calculators last, for the remaining sources only."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial

from provenn.catalogs.extent import intersection
from provenn.criteria import AttributeIdentity
from provenn.targets.match_steps import Matched
from provenn.targets.opaque_steps import FilterBySql
from provenn.targets.reference_steps import First, Lookup, Partnered
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene, split_intersection
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    PlanStep,
    Restrict,
    Select,
    find_condition_attributes,
    walk_steps,
)

__all__ = ["limit_calculators"]


def limit_calculators(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Move a derivation behind a following selection, difference or join.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import STARS, TYCHO, calculate, show_rewrite
    >>> show_rewrite(limit_calculators, verbs.select(calculate(STARS), "vmag < 6"))
    select(calculate(stars))
    -> calculate(select(stars))
    >>> show_rewrite(limit_calculators, verbs.restrict(calculate(STARS), TYCHO))
    restrict(calculate(stars), tycho)
    -> calculate(restrict(stars, tycho))
    """
    match step:
        case Restrict(input=(Derive() | Calculate()) as derivation, other=other) if _is_by_row(derivation):
            return _move_behind(derivation, Restrict(derivation.inputs[0], other))
        case Exclude(input=(Derive() | Calculate()) as derivation, other=other) if _is_by_row(derivation):
            return _move_behind(derivation, Exclude(derivation.inputs[0], other))
        case Matched(input=(Derive() | Calculate()) as derivation) if _is_by_row(derivation):
            return _move_behind(derivation, step.replace_inputs([derivation.inputs[0], step.pairs]))
        case Partnered(input=(Derive() | Calculate()) as derivation) if _is_by_row(derivation):
            return _move_behind_filter(step, derivation, step.own)
        case FilterBySql(input=(Derive() | Calculate()) as derivation) if _is_by_row(derivation):
            return _move_behind_filter(step, derivation, step.selection.reads)
        case First(input=(Derive() | Calculate()) as derivation) if _is_by_row(derivation):
            return _move_behind_filter(step, derivation, step.read_attributes)
        case Lookup(input=Calculate() as derivation, keeps_all=False) if _is_by_row(derivation):
            return _move_behind_filter(step, derivation, step.reference.identities)
        case Select(input=(Derive() | Calculate()) as derivation) if _is_by_row(derivation):
            return _move_behind_selection(step, derivation)
        case Restrict(input=Concat() as union_step, other=other) if _calculates(union_step):
            return _push_into_members(step, union_step, lambda member: Restrict(member, other))
        case Exclude(input=Concat() as union_step, other=other) if _calculates(union_step):
            return _push_into_members(step, union_step, lambda member: Exclude(member, other))
        case Partnered(input=Concat() as union_step) | FilterBySql(input=Concat() as union_step) if _calculates(
            union_step
        ):
            return _push_into_members(
                step,
                union_step,
                lambda member: replace(step, input=member, sources=member.extent & step.sources),
            )
        case Combine(members=members):
            for position, member in enumerate(members):
                before, after = members[:position], members[position + 1 :]
                if isinstance(member, Derive | Calculate) and _is_by_row(member):
                    return _move_behind(member, Combine((*before, member.inputs[0], *after)))
                if isinstance(member, Concat) and _calculates(member):
                    return _push_into_members(step, member, partial(_join_member, before, after))
    return None


def _join_member(before: tuple[PlanStep, ...], after: tuple[PlanStep, ...], member: PlanStep) -> PlanStep:
    return Combine((*before, member, *after))


def _push_into_members(step: PlanStep, union_step: Concat, limit_member: Callable[[PlanStep], PlanStep]) -> Rewrite:
    """Push a restriction of a union into the members.

    Calculators in the members can then move behind the restriction.
    """
    members = tuple(map(limit_member, union_step.members))
    added = [attribute for identity, attribute in step.attributes.items() if identity not in union_step.attributes]
    columns = (*union_step.columns, *((attribute, (attribute.identity,) * len(members)) for attribute in added))
    return Rewrite(
        Concat(members, columns, union_step.is_disjoint, step.extent),
        "a union is calculated only for the remaining sources",
    )


def _move_behind(derivation: Derive | Calculate, rest: PlanStep) -> Rewrite:
    """Put a derivation behind the rest; drop the derivation if the rest has the attributes already."""
    new = derivation.attributes.keys() - derivation.inputs[0].attributes.keys()
    if new <= rest.attributes.keys():
        return Rewrite(rest, "another member already provides it")
    return Rewrite(
        derivation.replace_inputs([rest]), f"{_list_names(derivation)} is derived only for the remaining sources"
    )


def _move_behind_filter(
    step: Partnered | FilterBySql | First | Lookup, derivation: Derive | Calculate, reads: Iterable[AttributeIdentity]
) -> Rewrite | None:
    """Put a derivation behind a filter of its rows; None if the filter reads what is derived."""
    new = derivation.attributes.keys() - derivation.inputs[0].attributes.keys()
    if new.intersection(reads):
        return None
    return _move_behind(derivation, replace(step, input=derivation.inputs[0]))


def _move_behind_selection(step: Select, derivation: Derive | Calculate) -> Rewrite | None:
    """Move the parts of a selection that do not read the derivation before it; None if there are none."""
    new = derivation.attributes.keys() - derivation.inputs[0].attributes.keys()
    before = [part for part in split_intersection(step.condition).values() if not find_condition_attributes(part) & new]
    if not before:
        return None
    after = [part for part in split_intersection(step.condition).values() if part not in before]
    if not after:
        return _move_behind(derivation, Select(derivation.inputs[0], step.condition, step.sources))
    early = Select(derivation.inputs[0], intersection(before), intersection([derivation.extent, *before]))
    return Rewrite(
        Select(derivation.replace_inputs([early]), intersection(after), step.sources),
        f"{_list_names(derivation)} is derived only for the remaining sources",
    )


def _calculates(step: PlanStep) -> bool:
    return any(isinstance(ancestor, Calculate) and _is_by_row(ancestor) for ancestor in walk_steps(step))


def _is_by_row(derivation: Derive | Calculate) -> bool:
    """Return whether a derivation needs only the row of each source."""
    return not (isinstance(derivation, Calculate) and derivation.is_catalog_wide)


def _list_names(derivation: Derive | Calculate) -> str:
    return (
        derivation.attribute.name
        if isinstance(derivation, Derive)
        else ", ".join(output.name for output in derivation.outputs)
    )
