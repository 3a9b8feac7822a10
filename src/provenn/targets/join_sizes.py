"""The sides of a join that are known to be small: Spark sends these to all executors, and sorts neither side.

Spark itself knows only the sizes of files. A plan knows counts, bounds and estimates of the rows that are left of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from provenn.targets.bounds import bound_step_rows
from provenn.targets.scene import Scene
from provenn.targets.steps import PlanStep

__all__ = ["find_small_sides", "is_small"]

_SENT_VALUES = 2_000_000
"""How many values are sent to all executors rather than sorting both sides of a join: some tens of megabytes."""

_MISJUDGED = 16
"""How many times more values there may be at most, if an estimate is wrong: so many still fit into memory."""


def is_small(scene: Scene, step: PlanStep, width: int) -> bool:
    """Return whether some columns of the rows of a step are few values: by a count or estimate, and by bounds."""
    rows = bound_step_rows(scene, step)
    if rows.estimate is None or rows.estimate * width > _SENT_VALUES:
        return False
    return rows.high is None or rows.high * width <= _SENT_VALUES * _MISJUDGED


def find_small_sides(scene: Scene, steps: Sequence[PlanStep], widths: Sequence[int]) -> frozenset[int]:
    """Return the positions of the inputs of a join that are known to be small, without the largest input.

    Parameters
    ----------
    scene
        The knowledge that planning used.
    steps
        The inputs of the join.
    widths
        The number of columns of each input.
    """
    small = [position for position, step in enumerate(steps) if is_small(scene, step, widths[position])]
    if len(small) < len(steps):
        return frozenset(small)

    def estimate_values(position: int) -> float:
        return (bound_step_rows(scene, steps[position]).estimate or 0) * widths[position]

    return frozenset(small) - {max(small, key=estimate_values)}
