"""Rule: read fragments that hold all sources of a step, instead of computing the step."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.criteria import AttributeIdentity
from provenn.targets.costs import compute_burden
from provenn.targets.gathering import find_reused_fragments, gather_rows, is_derivable, needs_more_calls
from provenn.targets.pruning import prune_step
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, FragmentScan, PlanStep, find_key, walk_steps
from provenn.targets.supplies import find_supplies, join_supplies

__all__ = ["reuse_whole"]


def reuse_whole(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Read fragments instead of computing a step, if this saves a calculator call or costs less.

    A source has a single value of an identity, so a fragment with all sources of a step gives the right values.

    Examples
    --------
    >>> from provenn.catalogs import verbs
    >>> from provenn.targets.rules.examples import STARS, calculate, show_rewrite, store
    >>> with_z = calculate(STARS)
    >>> show_rewrite(reuse_whole, with_z, stored=[store(with_z)])
    calculate(stars)
    -> fragment #1
    >>> show_rewrite(reuse_whole, verbs.select(with_z, "plx > 10"), stored=[store(with_z)])
    select(calculate(stars))
    -> select(fragment #1)
    """
    if isinstance(step, FragmentScan):
        return None
    best, least = None, compute_burden(scene, step, needed)
    calls, fragments_read = least[0], find_reused_fragments(step)
    for supply in _iterate_supplies(step, needed, scene):
        for replacement in _iterate_replacements(step, needed, scene, supply):
            burden = compute_burden(scene, replacement, needed)
            if burden[0] and burden[0] == calls and not fragments_read <= find_reused_fragments(replacement):
                continue  # estimates alone would alternate between fragments
            if burden < least and not needs_more_calls(scene, replacement, step):
                statements = (scene.state_inside(step.extent, supply.extent),)
                best, least = Rewrite(replacement, f"{_describe_fragments(supply)} these sources", statements), burden
    return best


def _iterate_supplies(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Iterator[PlanStep]:
    """Yield steps that read fragments and are proved to have all sources of a step."""
    key = find_key(step.attributes)
    calculations = [ancestor for ancestor in walk_steps(step) if isinstance(ancestor, Calculate)]
    stored = [scan for scan in scene.fragments if find_key(scan.attributes) == key]
    wanted = needed.union(*({output.identity for output in calculation.outputs} for calculation in calculations))
    supplies = find_supplies(scene, wanted, step) if calculations else []
    views = [supply for supply in supplies if not isinstance(supply, FragmentScan)]
    for supply in (*stored, *views):
        saves_call = bool(calculations) and not needed.isdisjoint(supply.attributes)
        is_useful = saves_call or all(is_derivable(scene, identity, supply.attributes) for identity in needed)
        if is_useful and scene.lies_in(step.extent, supply.extent):
            yield supply
    for calculation in calculations:
        # A row-by-row calculation is replaced at its own step; a catalog-wide calculation only as a whole.
        if calculation is step or calculation.is_catalog_wide:
            yield from _join_fragments(step, needed & {output.identity for output in calculation.outputs}, scene)


def _join_fragments(step: PlanStep, outputs: frozenset[AttributeIdentity], scene: Scene) -> Iterator[PlanStep]:
    """Yield a step with calculator outputs from several fragments, if they hold all sources together."""
    joined = [join_supplies(scene, step.extent, identity, step) for identity in sorted(outputs)]
    available = [supply_step for supply_step in joined if supply_step is not None]
    if (
        not available
        or len(available) < len(joined)
        or (len(available) == 1 and isinstance(available[0], FragmentScan))
    ):
        return
    supply = available[0] if len(available) == 1 else Combine(tuple(available))
    if scene.lies_in(step.extent, supply.extent):
        yield supply


def _iterate_replacements(
    step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene, supply: PlanStep
) -> Iterator[PlanStep]:
    """Yield replacements of a step: the rows of a supply alone, or joined with the step to save a call."""
    alone = gather_rows(scene, supply, step.extent, needed)
    if alone is not None:
        yield alone
    joined = prune_step(Combine((supply, step)), needed)
    if _count_calculations(joined) < _count_calculations(step):
        yield joined


def _count_calculations(step: PlanStep) -> int:
    return sum(isinstance(ancestor, Calculate) for ancestor in walk_steps(step))


def _describe_fragments(supply: PlanStep) -> str:
    numbers = [f"#{number}" for number in sorted(find_reused_fragments(supply))]
    if len(numbers) == 1:
        return f"fragment {numbers[0]} holds all"
    return f"fragments {', '.join(numbers[:-1])} and {numbers[-1]} together hold all"
