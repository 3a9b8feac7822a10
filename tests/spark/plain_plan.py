"""The meaning of a catalog: rows and columns, computed literally from the definition, without rewriting.

This is the oracle of plans: every plan must return the same rows and values. It shares no code with
`provenn.targets`, and a new catalog class is added here as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce, singledispatch

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sql
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

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
    KeepAttributes,
    LookupAttributes,
    MatchedSources,
    OpaqueQuery,
    OpaqueSelection,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    cone,
)
from provenn.catalogs.calculators import WindowFunctions
from provenn.catalogs.concat_sources import find_shared_attributes
from provenn.catalogs.match_sets import Side
from provenn.catalogs.schema import Attribute, Schema
from provenn.criteria import backquoted, render
from provenn.criteria.aggregates import Aggregate, SortKey
from provenn.criteria.window_sql import render_window
from provenn.files.columns import build_metadata
from provenn.spark.columns import KEY_PREFIX, column, select_columns
from provenn.spark.crossmatch import MatchSide, match_pairs
from provenn.spark.pipeline import Pipeline, PreparedData
from provenn.spark.python_calculators import apply_calculator
from provenn.spark.spark_errors import translate_errors
from tests.spark.row_numbers import number_rows

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
    names = map_column_names(schema)
    if isinstance(catalog.calculation, WindowFunctions):
        key = [backquoted(names[attribute.identity]) for attribute in schema.key]
        texts = {
            window.name: render_window(window.parse(schema.by_canonical_name), names, key)
            for window in catalog.calculation.outputs
        }
    else:
        expressions = catalog.calculation.parse_expressions(schema)
        texts = {name: render(expression, names) for name, expression in expressions.items()}
    derived = (
        sql.expr(texts[attribute.name])
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
    pairs = match_pairs(left, right, catalog.rule, catalog.separation.name)
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
    column = catalog.rule.radius_column if side == "left" else None
    radius = None if column is None else (names[column[0]], column[1])
    return MatchSide(frame, key, (names[ra], ra_unit), (names[dec], dec_unit), columns, radius)


@_compute_frame.register
def _keep_matched(catalog: MatchedSources, frames: Sequence[DataFrame]) -> DataFrame:
    parent, pairs = frames
    keys = select_keys(pairs, catalog.pairs.schema.key[catalog.key])
    return join_keys(parent, catalog.parent.schema.key, keys, "left_semi")


# --- references between populations ---


@_compute_frame.register
def _look_up(catalog: LookupAttributes, frames: Sequence[DataFrame]) -> DataFrame:
    parent, other = frames
    own = [catalog.parent.schema.by_identity[identity] for identity in catalog.reference.identities]
    known = catalog.parent.schema.names
    new = {old: name for old, name in catalog.names if name not in known}
    partners = select_keys(other, catalog.other.schema.key, new)
    joined = join_keys(parent, own, partners, "left" if catalog.missing == "null" else "inner")
    return _shape(joined, catalog)


@_compute_frame.register
def _keep_partners(catalog: HavingSources, frames: Sequence[DataFrame]) -> DataFrame:
    parent, members = frames
    attributes = catalog.members.schema.by_identity
    referring = select_keys(members, [attributes[identity] for identity in catalog.reference.identities])
    return join_keys(parent, catalog.parent.schema.key, referring, "left_semi" if catalog.is_in else "left_anti")


@_compute_frame.register
def _group(catalog: GroupSources, frames: Sequence[DataFrame]) -> DataFrame:
    """Return the groups: all members of a group are collected in the order of their keys, and then aggregated."""
    (parent,) = frames
    schema, names = catalog.parent.schema, map_column_names(catalog.parent.schema)
    by = [names[identity] for identity in catalog.reference.identities]
    key = [column(attribute.name) for attribute in schema.key]
    values = [_aggregate(aggregate, names, key) for aggregate in catalog.parse_aggregates()]
    present = reduce(Column.__and__, (column(name).isNotNull() for name in by))
    groups = [column(name).alias(f"{KEY_PREFIX}{place}") for place, name in enumerate(by)]
    aggregates = [value.alias(f"{KEY_PREFIX}{place}") for place, value in enumerate(values, len(by))]
    grouped = parent.where(present).groupBy(*groups).agg(*(aggregates or [sql.count("*")]))
    numbered = zip(catalog.schema.attributes, grouped.columns, strict=False)
    return grouped.select(
        *(
            column(name).cast(str(attribute.type)).alias(attribute.name, metadata=build_metadata(attribute))
            for attribute, name in numbered
        )
    )


def _aggregate(aggregate: Aggregate, names: Mapping[str, str], key: Sequence[Column]) -> Column:
    arguments = [sql.expr(render(argument, names)) for argument in aggregate.arguments]
    match aggregate.function:
        case "count":
            return sql.count_distinct(*arguments) if aggregate.is_distinct else sql.count(*arguments or "*")
        case "any_value":
            return _collect(arguments[0], [], key)[0]
        case "min_by" | "max_by" as function:
            value, by = arguments[0], _with_one_zero(arguments[1], str(aggregate.arguments[1].type))
            items = sql.array_sort(sql.collect_list(sql.when(by.isNotNull(), sql.struct(by, *key, value.alias("v")))))
            return sql.element_at(items, 1 if function == "min_by" else -1)["v"]
        case "collect":
            return _collect(
                arguments[0], [(part, sql.expr(render(part.expression, names))) for part in aggregate.order], key
            )
        case "percentile":
            return sql.percentile(arguments[0], aggregate.fraction)
        case "sum" if str(aggregate.type) == "bigint":
            return sql.sum(arguments[0].cast("decimal(20,0)")).try_cast("bigint")
    return _with_one_zero(getattr(sql, aggregate.function)(arguments[0]), str(aggregate.type))


def _with_one_zero(value: Column, kind: str) -> Column:
    """Return a value with 0.0 in place of -0.0, which is equal to it."""
    return sql.when(value == 0, sql.lit(0).cast(kind)).otherwise(value) if kind in ("float", "double") else value


def _collect(value: Column, order: Sequence[tuple[SortKey, Column]], key: Sequence[Column]) -> Column:
    """Return the values of members, sorted several times: by the key first, by what is most important last."""
    fields = [part.alias(f"o{place}") for place, (_, part) in enumerate(order)]
    keys = [part.alias(f"k{place}") for place, part in enumerate(key)]
    item = sql.struct(*keys, *fields, value.alias("v"))
    items = sql.array_sort(sql.collect_list(sql.when(value.isNotNull(), item)))
    for place, (ordering, _) in reversed(list(enumerate(order))):
        items = _sort_stably(items, f"o{place}", ordering)
    return sql.transform(items, lambda each: each["v"])


def _sort_stably(items: Column, field: str, ordering: SortKey) -> Column:
    """Return structs, sorted by a field; equal ones keep their order."""
    smaller, larger = (1, -1) if ordering.descending else (-1, 1)
    missing = -1 if ordering.nulls_first else 1

    def compare(one: Column, other: Column) -> Column:
        return (
            sql.when(one[field].isNull() & other[field].isNull(), 0)
            .when(one[field].isNull(), missing)
            .when(other[field].isNull(), -missing)
            .when(one[field] < other[field], smaller)
            .when(one[field] > other[field], larger)
            .otherwise(0)
        )

    return sql.array_sort(items, compare)


@_compute_frame.register
def _keep_first(catalog: FirstSources, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    names = map_column_names(catalog.parent.schema)
    by = [column(names[identity]) for identity in catalog.by]
    order = []
    for ordering in catalog.parse_order():
        expression = sql.expr(render(ordering.expression, names))
        order += [expression.isNull().desc() if ordering.nulls_first else expression.isNull().asc()]
        order += [expression.desc() if ordering.descending else expression.asc()]
    order += [column(attribute.name) for attribute in catalog.schema.key]
    rank = sql.row_number().over(Window.partitionBy(*by).orderBy(*order)).alias(KEY_PREFIX)
    present = reduce(Column.__and__, (part.isNotNull() for part in by))
    return parent.where(present).select("*", rank).where(column(KEY_PREFIX) <= catalog.number).drop(KEY_PREFIX)


@_compute_frame.register
def _explode(catalog: ExplodeArrays, frames: Sequence[DataFrame]) -> DataFrame:
    (parent,) = frames
    names = map_column_names(catalog.parent.schema)
    lengths = [sql.coalesce(sql.size(column(names[identity])), sql.lit(0)) for identity in catalog.arrays]
    longest = sql.greatest(sql.lit(0), sql.lit(0), *lengths)
    positions = sql.when(longest > 0, sql.sequence(sql.lit(0), longest - 1))
    rows = parent.select("*", sql.explode(positions).alias(KEY_PREFIX))
    values = []
    for item in catalog.columns:
        element = sql.get(column(names[item.array]), column(KEY_PREFIX))
        values.append(element if item.field is None else element.getField(item.field))
    columns = [*(column(attribute.name) for attribute in catalog.parent.schema.key), column(KEY_PREFIX), *values]
    return rows.select(
        *(
            value.alias(attribute.name, metadata=build_metadata(attribute))
            for value, attribute in zip(columns, catalog.schema.attributes, strict=True)
        )
    )


# --- opaque SQL ---


@_compute_frame.register
def _filter_by_sql(catalog: OpaqueSelection, frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows for which the condition is TRUE: the condition becomes a column, so that names are as written."""
    parent, *others = frames
    text = f"SELECT parent.*, ({catalog.text}) AS `{KEY_PREFIX}` FROM parent"  # noqa: S608
    answered = _run_sql(text, {"parent": parent, **_name_inputs(others)})
    return answered.where(column(KEY_PREFIX)).drop(KEY_PREFIX)


@_compute_frame.register
def _query_by_sql(catalog: OpaqueQuery, frames: Sequence[DataFrame]) -> DataFrame:
    rows = _run_sql(catalog.text, _name_inputs(frames))
    if catalog.is_bag:
        row, copy = (attribute.name for attribute in catalog.schema.key)
        # Equal rows come in the order of their exact values; the digest is made by the oracle's function, in Python.
        names = [field.name for field in rows.schema.fields]
        kinds = [field.dataType.simpleString() for field in rows.schema.fields]
        numbered = number_rows([tuple(each) for each in rows.collect()], names, kinds)
        fields = [StructField(row, StringType()), StructField(copy, IntegerType()), *rows.schema.fields]
        rows = rows.sparkSession.createDataFrame([(*key, *values) for key, values in numbered], StructType(fields))
    return _shape(rows, catalog)


def _name_inputs(frames: Sequence[DataFrame]) -> dict[str, DataFrame]:
    return {f"input_{number}": frame for number, frame in enumerate(frames, 1)}


def _run_sql(text: str, frames: Mapping[str, DataFrame]) -> DataFrame:
    """Run a text on tables by their names, which are views as long as Spark analyses the text."""
    session = next(iter(frames.values())).sparkSession
    for name, frame in frames.items():
        frame.createOrReplaceTempView(name)
    try:
        return session.sql(text)
    finally:
        for name in frames:
            session.catalog.dropTempView(name)


def _shape(frame: DataFrame, catalog: Catalog) -> DataFrame:
    """Return the columns of a catalog, with what is said of them."""
    return frame.select(
        *(
            column(attribute.name).alias(attribute.name, metadata=build_metadata(attribute))
            for attribute in catalog.schema.attributes
        )
    )


def prepare_plain(pipeline: Pipeline, catalog: Catalog, what: str) -> PreparedData:
    """Prepare a catalog literally from its bases, without stored data."""
    ancestors = tuple(cone(catalog))
    bases = tuple(ancestor for ancestor in ancestors if isinstance(ancestor, Base))
    rows = pipeline.verify(bases)
    with translate_errors(f"preparing {what}"):
        frame = compile_catalog(catalog, lambda leaf: pipeline.read(leaf) if isinstance(leaf, Base) else None)
    multiplies = any(isinstance(ancestor, CrossMatch) and ancestor.rule.most != 1 for ancestor in ancestors)
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
