"""The first rows of groups are those of the order, ties by key, however Spark finds them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from functools import cmp_to_key
from itertools import chain
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from provenn.criteria import Attribute, parse_type
from provenn.criteria.aggregate_sql import render_aggregate
from provenn.criteria.aggregates import parse_aggregate, parse_order
from provenn.spark.reference_operations import keep_first_rows
from tests.repetitions import repeat_a_few

NAMES = {"id": "b:id", "tag": "b:t.`ag", "g": "b:g", "x": "b:x", "i": "b:i", "s": "b:s", "c": "b:c", "d": "b:d"}
TYPES = {"id": "bigint", "tag": "string", "g": "int", "x": "double", "i": "smallint", "s": "string"}
TYPES |= {"c": "decimal(5,2)", "d": "date"}
SCHEMA = {
    name: Attribute(identity, parse_type(TYPES[name]), nullable=name not in ("id", "tag"))
    for name, identity in NAMES.items()
}
CHOICES: Mapping[str, tuple[Any, ...]] = {
    "g": (None, 1, 2, 3, 4, 5),
    "x": (None, math.nan, 0.0, -0.0, -math.inf, math.inf, 1.5),
    "i": (None, -(2**15), 2**15 - 1, 0, -1, 1),
    "s": (None, "", "a", "B", "é"),
    "c": (None, Decimal("-1.50"), Decimal("0.00"), Decimal("999.99")),
    "d": (None, date(1969, 12, 31), date(2024, 2, 29)),
}
SINGLE = [
    *(
        f"{name} {direction}{nulls}"
        for name in "xiscd"
        for direction in ("ASC", "DESC")
        for nulls in ("", " NULLS FIRST", " NULLS LAST")
    ),
]
COMPOUND = [
    *("x, i DESC", "x DESC NULLS FIRST, i", "s DESC, x DESC", "s, x DESC", "i DESC NULLS LAST, s NULLS LAST", "x + i")
]
ORDERS = [*SINGLE, *COMPOUND]


def make_rows(seed: int) -> list[dict[str, Any]]:
    """Rows in any order, many of them equal in all but their keys."""
    random = Random(seed)
    keys = random.sample(range(-60, 60), 60)
    rows = [{"id": key, "tag": f"{key % 7}{key}"} for key in keys]
    for row in rows:
        row |= {name: random.choice(values[: random.randint(1, len(values))]) for name, values in CHOICES.items()}
    return rows


def make_frame(engine, rows: list[dict[str, Any]]):
    types = {"bigint": pa.int64(), "string": pa.string(), "int": pa.int32(), "double": pa.float64()}
    types |= {"smallint": pa.int16(), "decimal(5,2)": pa.decimal128(5, 2), "date": pa.date32()}
    table = pa.table({NAMES[name]: pa.array([row[name] for row in rows], types[TYPES[name]]) for name in NAMES})
    return engine.session.createDataFrame(table).repartition(3)


def place(value: Any) -> tuple[bool, Any]:
    """Spark's order of numbers: NaN is the largest."""
    return (True, 0.0) if isinstance(value, float) and math.isnan(value) else (False, value)


def sort_rows(rows: list[dict[str, Any]], order: str, key: list[str]) -> list[dict[str, Any]]:
    """Rows in an order, by comparing values one by one."""
    parts = [(part.split()[0], "DESC" in part, part) for part in order.split(", ")]

    def compare(left: dict[str, Any], right: dict[str, Any]) -> int:
        for name, descending, part in parts:
            nulls_first = "FIRST" in part or ("LAST" not in part and not descending)
            mine, theirs = (read(row, name) for row in (left, right))
            if (mine is None) != (theirs is None):
                return -1 if (mine is None) == nulls_first else 1
            if mine is not None and place(mine) != place(theirs):
                return -1 if (place(mine) < place(theirs)) != descending else 1
        mine, theirs = ([row[name] for name in key] for row in (left, right))
        return -1 if mine < theirs else 1

    def read(row: dict[str, Any], name: str) -> Any:
        if order != "x + i":
            return row[name]
        return None if row["x"] is None or row["i"] is None else row["x"] + row["i"]

    return sorted(rows, key=cmp_to_key(compare))


def group_rows(rows: list[dict[str, Any]], take: Callable[[list[dict[str, Any]]], Any]) -> dict[int, Any]:
    groups: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        if row["g"] is not None:
            groups.setdefault(row["g"], []).append(row)
    return {group: take(members) for group, members in groups.items()}


@pytest.fixture(scope="module", params=repeat_a_few(range(3), 1))
def rows(request) -> list[dict[str, Any]]:
    return make_rows(request.param)


@pytest.mark.parametrize(
    ("number", "key", "orders"),
    [
        (1, ["id"], ORDERS),
        (2, ["tag"], ORDERS),
        (1, ["tag"], COMPOUND),
        (2, ["id"], COMPOUND),
        pytest.param(1, ["tag"], SINGLE, marks=pytest.mark.campaign),
        pytest.param(2, ["id"], SINGLE, marks=pytest.mark.campaign),
    ],
)
def test_first_rows_are_those_of_the_order(engine, rows, number, key, orders):
    """Of all orders in one run of Spark."""
    frame = make_frame(engine, rows)
    found = None
    for place_, order in enumerate(orders):
        first = keep_first_rows(frame, [NAMES["g"]], parse_order(order, SCHEMA), number, [NAMES[name] for name in key])
        assert sorted(first.columns) == sorted(frame.columns)
        numbered = first.select(*(f"`{NAMES[name].replace('`', '``')}`" for name in ("id", "x", "g"))).toDF(*"ixg")
        numbered = numbered.selectExpr(f"{place_} AS place", "*")
        found = numbered if found is None else found.unionAll(numbered)
    assert found is not None
    results: dict[str, list[int]] = {order: [] for order in orders}
    values = {row["id"]: (repr(row["x"]), row["g"]) for row in rows}
    for place_, key_, x, group in found.collect():
        results[orders[place_]].append(key_)
        assert (repr(x), group) == values[key_]
    for order in orders:
        expected = group_rows(sort_rows(rows, order, key), lambda members: [row["id"] for row in members[:number]])
        assert sorted(results[order]) == sorted(chain.from_iterable(expected.values())), order


@pytest.mark.parametrize("key", ["id", "tag"])
def test_arrays_are_collected_in_order(engine, rows, key):
    frame = make_frame(engine, rows)
    quoted = f"`{NAMES[key].replace('`', '``')}`"
    arrays = [
        render_aggregate(
            parse_aggregate(f"collect(id ORDER BY {order})", SCHEMA), {name: name for name in NAMES.values()}, [quoted]
        )
        for order in ORDERS
    ]
    collected = frame.groupBy("`b:g`").agg(*map(_as_column, arrays)).where("`b:g` IS NOT NULL").collect()
    for number, order in enumerate(ORDERS):
        expected = group_rows(sort_rows(rows, order, [key]), lambda members: [row["id"] for row in members])
        assert {row[0]: list(row[number + 1]) for row in collected} == expected, order


def _as_column(text: str):
    from pyspark.sql import functions as sql  # noqa: PLC0415 - only here

    return sql.expr(text)
