"""All queries of TPC-H as DataFrames: they become the catalogs of their texts, with the rows of Spark."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import pytest

from tests.queries.mutants import strip_request
from tests.tpch.answers import read_sql
from tests.tpch.frames import FRAMES
from tests.tpch.tables import KEYS

UNPROVED = {6, 11, 14, 17, 19, 21, 20}
"""Queries with parts that are not understood, of which nothing is proved; query 20 compares a whole number with a
decimal in a subquery, and only the plan has the cast."""

pytestmark = pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")


def mark_most(numbers, few):
    """Leave all queries but a few to the campaign: together they take some four minutes."""
    return [pytest.param(number, marks=[pytest.mark.campaign] * (number not in few)) for number in numbers]


@pytest.fixture(scope="module")
def spark(tpch, engine):
    """A session of a user, with the tables as views of their files."""
    session = engine.session.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.ansi.enabled", "true")
    for name in KEYS:
        (path,) = {file.address for file in getattr(tpch.tables, name).definition.files.list_own_files()}
        session.read.parquet(path).createOrReplaceTempView(name)
    return session


def list_rows(catalog, names):
    table = catalog.to_arrow().select(list(names))
    return Counter(tuple(map(repr, row.values())) for row in table.to_pylist())


def check_frame(tpch, frame, number):
    """Adopt a DataFrame, and compare the catalog with that of the text and its rows with those of Spark."""
    adopted = tpch.archive.adopt(frame)
    assert list_rows(adopted, frame.columns) == Counter(tuple(map(repr, row)) for row in frame.collect())
    defined = tpch.archive.sql(strip_request(read_sql(number)), dialect="duckdb")
    if number not in UNPROVED and adopted.definition.digest != defined.definition.digest:
        assert tpch.archive.relate(adopted, defined).summary == "equal"


@pytest.mark.parametrize("number", mark_most(range(1, 23), {1, 7, 22}))
def test_a_query_of_tpch_is_adopted_as_the_catalog_of_its_text(tpch, spark, number):
    check_frame(tpch, spark.sql(strip_request(read_sql(number))), number)


@pytest.mark.parametrize("number", mark_most(FRAMES, {4, 12}))
def test_a_program_of_tpch_is_adopted_as_the_catalog_of_its_text(tpch, spark, number):
    from pyspark.sql import functions  # noqa: PLC0415 - every process imports all test files

    tables = SimpleNamespace(**{name: spark.table(name) for name in KEYS})
    check_frame(tpch, FRAMES[number](tables, functions), number)
