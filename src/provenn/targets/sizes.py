"""Size limits for plans in the written form for Spark.

A set is a graph: a repeated part is stored once. SQL and Spark plans are trees, and trees repeat the part. So a chain
of sets, each with two uses of the set before, doubles at every step in the tree. Plans with large definitions are not
limited here.
"""

from __future__ import annotations

from typing import Final

from provenn.catalogs import Extent
from provenn.errors import TargetError
from provenn.targets.steps import PlanStep, Select, walk_steps

__all__ = ["check_plan_size", "is_inflated", "measure_written_size"]

MOST_WRITTEN: Final = 1000
"""How many sets a written condition may name."""

MOST_PLANNED: Final = 20_000
"""How many steps a written plan may have, plus the sets that its written conditions name."""

GROWTH: Final = 8
"""How many times longer than its graph a tree may always be: long lists of values are long by definition."""


def measure_written_size(extent: Extent) -> tuple[int, int]:
    """Return how many sets an extent names when written out, and how many different sets it has.

    Examples
    --------
    >>> from provenn.catalogs.extent import leaf
    >>> measure_written_size(leaf("A") ^ leaf("B"))
    (4, 5)
    >>> measure_written_size((leaf("A") ^ leaf("B")) ^ leaf("C"))
    (10, 9)
    """
    sizes: dict[str, int] = {}
    stack = [extent]
    while stack:
        current = stack[-1]
        missing = [part for part in current.parts if _make_shared_name(part) not in sizes]
        if missing:
            stack.extend(missing)
            continue
        stack.pop()
        sizes[_make_shared_name(current)] = sum(sizes[_make_shared_name(part)] for part in current.parts) or 1
    return sizes[_make_shared_name(extent)], len(sizes)


def is_inflated(extent: Extent) -> bool:
    """Return whether a written condition would be far longer than the graph of its set."""
    written, different = measure_written_size(extent)
    return written > max(MOST_WRITTEN, GROWTH * different)


def check_plan_size(plan: PlanStep, what: str) -> None:
    """Refuse a plan far longer, written out, than the definitions.

    Raises
    ------
    TargetError
        If the plan is too long.
    """
    written, different = _measure_plan_size(plan)
    if written > max(MOST_PLANNED, GROWTH * different):
        raise TargetError(
            f"{what} cannot be computed: catalogs in its lineage are used repeatedly, so its plan would be "
            f"{_format_number(written)} steps and conditions long, built from {different:,}",
            hint="export a catalog in the middle of the lineage, ingest the file, and continue from there",
        )


def _measure_plan_size(plan: PlanStep) -> tuple[int, int]:
    """Return the number of steps and of sets in conditions: written out, and different ones."""
    sizes: dict[int, int] = {}
    conditions: dict[str, tuple[int, int]] = {}
    for step in walk_steps(plan):
        own = 1
        if isinstance(step, Select):
            conditions[step.condition.digest] = measure_written_size(step.condition)
            own += conditions[step.condition.digest][0]
        sizes[step.signature] = own + sum(sizes[part.signature] for part in step.inputs)
    return sizes[plan.signature], len(sizes) + sum(different for _, different in conditions.values())


def _make_shared_name(extent: Extent) -> str:
    """Return a common name for a set and the complement: both are equally long."""
    return min(extent.digest, extent.opposite)


def _format_number(number: int) -> str:
    return f"{number:,}" if number < 10**12 else f"10^{len(str(number)) - 1}"
