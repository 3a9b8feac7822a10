"""Rule: do not look for partners that every source is known to have, or that none has."""

from __future__ import annotations

from dataclasses import replace

from provenn.criteria import AttributeIdentity
from provenn.targets.reference_steps import Partnered
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import PlanStep, Restrict

__all__ = ["redundant_partners"]


def redundant_partners(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:  # noqa: ARG001 - a rule
    """Drop a search for partners that keeps all sources.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.logic import subset
    >>> from provenn.targets.rules.examples import DETECTIONS, STARS, show_rewrite
    >>> seen = verbs.having(STARS, DETECTIONS, on="star")
    >>> show_rewrite(redundant_partners, seen, subset(STARS.digest, seen.digest))
    partnered(stars, detections)
    -> stars
    """
    if isinstance(step, Restrict) and isinstance(step.other, Partnered):
        return _filter_at_once(step, step.other, scene)
    if not isinstance(step, Partnered) or not scene.lies_in(step.input.extent, step.sources):
        return None
    because = "every source has a partner" if step.is_in else "no source has a partner"
    return Rewrite(step.input, because, (scene.state_inside(step.input.extent, step.sources),))


def _filter_at_once(step: Restrict, partnered: Partnered, scene: Scene) -> Rewrite | None:
    """Look for the partners of the rows of a step, instead of comparing the rows with others that have partners.

    Sound: a source of the step is among the filtered rows, and has the same values of the compared attributes there.
    """
    if not step.input.attributes.keys() >= set(partnered.own) or not scene.lies_in(
        step.input.extent, partnered.input.extent
    ):
        return None
    filtered = replace(partnered, input=step.input, sources=step.extent)
    statement = scene.state_inside(step.input.extent, partnered.input.extent)
    return Rewrite(filtered, "the rows themselves tell whether they have a partner", (statement,))
