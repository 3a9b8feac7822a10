"""A catalog as steps, exactly as it is defined: the plan before anything is known to be needless."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

from provenn.catalogs import (
    Base,
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    MatchedSources,
    PythonCalculator,
    RestrictSources,
    SampleSources,
    SelectSources,
    cone,
)
from provenn.catalogs.concat_sources import shared_attributes
from provenn.catalogs.extent import leaf
from provenn.catalogs.pieces import joined
from provenn.targets.match_steps import Match, Matched
from provenn.targets.scene import condition_of
from provenn.targets.steps import (
    Calculate,
    Combine,
    Concat,
    Derive,
    Exclude,
    Restrict,
    Scan,
    Select,
    Step,
)

__all__ = ["literal", "literals"]


def literal(catalog: Catalog) -> Step:
    """Return the steps that make a catalog. Catalogs that only keep or rename attributes are no steps."""
    return literals(catalog)[catalog.digest]


def literals(*catalogs: Catalog) -> dict[str, Step]:
    """Return the steps that make catalogs and all they are made from, by digest."""
    made: dict[str, Step] = {}
    for one in cone(*catalogs):
        made[one.digest] = _step(one, [made[each.digest] for each in one.dependencies])
    return made


@singledispatch
def _step(catalog: Catalog, inputs: Sequence[Step]) -> Step:  # noqa: ARG001 - other classes read it
    return inputs[0]


@_step.register
def _base(catalog: Base, inputs: Sequence[Step]) -> Step:  # noqa: ARG001 - it has none
    return Scan(catalog)


@_step.register
def _select(catalog: SelectSources, inputs: Sequence[Step]) -> Step:
    return Select(inputs[0], condition_of(catalog), catalog.extent)


@_step.register
def _sample(catalog: SampleSources, inputs: Sequence[Step]) -> Step:
    if catalog.fraction == 1:
        return inputs[0]
    return Select(inputs[0], leaf(catalog.atoms()[0].label), catalog.extent)


@_step.register
def _restrict(catalog: RestrictSources, inputs: Sequence[Step]) -> Step:  # noqa: ARG001 - the inputs tell
    return Restrict(*inputs)


@_step.register
def _exclude(catalog: ExcludeSources, inputs: Sequence[Step]) -> Step:  # noqa: ARG001 - the inputs tell
    return Exclude(*inputs)


@_step.register
def _derive(catalog: DeriveAttributes, inputs: Sequence[Step]) -> Step:
    (step,) = inputs
    schema, new = catalog.parent.schema, catalog.schema
    if isinstance(catalog.calculation, PythonCalculator):
        outputs = tuple(new[name] for name in catalog.calculation.names)
        if all(one.identity in step.attributes for one in outputs):
            return step
        arguments = tuple(schema[name].identity for name in catalog.calculation.inputs)
        return Calculate(step, catalog.calculation, arguments, outputs)
    for name, expression in catalog.calculation.parsed(schema).items():
        if new[name].identity not in step.attributes:
            step = Derive(step, new[name], expression)
    return step


@_step.register
def _combine(catalog: CombineAttributes, inputs: Sequence[Step]) -> Step:  # noqa: ARG001 - the inputs tell
    members = tuple({id(one): one for one in inputs}.values())
    return members[0] if len(members) == 1 else Combine(members)


@_step.register
def _cross_match(catalog: CrossMatch, inputs: Sequence[Step]) -> Step:
    return Match(catalog, *inputs)


@_step.register
def _matched(catalog: MatchedSources, inputs: Sequence[Step]) -> Step:
    parent, pairs = inputs
    key = tuple(one.identity for one in catalog.pairs.schema.key[catalog.key])
    return Matched(parent, pairs, key, catalog.condition)


@_step.register
def _concat(catalog: ConcatSources, inputs: Sequence[Step]) -> Step:
    columns = tuple(
        (joined(pieces), tuple(piece.identity for piece in pieces)) for pieces in shared_attributes(catalog.members)
    )
    return Concat(tuple(inputs), columns, False, catalog.extent)
