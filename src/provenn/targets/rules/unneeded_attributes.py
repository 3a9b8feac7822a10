"""What nobody asks for is not derived, and nobody is joined for it."""

from __future__ import annotations

from operator import is_

from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, Derive, Fill, Restrict, Step

__all__ = ["pruned", "unneeded_attributes"]


def unneeded_attributes(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Drop derivations whose results are not needed; members that give nothing needed only say which sources remain."""
    return _without_unneeded(step, needed)


def pruned(step: Step, needed: frozenset[str]) -> Step:
    """Return a step without all that is not needed, at any depth."""
    found = _without_unneeded(step, needed)
    if found is not None:
        return pruned(found.step, needed)
    inputs = [pruned(one, read) for one, read in zip(step.inputs, step.reads(needed), strict=True)]
    return step if all(map(is_, inputs, step.inputs)) else step.on(inputs)


def _without_unneeded(step: Step, needed: frozenset[str]) -> Rewrite | None:
    match step:
        case Derive(attribute=one) if one.identity not in needed:
            return Rewrite(step.input, f"{one.name} is not asked for")
        case Calculate(outputs=outputs) if not needed & {one.identity for one in outputs}:
            return Rewrite(step.input, f"{', '.join(one.name for one in outputs)} is not asked for")
        case Fill(missing=missing) if not needed & {one.identity for one in missing}:
            return Rewrite(step.input, f"{', '.join(one.name for one in missing)} is not asked for")
        case Combine():
            return _without_attributes(step, needed)
    return None


def _without_attributes(step: Combine, needed: frozenset[str]) -> Rewrite | None:
    reads = step.reads(needed)
    giving = [one for one, read in zip(step.members, reads, strict=True) if read] or [step.members[0]]
    if len(giving) == len(step.members):
        return None
    rest: Step = giving[0] if len(giving) == 1 else Combine(tuple(giving))
    for one in step.members:
        if one not in giving:
            rest = Restrict(rest, one)
    return Rewrite(rest, "no attribute of the other members is asked for: they only say which sources remain")
