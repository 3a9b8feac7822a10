"""A tree that was read and written again gives the same rows as the query: DuckDB and Spark are the judges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pytest

from provenn.queries.query_reading import read_query
from provenn.queries.query_writing import write_sql
from provenn.spark.engine import Engine
from tests.queries.answers import (
    KnownTables,
    answer,
    connect_random_tables,
    list_known_tables,
    translate_to_duckdb,
)
from tests.queries.random_queries import NUMBER, TABLES, Queries, make_tables
from tests.tpch.tables import connect_duckdb, generate_tables

PRECEDENCE = (
    "SELECT count(*) FROM r AS x, t RIGHT JOIN u ON t.a = u.k",
    "SELECT sum(b) AS b FROM r GROUP BY a HAVING b > 1",
    "SELECT a AS b, count(*) AS n FROM r GROUP BY a, b HAVING b > 1",
    "SELECT b AS a FROM r ORDER BY a LIMIT 3",
    "SELECT a AS b FROM r GROUP BY b, a",
    "SELECT a + 1 AS a, a AS n FROM r",
    "SELECT * FROM r FULL JOIN t USING (a, s)",
    "SELECT * FROM r NATURAL LEFT JOIN t",
    "SELECT 1 AS x UNION SELECT 2 INTERSECT SELECT 3",
)
"""Queries whose meaning depends on which of two readings Spark prefers."""
QUERIES = sorted((Path(__file__).parents[1] / "tpch" / "sql").glob("q*.sql"))


@pytest.mark.parametrize("seed", range(40))
def test_a_random_query_gives_the_same_rows_in_duckdb(seed: int) -> None:
    """Random queries over random rows, with NULLs, duplicates and empty tables: the same bags."""
    random = Random(seed)
    known = list_known_tables()
    compared = 0
    with connect_random_tables(random) as connection:
        for _ in range(8):
            text = Queries(random).make_query(depth=2)
            try:
                expected = answer(connection, text)
            except duckdb.BinderException:
                continue  # DuckDB does not name an earlier result that has a subquery
            written = write_sql(read_query(text, known, "duckdb"))
            assert answer(connection, translate_to_duckdb(written)) == expected, f"{text}\n{written}"
            compared += 1
    assert compared > 4


def test_a_random_query_gives_the_same_rows_in_spark(engine: Engine) -> None:
    """What Spark computes for the text is what it computes for the tree."""
    random = Random(7)
    known = list_known_tables()
    session = engine.session
    for table in TABLES:
        columns = ", ".join(f"`{name}` {'bigint' if kind == NUMBER else 'string'}" for name, kind in table.columns)
        rows = make_tables(random)[table.name]
        session.createDataFrame(rows, columns).createOrReplaceTempView(table.name)
    texts = [Queries(random).make_query(depth=1).replace('"', "`") for _ in range(12)]
    for text in (*texts, *PRECEDENCE):
        written = write_sql(read_query(text, known))
        expected = Counter(str(tuple(row)) for row in session.sql(text).collect())
        assert Counter(str(tuple(row)) for row in session.sql(written).collect()) == expected, f"{text}\n{written}"


@pytest.fixture(scope="module")
def tpch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """TPC-H at a small scale in DuckDB."""
    with connect_duckdb(generate_tables(tmp_path_factory.mktemp("tpch"), 0.01)) as connection:
        yield connection


def _round(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return rows with sums rounded, whose last digits depend on the order of additions."""
    return [tuple(round(value, 4) if isinstance(value, float) else value for value in row) for row in rows]


@pytest.mark.parametrize("dialect", ["spark", "duckdb"])
@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_the_queries_of_tpch_give_the_same_rows_in_order(path: Path, dialect: str, tpch: Any) -> None:
    """All 22 queries are read, and their answers are the same, row by row."""
    names = [name for (name,) in tpch.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]
    known = KnownTables({name: [row[0] for row in tpch.execute(f"DESCRIBE {name}").fetchall()] for name in names})
    text = path.read_text(encoding="utf-8")
    written = translate_to_duckdb(write_sql(read_query(text, known, dialect)))
    assert _round(tpch.execute(written).fetchall()) == _round(tpch.execute(text).fetchall())


def test_the_result_has_the_names_of_the_query() -> None:
    """Names of the result may be repeated, and hold any character."""
    text = write_sql(read_query('SELECT a AS x, b AS x, a AS "odd `name`" FROM r', list_known_tables(), "duckdb"))
    assert text.startswith("SELECT c4 AS `x`, c5 AS `x`, c6 AS `odd ``name``` FROM (")


def test_tables_have_the_names_that_the_caller_gives() -> None:
    """The SQL of a table may be any that FROM takes."""
    text = write_sql(read_query("SELECT a FROM r", list_known_tables()), {"r": "parts.`r 1`"})
    assert "FROM parts.`r 1`" in text
