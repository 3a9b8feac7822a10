"""Fragments that hold some of the sources leave only the others to compute."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.catalogs import Extent
from provenn.targets.costs import burden
from provenn.targets.gathering import gathered, places, reused
from provenn.targets.pruning import pruned
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, Concat, Exclude, Step, is_key, walk
from provenn.targets.supplies import joint_supply, size_of, supplies

__all__ = ["reuse_part"]


def reuse_part(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    """Take what fragments hold from them, and calculate the rest: exactly the sources that lack a needed output.

    One call gives all outputs of a calculator, so that a source is calculated if and only if one of the outputs that
    are needed is not stored for it.
    """
    if not isinstance(step, Calculate) or step.whole:
        return None
    outputs = needed & {one.identity for one in step.outputs}
    for supply in _supplies(step, outputs, scene):
        both, rest = step.extent & supply.extent, step.extent - supply.extent
        if scene.is_empty(both) or scene.is_empty(rest):
            continue
        held = _held(step, both, needed, scene, supply)
        remainder = _remainder(step, rest, needed, scene, supply)
        attributes = [one for identity, one in step.attributes.items() if is_key(identity) or identity in needed]
        said = scene.same(step.extent, both | rest)
        return Rewrite(Concat.of([held, remainder], attributes, step.extent), _because(supply), (said,))
    return None


def _supplies(step: Calculate, outputs: frozenset[str], scene: Scene) -> Iterator[Step]:
    """Yield steps that read all of some outputs from fragments: from one, or else each output from its own."""
    found = supplies(scene, outputs, step)
    yield from (supply for supply in found if outputs <= supply.attributes.keys())
    if len(outputs) > 1 and all(any(one in supply.attributes for supply in found) for one in outputs):
        several = [joint_supply(scene, step.extent, identity, step) for identity in sorted(outputs)]
        held = [supply for supply in several if supply is not None]
        if len(held) == len(outputs):
            yield Combine(tuple(held))


def _held(step: Calculate, both: Extent, needed: frozenset[str], scene: Scene, supply: Step) -> Step:
    alone = gathered(scene, supply, both, needed)
    return pruned(Combine((supply, step)), needed) if alone is None else alone


def _remainder(step: Calculate, rest: Extent, needed: frozenset[str], scene: Scene, supply: Step) -> Step:
    """Return the sources that a supply does not give: told by their rows if possible, or else by their keys.

    A row does not tell if something would have to be calculated first, of sources that the supply gives.
    """
    ways = (gathered(scene, place, rest, needed) for place in places(step))
    found = [made for made in ways if made is not None and all(scene.lies_in(one, rest) for one in _calculated(made))]
    if not found:
        return step.on([Exclude(step.input, pruned(supply, frozenset()))])
    return min(found, key=lambda one: burden(scene, one, needed))


def _calculated(step: Step) -> Iterator[Extent]:
    return (one.extent for one in walk(step) if isinstance(one, Calculate) and not one.whole)


def _because(supply: Step) -> str:
    numbers = [f"#{number}" for number in sorted(reused(supply))]
    if len(numbers) == 1:
        return f"fragment {numbers[0]} holds some of these sources ({size_of(supply)} are stored)"
    return f"fragments {', '.join(numbers[:-1])} and {numbers[-1]} hold some of these sources together"
