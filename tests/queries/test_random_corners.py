"""Random queries about NULL, NaN, poles, equal rows and nested sets: the TAP service finds the rows of DuckDB.

The answers come as clients get them, from a look without Spark where that suffices, and otherwise from Spark.
"""

import warnings
from collections import Counter
from random import Random

import duckdb
import pyarrow.parquet as pq
import pytest

import provenn
from provenn.tap.answering import QueryRequest, compute_answer
from tests.queries.adql_world import REFERENCE, read_value
from tests.queries.random_corners import CORNER_KEYS, SIGNED, RandomCorners, make_corner_tables

QUERIES = 15
ROUNDS = [0, *(pytest.param(seed, marks=pytest.mark.campaign) for seed in range(1, 60))]


def read_number(value: object) -> object:
    """Return a value that compares with one of another engine, also if it is large."""
    plain = read_value(value)
    return float(f"{plain:.10g}") if isinstance(plain, float) else plain


@pytest.mark.parametrize("seed", ROUNDS)
def test_queries_about_corners_have_the_rows_of_the_reference(seed, engine, tmp_path):
    queries = RandomCorners(Random(seed))
    spark = engine.session.sparkContext.master
    with (
        warnings.catch_warnings(action="ignore"),
        duckdb.connect() as database,
        provenn.open(tmp_path / "sky", spark=spark, progress=False, notify=False) as archive,
    ):
        database.execute(REFERENCE + SIGNED)
        for name, table in make_corner_tables(seed).items():
            pq.write_table(table, tmp_path / f"{name}.parquet")
            archive.ingest(name, tmp_path / f"{name}.parquet", key=CORNER_KEYS[name], population=name)
            database.register(name, table)
        rows = 0
        for _ in range(QUERIES):
            pair = queries.make_pair()
            answer = compute_answer(archive, QueryRequest(pair.adql, 10**6), (), lambda _: None)
            found = [tuple(map(read_number, row.values())) for row in answer.table.to_pylist()]
            expected = [tuple(map(read_number, row)) for row in database.sql(pair.reference).fetchall()]
            assert Counter(found) == Counter(expected), (pair.adql, pair.reference)
            if pair.is_ordered:
                assert found == expected, (pair.adql, pair.reference)
            rows += len(found)
        assert rows > QUERIES
