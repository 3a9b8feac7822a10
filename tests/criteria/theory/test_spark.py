"""Spark agrees: what it computes on rows of nasty values is never refuted, and tempting relations are false there."""

import math
import os
import random
import sys

import numpy as np
import pytest
from hypothesis import strategies as st

from provenn.criteria import parse_criterion, render
from provenn.criteria.nodes import Leaf
from provenn.criteria.theory.refuting import Literal, is_refuted
from provenn.logic import disjoint, subset
from tests.criteria.theory import test_pairs
from tests.criteria.theory.rows import COLUMNS, conditions, rows
from tests.criteria.theory.test_rows import SCHEMA
from tests.strategies import drawn

pytestmark = pytest.mark.campaign

CASES, BATCH, SUBSETS = 500, 20, 5
MOST_ROWS = 60_000
NASTY = {
    "double": [None, 0.0, -0.0, 5e-324, 1.0, -1.0, 1e16, 1e308, -1e308, math.inf, -math.inf, math.nan],
    "float": [None, 0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, float(np.finfo(np.float32).max)],
    "int": [None, 0, 1, -1, 2**31 - 1, -(2**31)],
    "decimal(8,2)": [None, 0, 1, -1, "999999.99", "-999999.99"],
    "string": [None, "", "x", "X", "xy", "abcd"],
    "boolean": [None, True, False],
    "date": [None, "2019-12-30", "2019-12-31", "2020-01-01", "0001-01-01"],
}


@pytest.fixture(scope="module")
def spark():
    sql = pytest.importorskip("pyspark.sql")
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = sql.SparkSession.builder.master("local[1]")
    for key, value in {
        "spark.sql.ansi.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_what_spark_computes_is_not_refuted(spark):
    cases = drawn(
        rows.flatmap(lambda row: st.tuples(st.just(row), st.lists(conditions(row), min_size=2, max_size=6))), CASES, 1
    )
    names = {name: name for name in COLUMNS}
    fields = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    choose = random.Random(1)
    for start in range(0, len(cases), BATCH):
        batch = cases[start : start + BATCH]
        trees = [tree for _, some in batch for tree in some]
        read = [parse_criterion(tree.sql(), SCHEMA) for tree in trees]
        table = [(number, *(row[name] for name in COLUMNS)) for number, (row, _) in enumerate(batch)]
        spark.createDataFrame(table, f"number int, {fields}").createOrReplaceTempView("t")
        asked = ", ".join(render(item, names) for item in read)
        for number, *truths in spark.sql(f"SELECT number, {asked} FROM t").collect():  # noqa: S608
            row = batch[number][0]
            for tree, truth in zip(trees, truths, strict=True):
                assert truth is tree.truth(row), (tree.sql(), row)
            own = sum(len(some) for _, some in batch[:number])
            chosen = [list(range(own, own + len(batch[number][1])))]
            chosen += [choose.sample(range(len(read)), 6) for _ in range(SUBSETS)]
            for places in chosen:
                literals = [
                    Literal(read[place].condition, truths[place] is True)
                    for place in places
                    if isinstance(read[place].condition, Leaf)
                ]
                assert not is_refuted(literals), (row, [trees[place].sql() for place in places])


def _array(kind: str, near: set[float]) -> str:
    """Nasty values of a type as an SQL array, and the neighbours of some numbers."""
    values = list(NASTY[kind])
    for number in near:
        if kind in ("double", "float"):
            width = np.float64 if kind == "double" else np.float32
            at = width(number)
            values += [float(item) for item in (at, np.nextafter(at, width("-inf")), np.nextafter(at, width("inf")))]
        elif kind == "int":
            values += [int(number) + step for step in (-1, 0, 1)]
        elif kind.startswith("decimal"):
            values += [f"{number + step / 100:.2f}" for step in (-1, 0, 1)]
    texts = dict.fromkeys(f"CAST({'NULL' if value is None else repr(str(value))} AS {kind})" for value in values)
    return f"array({', '.join(texts)})"


def _numbers(text: str) -> set[float]:
    return {float(word) for word in text.replace("(", " ").replace(")", " ").split() if word.lstrip("-")[:1].isdigit()}


@pytest.mark.parametrize(("first", "relation", "second"), test_pairs.PROVED)
def test_a_proved_relation_holds_on_all_rows(spark, first, relation, second):
    item, other = test_pairs.criterion(first), test_pairs.criterion(second)
    reads = sorted({*item.reads, *other.reads})
    near = _numbers(f"{first} {second}")
    while True:
        arrays = [_array(test_pairs.TYPES[name], near) for name in reads]
        if math.prod(text.count("CAST(") for text in arrays) <= MOST_ROWS:
            break
        near.pop()
    sources = [f"(SELECT explode({text}) AS `{name}`)" for name, text in zip(reads, arrays, strict=True)]
    names = {name: name for name in reads}
    left, right = (f"(({render(criterion, names)}) IS TRUE)" for criterion in (item, other))
    wrong = {subset: f"{left} AND NOT {right}", disjoint: f"{left} AND {right}"}.get(relation, f"{left} <> {right}")
    query = f"SELECT * FROM {' CROSS JOIN '.join(sources)} WHERE {wrong} LIMIT 3"  # noqa: S608
    assert spark.sql(query).collect() == []


@pytest.mark.parametrize(("first", "relation", "second", "row"), test_pairs.UNKNOWN)
def test_a_tempting_relation_is_false_on_its_row(spark, first, relation, second, row):
    fields = ", ".join(f"{name} {test_pairs.TYPES[name]}" for name in row)
    spark.createDataFrame([tuple(row.values())], fields).createOrReplaceTempView("t")
    names = {name: name for name in row}
    left, right = (render(test_pairs.criterion(text), names) for text in (first, second))
    # Spark takes sums that differ in their parentheses for the same within one query, and computes only one of them.
    ((item,),), ((other,),) = (spark.sql(f"SELECT {side} FROM t").collect() for side in (left, right))  # noqa: S608
    if relation is subset:
        assert item is True
        assert other is not True
    else:
        assert (item is True) != (other is True)
