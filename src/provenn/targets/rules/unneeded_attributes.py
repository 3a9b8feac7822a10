"""What nobody asks for is not derived, and nobody is joined for it."""

from __future__ import annotations

from provenn.targets.pruning import without_unneeded
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Step

__all__ = ["unneeded_attributes"]


def unneeded_attributes(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Drop derivations whose results are not needed; members that give nothing needed only say which sources remain."""
    found = without_unneeded(step, needed)
    return None if found is None else Rewrite(found.step, found.because)
