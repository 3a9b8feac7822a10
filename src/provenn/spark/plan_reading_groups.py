"""Aggregate functions and window functions of Spark's expressions, as SQL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from provenn.spark.plan_reading_json import JsonNode, read_type
from provenn.spark.plan_reading_literals import INTEGRAL
from provenn.spark.plan_reading_refusals import check_fields, make_legacy_refusal, make_refusal

__all__ = ["AGGREGATES", "WINDOW_FUNCTIONS", "write_aggregate", "write_order", "write_window"]

Write = Callable[[JsonNode], str]
"""Returns the SQL of an expression."""

AGGREGATES: Final = {
    "Average": "avg",
    "BitAndAgg": "bit_and",
    "BitOrAgg": "bit_or",
    "BitXorAgg": "bit_xor",
    "BoolAnd": "bool_and",
    "BoolOr": "bool_or",
    "Corr": "corr",
    "Count": "count",
    "CountIf": "count_if",
    "CovPopulation": "covar_pop",
    "CovSample": "covar_samp",
    "Kurtosis": "kurtosis",
    "Max": "max",
    "Min": "min",
    "Skewness": "skewness",
    "StddevPop": "stddev_pop",
    "StddevSamp": "stddev_samp",
    "Sum": "sum",
    "VariancePop": "var_pop",
    "VarianceSamp": "var_samp",
}
"""The names of aggregate functions by their class; they give the same value for rows in any order."""

WINDOW_FUNCTIONS: Final = {
    "CumeDist": "cume_dist",
    "DenseRank": "dense_rank",
    "Lag": "lag",
    "Lead": "lead",
    "NTile": "ntile",
    "PercentRank": "percent_rank",
    "Rank": "rank",
    "RowNumber": "row_number",
}
"""The names of window functions by their class."""


def write_aggregate(node: JsonNode, write: Write) -> str:
    """Return the SQL of an aggregate function, with DISTINCT and FILTER."""
    function, *conditions = node.children
    name, has_plain_form = AGGREGATES.get(function.kind), not conditions and not node.fields["isDistinct"]
    if name is None and function.fields.get("replacement") == 0 and len(function.children) == 1 and has_plain_form:
        (function,) = function.children  # Spark computes it instead
        name = AGGREGATES.get(function.kind)
    if name is None:
        raise make_refusal(function.kind)
    check_fields(function)
    if function.kind == "Sum":
        _check_sum(function)
    distinct = "DISTINCT " if node.fields["isDistinct"] else ""
    arguments = "*" if _counts_rows(function) else ", ".join(write(child) for child in function.children)
    text = f"{name}({distinct}{arguments})"
    return f"{text} FILTER (WHERE {write(conditions[0])})" if conditions else text


def _counts_rows(function: JsonNode) -> bool:
    if function.kind != "Count" or len(function.children) != 1:
        return False
    (child,) = function.children
    return child.kind == "Literal" and child.fields["value"] is not None


def _check_sum(node: JsonNode) -> None:
    (child,) = node.children
    if child.kind in ("AttributeReference", "Cast") and read_type(child.fields["dataType"]) not in INTEGRAL:
        return
    java = node.java()
    kind = java.dataType().simpleString()
    if kind in INTEGRAL and str(java.evalContext().evalMode()) == "LEGACY":
        raise make_legacy_refusal(f"sum of {kind}")


def write_window(node: JsonNode, write: Write) -> str:
    """Return the SQL of a window function with its OVER clause."""
    function, specification = node.children
    if function.kind == "AggregateExpression":
        call = write_aggregate(function, write)
    elif function.kind in ("Lag", "Lead"):
        call = _write_neighbour(function, write)
    elif function.kind in WINDOW_FUNCTIONS:
        # The children of a rank are what the window is ordered by.
        arguments = [write(child) for child in function.children] if function.kind == "NTile" else []
        call = f"{WINDOW_FUNCTIONS[function.kind]}({', '.join(arguments)})"
    else:
        raise make_refusal(function.kind)
    is_aggregate = function.kind == "AggregateExpression"
    return f"{call} OVER ({_write_specification(specification, write, has_frame=is_aggregate)})"


def _write_neighbour(node: JsonNode, write: Write) -> str:
    if node.fields["ignoreNulls"]:
        raise make_refusal(node.kind, "with IGNORE NULLS is not supported")
    value, offset, default = node.children
    is_null = default.kind == "Literal" and default.fields["value"] is None
    ending = "" if is_null else f", {write(default)}"
    return f"{WINDOW_FUNCTIONS[node.kind]}({write(value)}, {write(offset)}{ending})"


def _write_specification(node: JsonNode, write: Write, *, has_frame: bool) -> str:
    *parts, frame = node.children
    keys = [write(part) for part in parts if part.kind != "SortOrder"]
    orders = [write_order(part, write) for part in parts if part.kind == "SortOrder"]
    texts = [f"PARTITION BY {', '.join(keys)}"] if keys else []
    texts += [f"ORDER BY {', '.join(orders)}"] if orders else []
    texts += [_write_frame(frame, is_ordered=bool(orders))] if has_frame else []
    return " ".join(filter(None, texts))


def _write_frame(node: JsonNode, *, is_ordered: bool) -> str:
    """Return the SQL of a frame, or no text for the frame that a window has without one."""
    if node.kind != "SpecifiedWindowFrame":
        raise make_refusal(node.kind)
    unit = {"RowFrame": "ROWS", "RangeFrame": "RANGE"}[node.get_object("frameType")]
    lower, upper = (_write_bound(child) for child in node.children)
    usual = ("RANGE", "CURRENT ROW") if is_ordered else ("ROWS", "UNBOUNDED FOLLOWING")
    if lower == "UNBOUNDED PRECEDING" and (unit, upper) == usual:
        return ""
    return f"{unit} BETWEEN {lower} AND {upper}"


def _write_bound(node: JsonNode) -> str:
    words = {
        "UnboundedPreceding": "UNBOUNDED PRECEDING",
        "UnboundedFollowing": "UNBOUNDED FOLLOWING",
        "CurrentRow": "CURRENT ROW",
    }
    if node.kind in words:
        return words[node.kind]
    literal = node.children[0] if node.kind == "UnaryMinus" else node
    is_number = literal.kind == "Literal" and literal.fields["dataType"] in ("integer", "long")
    if not is_number or literal.fields["value"] is None:
        raise make_refusal(node.kind, "as the bound of a window is not supported")
    number = int(literal.fields["value"]) * (1 if literal is node else -1)
    return f"{abs(number)} {'PRECEDING' if number < 0 else 'FOLLOWING'}"


def write_order(node: JsonNode, write: Write) -> str:
    """Return the SQL of an expression to sort by."""
    direction = {"Ascending": "ASC", "Descending": "DESC"}[node.get_object("direction")]
    nulls = {"NullsFirst": "NULLS FIRST", "NullsLast": "NULLS LAST"}[node.get_object("nullOrdering")]
    return f"{write(node.children[0])} {direction} {nulls}"
