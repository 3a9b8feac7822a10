"""How much a look would read, roughly, before it opens a file; and which attributes each step needs."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.criteria import AttributeIdentity
from provenn.look.allowance import LARGEST, LARGEST_MATCH
from provenn.look.refusal import NeedsSpark
from provenn.targets.match_looking import find_scan
from provenn.targets.match_steps import Match
from provenn.targets.plan import Plan
from provenn.targets.steps import FragmentScan, PlanStep, Scan, find_key

__all__ = ["check_size", "is_short", "walk_needed"]

_WIDTH = 8
"""The bytes of a value, roughly."""

_SHORT = 16 * 2**20
"""The most bytes of a look that takes a moment."""


def check_size(plan: Plan) -> None:
    """Make sure that a look may read what a plan reads, as far as its size is known.

    The sides of a match that are read file by file are not in memory at once, and may be larger.

    Raises
    ------
    NeedsSpark
        If it may not.
    """
    matched: dict[int, int] = {}
    sizes: dict[int, int] = {}
    for step, needed in walk_needed(plan.after, plan.needed):
        if isinstance(step, Match):
            for side, reads in zip(step.inputs, step.reads(needed), strict=True):
                scan = find_scan(side)
                if scan is not None:
                    matched[id(scan)] = _estimate_scan(scan, reads)
        sizes[id(step)] = _estimate_scan(step, needed)
    whole = sum(size for number, size in sizes.items() if number not in matched)
    for size, largest in ((whole, LARGEST), (sum(matched.values()), LARGEST_MATCH)):
        if size > largest:
            raise NeedsSpark(f"the plan reads about {size / 2**20:,.0f} MB, and a look at most {largest >> 20} MB")


def is_short(plan: Plan) -> bool:
    """Return whether a look at what a plan reads is known to take a moment."""
    steps = list(walk_needed(plan.after, plan.needed))
    is_known = all(step.base.files.row_count is not None for step, _ in steps if isinstance(step, Scan))
    return is_known and sum(_estimate_scan(step, needed) for step, needed in steps) <= _SHORT


def walk_needed(
    step: PlanStep, needed: frozenset[AttributeIdentity]
) -> Iterator[tuple[PlanStep, frozenset[AttributeIdentity]]]:
    """Yield a step and all steps below, with the attributes that are needed of each."""
    stack: list[tuple[PlanStep, frozenset[AttributeIdentity]]] = [(step, needed)]
    while stack:
        current, wanted = stack.pop()
        yield current, wanted
        stack.extend(zip(current.inputs, current.reads(wanted), strict=True))


def _estimate_scan(step: PlanStep, needed: frozenset[AttributeIdentity]) -> int:
    """Return roughly how many bytes a step reads by itself; a scan of unknown size counts nothing."""
    columns = len(needed.union(find_key(step.attributes)))
    if isinstance(step, FragmentScan):
        return step.fragment.rows * columns * _WIDTH
    if isinstance(step, Scan):
        total = len(step.base.files.fingerprints)
        return (step.base.files.row_count or 0) * step.file_count // max(1, total) * columns * _WIDTH
    return 0
