"""Calculators run last, for the sources that remain."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from provenn.catalogs.extent import intersection
from provenn.targets.match_steps import Matched
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene, parts
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Restrict,
    Select,
    Step,
    condition_reads,
    walk,
)

__all__ = ["limit_calculators"]


def limit_calculators(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Move a derivation behind the selection, the difference or the join that follows it."""
    match step:
        case Restrict(input=(Derive() | Calculate()) as one, other=other) if _by_row(one):
            return _behind(one, Restrict(one.inputs[0], other))
        case Exclude(input=(Derive() | Calculate()) as one, other=other) if _by_row(one):
            return _behind(one, Exclude(one.inputs[0], other))
        case Matched(input=(Derive() | Calculate()) as one) if _by_row(one):
            return _behind(one, step.on([one.inputs[0], step.pairs]))
        case Select(input=(Derive() | Calculate()) as one) if _by_row(one):
            return _behind_selection(step, one)
        case Restrict(input=Concat() as one, other=other) if _calculates(one):
            return _in_members(step, one, lambda each: Restrict(each, other))
        case Exclude(input=Concat() as one, other=other) if _calculates(one):
            return _in_members(step, one, lambda each: Exclude(each, other))
        case Combine(members=members):
            for at, member in enumerate(members):
                before, after = members[:at], members[at + 1 :]
                if isinstance(member, Derive | Calculate) and _by_row(member):
                    return _behind(member, Combine((*before, member.inputs[0], *after)))
                if isinstance(member, Concat) and _calculates(member):
                    return _in_members(step, member, partial(_joined, before, after))
    return None


def _joined(before: tuple[Step, ...], after: tuple[Step, ...], one: Step) -> Step:
    return Combine((*before, one, *after))


def _in_members(step: Step, together: Concat, limited: Callable[[Step], Step]) -> Rewrite:
    """Put what drops sources from a union into its members, where calculators can be moved behind it."""
    members = tuple(map(limited, together.members))
    more = [one for identity, one in step.attributes.items() if identity not in together.attributes]
    columns = (*together.columns, *((one, (one.identity,) * len(members)) for one in more))
    return Rewrite(
        Concat(members, columns, together.disjoint, step.extent),
        "a union is calculated for the sources that remain only",
    )


def _behind(one: Derive | Calculate, rest: Step) -> Rewrite:
    new = one.attributes.keys() - one.inputs[0].attributes.keys()
    if new <= rest.attributes.keys():
        return Rewrite(rest, "another member gives it already")
    return Rewrite(one.on([rest]), f"{_names(one)} is derived for the sources that remain only")


def _behind_selection(step: Select, one: Derive | Calculate) -> Rewrite | None:
    new = one.attributes.keys() - one.inputs[0].attributes.keys()
    before = [part for part in parts(step.condition).values() if not condition_reads(part) & new]
    if not before:
        return None
    after = [part for part in parts(step.condition).values() if part not in before]
    if not after:
        return _behind(one, Select(one.inputs[0], step.condition, step.sources))
    early = Select(one.inputs[0], intersection(before), intersection([one.extent, *before]))
    return Rewrite(
        Select(one.on([early]), intersection(after), step.sources),
        f"{_names(one)} is derived for the sources that remain only",
    )


def _calculates(step: Step) -> bool:
    return any(isinstance(one, Calculate) and _by_row(one) for one in walk(step))


def _by_row(one: Derive | Calculate) -> bool:
    return not (isinstance(one, Calculate) and one.whole)


def _names(one: Derive | Calculate) -> str:
    return one.attribute.name if isinstance(one, Derive) else ", ".join(each.name for each in one.outputs)
