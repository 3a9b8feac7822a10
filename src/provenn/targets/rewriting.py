"""Rewriting: apply rules to every step of a plan until no rule applies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from provenn import deadline
from provenn.criteria import AttributeIdentity
from provenn.logic import Statement
from provenn.targets.rules import READING_RULES, RULES, Rule
from provenn.targets.scene import Scene
from provenn.targets.steps import PlanStep

__all__ = ["AppliedRule", "rewrite_plan"]

_MOST_REWRITES = 200
"""How often a step may be rewritten: far more than ever happens, so that a faulty rule cannot loop for ever."""


@dataclass(frozen=True, slots=True)
class AppliedRule:
    """An applied rule: its name, the replaced step, the new step, and the reason.

    The reader sees `statements`; `used_statements` are all proved statements from the search of the rule.
    """

    rule: str
    before: PlanStep
    after: PlanStep
    because: str
    statements: tuple[Statement, ...]
    used_statements: tuple[Statement, ...] = ()


def rewrite_plan(
    plan: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene
) -> tuple[PlanStep, tuple[AppliedRule, ...]]:
    """Return a plan with the same sources and the same values of the needed attributes, and the applied rules.

    Parameters
    ----------
    plan
        The plan.
    needed
        The identities of the requested attributes.
    scene
        The knowledge that planning uses.
    """
    applied: list[AppliedRule] = []
    for rules in (RULES, READING_RULES):
        plan = _rewrite_steps(plan, needed, scene, rules, applied)
    return plan, tuple(applied)


def _rewrite_steps(
    plan: PlanStep,
    needed: frozenset[AttributeIdentity],
    scene: Scene,
    rules: Sequence[Rule],
    applied: list[AppliedRule],
) -> PlanStep:
    """Return a plan after some rules, and note the applied ones."""
    rewritten: dict[tuple[int, frozenset[AttributeIdentity]], PlanStep] = {}

    def visit(step: PlanStep, needed: frozenset[AttributeIdentity]) -> PlanStep:
        step_key = (step.signature, needed)
        if step_key in rewritten:
            return rewritten[step_key]
        for _ in range(_MOST_REWRITES):
            step = _apply_rules(step, needed, scene, rules, applied)
            inputs = [visit(input_step, read) for input_step, read in zip(step.inputs, step.reads(needed), strict=True)]
            if all(new is old for new, old in zip(inputs, step.inputs, strict=True)):
                break
            step = step.replace_inputs(inputs)
        rewritten[step_key] = rewritten[step.signature, needed] = step
        return step

    return visit(plan, needed)


def _apply_rules(
    step: PlanStep,
    needed: frozenset[AttributeIdentity],
    scene: Scene,
    rules: Sequence[Rule],
    applied: list[AppliedRule],
) -> PlanStep:
    """Apply rules to a step, without its inputs, until no rule applies."""
    for _ in range(_MOST_REWRITES):
        for rule in rules:
            deadline.check()
            scene.used_statements.clear()
            rewrite = rule(step, needed, scene)
            if rewrite is not None:
                used_statements = tuple(scene.used_statements)
                applied.append(
                    AppliedRule(rule.__name__, step, rewrite.step, rewrite.because, rewrite.statements, used_statements)
                )
                step = rewrite.step
                break
        else:
            return step
    return step
