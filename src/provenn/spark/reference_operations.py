"""The operations of plan steps that follow references, on DataFrames whose columns are named by identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import IntegralType

from provenn.catalogs.explode_arrays import ElementColumn
from provenn.criteria import AttributeIdentity
from provenn.criteria.aggregate_sql import render_aggregate, render_order, render_sort_key
from provenn.criteria.aggregates import Aggregate, SortKey
from provenn.criteria.natural_order import NaturalOrder, OrderedValue, find_natural_order
from provenn.criteria.types import INTEGRAL
from provenn.spark.columns import KEY_PREFIX, column, quote_name, select_columns

__all__ = ["explode_arrays", "group_rows", "keep_first_rows", "keep_partnered_rows", "look_up"]

_PREFIX = "\x1f"
"""The prefix of columns that are no attributes: names of attributes are printable, this prefix is not."""


def keep_partnered_rows(
    frame: DataFrame,
    partners: DataFrame,
    own: Sequence[AttributeIdentity],
    others: Sequence[AttributeIdentity],
    *,
    is_in: bool,
    is_small: bool,
) -> DataFrame:
    """Return the rows that agree with a partner in some columns; with `is_in` False, the other rows.

    Parameters
    ----------
    frame, partners
        The rows, and those among which partners are sought.
    own, others
        The columns to compare. A row with a NULL has no partner.
    is_in
        Whether rows with a partner stay.
    is_small
        Whether the partners are few enough to be sent to all executors.
    """
    names = _name_keys(others)
    keys = select_columns(partners, zip(others, names, strict=True))
    how = "left_semi" if is_in else "left_anti"
    return frame.join(sql.broadcast(keys) if is_small else keys, _compare_columns(own, names), how)


def look_up(
    frame: DataFrame,
    partners: DataFrame,
    own: Sequence[AttributeIdentity],
    key: Sequence[AttributeIdentity],
    columns: Mapping[AttributeIdentity, AttributeIdentity],
    *,
    keeps_all: bool,
    is_small: bool,
) -> DataFrame:
    """Return the rows with columns of their partners.

    Parameters
    ----------
    frame, partners
        The rows that refer, and the partners, of which each has another key.
    own, key
        The referring columns, and the key of the partners.
    columns
        The columns to look up: names in `partners` by new names.
    keeps_all
        Whether rows without a partner stay, with NULL.
    is_small
        Whether the partners are few enough to be sent to all executors.
    """
    names = _name_keys(key)
    looked_up = select_columns(partners, [*zip(key, names, strict=True), *((old, new) for new, old in columns.items())])
    how = "left" if keeps_all else "inner"
    joined = frame.join(sql.broadcast(looked_up) if is_small else looked_up, _compare_columns(own, names), how)
    return joined.drop(*names)


def group_rows(
    frame: DataFrame,
    by: Mapping[AttributeIdentity, AttributeIdentity],
    values: Mapping[AttributeIdentity, Aggregate],
    key: Sequence[AttributeIdentity],
) -> DataFrame:
    """Return the groups of rows, with aggregates.

    Parameters
    ----------
    frame
        The members.
    by
        The grouping columns: names in the members by names in the groups. A row with a NULL is in no group.
    values
        The aggregates, by the names of their columns.
    key
        The key of the members.
    """
    present = " AND ".join(f"{quote_name(own)} IS NOT NULL" for own in by.values())
    names = {identity: identity for aggregate in values.values() for identity in aggregate.reads}
    quoted_key = [quote_name(part) for part in key]
    grouped = frame.where(present).groupBy(
        *(sql.expr(f"{quote_name(own)} AS {quote_name(new)}") for new, own in by.items())
    )
    if not values:
        return grouped.agg(sql.count(sql.lit(1)).alias(f"{_PREFIX}members")).drop(f"{_PREFIX}members")
    return grouped.agg(
        *(
            sql.expr(render_aggregate(aggregate, names, quoted_key)).cast(str(aggregate.type)).alias(identity)
            for identity, aggregate in values.items()
        )
    )


def keep_first_rows(
    frame: DataFrame,
    by: Sequence[AttributeIdentity],
    order: Sequence[SortKey],
    number: int,
    key: Sequence[AttributeIdentity],
) -> DataFrame:
    """Return the first rows of each group; the key decides between rows that are equal in the order.

    Spark drops most rows that cannot be among the first before it sends the others to where their group is. For a
    single row of each group it aggregates, which takes half the time of a window: groups are sorted, not their rows.
    """
    present = frame.where(" AND ".join(f"{quote_name(own)} IS NOT NULL" for own in by))
    names = {identity: identity for ordering in order for identity in ordering.expression.reads}
    others = [name for name in frame.columns if name not in by]
    natural = _find_row_order(frame, order, names, key) if number == 1 and others else None
    if natural is not None:
        return _choose_rows(present, by, others, natural)
    ordered = ", ".join([*render_order(order, names), *(f"{quote_name(part)} ASC" for part in key)])
    window = f"row_number() OVER (PARTITION BY {', '.join(map(quote_name, by))} ORDER BY {ordered})"
    rank = f"{_PREFIX}rank"
    return present.select("*", sql.expr(window).alias(rank)).where(column(rank) <= number).drop(rank)


def _find_row_order(
    frame: DataFrame,
    order: Sequence[SortKey],
    names: Mapping[AttributeIdentity, str],
    key: Sequence[AttributeIdentity],
) -> NaturalOrder | None:
    """Return the order of rows, and by key, as that of structs; None if Spark compares no such structs."""
    values = []
    for part in order:
        text, is_whole = render_sort_key(part, names), part.expression.type in INTEGRAL
        values.append(OrderedValue(text, part.descending, part.nulls_first, is_whole))
    types = {field.name: field.dataType for field in frame.schema}
    values += [OrderedValue(quote_name(part), is_whole=isinstance(types[part], IntegralType)) for part in key]
    return find_natural_order(values)


def _choose_rows(frame: DataFrame, by: Sequence[str], others: Sequence[str], order: NaturalOrder) -> DataFrame:
    """Return the row of each group whose struct is the smallest, or the largest if the order is descending."""
    places = {name: f"c{place}" for place, name in enumerate(others)}
    row = ", ".join(f"'{place}', {quote_name(name)}" for name, place in places.items())
    compared = ", ".join(f"'o{place}', {field}" for place, field in enumerate(order.fields))
    choose = "max_by" if order.descending else "min_by"
    chosen = f"{_PREFIX}row"
    rows = frame.groupBy(*map(quote_name, by)).agg(
        sql.expr(f"{choose}(named_struct({row}), named_struct({compared}))").alias(chosen)
    )
    return rows.selectExpr(
        *map(quote_name, by),
        *(f"{quote_name(chosen)}.{place} AS {quote_name(name)}" for name, place in places.items()),
    )


def explode_arrays(
    frame: DataFrame,
    arrays: Sequence[AttributeIdentity],
    key: Mapping[AttributeIdentity, AttributeIdentity],
    position: AttributeIdentity,
    columns: Sequence[ElementColumn],
) -> DataFrame:
    """Return the elements of arrays, side by side.

    Parameters
    ----------
    frame
        The rows with arrays.
    arrays
        The arrays.
    key
        The columns of the key: names in the rows by names in the elements.
    position
        The name of the column with the position of the element, counted from 0.
    columns
        The attributes of the elements.
    """
    places = {array: f"{_PREFIX}a{place}" for place, array in enumerate(arrays)}
    own_key = [f"{quote_name(old)} AS {quote_name(new)}" for new, old in key.items()]
    filled = [f"coalesce({quote_name(array)}, array()) AS {quote_name(place)}" for array, place in places.items()]
    zipped = f"posexplode(arrays_zip({', '.join(map(quote_name, places.values()))}))"
    element = f"{_PREFIX}element"
    rows = frame.selectExpr(*own_key, *filled).selectExpr(
        *map(quote_name, key), f"{zipped} AS ({quote_name(position)}, {quote_name(element)})"
    )
    values = []
    for item in columns:
        value = f"{quote_name(element)}.{quote_name(places[item.array])}"
        value += "" if item.field is None else f".{quote_name(item.field)}"
        values.append(f"{value} AS {quote_name(item.attribute.identity)}")
    return rows.selectExpr(*map(quote_name, (*key, position)), *values)


def _compare_columns(left: Sequence[str], right: Sequence[str]) -> Column:
    """Return the condition that columns are equal, as one text: each column object takes Java a dozen round trips."""
    pairs = zip(left, right, strict=True)
    return sql.expr(" AND ".join(f"{quote_name(mine)} = {quote_name(other)}" for mine, other in pairs))


def _name_keys(key: Sequence[AttributeIdentity]) -> list[str]:
    return [f"{KEY_PREFIX}{place}" for place in range(len(key))]
