"""Aggregates and orders in SQL, for Spark to evaluate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from provenn.criteria.aggregates import Aggregate, SortKey
from provenn.criteria.criterion import render
from provenn.criteria.natural_order import OrderedValue, find_natural_order
from provenn.criteria.schema import AttributeIdentity
from provenn.criteria.types import BIGINT, DOUBLE, FLOAT, Type

__all__ = ["render_aggregate", "render_order", "render_sort_key", "write_one_zero"]

_ZEROS = {DOUBLE: "0.0D", FLOAT: "0.0F"}
_SPARK = {
    "sum": "try_sum",
    "avg": "try_avg",
    "stddev": "stddev_samp",
    "median": "median",
}


def render_aggregate(
    aggregate: Aggregate, names: Mapping[AttributeIdentity, str], key: Sequence[str], over: str = ""
) -> str:
    """Write an aggregate for Spark to evaluate.

    Parameters
    ----------
    aggregate
        The aggregate.
    names
        The column names by attribute identity.
    key
        The quoted columns of the key of the members, which decide between members that are equal otherwise.
    over
        The clause OVER of a window, for an aggregate that does not depend on the key.
    """
    arguments = [render(argument, names) for argument in aggregate.arguments]
    match aggregate.function:
        case "count":
            return f"count({'DISTINCT ' * aggregate.is_distinct}{', '.join(arguments) or '1'}){over}"
        case "any_value":
            value = arguments[0]
            return f"min_by({value}, CASE WHEN {value} IS NOT NULL THEN struct({', '.join(key)}) END)"
        case "sum" if aggregate.arguments[0].type == BIGINT:
            return _render_whole_sum(arguments[0], over)
        case "min" | "max" as function:
            return write_one_zero(f"{function}({arguments[0]}){over}", aggregate.type)
        case "min_by" | "max_by" as function:
            value, by = arguments[0], write_one_zero(arguments[1], aggregate.arguments[1].type)
            return f"{function}({value}, CASE WHEN {by} IS NOT NULL THEN struct({by}, {', '.join(key)}) END)"
        case "collect":
            return _render_collect(aggregate, arguments[0], names, key)
        case "percentile":
            return f"percentile({arguments[0]}, {aggregate.fraction!r}D)"
        case function:
            return f"{_SPARK.get(function, function)}({arguments[0]}){over}"


def write_one_zero(text: str, kind: Type) -> str:
    """Write a value with 0.0 in place of -0.0: both are equal, so chance would choose between the two."""
    return f"(({text}) + {_ZEROS[kind]})" if kind in _ZEROS else text


def _render_whole_sum(value: str, over: str) -> str:
    """Write a sum of large whole numbers, NULL only if the sum itself overflows.

    Spark's own sum is NULL as soon as a partial sum overflows, and so depends on the order of the members. Sums of the
    upper and the lower 32 bits never overflow.
    """
    upper = f"CAST(sum(shiftright({value}, 32)){over} AS decimal(20,0))"
    lower = f"CAST(sum(({value}) & 4294967295L){over} AS decimal(20,0))"
    return f"try_cast({upper} * 4294967296BD + {lower} AS bigint)"


def _render_collect(
    aggregate: Aggregate, value: str, names: Mapping[AttributeIdentity, str], key: Sequence[str]
) -> str:
    """Write an array of the values of members, in their order."""
    ordered = [
        OrderedValue(render_sort_key(part, names), part.descending, part.nulls_first) for part in aggregate.order
    ]
    ordered += map(OrderedValue, key)
    natural = find_natural_order(ordered) if aggregate.arguments[0].type.scalar else None
    fields = [value.text for value in ordered] if natural is None else natural.fields
    named = [f"'o{place}', {text}" for place, text in enumerate(fields)]
    items = f"collect_list(CASE WHEN {value} IS NOT NULL THEN named_struct({', '.join(named)}, 'v', {value}) END)"
    if natural is not None:
        return f"sort_array({items}, {'false' if natural.descending else 'true'}).v"
    comparison = " ".join(
        _compare_field(f"o{place}", item.descending, item.nulls_first) for place, item in enumerate(ordered)
    )
    return f"transform(array_sort({items}, (l, r) -> CASE {comparison} ELSE 0 END), s -> s.v)"


def _compare_field(name: str, descending: bool, nulls_first: bool | None) -> str:
    """Write the branches for comparing a field of two structs."""
    before, after = ("1", "-1") if descending else ("-1", "1")
    null_before, null_after = ("-1", "1") if nulls_first else ("1", "-1")
    return (
        f"WHEN l.{name} IS NULL AND r.{name} IS NOT NULL THEN {null_before} "
        f"WHEN l.{name} IS NOT NULL AND r.{name} IS NULL THEN {null_after} "
        f"WHEN l.{name} < r.{name} THEN {before} WHEN l.{name} > r.{name} THEN {after}"
    )


def render_sort_key(part: SortKey, names: Mapping[AttributeIdentity, str]) -> str:
    """Write the value compared by an order."""
    return write_one_zero(render(part.expression, names), part.expression.type)


def render_order(order: Sequence[SortKey], names: Mapping[AttributeIdentity, str]) -> list[str]:
    """Write an order for Spark to evaluate, one text for each expression."""
    return [f"{render_sort_key(part, names)} {part.direction}" for part in order]
