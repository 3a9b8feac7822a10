"""What a rule is: a way to give the same sources and values with less work, and why it may be taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from provenn.logic import Statement
from provenn.targets.scene import Scene
from provenn.targets.steps import Step

__all__ = ["Rewrite", "Rule"]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A step that takes the place of another one.

    Parameters
    ----------
    step
        The new one.
    because
        What it leans on, in words.
    said
        The statements that justify it, all of them proved.
    """

    step: Step
    because: str
    said: tuple[Statement, ...] = ()


Rule = Callable[[Step, frozenset[str], Scene], Rewrite | None]
"""Given a step, the attributes that are needed of it, and what is known: a better step, or None."""
