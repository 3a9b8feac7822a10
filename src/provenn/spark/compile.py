"""What a catalog means: its rows and columns, exactly as its definition says, and nothing cleverer.

This is the reference. Every plan that computes less must give the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce, singledispatch

from pyspark.sql import DataFrame
from pyspark.sql import functions as sql

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    CrossMatch,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    MatchedSources,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
)
from provenn.catalogs.concat_sources import shared_attributes
from provenn.catalogs.cross_match import Side
from provenn.criteria import render
from provenn.spark.calculators import calculated
from provenn.spark.columns import column, column_names, join_keys, keys_as, picked, said, sampled
from provenn.spark.crossmatch import Matching, paired

__all__ = ["Leaf", "compile_catalog"]

Leaf = Callable[[Catalog], DataFrame | None]
"""Gives the data of a catalog that is not to be made from others, such as a base; None for all others."""


def compile_catalog(catalog: Catalog, leaf: Leaf) -> DataFrame:
    """Return the sources and attributes of a catalog; columns have the names and the order of its schema.

    Parameters
    ----------
    catalog
        The catalog.
    leaf
        Gives the data of base catalogs, and of others that are stored, with the columns of their schemas.
    """
    made: dict[str, DataFrame] = {}
    stack = [catalog]
    while stack:
        one = stack[-1]
        if one.digest not in made:
            given = leaf(one)
            if given is not None:
                made[one.digest] = given
            else:
                missing = [each for each in one.dependencies if each.digest not in made]
                if missing:
                    stack.extend(missing)
                    continue
                made[one.digest] = _made(one, [made[each.digest] for each in one.dependencies])
        stack.pop()
    return made[catalog.digest]


@singledispatch
def _made(catalog: Catalog, frames: Sequence[DataFrame]) -> DataFrame:
    """Return the data of a catalog, given those of its dependencies."""
    raise NotImplementedError(f"{catalog.kind} is given as a leaf, or has no meaning")


@_made.register
def _select(catalog: SelectSources, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    return parent.where(render(catalog.criterion, column_names(catalog.parent.schema)))


@_made.register
def _restrict(catalog: RestrictSources, frames: Sequence[DataFrame]) -> DataFrame:
    parent, other = frames
    return join_keys(parent, catalog.parent.schema.key, keys_as(other, catalog.other.schema.key), "left_semi")


@_made.register
def _exclude(catalog: ExcludeSources, frames: Sequence[DataFrame]) -> DataFrame:
    parent, other = frames
    return join_keys(parent, catalog.parent.schema.key, keys_as(other, catalog.other.schema.key), "left_anti")


@_made.register
def _sample(catalog: SampleSources, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    if catalog.fraction == 1:
        return parent
    return parent.where(sampled(catalog.schema.key, catalog.seed, catalog.threshold))


@_made.register
def _keep(catalog: KeepAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    return picked(parent, [(name, name) for name in catalog.names])


@_made.register
def _rename(catalog: RenameAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    return picked(parent, zip(catalog.parent.schema.names, catalog.schema.names, strict=True))


@_made.register
def _derive(catalog: DeriveAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    schema = catalog.parent.schema
    new = [one for one in catalog.schema.attributes if one.name not in schema.names]
    if isinstance(catalog.calculation, PythonCalculator):
        inputs = [schema[name] for name in catalog.calculation.inputs]
        return calculated(
            parent,
            catalog.calculation,
            key={one.name: one.name for one in schema.key},
            inputs=[(one.name, one.nullable) for one in inputs],
            outputs={one.name: one.name for one in new},
            catalog=catalog.digest,
        )
    names, expressions = column_names(schema), catalog.calculation.parsed(schema)
    derived = (
        sql.expr(render(expressions[one.name], names)).cast(str(one.type)).alias(one.name, metadata=said(one))
        for one in new
    )
    return parent.select("*", *derived)


@_made.register
def _combine(catalog: CombineAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    joined, key = frames[0], catalog.members[0].schema.key
    names = list(catalog.members[0].schema.names)
    for member, frame in zip(catalog.members[1:], frames[1:], strict=True):
        new = [name for name in member.schema.names if name not in names]
        names += new
        more = keys_as(frame, member.schema.key, dict(zip(new, new, strict=True)))
        joined = join_keys(joined, key, more, "inner").select(*map(column, names))  # the next one has such keys too
    return joined


@_made.register
def _concat(catalog: ConcatSources, frames: Sequence[DataFrame]) -> DataFrame:
    """The first member that holds a source gives it; so each one follows without the sources of those before it."""
    counterparts = shared_attributes(catalog.members)
    parts: list[DataFrame] = []
    for position, frame in enumerate(frames):
        rest = frame
        for before in range(position):
            keys = keys_as(frames[before], catalog.members[before].schema.key)
            rest = join_keys(rest, catalog.members[position].schema.key, keys, "left_anti")
        names = (pieces[position].attribute.name for pieces in counterparts)
        pairs = zip(names, catalog.schema.attributes, strict=True)
        parts.append(rest.select(*(column(name).alias(one.name, metadata=said(one)) for name, one in pairs)))
    return reduce(DataFrame.unionByName, parts)


@_made.register
def _cross_match(catalog: CrossMatch, frames: Sequence[DataFrame]) -> DataFrame:
    left, right = _side(catalog, "left", frames[0]), _side(catalog, "right", frames[1])
    pairs = paired(left, right, catalog.radius, catalog.separation.name, best=catalog.matches == "best")
    return pairs.select(*(column(one.name).alias(one.name, metadata=said(one)) for one in catalog.schema.attributes))


def _side(catalog: CrossMatch, side: Side, frame: DataFrame) -> Matching:
    schema = (catalog.left if side == "left" else catalog.right).schema
    names = column_names(schema)
    (ra, ra_unit), (dec, dec_unit) = catalog.coordinates[:2] if side == "left" else catalog.coordinates[2:]
    columns = {one.name: own.name for one, own in catalog.attributes_of(side)}
    return Matching(frame, [one.name for one in schema.key], (names[ra], ra_unit), (names[dec], dec_unit), columns)


@_made.register
def _matched(catalog: MatchedSources, frames: Sequence[DataFrame]) -> DataFrame:
    parent, pairs = frames
    keys = keys_as(pairs, catalog.pairs.schema.key[catalog.key])
    return join_keys(parent, catalog.parent.schema.key, keys, "left_semi")
