"""The interface of a rule: replace a step by a cheaper step with the same sources and values, and give the reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from provenn.criteria import AttributeIdentity
from provenn.logic import Statement
from provenn.targets.scene import Scene
from provenn.targets.steps import PlanStep

__all__ = ["Rewrite", "Rule"]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A replacement for a step, with the reason.

    Parameters
    ----------
    step
        The new step.
    because
        The reason, in words.
    statements
        The proved statements that justify the replacement.
    """

    step: PlanStep
    because: str
    statements: tuple[Statement, ...] = ()


Rule = Callable[[PlanStep, frozenset[AttributeIdentity], Scene], Rewrite | None]
"""Takes a step, its needed attributes and the scene; returns a better step, or None."""
