"""Dropping what is not needed of a step: derivations, and members of joins that only say which sources remain."""

from __future__ import annotations

from operator import is_
from typing import NamedTuple

from provenn.targets.steps import Calculate, Combine, Derive, Fill, Restrict, Step

__all__ = ["Pruned", "pruned", "without_unneeded"]


class Pruned(NamedTuple):
    """A step that does less, and why it may."""

    step: Step
    because: str


def pruned(step: Step, needed: frozenset[str]) -> Step:
    """Return a step without all that is not needed, at any depth."""
    found = without_unneeded(step, needed)
    if found is not None:
        return pruned(found.step, needed)
    inputs = [pruned(one, read) for one, read in zip(step.inputs, step.reads(needed), strict=True)]
    return step if all(map(is_, inputs, step.inputs)) else step.on(inputs)


def without_unneeded(step: Step, needed: frozenset[str]) -> Pruned | None:
    """Return a step without what the step itself does in vain, or None if it does nothing in vain."""
    match step:
        case Derive(attribute=one) if one.identity not in needed:
            return Pruned(step.input, f"{one.name} is not asked for")
        case Calculate(outputs=outputs) if not needed & {one.identity for one in outputs}:
            return Pruned(step.input, f"{', '.join(one.name for one in outputs)} is not asked for")
        case Fill(missing=missing) if not needed & {one.identity for one in missing}:
            return Pruned(step.input, f"{', '.join(one.name for one in missing)} is not asked for")
        case Combine():
            return _without_members(step, needed)
    return None


def _without_members(step: Combine, needed: frozenset[str]) -> Pruned | None:
    reads = step.reads(needed)
    giving = [one for one, read in zip(step.members, reads, strict=True) if read] or [step.members[0]]
    if len(giving) == len(step.members):
        return None
    rest: Step = giving[0] if len(giving) == 1 else Combine(tuple(giving))
    for one in step.members:
        if one not in giving:
            rest = Restrict(rest, one)
    return Pruned(rest, "no attribute of the other members is asked for: they only say which sources remain")
