"""Answers of queries as sorted rows, from provenn and from DuckDB, and their comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from tests.tpch.queries import Query

__all__ = ["are_same_rows", "read_sql", "sort_rows"]

Row = tuple[Any, ...]


def read_sql(number: int) -> str:
    """Return the text of a query in SQL."""
    return Path(__file__).with_name("sql").joinpath(f"q{number:02}.sql").read_text(encoding="utf-8")


def sort_rows(query: Query, table: pa.Table, columns: Sequence[str]) -> list[Row]:
    """Return the rows of an answer in some columns, sorted and cut as the query asks."""
    keys = [(name.removeprefix("-"), "descending" if name.startswith("-") else "ascending") for name in query.order]
    ordered = table.sort_by(keys) if keys else table
    rows = ordered.slice(0, query.limit).select(list(columns)).to_pydict()
    return list(zip(*rows.values(), strict=True))


def are_same_rows(rows: Sequence[Row], expected: Sequence[Row]) -> bool:
    """Return whether rows are equal; see `_are_same_values` for averages and quotients."""
    return len(rows) == len(expected) and all(
        len(row) == len(other) and all(map(_are_same_values, row, other))
        for row, other in zip(rows, expected, strict=True)
    )


def _are_same_values(value: Any, expected: Any) -> bool:
    """Return whether values are equal.

    DuckDB has doubles for averages and quotients of decimals, Spark has decimals rounded to 6 places.
    """
    if isinstance(expected, float) and isinstance(value, float | Decimal):
        return math.isclose(float(value), float(expected), rel_tol=1e-12, abs_tol=0.6e-6)
    are_numbers = isinstance(value, int | Decimal) and isinstance(expected, int | Decimal)
    return (are_numbers or type(value) is type(expected)) and value == expected
