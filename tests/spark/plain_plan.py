"""The meaning of a catalog: rows and columns, computed literally from the definition, without rewriting.

This is the oracle of plans: every plan must return the same rows and values. It shares no code with
`provenn.targets`, and a new catalog class is added here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce, singledispatch

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql

from provenn.catalogs import (
    Base,
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
    cone,
)
from provenn.catalogs.concat_sources import find_shared_attributes
from provenn.catalogs.match_sets import Side
from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria import render
from provenn.spark.columns import KEY_PREFIX, build_metadata, column, select_columns
from provenn.spark.crossmatch import MatchSide, match_pairs
from provenn.spark.pipeline import Pipeline, PreparedData
from provenn.spark.python_calculators import apply_calculator
from provenn.spark.spark_errors import translate_errors

__all__ = ["ReadLeaf", "compile_catalog", "prepare_plain"]

ReadLeaf = Callable[[Catalog], DataFrame | None]
"""Reads the data of a catalog that is not computed from its dependencies, such as a base; returns None for others."""


def compile_catalog(catalog: Catalog, leaf: ReadLeaf) -> DataFrame:
    """Return the sources and attributes of a catalog, with the column names and order of its schema.

    Parameters
    ----------
    catalog
        The catalog.
    leaf
        Reads base catalogs and other stored catalogs, with the columns of their schemas.
    """
    frames: dict[str, DataFrame] = {}
    stack = [catalog]
    while stack:
        current = stack[-1]
        if current.digest not in frames:
            frame = leaf(current)
            if frame is not None:
                frames[current.digest] = frame
            else:
                missing = [dependency for dependency in current.dependencies if dependency.digest not in frames]
                if missing:
                    stack.extend(missing)
                    continue
                inputs = [frames[dependency.digest] for dependency in current.dependencies]
                frames[current.digest] = _compute_frame(current, inputs)
        stack.pop()
    return frames[catalog.digest]


@singledispatch
def _compute_frame(catalog: Catalog, frames: Sequence[DataFrame]) -> DataFrame:
    """Return the data of a catalog, given the data of its dependencies."""
    raise NotImplementedError(f"{catalog.kind} is given as a leaf, or has no meaning")


@_compute_frame.register
def _select(catalog: SelectSources, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    return parent.where(render(catalog.criterion, map_column_names(catalog.parent.schema)))


@_compute_frame.register
def _restrict(catalog: RestrictSources, frames: Sequence[DataFrame]) -> DataFrame:
    parent, other = frames
    return join_keys(parent, catalog.parent.schema.key, select_keys(other, catalog.other.schema.key), "left_semi")


@_compute_frame.register
def _exclude(catalog: ExcludeSources, frames: Sequence[DataFrame]) -> DataFrame:
    parent, other = frames
    return join_keys(parent, catalog.parent.schema.key, select_keys(other, catalog.other.schema.key), "left_anti")


@_compute_frame.register
def _sample(catalog: SampleSources, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    if catalog.fraction == 1:
        return parent
    return parent.where(build_sample_condition(catalog.schema.key, catalog.seed, catalog.threshold))


@_compute_frame.register
def _keep(catalog: KeepAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    return select_columns(parent, [(name, name) for name in catalog.names])


@_compute_frame.register
def _rename(catalog: RenameAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    return select_columns(parent, zip(catalog.parent.schema.names, catalog.schema.names, strict=True))


@_compute_frame.register
def _derive(catalog: DeriveAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    schema = catalog.parent.schema
    new = [attribute for attribute in catalog.schema.attributes if attribute.name not in schema.names]
    if isinstance(catalog.calculation, PythonCalculator):
        inputs = [schema[name] for name in catalog.calculation.inputs]
        return apply_calculator(
            parent,
            catalog.calculation,
            key={attribute.name: attribute.name for attribute in schema.key},
            inputs=[(attribute.name, attribute.nullable) for attribute in inputs],
            outputs={attribute.name: attribute.name for attribute in new},
            catalog=catalog.digest,
        )
    names, expressions = map_column_names(schema), catalog.calculation.parse_expressions(schema)
    derived = (
        sql.expr(render(expressions[attribute.name], names))
        .cast(str(attribute.type))
        .alias(attribute.name, metadata=build_metadata(attribute))
        for attribute in new
    )
    return parent.select("*", *derived)


@_compute_frame.register
def _combine(catalog: CombineAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    joined, key = frames[0], catalog.members[0].schema.key
    names = list(catalog.members[0].schema.names)
    for member, frame in zip(catalog.members[1:], frames[1:], strict=True):
        new = [name for name in member.schema.names if name not in names]
        names += new
        other = select_keys(frame, member.schema.key, dict(zip(new, new, strict=True)))
        # Only these columns: the frame of the next member has key columns of the same names.
        joined = join_keys(joined, key, other, "inner").select(*map(column, names))
    return joined


@_compute_frame.register
def _concat(catalog: ConcatSources, frames: Sequence[DataFrame]) -> DataFrame:
    """Return the sources of all members; a source in several members comes from the first of these members."""
    counterparts = find_shared_attributes(catalog.members)
    parts: list[DataFrame] = []
    for position, frame in enumerate(frames):
        rest = frame
        for earlier in range(position):
            keys = select_keys(frames[earlier], catalog.members[earlier].schema.key)
            rest = join_keys(rest, catalog.members[position].schema.key, keys, "left_anti")
        names = (pieces[position].attribute.name for pieces in counterparts)
        pairs = zip(names, catalog.schema.attributes, strict=True)
        parts.append(
            rest.select(
                *(column(name).alias(attribute.name, metadata=build_metadata(attribute)) for name, attribute in pairs)
            )
        )
    return reduce(DataFrame.unionByName, parts)


@_compute_frame.register
def _cross_match(catalog: CrossMatch, frames: Sequence[DataFrame]) -> DataFrame:
    left, right = _build_side(catalog, "left", frames[0]), _build_side(catalog, "right", frames[1])
    pairs = match_pairs(left, right, catalog.radius, catalog.separation.name, best=catalog.matches == "best")
    return pairs.select(
        *(
            column(attribute.name).alias(attribute.name, metadata=build_metadata(attribute))
            for attribute in catalog.schema.attributes
        )
    )


def _build_side(catalog: CrossMatch, side: Side, frame: DataFrame) -> MatchSide:
    schema = (catalog.left if side == "left" else catalog.right).schema
    names = map_column_names(schema)
    (ra, ra_unit), (dec, dec_unit) = catalog.coordinates[:2] if side == "left" else catalog.coordinates[2:]
    columns = {attribute.name: original.name for attribute, original in catalog.attributes_of(side)}
    key = [attribute.name for attribute in schema.key]
    return MatchSide(frame, key, (names[ra], ra_unit), (names[dec], dec_unit), columns)


@_compute_frame.register
def _keep_matched(catalog: MatchedSources, frames: Sequence[DataFrame]) -> DataFrame:
    parent, pairs = frames
    keys = select_keys(pairs, catalog.pairs.schema.key[catalog.key])
    return join_keys(parent, catalog.parent.schema.key, keys, "left_semi")


def prepare_plain(pipeline: Pipeline, catalog: Catalog, what: str) -> PreparedData:
    """Prepare a catalog literally from its bases, without stored data."""
    ancestors = tuple(cone(catalog))
    bases = tuple(ancestor for ancestor in ancestors if isinstance(ancestor, Base))
    rows = pipeline.verify(bases)
    with translate_errors(f"preparing {what}"):
        frame = compile_catalog(catalog, lambda leaf: pipeline.read(leaf) if isinstance(leaf, Base) else None)
    multiplies = any(isinstance(ancestor, CrossMatch) and ancestor.matches == "all" for ancestor in ancestors)
    return PreparedData(frame, catalog.schema, what, bases, most=None if multiplies else sum(rows.values()))


# --- keys and samples ---


def map_column_names(schema: Schema) -> dict[str, str]:
    """Return the column name of each attribute by identity, for `provenn.criteria.render`."""
    return {identity: attribute.name for identity, attribute in schema.by_identity.items()}


def select_keys(frame: DataFrame, key: Iterable[Attribute], others: Mapping[str, str] | None = None) -> DataFrame:
    """Return the key columns, named by `KEY_PREFIX` and position, and other columns by old and new name."""
    keys = ((attribute.name, f"{KEY_PREFIX}{position}") for position, attribute in enumerate(key))
    return select_columns(frame, [*keys, *(others or {}).items()])


def join_keys(frame: DataFrame, key: Iterable[Attribute], other: DataFrame, how: str) -> DataFrame:
    """Join a frame with another frame, which has the key columns of `select_keys`."""
    conditions = [column(attribute.name) == column(f"{KEY_PREFIX}{position}") for position, attribute in enumerate(key)]
    return frame.join(other, conditions, how)


def build_sample_condition(key: Iterable[Attribute], seed: int, threshold: int) -> Column:
    """Return the condition that the hash of a key lies below a threshold, by the rule of `SampleSources`."""
    hashed = sql.xxhash64(sql.lit(seed).cast("bigint"), *(column(attribute.name) for attribute in key))
    return hashed.bitwiseAND(sql.lit(2**63 - 1)) < sql.lit(threshold).cast("bigint")
