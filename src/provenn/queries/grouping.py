"""GROUP BY and DISTINCT: rows with the same values in some columns become a single source.

SQL groups NULL with NULL, but a key is never NULL. A nullable grouping column is therefore two parts of the key:
whether the column is NULL, and the value or, for NULL, a constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from provenn.catalogs import verbs
from provenn.catalogs.schema import Attribute
from provenn.criteria import backquoted
from provenn.queries.group_populations import KeyPart, choose_population, describe_value
from provenn.queries.relation import (
    InexpressibleError,
    RowSource,
    choose_free_name,
    name_attribute,
    write_expression,
    write_plain,
)
from provenn.queries.translating import Translating
from provenn.queries.tree import AggregateNode, Column, DistinctNode, refer_to

__all__ = [
    "AggregatedRows",
    "GroupingColumn",
    "aggregate",
    "distinguish",
    "group_members",
    "group_values",
    "move_filter_inside",
]

_CONSTANTS: Final = {
    "boolean": "false",
    "string": "''",
    "date": "DATE '1970-01-01'",
    "timestamp": "TIMESTAMP '1970-01-01 00:00:00'",
    **{name: f"CAST(0 AS {name})" for name in ("tinyint", "smallint", "int", "bigint")},
}
_AGGREGATES: Final = frozenset(
    [
        "count",
        "sum",
        "avg",
        "mean",
        "min",
        "max",
        "stddev",
        "std",
        "stddev_samp",
        "stddev_pop",
        "var_samp",
        "variance",
        "var_pop",
        "median",
        "percentile",
        "any_value",
        "collect",
        "collect_list",
        "collect_set",
        "array_agg",
        "min_by",
        "max_by",
        "arg_min",
        "arg_max",
        "first",
        "last",
        "first_value",
        "last_value",
        "mode",
        "percentile_approx",
        "approx_percentile",
        "approx_count_distinct",
        "count_if",
        "bool_and",
        "bool_or",
        "every",
        "some",
        "kurtosis",
        "skewness",
        "corr",
        "covar_samp",
        "covar_pop",
        "listagg",
        "string_agg",
        "bit_and",
        "bit_or",
        "bit_xor",
    ]
)


@dataclass(frozen=True, slots=True)
class GroupingColumn:
    """A column of groups.

    Parameters
    ----------
    symbol
        The symbol of the column in the result.
    name
        Its name.
    value
        An expression over attributes of the members.
    may_be_null
        Whether the value may be NULL.
    label
        The name in the population of the groups; empty for that of the value, see `describe_value`.
    """

    symbol: str
    name: str
    value: exp.Expr
    may_be_null: bool
    label: str = ""


def _is_aggregate(node: exp.Expr) -> bool:
    """Whether a node of an expression is the call of an aggregate function."""
    if isinstance(node, exp.AggFunc):
        return True
    return isinstance(node, exp.Anonymous) and str(node.this).lower() in _AGGREGATES


def aggregate(node: AggregateNode, context: Translating) -> RowSource:
    """Return the groups of an aggregate.

    Raises
    ------
    InexpressibleError
        If a key or an aggregate cannot be expressed.
    """
    members = context.translate(node.input)
    columns = [(column, members.resolve(value)) for column, value in node.keys]
    values = {column.symbol: value for column, value in columns}
    rows = RowSource(members.catalog, values, identifying=members.find_identifying(node.keys))
    if not node.values and rows.has_distinct_rows():
        return rows  # each row is a group
    relation, grouping = _find_grouping(members, columns, context)
    groups = group_members(relation, grouping, node, context)
    aggregates = {symbol: groups.relation.resolve(value) for symbol, value in groups.values.items()}
    return replace(groups.relation, values={**groups.relation.values, **aggregates})


@dataclass(frozen=True, slots=True)
class AggregatedRows:
    """AggregatedRows with aggregates.

    Parameters
    ----------
    relation
        The groups, with their grouping columns.
    values
        The values of the columns of aggregates, over grouping columns and the attributes of `calls`.
    calls
        The aggregates by the names of their attributes.
    """

    relation: RowSource
    values: Mapping[str, exp.Expr]
    calls: Mapping[str, str]


def group_members(
    members: RowSource, grouping: Sequence[GroupingColumn], node: AggregateNode, context: Translating
) -> AggregatedRows:
    """Return the groups of rows, with the aggregates of a node."""
    calls: dict[str, str] = {}
    taken = [column.name for column in grouping]
    values = {
        column.symbol: _name_calls(_count_rows(expression, members, context), column.name, members, calls, taken)
        for column, expression in node.values
    }
    return AggregatedRows(group_values(members, grouping, calls, context), values, calls)


def _count_rows(expression: exp.Expr, members: RowSource, context: Translating) -> exp.Expr:
    """Return an expression with counts of never-NULL attributes replaced by counts of rows."""

    def count_rows(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Count) and isinstance(node.this, exp.Column) and not node.expressions:
            attribute = members.find_attribute(members.substitute(node.this))
            if attribute is not None and context.is_never_null(members.catalog, attribute.name):
                return exp.Count(this=exp.Star())
        return node

    return expression.copy().transform(count_rows)


def _name_calls(
    expression: exp.Expr, wish: str, members: RowSource, calls: dict[str, str], taken: list[str]
) -> exp.Expr:
    """Return an expression with calls of aggregates replaced by attributes of the groups; add the calls to `calls`."""

    def name_call(node: exp.Expr) -> exp.Expr:
        call = _read_call(node)
        if call is None:
            return node
        text = _write_call(call, members)
        known = {written: name for name, written in calls.items()}
        name = known.get(text)
        if name is None:
            whole = call is expression
            name = choose_free_name(wish if whole else f"{wish}_{len(calls) + 1}", (*calls, *taken))
            calls[name] = text
        return name_attribute(name)

    if _read_call(expression) is not None:
        return name_call(expression)
    return expression.copy().transform(name_call)


def _read_call(node: exp.Expr) -> exp.Expr | None:
    """Return the call of an aggregate, FILTER included; None for a node of another kind."""
    if isinstance(node, exp.Filter) and _is_aggregate(node.this):
        return node
    return node if _is_aggregate(node) else None


def _write_call(call: exp.Expr, members: RowSource) -> str:
    """Return the call of an aggregate as text over attributes of the members."""
    if isinstance(call, exp.Filter):
        call = move_filter_inside(call)
    if isinstance(call, exp.Count) and isinstance(call.this, exp.Literal):
        return "count(*)"
    if call.find(exp.Window):
        raise InexpressibleError("a window function inside an aggregate")
    return write_plain(members.catalog, members.resolve(call))


def move_filter_inside(call: exp.Filter) -> exp.Expr:
    """Return an aggregate of the rows where a condition is TRUE, as an aggregate passing over NULL."""
    condition = call.expression.this if isinstance(call.expression, exp.Where) else call.expression
    inner = call.this.copy()
    argument: exp.Expr = inner.this
    if isinstance(inner, exp.Count) and isinstance(argument, exp.Star):
        argument = exp.Literal.number(1)
    if not isinstance(inner, exp.Count | exp.Sum | exp.Avg | exp.Min | exp.Max) or isinstance(argument, exp.Distinct):
        raise InexpressibleError("FILTER is understood for count, sum, avg, min and max only")
    inner.set("this", exp.Case(ifs=[exp.If(this=condition.copy(), true=argument.copy())]))
    return inner


def distinguish(node: DistinctNode, context: Translating) -> RowSource:
    """Return the different rows of a node."""
    rows = context.translate(node.input)
    if rows.has_distinct_rows():
        return rows
    columns = [(column, rows.resolve(refer_to(column))) for column in node.columns]
    relation, grouping = _find_grouping(rows, columns, context)
    return group_values(relation, grouping, {}, context)


def _find_grouping(
    members: RowSource, columns: Sequence[tuple[Column, exp.Expr]], context: Translating
) -> tuple[RowSource, list[GroupingColumn]]:
    """Return the members, with an attribute for each value to group by, and the grouping columns in their own order.

    Sound: the order of grouping columns changes neither the groups nor their values.
    """
    relation, attributes = members.expose([value for _, value in columns], "group")
    grouping = [
        GroupingColumn(
            column.symbol,
            column.name,
            name_attribute(attribute.name),
            not context.is_never_null(relation.catalog, attribute.name),
            describe_value(members.catalog, value),
        )
        for (column, value), attribute in zip(columns, attributes, strict=True)
    ]
    return relation, sorted(grouping, key=lambda column: column.label)


def group_values(
    members: RowSource, grouping: Sequence[GroupingColumn], aggregates: Mapping[str, str], context: Translating
) -> RowSource:
    """Return the groups of rows with equal grouping columns, NULL being a value.

    Parameters
    ----------
    members
        The rows.
    grouping
        The columns; a column that is there twice, or is constant, is a part of the key all the same.
    aggregates
        Names of attributes of the groups, and aggregates over attributes of the members.
    context
        The context of the translation.

    Raises
    ------
    InexpressibleError
        If a value cannot identify a group.
    """
    parts: list[KeyPart] = []
    values: dict[str, exp.Expr] = {}
    taken = list(aggregates)
    by_identity: dict[str, exp.Expr] = {}
    for column in grouping:
        members, (attribute,) = members.expose([column.value], "group")
        if attribute.identity not in by_identity:
            label = column.label or describe_value(members.catalog, column.value)
            by_identity[attribute.identity] = _add_key_parts(replace(column, label=label), attribute, parts, taken)
        values[column.symbol] = by_identity[attribute.identity]
    members, key = members.expose([part.value for part in parts], "group")
    names = tuple(part.name for part in parts)
    population = choose_population(parts, [attribute.type for attribute in key], context)
    grouped = verbs.group(
        members.catalog, [attribute.name for attribute in key], dict(aggregates), population=population
    )
    return RowSource(replace(grouped, key_names=names), values, identifying=frozenset(values))


def _add_key_parts(column: GroupingColumn, attribute: Attribute, parts: list[KeyPart], taken: list[str]) -> exp.Expr:
    """Add the parts of the key for a column; return the value of the column as an expression over these parts."""
    if attribute.type.name in ("float", "double"):
        raise InexpressibleError(f"{column.name} is a floating-point number, which identifies no group")
    name = choose_free_name(column.name, taken)
    taken.append(name)
    if not column.may_be_null:
        parts.append(KeyPart(name, column.label, column.value))
        return name_attribute(name)
    kind = attribute.type
    constant = f"CAST(0 AS {kind})" if kind.name == "decimal" else _CONSTANTS.get(str(kind))
    if constant is None:
        raise InexpressibleError(f"{column.name} may be NULL, and no {kind} can stand for NULL")
    is_null = choose_free_name(f"{column.name}_is_null", taken)
    taken.append(is_null)
    value = write_expression(column.value)
    parts.append(KeyPart(is_null, f"{column.label}_is_null", _parse(f"{value} IS NULL")))
    parts.append(KeyPart(name, column.label, _parse(f"coalesce({value}, {constant})")))
    return _parse(f"CASE WHEN NOT {backquoted(is_null)} THEN {backquoted(name)} END")


def _parse(text: str) -> exp.Expr:
    from sqlglot import parse_one  # noqa: PLC0415 - parses texts of this module only

    return parse_one(text, dialect="spark")
