"""Approximate costs of plans: enough to choose between equivalent steps.

Costs are in values read. Reading a value from a file costs 1, deriving a value by SQL a tenth; a Python calculator
costs a thousand for each source, a join ten for each input row. Counted rows are known; others are estimated: see
`provenn.targets.selectivity`.
"""

from __future__ import annotations

from provenn.catalogs import Base
from provenn.criteria import AttributeIdentity
from provenn.targets.column_shares import KEPT_SHARE
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.match_steps import Match, Matched
from provenn.targets.opaque_steps import FilterBySql, QueryBySql
from provenn.targets.reference_steps import Explode, First, Group, Lookup, Partnered
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
    is_key,
    walk_steps,
)

__all__ = ["compute_burden", "estimate_cost", "estimate_rows", "is_grounded"]

READ_COST = 1.0
DERIVED_COST = 0.1
CALCULATED_COST = 1000.0
JOINED_COST = 10.0
UNKNOWN_ROWS = 1_000_000
GROUP_SIZE = 3
"""How many members a group has on average, if nothing is known."""
ARRAY_LENGTH = 10
"""How many elements an array has on average, if nothing is known."""


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
        case Matched() | FilterBySql():
            return estimate_rows(scene, step.input) * KEPT_SHARE
        case Match():
            return estimate_rows(scene, step.left) * KEPT_SHARE
        case ContinuedMatch(new_left=new_left):
            new_pairs = 0.0 if new_left is None else estimate_rows(scene, new_left) * KEPT_SHARE
            return estimate_rows(scene, step.stored) + new_pairs
        case Partnered() | Lookup() | Group() | First() | Explode():
            return _estimate_partners(scene, step)
        case QueryBySql(tables=tables):
            return max(estimate_rows(scene, table) for table in tables)
        case Combine():
            return min(estimate_rows(scene, member) for member in step.members)
        case Concat():
            return sum(estimate_rows(scene, member) for member in step.members)
        case _:
            return estimate_rows(scene, step.inputs[0])


def _estimate_partners(scene: Scene, step: Partnered | Lookup | Group | First | Explode) -> float:
    """Return the estimate for a step that follows references."""
    rows = estimate_rows(scene, step.input)
    match step:
        case Lookup(keeps_all=True):
            return rows
        case Lookup(other=other):
            return rows if step.extent == step.input.extent else rows * _estimate_partner_share(scene, other)
        case Partnered(other=other, is_in=is_in) if all(map(is_key, step.others)):
            share = _estimate_partner_share(scene, other)
            return rows * (share if is_in else 1 - share or KEPT_SHARE)
        case Partnered(other=other, is_in=is_in):
            return min(rows * KEPT_SHARE, estimate_rows(scene, other)) if is_in else rows * KEPT_SHARE
        case Group(reference=reference):
            return min(rows, _count_population(scene, reference.population) or rows / GROUP_SIZE)
        case First(number=number):
            return min(rows, rows / GROUP_SIZE * number)
        case Explode():
            return rows * ARRAY_LENGTH


def _estimate_partner_share(scene: Scene, step: PlanStep) -> float:
    """Return the share of the sources of a step among the sources that the step was selected from."""
    largest = rows = estimate_rows(scene, step)
    while step.inputs and not isinstance(step, Match | ContinuedMatch | Group | Explode | QueryBySql | Concat):
        step = step.inputs[0]
        largest = max(largest, estimate_rows(scene, step))
    return rows / largest if largest else 1.0


def _count_population(scene: Scene, name: str) -> float:
    """Return the largest known number of sources of a catalog of a population; 0 if none is known."""
    members = (catalog for catalog in scene.catalogs if catalog.population.name == name)
    counts = (
        scene.rows.get(member.extent.digest) or (member.files.row_count if isinstance(member, Base) else None)
        for member in members
    )
    return float(max((count for count in counts if count is not None), default=0))


def _find_read_share(step: PlanStep) -> float:
    """Return the share of the files read by a scan below derived attributes; no row of the unread files is selected."""
    while isinstance(step, Derive):
        step = step.input
    if not isinstance(step, Scan) or step.chosen is None:
        return 1.0
    return step.file_count / len(step.base.files.fingerprints)


def is_grounded(scene: Scene, step: PlanStep) -> bool:
    """Return whether an estimate rests on counts: the rows of all files, and of opaque queries, are known."""

    def follow_uncounted(current: PlanStep) -> tuple[PlanStep, ...]:
        return () if current.extent.digest in scene.rows else current.inputs

    steps = [
        current for current in walk_steps(step, within=follow_uncounted) if current.extent.digest not in scene.rows
    ]
    return not any(
        isinstance(current, QueryBySql) or (isinstance(current, Scan) and current.base.files.row_count is None)
        for current in steps
    )


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
            cost = CALCULATED_COST if step.calls_python else JOINED_COST
            return input_cost + estimate_rows(scene, step) * cost
        case Explode():
            return input_cost + estimate_rows(scene, step) * DERIVED_COST
        case Combine() | Restrict() | Exclude() | Match() | Matched() | Partnered() | Lookup() | Group() | First():
            return input_cost + sum(estimate_rows(scene, input_step) for input_step in step.inputs) * JOINED_COST
        case FilterBySql() | QueryBySql():
            return input_cost + sum(estimate_rows(scene, input_step) for input_step in step.inputs) * JOINED_COST
        case ContinuedMatch(stored=stored, new_left=new_left, new_right=new_right):
            # Few new rows are sent to where the rows of the other side are.
            matched = [stored, *(new for new in (new_left, new_right) if new is not None)]
            return input_cost + sum(estimate_rows(scene, matched_step) for matched_step in matched) * JOINED_COST
        case Concat(is_disjoint=False):
            return input_cost + sum(estimate_rows(scene, input_step) for input_step in step.inputs) * JOINED_COST
        case _:
            return input_cost
