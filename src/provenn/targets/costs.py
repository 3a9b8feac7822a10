"""Approximate costs of plans: enough to choose between equivalent steps.

Costs are in values read. Reading a value from a file costs 1, deriving a value by SQL a tenth; a Python calculator
costs a thousand for each source, a join ten for each input row. Counted rows are known; others are estimated: see
`provenn.targets.selectivity`.
"""

from __future__ import annotations

from provenn.criteria import AttributeIdentity
from provenn.targets.column_shares import KEPT_SHARE
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.match_steps import Match, Matched
from provenn.targets.scene import Scene
from provenn.targets.selectivity import estimate_common_share, estimate_kept_share
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    FragmentScan,
    Nothing,
    PlanStep,
    Restrict,
    Scan,
    Select,
    walk_steps,
)

__all__ = ["compute_burden", "estimate_cost", "estimate_rows", "is_grounded"]

READ_COST = 1.0
DERIVED_COST = 0.1
CALCULATED_COST = 1000.0
JOINED_COST = 10.0
UNKNOWN_ROWS = 1_000_000


def estimate_rows(scene: Scene, step: PlanStep) -> float:
    """Return the number of rows of a step: counted, or estimated."""
    rows = scene.estimates.get(step.signature)
    if rows is None:
        rows = scene.estimates[step.signature] = _compute_estimate(scene, step)
    return rows


def _compute_estimate(scene: Scene, step: PlanStep) -> float:
    """Return the estimate for a step from the operation and the estimates of the inputs."""
    counted = scene.rows.get(step.extent.digest)
    if counted is not None:
        return float(counted)
    match step:
        case Nothing():
            return 0.0
        case Scan(base=base):
            row_count = UNKNOWN_ROWS if base.files.row_count is None else base.files.row_count
            return float(row_count * _find_read_share(step))
        case FragmentScan(fragment=fragment):
            return float(fragment.rows)
        case Select():
            kept_share = estimate_kept_share(scene, step.condition, step.input.extent)
            return estimate_rows(scene, step.input) * min(kept_share / _find_read_share(step.input), 1.0)
        case Restrict() | Exclude():
            share = estimate_common_share(scene, step.extent, step.input.extent)
            return estimate_rows(scene, step.input) * (KEPT_SHARE if share is None else share)
        case Matched():
            return estimate_rows(scene, step.input) * KEPT_SHARE
        case Match():
            return estimate_rows(scene, step.left) * KEPT_SHARE
        case ContinuedMatch(new_left=new_left):
            new_pairs = 0.0 if new_left is None else estimate_rows(scene, new_left) * KEPT_SHARE
            return estimate_rows(scene, step.stored) + new_pairs
        case Combine():
            return min(estimate_rows(scene, member) for member in step.members)
        case Concat():
            return sum(estimate_rows(scene, member) for member in step.members)
        case _:
            return estimate_rows(scene, step.inputs[0])


def _find_read_share(step: PlanStep) -> float:
    """Return the share of its files that a scan below derived attributes reads; no row of the others is selected."""
    while isinstance(step, Derive):
        step = step.input
    if not isinstance(step, Scan) or step.chosen is None:
        return 1.0
    return step.file_count / len(step.base.files.fingerprints)


def is_grounded(scene: Scene, step: PlanStep) -> bool:
    """Return whether an estimate rests on counts: the rows of all files at its start are known."""

    def follow_uncounted(current: PlanStep) -> tuple[PlanStep, ...]:
        return () if current.extent.digest in scene.rows else current.inputs

    scans = (scan for scan in walk_steps(step, within=follow_uncounted) if isinstance(scan, Scan))
    return all(scan.base.files.row_count is not None or scan.extent.digest in scene.rows for scan in scans)


def estimate_cost(scene: Scene, step: PlanStep, needed: frozenset[AttributeIdentity]) -> float:
    """Return the approximate cost of computing some attributes of a step."""
    cost_key = (step.signature, needed)
    if cost_key not in scene.costs:
        scene.costs[cost_key] = _compute_cost(scene, step, needed)
    return scene.costs[cost_key]


def compute_burden(scene: Scene, step: PlanStep, needed: frozenset[AttributeIdentity]) -> tuple[int, float]:
    """Return the sort key for choosing steps: the number of calculators first, then the cost."""
    return sum(isinstance(ancestor, Calculate) for ancestor in walk_steps(step)), estimate_cost(scene, step, needed)


def _compute_cost(scene: Scene, step: PlanStep, needed: frozenset[AttributeIdentity]) -> float:
    """Return the cost of a step: the cost of the inputs plus the cost of the operation."""
    input_cost = sum(
        estimate_cost(scene, input_step, reads)
        for input_step, reads in zip(step.inputs, step.reads(needed), strict=True)
    )
    match step:
        case Scan() | FragmentScan():
            return estimate_rows(scene, step) * READ_COST * (len(needed) + 1)
        case Derive():
            return input_cost + estimate_rows(scene, step) * DERIVED_COST
        case Calculate():
            return input_cost + estimate_rows(scene, step) * CALCULATED_COST
        case Combine() | Restrict() | Exclude() | Match() | Matched():
            return input_cost + sum(estimate_rows(scene, input_step) for input_step in step.inputs) * JOINED_COST
        case ContinuedMatch(stored=stored, new_left=new_left, new_right=new_right):
            # Few new rows are sent to where the rows of the other side are.
            matched = [stored, *(new for new in (new_left, new_right) if new is not None)]
            return input_cost + sum(estimate_rows(scene, matched_step) for matched_step in matched) * JOINED_COST
        case Concat(is_disjoint=False):
            return input_cost + sum(estimate_rows(scene, input_step) for input_step in step.inputs) * JOINED_COST
        case _:
            return input_cost
