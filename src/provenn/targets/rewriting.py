"""Rewriting: rules are applied to every step of a plan until none applies."""

from __future__ import annotations

from dataclasses import dataclass

from provenn.logic import Statement
from provenn.targets.rules import RULES
from provenn.targets.scene import Scene
from provenn.targets.steps import Step

__all__ = ["Applied", "rewritten"]

_MOST = 200
"""How often a step may be rewritten: far more than ever happens, so that a mistake in a rule does not run for ever."""


@dataclass(frozen=True, slots=True)
class Applied:
    """A rule that was applied: its name, to which step, what took its place, and why that may be.

    What it has `said` is told to people; all that it found proved, and may have leaned on, is in `leaned`.
    """

    rule: str
    before: Step
    after: Step
    because: str
    said: tuple[Statement, ...]
    leaned: tuple[Statement, ...] = ()


def rewritten(plan: Step, needed: frozenset[str], scene: Scene) -> tuple[Step, tuple[Applied, ...]]:
    """Return a plan that gives the same sources and, of the attributes that are needed, the same values.

    Parameters
    ----------
    plan
        The plan.
    needed
        The identities of the attributes that are asked for.
    scene
        What is known.
    """
    applied: list[Applied] = []
    done: dict[tuple[int, frozenset[str]], Step] = {}

    def visit(step: Step, needed: frozenset[str]) -> Step:
        place = (step.signature, needed)
        if place in done:
            return done[place]
        for _ in range(_MOST):
            step = _improved(step, needed, scene, applied)
            inputs = [visit(one, read) for one, read in zip(step.inputs, step.reads(needed), strict=True)]
            if all(new is old for new, old in zip(inputs, step.inputs, strict=True)):
                break
            step = step.on(inputs)
        done[place] = done[step.signature, needed] = step
        return step

    return visit(plan, needed), tuple(applied)


def _improved(step: Step, needed: frozenset[str], scene: Scene, applied: list[Applied]) -> Step:
    for _ in range(_MOST):
        for rule in RULES:
            scene.leaned.clear()
            found = rule(step, needed, scene)
            if found is not None:
                leaned = tuple(scene.leaned)
                applied.append(Applied(rule.__name__, step, found.step, found.because, found.said, leaned))
                step = found.step
                break
        else:
            return step
    return step
