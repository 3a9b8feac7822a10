"""What a plan costs, about: enough to choose between ways that give the same.

Costs are in values read. Reading a value from a file costs 1, deriving one by SQL a tenth; a calculator in Python
costs a thousand a source, a join ten for each row that comes in. Rows that were counted are known; others are
estimated: a criterion keeps a third.
"""

from __future__ import annotations

from provenn.targets.match_steps import Match, Matched
from provenn.targets.scene import Scene, parts
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Nothing,
    Restrict,
    Scan,
    Select,
    Step,
    Stored,
    walk,
)

__all__ = ["burden", "cost", "estimate", "is_grounded"]

READ, DERIVED, CALCULATED, JOINED, UNKNOWN, KEPT = 1.0, 0.1, 1000.0, 10.0, 1_000_000, 1 / 3


def estimate(scene: Scene, step: Step) -> float:
    """Return how many rows a step gives: counted, or about."""
    known = scene.estimates.get(step.signature)
    if known is None:
        known = scene.estimates[step.signature] = _estimate(scene, step)
    return known


def _estimate(scene: Scene, step: Step) -> float:
    counted = scene.rows.get(step.extent.digest)
    if counted is not None:
        return float(counted)
    match step:
        case Nothing():
            return 0.0
        case Scan(base=base):
            return float(UNKNOWN if base.files.row_count is None else base.files.row_count)
        case Stored(fragment=fragment):
            return float(fragment.rows)
        case Select():
            return estimate(scene, step.input) * KEPT ** min(3, len(parts(step.condition)))
        case Restrict() | Exclude() | Matched():
            return estimate(scene, step.input) * KEPT
        case Match():
            return estimate(scene, step.left) * KEPT
        case Combine():
            return min(estimate(scene, one) for one in step.members)
        case Concat():
            return sum(estimate(scene, one) for one in step.members)
        case _:
            return estimate(scene, step.inputs[0])


def is_grounded(scene: Scene, step: Step) -> bool:
    """Whether an estimate is made from counts: the rows of all files are known that it begins with."""

    def uncounted(one: Step) -> tuple[Step, ...]:
        return () if one.extent.digest in scene.rows else one.inputs

    scans = (one for one in walk(step, within=uncounted) if isinstance(one, Scan))
    return all(one.base.files.row_count is not None or one.extent.digest in scene.rows for one in scans)


def cost(scene: Scene, step: Step, needed: frozenset[str]) -> float:
    """Return about what it costs to compute some attributes of a step."""
    place = (step.signature, needed)
    if place not in scene.costs:
        scene.costs[place] = _cost(scene, step, needed)
    return scene.costs[place]


def burden(scene: Scene, step: Step, needed: frozenset[str]) -> tuple[int, float]:
    """Return what a step is judged by: how many calculators it calls, however much there is to read; then its cost."""
    return sum(isinstance(one, Calculate) for one in walk(step)), cost(scene, step, needed)


def _cost(scene: Scene, step: Step, needed: frozenset[str]) -> float:
    below = sum(cost(scene, one, reads) for one, reads in zip(step.inputs, step.reads(needed), strict=True))
    match step:
        case Scan() | Stored():
            return estimate(scene, step) * READ * (len(needed) + 1)
        case Derive():
            return below + estimate(scene, step) * DERIVED
        case Calculate():
            return below + estimate(scene, step) * CALCULATED
        case Combine() | Restrict() | Exclude() | Match() | Matched():
            return below + sum(estimate(scene, one) for one in step.inputs) * JOINED
        case Concat(disjoint=False):
            return below + sum(estimate(scene, one) for one in step.inputs) * JOINED
        case _:
            return below
