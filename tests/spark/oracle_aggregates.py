"""Aggregates and orders as DuckDB computes them: the user's text read anew, without the code under test."""

import re
from collections.abc import Mapping, Sequence

from tests.spark.dialect import in_duckdb, type_in_duckdb

__all__ = ["aggregate_in_duckdb", "order_in_duckdb", "split_arguments"]

_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.DOTALL)
_ORDER = re.compile(r"(.*?)(?:\s+(ASC|DESC))?(?:\s+NULLS\s+(FIRST|LAST))?", re.DOTALL | re.IGNORECASE)
_SAME = {
    "mean": "avg",
    "std": "stddev",
    "stddev_samp": "stddev",
    "variance": "var_samp",
    "array_agg": "collect",
    "collect_list": "collect",
    "arg_min": "min_by",
    "arg_max": "max_by",
}


def aggregate_in_duckdb(text: str, columns: Mapping[str, str], key: Sequence[str], kind: str) -> str:
    """Return an aggregate in DuckDB's dialect.

    Parameters
    ----------
    text
        The aggregate in the user's words.
    columns
        DuckDB's column for each name.
    key
        The columns of the key of the members, which decides between equal ones.
    kind
        The type that the value has by Spark's rules.
    """
    name, inside = _CALL.fullmatch(text).groups()
    function = _SAME.get(name.lower(), name.lower())
    if function == "collect":
        value, order = re.split(r"\s+ORDER\s+BY\s+", inside, maxsplit=1, flags=re.IGNORECASE)
        ordered = ", ".join([*order_in_duckdb(order, columns), *key])
        element = in_duckdb(value, columns)
        return f"coalesce(list({element} ORDER BY {ordered}) FILTER ({element} IS NOT NULL), [])"
    distinct = re.match(r"\s*DISTINCT\s+", inside, re.IGNORECASE)
    given = split_arguments(inside[distinct.end() :] if distinct else inside)
    if given == ["*"]:
        return "count(*)"
    arguments = [in_duckdb(argument, columns) for argument in given]
    first = arguments[0]
    match function:
        case "count" if distinct:
            present = " AND ".join(f"{argument} IS NOT NULL" for argument in arguments)
            return f"count(DISTINCT row({', '.join(arguments)})) FILTER ({present})"
        case "sum":
            if kind == "double":
                return f"sum(CAST({first} AS DOUBLE))"
            exact = f"CAST({first} AS HUGEINT)" if kind == "bigint" else first
            return f"TRY_CAST(sum({exact}) AS {type_in_duckdb(kind)})"
        case "avg":
            return f"avg(CAST({first} AS DOUBLE))"
        case "stddev":
            return f"stddev_samp(CAST({first} AS DOUBLE))"
        case "stddev_pop" | "var_samp" | "var_pop":
            return f"{function}(CAST({first} AS DOUBLE))"
        case "median":
            return f"quantile_cont(CAST({first} AS DOUBLE), 0.5)"
        case "percentile":
            return f"quantile_cont(CAST({first} AS DOUBLE), {given[1].rstrip('Dd')})"
        case "any_value":
            return f"first({first} ORDER BY {', '.join(key)}) FILTER ({first} IS NOT NULL)"
        case "min_by" | "max_by":
            way = "ASC" if function == "min_by" else "DESC"
            order = ", ".join(f"{one} {way}" for one in [arguments[1], *key])
            # `first` would make a value that is sorted by from its place in the order, where both zeros are one.
            return f"(list({first} ORDER BY {order}) FILTER ({arguments[1]} IS NOT NULL))[1]"
    # Both zeros are equal: chance would choose between them.
    return f"{function}({first}) + 0" if kind in ("float", "double") else f"{function}({first})"


def order_in_duckdb(text: str, columns: Mapping[str, str]) -> list[str]:
    """Return the parts of an order; NULLs are where Spark has them if nothing is said."""
    parts = []
    for part in split_arguments(text):
        expression, way, nulls = _ORDER.fullmatch(part.strip()).groups()
        way = (way or "ASC").upper()
        nulls = (nulls or ("LAST" if way == "DESC" else "FIRST")).upper()
        parts.append(f"{in_duckdb(expression, columns)} {way} NULLS {nulls}")
    return parts


def split_arguments(text: str) -> list[str]:
    """Return the parts of a text between commas that no quotes and no parentheses enclose."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if quote:
            quote = "" if character == quote else quote
        elif character in "`'":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
        elif character == "," and not depth:
            parts.append("")
            continue
        parts[-1] += character
    return [part.strip() for part in parts]
