"""Gathering: take all requested attributes of some sources from the rows of one place.

The row alone decides whether a source is requested, and missing attributes are derived from the row. So no join is
needed for any lineage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from provenn import deadline
from provenn.catalogs import Extent
from provenn.catalogs.extent import everything, intersection, leaf, nothing, union
from provenn.catalogs.match_sets import describe_match
from provenn.catalogs.set_labels import is_derived_set, parse_file_label
from provenn.criteria import AttributeIdentity
from provenn.digests import is_catalog_label
from provenn.targets.continued_match import ContinuedMatch
from provenn.targets.match_steps import Match, Matched
from provenn.targets.opaque_steps import FilterBySql, QueryBySql
from provenn.targets.reference_steps import Explode, Group, Lookup, Partnered
from provenn.targets.scene import Scene, find_joined_labels, split_intersection
from provenn.targets.sizes import is_inflated
from provenn.targets.steps import (
    Attributes,
    Calculate,
    Concat,
    Derive,
    FragmentScan,
    PlanStep,
    Scan,
    Select,
    find_condition_attributes,
    walk_steps,
)

__all__ = [
    "derive_missing",
    "find_places",
    "find_residual_conditions",
    "find_reused_fragments",
    "gather_rows",
    "is_derivable",
    "is_evaluable",
    "narrow_scan",
    "needs_more_calls",
]


_NEW_ROWS = Match | ContinuedMatch | Group | Explode | QueryBySql
"""The steps whose rows are new sources, of another population than the rows of their inputs."""


def find_places(step: PlanStep) -> list[PlanStep]:
    """Return the steps where gathering starts: scans of files and fragments, steps with new rows, whole calculations.

    Gathering never looks below these steps.
    """
    places: dict[int, PlanStep] = {}
    for candidate in walk_steps(step, within=_find_same_population_inputs):
        if (
            not candidate.inputs
            or isinstance(candidate, _NEW_ROWS)
            or (isinstance(candidate, Calculate) and candidate.is_catalog_wide)
        ):
            places.setdefault(candidate.signature, candidate)
    return list(places.values())


def _find_same_population_inputs(step: PlanStep) -> tuple[PlanStep, ...]:
    """Return the inputs of a step that have the same population as the step."""
    if isinstance(step, _NEW_ROWS):
        return ()
    return step.inputs[:1] if isinstance(step, Matched | Partnered | Lookup | FilterBySql) else step.inputs


def find_reused_fragments(step: PlanStep) -> set[int]:
    """Return the numbers of the fragments that a step reads."""
    return {scan.fragment.id for scan in walk_steps(step) if isinstance(scan, FragmentScan)}


def needs_more_calls(scene: Scene, candidate: PlanStep, step: PlanStep) -> bool:
    """Return whether `candidate` may call a calculator for more sources than `step` does.

    A rule with this test never undoes the savings of reading fragments, even if the estimated cost is lower.
    """
    called_extents: dict[tuple[str, tuple[str, ...]], list[Extent]] = {}
    for calculation in walk_steps(step):
        if isinstance(calculation, Calculate):
            called_extents.setdefault((calculation.calculator.digest, calculation.arguments), []).append(
                calculation.extent
            )
    return any(
        not scene.lies_in(
            calculation.extent, union(called_extents.get((calculation.calculator.digest, calculation.arguments), ()))
        )
        for calculation in walk_steps(candidate)
        if isinstance(calculation, Calculate)
    )


def find_residual_conditions(scene: Scene, extent: Extent, larger: Extent) -> list[Extent] | None:
    """Return the sets that cut an extent out of a larger extent; None if the SQL would be too long."""
    larger_parts = split_intersection(larger)
    cutting = {digest: part for digest, part in split_intersection(extent).items() if digest not in larger_parts}
    conditions = [_simplify_within(scene, condition, larger) for condition in _drop_apart(scene, cutting, larger)]
    if any(map(is_inflated, conditions)):
        return None
    return [condition for condition in conditions if not scene.lies_in(larger, condition)]


def _drop_apart(scene: Scene, conditions: Mapping[str, Extent], larger: Extent) -> list[Extent]:
    """Return conditions without exclusions of base sets, if all these sets share no source with a larger set.

    A single proof serves all exclusions: a version has many files.
    """
    outside = {
        digest: ~part
        for digest, part in conditions.items()
        if part.complemented and part.label is not None and _is_set(part.label)
    }
    if len(outside) > 1 and scene.is_proved(scene.state_disjoint(larger, union(outside.values()))):
        return [part for digest, part in conditions.items() if digest not in outside]
    return list(conditions.values())


def _simplify_within(scene: Scene, condition: Extent, larger: Extent) -> Extent:
    """Return a set simplified for the sources of a larger set.

    A base set that holds all or none of these sources is replaced by everything or nothing.
    """

    def simplify_label(label: str) -> Extent:
        if _is_set(label):
            if scene.lies_in(larger, leaf(label)):
                return everything
            if scene.is_proved(scene.state_disjoint(larger, leaf(label))):
                return nothing
        return leaf(label)

    return condition if is_evaluable(condition) else condition.evaluate(simplify_label, everything)


def is_evaluable(condition: Extent) -> bool:
    """Return whether a row alone decides membership in a set: the set has only criteria and samples."""
    return not any(map(_is_set, condition.labels))


def _is_set(label: str) -> bool:
    """Return whether a label names a set that no row decides: a base, a file, a match, partners, first sources."""
    return (
        is_catalog_label(label)
        or is_derived_set(label)
        or describe_match(label) is not None
        or parse_file_label(label) is not None
    )


def is_derivable(scene: Scene, identity: AttributeIdentity, attributes: Collection[AttributeIdentity]) -> bool:
    """Return whether an attribute is in a collection, or can be derived from it row by row."""
    pending, seen = [identity], set()
    while pending:
        current = pending.pop()
        if current in attributes or current in seen:
            continue
        seen.add(current)
        definition = scene.find_definition(current)
        if definition is None:
            return False
        pending.extend(_list_arguments(definition))
    return True


def gather_rows(scene: Scene, place: PlanStep, extent: Extent, needed: frozenset[AttributeIdentity]) -> PlanStep | None:
    """Return the sources of an extent with the needed attributes, from the rows of one place, or None.

    Selections come first, starting with selections on stored attributes. Costly attributes are calculated last, for the
    remaining sources.
    """
    deadline.check()
    if not scene.lies_in(extent, place.extent):
        return None
    place = narrow_scan(place, extent)
    conditions = find_residual_conditions(scene, extent, place.extent)
    if conditions is None or not all(map(is_evaluable, conditions)):
        return None
    reads = {condition.digest: find_condition_attributes(condition) for condition in conditions}
    wanted = needed.union(*reads.values())
    if not all(is_derivable(scene, identity, place.attributes) for identity in wanted):
        return None
    step, remaining = place, conditions
    while remaining:
        ready = [condition for condition in remaining if reads[condition.digest] <= step.attributes.keys()]
        remaining = [condition for condition in remaining if condition not in ready]
        if ready:
            sources = extent if not remaining else intersection([step.extent, *ready])
            step = Select(step, intersection(ready), sources)
        if remaining:
            step = _derive_next_condition(scene, step, [reads[condition.digest] for condition in remaining])
    return derive_missing(scene, step, needed)


def _derive_next_condition(scene: Scene, step: PlanStep, reads: Iterable[frozenset[AttributeIdentity]]) -> PlanStep:
    """Derive the attributes of the cheapest remaining condition."""

    def count_derivations(identities: frozenset[AttributeIdentity]) -> tuple[int, int]:
        definitions = list(_list_missing_definitions(scene, identities, step.attributes))
        return sum(isinstance(definition, Calculate) for definition in definitions), len(definitions)

    return derive_missing(scene, step, min(reads, key=count_derivations))


def derive_missing(scene: Scene, step: PlanStep, needed: frozenset[AttributeIdentity]) -> PlanStep:
    """Extend a step by derivations of the missing needed attributes: SQL first, then calculators."""
    for definition in _list_missing_definitions(scene, needed, step.attributes):
        step = definition.replace_inputs([step])
    return step


def _list_missing_definitions(
    scene: Scene, needed: Iterable[AttributeIdentity], attributes: Attributes
) -> list[Derive | Calculate]:
    """Return the definitions of missing attributes, inputs first, and calculators as late as possible."""
    early: list[Derive | Calculate] = []
    late: list[Derive | Calculate] = []
    needs_calculator: dict[AttributeIdentity, bool] = {}  # by identity: whether the attribute depends on a calculator

    def visit(identity: AttributeIdentity) -> bool:
        if identity in attributes:
            return False
        if identity not in needs_calculator:
            definition = scene.find_definition(identity)
            assert definition is not None, "the attribute is derivable"  # noqa: S101 - for the type checker
            # visit all arguments, which `any` alone would not do
            argument_needs = [visit(argument) for argument in _list_arguments(definition)]
            is_late = isinstance(definition, Calculate) or any(argument_needs)
            (late if is_late else early).append(definition)
            for output in _iterate_outputs(definition):
                needs_calculator[output] = is_late
        return needs_calculator[identity]

    for identity in sorted(needed):
        visit(identity)
    return early + late


def narrow_scan(place: PlanStep, extent: Extent) -> PlanStep:
    """Return a scan of joined files limited to the files that may hold a source of an extent; any other step unchanged.

    Sound: a source of the extent is in the scanned files, so in some joined base catalog; and the source is in no base
    catalog left out by the extent.
    """
    if not isinstance(place, Scan) or not place.base.joins:
        return place
    joined = [digest for digest, _ in place.base.joins]
    chosen = frozenset(joined)
    for part in split_intersection(extent).values():
        labels = find_joined_labels(part)
        if labels:
            chosen &= labels
        elif part.complemented and part.label is not None:
            chosen -= {part.label}
    if not chosen or len(chosen) == len(joined):
        return place
    scans = tuple(map(Scan, place.base.find_parts(chosen)))
    columns = tuple((attribute, (attribute.identity,) * len(scans)) for attribute in place.attributes.values())
    return scans[0] if len(scans) == 1 else Concat(scans, columns, True, union(scan.extent for scan in scans))


def _list_arguments(definition: Derive | Calculate) -> tuple[AttributeIdentity, ...]:
    return definition.arguments if isinstance(definition, Calculate) else definition.expression.reads


def _iterate_outputs(definition: Derive | Calculate) -> Iterator[AttributeIdentity]:
    if isinstance(definition, Calculate):
        yield from (output.identity for output in definition.outputs)
    else:
        yield definition.attribute.identity
