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

__all__ = ["burden", "cost", "rows"]

READ, DERIVED, CALCULATED, JOINED, UNKNOWN, KEPT = 1.0, 0.1, 1000.0, 10.0, 1_000_000, 1 / 3


def rows(scene: Scene, step: Step) -> tuple[float, bool]:
    """Return how many rows a step gives, and whether that is known rather than estimated."""
    known = scene.estimates.get(step.signature)
    if known is None:
        known = scene.estimates[step.signature] = _rows(scene, step)
    return known


def _rows(scene: Scene, step: Step) -> tuple[float, bool]:
    counted = scene.rows.get(step.extent.digest)
    if counted is not None:
        return float(counted), True
    match step:
        case Nothing():
            return 0.0, True
        case Scan(base=base):
            return (float(UNKNOWN), False) if base.files.row_count is None else (float(base.files.row_count), True)
        case Stored(fragment=fragment):
            return float(fragment.rows), True
        case Select():
            return rows(scene, step.input)[0] * KEPT ** min(3, len(parts(step.condition))), False
        case Restrict() | Exclude() | Matched():
            return rows(scene, step.input)[0] * KEPT, False
        case Match():
            return rows(scene, step.left)[0] * KEPT, False
        case Combine():
            return min(rows(scene, one)[0] for one in step.members), False
        case Concat():
            each = [rows(scene, one) for one in step.members]
            return sum(number for number, _ in each), step.disjoint and all(known for _, known in each)
        case _:
            return rows(scene, step.inputs[0])


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
            return rows(scene, step)[0] * READ * (len(needed) + 1)
        case Derive():
            return below + rows(scene, step)[0] * DERIVED
        case Calculate():
            return below + rows(scene, step)[0] * CALCULATED
        case Combine() | Restrict() | Exclude() | Match() | Matched():
            return below + sum(rows(scene, one)[0] for one in step.inputs) * JOINED
        case Concat(disjoint=False):
            return below + sum(rows(scene, one)[0] for one in step.inputs) * JOINED
        case _:
            return below
