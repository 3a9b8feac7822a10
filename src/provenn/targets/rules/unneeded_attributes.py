"""Rule: do not derive unneeded attributes, and do not join for them."""

from __future__ import annotations

from provenn.criteria import AttributeIdentity
from provenn.targets.pruning import drop_unneeded
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import PlanStep

__all__ = ["unneeded_attributes"]


def unneeded_attributes(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Drop unneeded derivations, and reduce join members without needed attributes to restrictions.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import STARS, TYCHO, calculate, show_rewrite
    >>> show_rewrite(unneeded_attributes, calculate(STARS), needed=["vmag"])
    calculate(stars)
    -> stars
    >>> show_rewrite(unneeded_attributes, verbs.combine(STARS, TYCHO), needed=["vmag"])
    combine(stars, tycho)
    -> restrict(stars, tycho)
    """
    pruned = drop_unneeded(step, needed)
    return None if pruned is None else Rewrite(pruned.step, pruned.because)
