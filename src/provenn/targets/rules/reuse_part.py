"""A fragment that holds some of the sources leaves only the others to compute."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.catalogs import Extent
from provenn.targets.costs import cost
from provenn.targets.gathering import gathered, places, reused
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, Concat, Exclude, Step, Stored, is_key, walk

__all__ = ["reuse_part"]


def reuse_part(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    """Take what a fragment holds from it, and calculate the rest: exactly the sources that it does not hold."""
    if not isinstance(step, Calculate) or step.whole:
        return None
    outputs = needed & {one.identity for one in step.outputs}
    used = reused(step)
    for stored in sorted(scene.stored(outputs), key=lambda one: -one.fragment.rows):
        if not outputs <= stored.attributes.keys() or stored.fragment.id in used:
            continue
        both, rest = step.extent & stored.extent, step.extent - stored.extent
        if scene.is_empty(both) or scene.is_empty(rest):
            continue
        held = _from(step, both, needed, scene, stored)
        remainder = _remainder(step, rest, needed, scene, stored)
        attributes = [one for identity, one in step.attributes.items() if is_key(identity) or identity in needed]
        said = scene.same(step.extent, both | rest)
        return Rewrite(
            Concat.of([held, remainder], attributes, step.extent),
            f"fragment #{stored.fragment.id} holds some of these sources ({stored.fragment.rows} are stored)",
            (said,),
        )
    return None


def _from(step: Calculate, both: Extent, needed: frozenset[str], scene: Scene, stored: Stored) -> Step:
    alone = gathered(scene, stored, both, needed)
    return Combine((step.input, stored)) if alone is None else alone


def _remainder(step: Calculate, rest: Extent, needed: frozenset[str], scene: Scene, stored: Stored) -> Step:
    """Return the sources that a fragment does not hold: told by their rows if possible, or else by their keys.

    A row does not tell if something would have to be calculated first, of sources that the fragment holds.
    """
    ways = (gathered(scene, place, rest, needed) for place in places(step))
    found = [made for made in ways if made is not None and all(scene.lies_in(one, rest) for one in _calculated(made))]
    if not found:
        return step.on([Exclude(step.input, stored)])
    return min(found, key=lambda one: cost(scene, one, needed))


def _calculated(step: Step) -> Iterator[Extent]:
    return (one.extent for one in walk(step) if isinstance(one, Calculate) and not one.whole)
