"""Catalogs that come from the same rows need no join: a row holds, or gives, all that is asked of its source."""

from __future__ import annotations

from collections.abc import Sequence

from provenn.targets.costs import burden
from provenn.targets.gathering import calls_more, gathered, places, reused
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Combine, Scan, Step

__all__ = ["same_rows"]


def same_rows(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    """Take all that a step gives from the rows of one place; or what several members of a join give."""
    if not step.inputs:
        return None
    found = _cheapest(step, places(step), needed, scene)
    if found is not None:
        return found
    return _merged_members(step, needed, scene) if isinstance(step, Combine) else None


def _cheapest(step: Step, from_places: Sequence[Step], needed: frozenset[str], scene: Scene) -> Rewrite | None:
    best, least = None, burden(scene, step, needed)
    held = reused(step)
    for place in from_places:
        made = gathered(scene, place, step.extent, needed)
        if made is None or made.signature == step.signature or not held <= reused(made):
            continue  # what a fragment gives is not taken from elsewhere again, whatever it seems to cost
        found = burden(scene, made, needed)
        if found < least and not calls_more(scene, made, step):
            said = (scene.inside(step.extent, place.extent),)
            best, least = Rewrite(made, _because(place), said), found
    return best


def _merged_members(step: Combine, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    reads = step.reads(needed)
    for place in places(step):
        several = [
            at
            for at, (one, read) in enumerate(zip(step.members, reads, strict=True))
            if gathered(scene, place, one.extent, read) is not None
        ]
        if len(several) < 2:
            continue
        together = Combine(tuple(step.members[at] for at in several))
        found = _cheapest(together, [place], frozenset().union(*(reads[at] for at in several)), scene)
        if found is not None:
            rest = [one for at, one in enumerate(step.members) if at not in several]
            return Rewrite(Combine((found.step, *rest)), found.because, found.said)
    return None


def _because(place: Step) -> str:
    if isinstance(place, Scan):
        key = ", ".join(place.base.key)
        return f"the rows of one base catalog hold, or give, all that is asked; one row is one source: {key} is its key"
    return "its rows hold, or give, all that is asked"
