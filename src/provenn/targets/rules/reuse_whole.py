"""A fragment that holds all the sources takes the place of computing them."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.targets.costs import cost
from provenn.targets.gathering import gathered, reused
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, Step, Stored, walk

__all__ = ["reuse_whole"]


def reuse_whole(step: Step, needed: frozenset[str], scene: Scene) -> Rewrite | None:
    """Read a fragment instead of computing what it holds, if that saves calling a calculator, or costs less."""
    if isinstance(step, Stored):
        return None
    best, least = None, _burden(scene, step, needed)
    calls, held = least[0], reused(step)
    for stored in scene.fragments:
        if not scene.lies_in(step.extent, stored.extent):
            continue
        for made in _ways(step, needed, scene, stored):
            burden = _burden(scene, made, needed)
            if burden[0] and burden[0] == calls and not held <= reused(made):
                continue  # what is stored is not computed again, whatever it seems to cost
            if burden < least:
                said = (scene.inside(step.extent, stored.extent),)
                best, least = Rewrite(made, f"fragment #{stored.fragment.id} holds all these sources", said), burden
    return best


def _burden(scene: Scene, step: Step, needed: frozenset[str]) -> tuple[int, float]:
    """Return what counts: nothing is calculated again that is stored, however much there is to read; then the cost."""
    return sum(isinstance(one, Calculate) for one in walk(step)), cost(scene, step, needed)


def _ways(step: Step, needed: frozenset[str], scene: Scene, stored: Stored) -> Iterator[Step]:
    alone = gathered(scene, stored, step.extent, needed)
    if alone is not None:
        yield alone
    if isinstance(step, Calculate) and not step.whole:
        outputs = needed & {one.identity for one in step.outputs}
        if outputs <= stored.attributes.keys():
            yield Combine((step.input, stored))
