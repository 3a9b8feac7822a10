"""Fragments that hold all the sources take the place of computing them."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.targets.costs import burden
from provenn.targets.gathering import calls_more, derivable, gathered, reused
from provenn.targets.pruning import pruned
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, Step, Stored, key_of, walk
from provenn.targets.supplies import joint_supply, supplies

__all__ = ["reuse_whole"]


def reuse_whole(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    """Read fragments instead of computing what they hold, if that saves calling a calculator, or costs less.

    A source has one value of an identity, so that a fragment which holds all sources of a step gives their values.
    """
    if isinstance(step, Stored):
        return None
    best, least = None, burden(scene, step, needed)
    calls, held = least[0], reused(step)
    for supply in _supplies(step, needed, scene):
        for made in _ways(step, needed, scene, supply):
            found = burden(scene, made, needed)
            if found[0] and found[0] == calls and not held <= reused(made):
                continue  # estimates alone would go back and forth between fragments
            if found < least and not calls_more(scene, made, step):
                said = (scene.inside(step.extent, supply.extent),)
                best, least = Rewrite(made, f"{_name(supply)} these sources", said), found
    return best


def _supplies(step: Step, needed: frozenset[str], scene: Scene) -> Iterator[Step]:
    """Yield steps that read fragments, and are proved to give all sources of a step."""
    key = key_of(step.attributes)
    calculations = [one for one in walk(step) if isinstance(one, Calculate)]
    stored = [one for one in scene.fragments if key_of(one.attributes) == key]
    wanted = needed.union(*({one.identity for one in each.outputs} for each in calculations))
    views = [one for one in supplies(scene, wanted, step) if not isinstance(one, Stored)] if calculations else []
    for supply in (*stored, *views):
        spares = bool(calculations) and not needed.isdisjoint(supply.attributes)
        gives = spares or all(derivable(scene, identity, supply.attributes) for identity in needed)
        if gives and scene.lies_in(step.extent, supply.extent):
            yield supply
    for calculation in calculations:
        # A calculation row by row is served where it is; one of a whole catalog can be spared only as a whole.
        if calculation is step or calculation.whole:
            yield from _together(step, needed & {one.identity for one in calculation.outputs}, scene)


def _together(step: Step, outputs: frozenset[str], scene: Scene) -> Iterator[Step]:
    """Yield a step that gives outputs of a calculator from several fragments, if these hold all sources together."""
    found = [joint_supply(scene, step.extent, identity, step) for identity in sorted(outputs)]
    several = [one for one in found if one is not None]
    if not several or len(several) < len(found) or (len(several) == 1 and isinstance(several[0], Stored)):
        return
    supply = several[0] if len(several) == 1 else Combine(tuple(several))
    if scene.lies_in(step.extent, supply.extent):
        yield supply


def _ways(step: Step, needed: frozenset[str], scene: Scene, supply: Step) -> Iterator[Step]:
    """Yield how to have a step from a supply: from its rows alone; or joined with the step, if that spares a call."""
    alone = gathered(scene, supply, step.extent, needed)
    if alone is not None:
        yield alone
    joined = pruned(Combine((supply, step)), needed)
    if _calls(joined) < _calls(step):
        yield joined


def _calls(step: Step) -> int:
    return sum(isinstance(one, Calculate) for one in walk(step))


def _name(supply: Step) -> str:
    numbers = [f"#{number}" for number in sorted(reused(supply))]
    if len(numbers) == 1:
        return f"fragment {numbers[0]} holds all"
    return f"fragments {', '.join(numbers[:-1])} and {numbers[-1]} together hold all"
