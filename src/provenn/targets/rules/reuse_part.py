"""Rule: read stored sources from fragments, and compute only the other sources."""

from __future__ import annotations

from collections.abc import Iterator

from provenn.catalogs import Extent
from provenn.criteria import AttributeIdentity
from provenn.targets.costs import compute_burden
from provenn.targets.gathering import find_places, find_reused_fragments, gather_rows
from provenn.targets.pruning import prune_step
from provenn.targets.rules.rule import Rewrite
from provenn.targets.scene import Scene
from provenn.targets.steps import Calculate, Combine, Concat, Exclude, PlanStep, Select, is_key, walk_steps
from provenn.targets.supplies import count_stored_rows, find_supplies, join_supplies

__all__ = ["reuse_part"]


def reuse_part(step: PlanStep, needed: frozenset[AttributeIdentity], scene: Scene) -> Rewrite | None:
    """Read stored outputs from fragments, and calculate exactly the sources without a needed stored output.

    A single call gives all outputs of a calculator, so a source is calculated if and only if a needed output is not
    stored.

    Examples
    --------
    >>> from provenn.targets.rules.examples import BRIGHT, STARS, calculate, show_rewrite, store
    >>> show_rewrite(reuse_part, calculate(STARS), stored=[store(calculate(BRIGHT))])
    calculate(stars)
    -> disjoint concat(fragment #1, calculate(select(stars)))
    """
    if not isinstance(step, Calculate) or step.is_catalog_wide:
        return None
    outputs = needed & {output.identity for output in step.outputs}
    for supply in _iterate_supplies(step, outputs, scene):
        both, rest = step.extent & supply.extent, step.extent - supply.extent
        if scene.is_empty(both) or scene.is_empty(rest):
            continue
        stored_part = _build_stored_part(step, both, needed, scene, supply)
        remainder = _build_remainder(step, rest, needed, scene, supply)
        attributes = [
            attribute for identity, attribute in step.attributes.items() if is_key(identity) or identity in needed
        ]
        statement = scene.state_equal(step.extent, both | rest)
        return Rewrite(
            Concat.of([stored_part, remainder], attributes, step.extent), _explain_reuse(supply), (statement,)
        )
    return None


def _iterate_supplies(step: Calculate, outputs: frozenset[AttributeIdentity], scene: Scene) -> Iterator[PlanStep]:
    """Yield steps with all outputs from fragments: from a single fragment, or else each output separately."""
    candidates = find_supplies(scene, outputs, step)
    yield from (supply for supply in candidates if outputs <= supply.attributes.keys())
    if len(outputs) > 1 and all(any(identity in supply.attributes for supply in candidates) for identity in outputs):
        joined = [join_supplies(scene, step.extent, identity, step) for identity in sorted(outputs)]
        available = [supply for supply in joined if supply is not None]
        if len(available) == len(outputs):
            yield Combine(tuple(available))


def _build_stored_part(
    step: Calculate, both: Extent, needed: frozenset[AttributeIdentity], scene: Scene, supply: PlanStep
) -> PlanStep:
    """Return the sources inside a supply: from the supply's rows alone, or else joined with the step."""
    alone = gather_rows(scene, supply, both, needed)
    return prune_step(Combine((supply, step)), needed) if alone is None else alone


def _build_remainder(
    step: Calculate, rest: Extent, needed: frozenset[AttributeIdentity], scene: Scene, supply: PlanStep
) -> PlanStep:
    """Return the sources outside a supply: decided on rows if possible, or else by key.

    Rows cannot decide if a calculator would first have to be called for sources inside the supply.
    """
    gathered = (gather_rows(scene, place, rest, needed) for place in find_places(step))
    candidates = [
        candidate
        for candidate in gathered
        if candidate is not None and all(scene.lies_in(extent, rest) for extent in _find_calculated_extents(candidate))
    ]
    if not candidates:
        return step.replace_inputs([_subtract(scene, step.input, supply)])
    return min(candidates, key=lambda candidate: compute_burden(scene, candidate, needed))


def _subtract(scene: Scene, step: PlanStep, supply: PlanStep) -> PlanStep:
    """Return the rows of a step without the sources of a supply; whole members of a union are kept or dropped.

    Sound: a dropped member has only sources of the supply, and no other member keeps such a source. So each remaining
    source still has its values from the first member that holds it.
    """
    if isinstance(step, Select):
        rest = _subtract(scene, step.input, supply)
        return Select(rest, step.condition, step.sources - supply.extent)
    if isinstance(step, Concat):
        positions = [at for at, member in enumerate(step.members) if not scene.lies_in(member.extent, supply.extent)]
        if positions and len(positions) < len(step.members):
            members = tuple(_exclude(scene, step.members[position], supply) for position in positions)
            columns = tuple(
                (attribute, tuple(identities[position] for position in positions))
                for attribute, identities in step.columns
            )
            return Concat(members, columns, step.is_disjoint or len(members) == 1, step.extent - supply.extent)
    return _exclude(scene, step, supply)


def _exclude(scene: Scene, step: PlanStep, supply: PlanStep) -> PlanStep:
    """Return the rows of a step without the sources of a supply, compared by key if it is not proved that none is."""
    if scene.is_proved(scene.state_disjoint(step.extent, supply.extent)):
        return step
    return Exclude(step, prune_step(supply, frozenset()))


def _find_calculated_extents(step: PlanStep) -> Iterator[Extent]:
    return (
        calculation.extent
        for calculation in walk_steps(step)
        if isinstance(calculation, Calculate) and not calculation.is_catalog_wide
    )


def _explain_reuse(supply: PlanStep) -> str:
    numbers = [f"#{number}" for number in sorted(find_reused_fragments(supply))]
    if len(numbers) == 1:
        return f"fragment {numbers[0]} holds some of these sources ({count_stored_rows(supply)} are stored)"
    return f"fragments {', '.join(numbers[:-1])} and {numbers[-1]} hold some of these sources together"
