"""Window functions as DuckDB computes them: the user's text read anew, without the code under test."""

import re
from collections.abc import Mapping, Sequence

import sqlglot

from tests.spark.dialect import in_duckdb
from tests.spark.oracle_aggregates import aggregate_in_duckdb, order_in_duckdb, split_arguments

__all__ = ["window_in_duckdb"]

_WINDOW = re.compile(
    r"\s*(\w+)\s*\((.*)\)\s*(IGNORE NULLS|RESPECT NULLS)?\s*OVER\s*\((.*)\)\s*", re.DOTALL | re.IGNORECASE
)
_PARTS = re.compile(
    r"\s*(?:PARTITION BY\s+(?P<by>.*?))?\s*(?:ORDER BY\s+(?P<order>.*?))?\s*(?P<frame>(?:ROWS|RANGE)\s.*)?",
    re.DOTALL | re.IGNORECASE,
)
_ALIKE = {"rank", "dense_rank", "percent_rank", "cume_dist"}
_BY_PLACE = {"row_number", "ntile", "lag", "lead", "first_value", "last_value", "nth_value"}


def window_in_duckdb(text: str, columns: Mapping[str, str], key: Sequence[str], kind: str) -> str:
    """Return a window function in DuckDB's dialect.

    Parameters
    ----------
    text
        The window function in the user's words.
    columns
        DuckDB's column for each name.
    key
        The columns of the key, which decides between sources that are equal in the order.
    kind
        The type that the value has by Spark's rules.
    """
    plain = sqlglot.transpile(text, read="spark", write="spark", normalize_functions=False)[0]
    name, inside, nulls, window = _WINDOW.fullmatch(plain).groups()
    parts = _PARTS.fullmatch(window)
    function, frame = name.lower(), parts["frame"] or ""
    by = [in_duckdb(part, columns) for part in split_arguments(parts["by"])] if parts["by"] else []
    order = order_in_duckdb(parts["order"], columns) if parts["order"] else []
    counts_rows = frame.upper().startswith("ROWS") and bool(order)
    order += key if function in _BY_PLACE or (counts_rows and function not in _ALIKE) else []
    over = " ".join(
        [
            f"PARTITION BY {', '.join(by)}" if by else "",
            f"ORDER BY {', '.join(order)}" if order else "",
            frame,
        ]
    )
    if function in _ALIKE | _BY_PLACE:
        arguments = [in_duckdb(argument, columns) for argument in split_arguments(inside)] if inside.strip() else []
        return f"{function}({', '.join(arguments)} {nulls or ''}) OVER ({over})"
    aggregate = aggregate_in_duckdb(f"{name}({inside})", columns, key, kind)
    return re.sub(r"^((?:TRY_CAST\()?)(\w+\(.*?\))((?: AS \w+\)| \+ 0)?)$", rf"\1\2 OVER ({over})\3", aggregate)
