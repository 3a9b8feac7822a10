"""The literal steps of a catalog, exactly as it is defined, before any rewriting."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from provenn import deadline
from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    ExplodeArrays,
    FirstSources,
    GroupSources,
    HavingSources,
    LookupAttributes,
    MatchedSources,
    OpaqueQuery,
    OpaqueSelection,
    PythonCalculator,
    RestrictSources,
    SampleSources,
    SelectSources,
    cone,
)
from provenn.catalogs.calculators import WindowFunctions
from provenn.catalogs.concat_sources import find_shared_attributes
from provenn.catalogs.extent import leaf
from provenn.targets.match_steps import Match, Matched
from provenn.targets.opaque_steps import FilterBySql, QueryBySql
from provenn.targets.reference_steps import Explode, First, Group, Lookup, Partnered
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    PlanStep,
    Restrict,
    Scan,
    Select,
)

__all__ = ["build_step", "build_steps"]


def build_step(catalog: Catalog) -> PlanStep:
    """Return the literal step of a catalog. Catalogs that only keep or rename attributes add no step."""
    return build_steps(catalog)[catalog.digest]


def build_steps(*catalogs: Catalog) -> dict[str, PlanStep]:
    """Return the literal steps of catalogs and their ancestors, by digest."""
    steps: dict[str, PlanStep] = {}
    for catalog in cone(*catalogs):
        deadline.check()
        steps[catalog.digest] = _convert_catalog(
            catalog, [steps[dependency.digest] for dependency in catalog.dependencies]
        )
    return steps


@singledispatch
def _convert_catalog(catalog: Catalog, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG001 - other classes read the catalog
    """Return the literal step of a catalog on the steps of the dependencies."""
    return inputs[0]


@_convert_catalog.register
def _convert_base(catalog: Base, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG001 - a base has no inputs
    return Scan(catalog)


@_convert_catalog.register
def _convert_selection(catalog: SelectSources, inputs: Sequence[PlanStep]) -> PlanStep:
    return Select(inputs[0], catalog.find_condition().extent, catalog.extent)


@_convert_catalog.register
def _convert_sample(catalog: SampleSources, inputs: Sequence[PlanStep]) -> PlanStep:
    if catalog.fraction == 1:
        return inputs[0]
    return Select(inputs[0], leaf(catalog.atoms()[0].label), catalog.extent)


@_convert_catalog.register
def _convert_restriction(catalog: RestrictSources, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG001 - the inputs suffice
    rows, other = inputs
    return Restrict(rows, other)


@_convert_catalog.register
def _convert_exclusion(catalog: ExcludeSources, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG001 - the inputs suffice
    return Exclude(*inputs)


@_convert_catalog.register
def _convert_derivation(catalog: DeriveAttributes, inputs: Sequence[PlanStep]) -> PlanStep:
    (step,) = inputs
    schema, new = catalog.parent.schema, catalog.schema
    if isinstance(catalog.calculation, PythonCalculator):
        outputs = tuple(new[name] for name in catalog.calculation.names)
        if all(output.identity in step.attributes for output in outputs):
            return step
        arguments = tuple(schema[name].identity for name in catalog.calculation.inputs)
        return Calculate(step, catalog.calculation, arguments, outputs)
    if isinstance(catalog.calculation, WindowFunctions):
        for window in catalog.calculation.outputs:
            if new[window.name].identity not in step.attributes:
                step = Calculate(step, WindowFunctions((window,)), window.reads, (new[window.name],))
        return step
    for name, expression in catalog.calculation.parse_expressions(schema).items():
        if new[name].identity not in step.attributes:
            step = Derive(step, new[name], expression)
    return step


@_convert_catalog.register
def _convert_combination(catalog: CombineAttributes, inputs: Sequence[PlanStep]) -> PlanStep:  # noqa: ARG001 - the inputs suffice
    members = tuple({id(step): step for step in inputs}.values())
    return members[0] if len(members) == 1 else Combine(members)


@_convert_catalog.register
def _convert_cross_match(catalog: CrossMatch, inputs: Sequence[PlanStep]) -> PlanStep:
    return Match(catalog, *inputs)


@_convert_catalog.register
def _convert_matched_sources(catalog: MatchedSources, inputs: Sequence[PlanStep]) -> PlanStep:
    parent, pairs = inputs
    key = tuple(attribute.identity for attribute in catalog.pairs.schema.key[catalog.key])
    return Matched(parent, pairs, key, catalog.condition)


@_convert_catalog.register
def _convert_concatenation(catalog: ConcatSources, inputs: Sequence[PlanStep]) -> PlanStep:
    columns = tuple(
        (attribute, tuple(piece.identity for piece in pieces))
        for attribute, pieces in zip(catalog.schema.attributes, find_shared_attributes(catalog.members), strict=True)
    )
    return Concat(tuple(inputs), columns, False, catalog.extent)


@_convert_catalog.register
def _convert_lookup(catalog: LookupAttributes, inputs: Sequence[PlanStep]) -> PlanStep:
    step, other = inputs
    columns = tuple((attribute, own.identity) for attribute, own in catalog.columns)
    return Lookup(step, other, catalog.reference, columns, catalog.missing == "null", catalog.extent)


@_convert_catalog.register
def _convert_having(catalog: HavingSources, inputs: Sequence[PlanStep]) -> PlanStep:
    step, members = inputs
    key = tuple(attribute.identity for attribute in catalog.schema.key)
    return Partnered(step, members, key, catalog.reference.identities, catalog.is_in, catalog.extent)


@_convert_catalog.register
def _convert_groups(catalog: GroupSources, inputs: Sequence[PlanStep]) -> PlanStep:
    (members,) = inputs
    key, values = catalog.schema.key, catalog.schema.attributes[len(catalog.key_names) :]
    aggregates = tuple(zip(values, catalog.parse_aggregates(), strict=True))
    return Group(members, catalog.reference, key, aggregates, catalog.extent)


@_convert_catalog.register
def _convert_first(catalog: FirstSources, inputs: Sequence[PlanStep]) -> PlanStep:
    return First(inputs[0], catalog.by, catalog.parse_order(), catalog.number, catalog.extent)


@_convert_catalog.register
def _convert_elements(catalog: ExplodeArrays, inputs: Sequence[PlanStep]) -> PlanStep:
    return Explode(inputs[0], catalog.arrays, catalog.schema.key, catalog.columns, catalog.extent)


@_convert_catalog.register
def _convert_opaque_selection(catalog: OpaqueSelection, inputs: Sequence[PlanStep]) -> PlanStep:
    step, *others = inputs
    return FilterBySql(step, tuple(others), catalog, catalog.extent)


@_convert_catalog.register
def _convert_opaque_query(catalog: OpaqueQuery, inputs: Sequence[PlanStep]) -> PlanStep:
    return QueryBySql(tuple(inputs), catalog)
