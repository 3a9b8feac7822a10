"""Pruning: drop unneeded derivations of a step, and reduce unneeded join members to restrictions."""

from __future__ import annotations

from operator import is_
from typing import NamedTuple

from provenn.criteria import AttributeIdentity
from provenn.targets.reference_steps import Lookup, Partnered
from provenn.targets.steps import Calculate, Combine, Derive, Fill, PlanStep, Restrict, find_key

__all__ = ["PrunedStep", "drop_unneeded", "prune_step"]


class PrunedStep(NamedTuple):
    """A step with less work, and the reason."""

    step: PlanStep
    because: str


def prune_step(step: PlanStep, needed: frozenset[AttributeIdentity]) -> PlanStep:
    """Return a step without unneeded work, at any depth."""
    pruned = drop_unneeded(step, needed)
    if pruned is not None:
        return prune_step(pruned.step, needed)
    inputs = [prune_step(input_step, read) for input_step, read in zip(step.inputs, step.reads(needed), strict=True)]
    return step if all(map(is_, inputs, step.inputs)) else step.replace_inputs(inputs)


def drop_unneeded(step: PlanStep, needed: frozenset[AttributeIdentity]) -> PrunedStep | None:
    """Return a step without unneeded work at the top; None if all work there is needed."""
    match step:
        case Derive(attribute=attribute) if attribute.identity not in needed:
            return PrunedStep(step.input, f"{attribute.name} is not requested")
        case Calculate(outputs=outputs) if not needed & {output.identity for output in outputs}:
            return PrunedStep(step.input, f"{', '.join(output.name for output in outputs)} is not requested")
        case Fill(missing=missing) if not needed & {attribute.identity for attribute in missing}:
            return PrunedStep(step.input, f"{', '.join(attribute.name for attribute in missing)} is not requested")
        case Lookup():
            return _drop_lookup(step, needed)
        case Combine():
            return _restrict_to_members(step, needed)
    return None


def _drop_lookup(step: Lookup, needed: frozenset[AttributeIdentity]) -> PrunedStep | None:
    """Replace a lookup of no needed attribute by its sources; None if an attribute is needed."""
    if step.find_columns(needed):
        return None
    if step.keeps_all:
        return PrunedStep(step.input, "no attribute of the partners is requested")
    key = tuple(find_key(step.other.attributes))
    partnered = Partnered(step.input, step.other, step.reference.identities, key, True, step.sources)
    return PrunedStep(partnered, "the partners only restrict the sources: none of their attributes is requested")


def _restrict_to_members(step: Combine, needed: frozenset[AttributeIdentity]) -> PrunedStep | None:
    """Replace join members without needed attributes by restrictions; None if there are none."""
    reads = step.reads(needed)
    giving = [member for member, read in zip(step.members, reads, strict=True) if read] or [step.members[0]]
    if len(giving) == len(step.members):
        return None
    rest: PlanStep = giving[0] if len(giving) == 1 else Combine(tuple(giving))
    for member in step.members:
        if member not in giving:
            rest = Restrict(rest, member)
    return PrunedStep(rest, "the other members only restrict the sources: none of their attributes is requested")
