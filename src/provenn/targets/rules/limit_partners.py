"""Rule: calculate attributes of partners only for the partners of the requested sources."""

from __future__ import annotations

from dataclasses import replace

from provenn.catalogs.images import Image
from provenn.criteria import AttributeIdentity
from provenn.targets.pruning import prune_step
from provenn.targets.reference_steps import Lookup, Partnered, list_referring
from provenn.targets.rules.reuse_whole import reuse_whole
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, PlanStep, find_key, walk_steps

__all__ = ["limit_partners"]


def limit_partners(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Restrict the partners in a lookup to those that a source refers to, if a calculator is called for them.

    Sound: a lookup reads no other partner. A calculator is then called once for each partner, however many sources
    refer to it.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import DETECTIONS, STARS, calculate, show_rewrite
    >>> show_rewrite(limit_partners, verbs.lookup(DETECTIONS, calculate(STARS), on="star", attributes=["z"]))
    lookup(detections, calculate(stars))
    -> lookup(detections, partnered(calculate(stars), detections))
    """
    if not isinstance(step, Lookup) or not _calculates_by_row(step.other) or _is_limited(step):
        return None
    _, partner_reads = step.reads(needed)
    if not _calculates_by_row(prune_step(step.other, partner_reads)):
        return None
    referring = prune_step(step.input, list_referring(step.reference.identities))
    if any(isinstance(ancestor, Calculate) for ancestor in walk_steps(referring)):
        return None  # the calculator would be called twice
    stored = reuse_whole(step.other, partner_reads, scene)
    if stored is not None and not _calculates_by_row(stored.step):
        return None
    sources = step.other.extent & Image(step.reference, referring.extent).extent
    key = tuple(find_key(step.other.attributes))
    limited = Partnered(step.other, referring, key, step.reference.identities, True, sources)
    return Rewrite(replace(step, other=limited), "attributes of partners are calculated only where a source refers to")


def _calculates_by_row(step: PlanStep) -> bool:
    """Return whether a step calls a calculator that can be limited to fewer sources."""
    return any(isinstance(ancestor, Calculate) and not ancestor.is_catalog_wide for ancestor in walk_steps(step))


def _is_limited(step: Lookup) -> bool:
    """Return whether the partners are restricted to those that sources refer to by the same attributes."""
    return any(
        isinstance(ancestor, Partnered) and ancestor.is_in and ancestor.others == step.reference.identities
        for ancestor in walk_steps(step.other)
    )
