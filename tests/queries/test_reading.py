"""What the reader makes of SQL: names, stars, groups, windows, orders, dialects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from sqlglot import exp

from provenn.errors import QueryError
from provenn.queries.query_reading import read_query
from provenn.queries.query_writing import write_sql
from provenn.queries.renumbering import find_free_numbers
from provenn.queries.tree import (
    AggregateNode,
    DistinctNode,
    ExplodeNode,
    FilterNode,
    JoinNode,
    LimitNode,
    Node,
    ProjectNode,
    ScanNode,
    SetOperationNode,
    SortNode,
    UnreadNode,
    ValuesNode,
    WindowNode,
    walk_tree,
)
from tests.queries.answers import KnownTables, answer, translate_to_duckdb

TABLES = KnownTables({"t": ["a", "b"], "u": ["a", "c"], "lists": ["id", "xs"]})


@pytest.fixture(scope="module")
def rows() -> Iterator[Any]:
    """Three small tables in DuckDB, with NULLs and duplicates."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t AS FROM (VALUES (1, 2), (1, 2), (1, 3), (2, NULL), (NULL, 5)) AS v(a, b)")
        connection.execute("CREATE TABLE u AS FROM (VALUES (1, 7), (3, 8), (NULL, 9)) AS v(a, c)")
        connection.execute("CREATE TABLE lists AS FROM (VALUES (1, [4, 5]), (2, []), (3, NULL)) AS v(id, xs)")
        yield connection


def read(text: str, dialect: str = "spark") -> Node:
    """Read a query over the three tables."""
    return read_query(text, TABLES, dialect)


def list_kinds(text: str, dialect: str = "spark") -> list[type[Node]]:
    """Return the kinds of the nodes of a query, the outermost first."""
    return [type(node) for node in walk_tree(read(text, dialect))]


@pytest.mark.parametrize(
    ("text", "dialect", "same"),
    [
        ("SELECT * FROM t NATURAL JOIN u", "spark", ""),
        ("SELECT * FROM t FULL JOIN u USING (a)", "spark", ""),
        ("SELECT a, t.a, u.a FROM t RIGHT JOIN u USING (a)", "spark", ""),
        ("SELECT * FROM t JOIN (t AS x JOIN u ON x.a = u.a) ON t.b = x.b", "spark", ""),
        ("SELECT count(*) FROM t AS x, t RIGHT JOIN u ON t.a = u.a", "duckdb", ""),
        (
            "SELECT count(*) FROM t AS x, t RIGHT JOIN u ON t.a = u.a",
            "spark",
            "SELECT count(*) FROM (t AS x CROSS JOIN t) RIGHT JOIN u ON t.a = u.a",
        ),
        ("SELECT x.* FROM (SELECT * FROM t) AS x(p, q)", "spark", ""),
        ("WITH q(p) AS (SELECT a FROM t) SELECT p, q.p FROM q", "spark", ""),
        ("WITH q AS (SELECT a FROM t) SELECT * FROM q AS x JOIN q AS y ON x.a = y.a", "spark", ""),
        ("WITH t AS (SELECT c AS a FROM u) SELECT a FROM t", "spark", ""),
        ("SELECT * EXCEPT (b) FROM t", "bigquery", "SELECT a FROM t"),
        ("SELECT * EXCLUDE (b) REPLACE (a + 1 AS a) FROM t", "duckdb", ""),
        ("SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC", "postgres", ""),
        ("SELECT TOP 2 a, b FROM t ORDER BY b, a", "tsql", "SELECT a, b FROM t ORDER BY b NULLS FIRST, a LIMIT 2"),
        (
            "SELECT a FROM t ORDER BY b DESC, a LIMIT 2",
            "spark",
            "SELECT a FROM t ORDER BY b DESC NULLS LAST, a LIMIT 2",
        ),
        (
            "SELECT a FROM t ORDER BY b DESC, a LIMIT 2",
            "postgres",
            "SELECT a FROM t ORDER BY b DESC NULLS FIRST LIMIT 2",
        ),
        ("SELECT a, sum(b) OVER w FROM t WINDOW w AS (PARTITION BY a)", "spark", ""),
        ("SELECT a AS x, x + 1 AS y FROM t WHERE x > 0", "duckdb", ""),
        ("SELECT sum(b) AS b FROM t GROUP BY a HAVING b > 1", "spark", ""),
        ("SELECT sum(b) AS b FROM t GROUP BY a HAVING sum(b) > 6", "spark", ""),
        ("SELECT a + 1 AS k, count(*) FROM t GROUP BY k", "spark", ""),
        ("SELECT a, count(*) AS n FROM t GROUP BY ALL", "spark", ""),
        ("SELECT 'x' AS k, count(*) FROM t GROUP BY 1", "spark", ""),
        ("SELECT count(*) FROM t HAVING count(*) > 100", "spark", ""),
        ("SELECT (SELECT max(c) FROM u WHERE u.a = t.a) AS m, count(*) FROM t GROUP BY a", "spark", ""),
        ("SELECT a, sum(count(*)) OVER () FROM t GROUP BY a", "spark", ""),
        ("SELECT sum((SELECT max(c) FROM u WHERE u.a = t.a)) FROM t", "spark", ""),
        ("SELECT a FROM t WHERE a NOT IN (SELECT a FROM u)", "spark", ""),
        ("SELECT a FROM t WHERE (a, 7) IN (SELECT a, c FROM u)", "spark", ""),
        ("SELECT a FROM t WHERE a = ANY (SELECT a FROM u)", "postgres", ""),
        ("SELECT 1 AS x UNION SELECT 2 INTERSECT SELECT 3", "spark", ""),
        ("SELECT a FROM t UNION BY NAME SELECT c, a FROM u", "duckdb", ""),
        ("(SELECT a FROM t ORDER BY a NULLS LAST LIMIT 1) UNION ALL SELECT a FROM u", "spark", ""),
        ("VALUES (1, 2), (3, 4)", "spark", ""),
        ("FROM t", "duckdb", ""),
        ("SELECT a, grouping(a) AS g, sum(b) FROM t GROUP BY ROLLUP (a)", "spark", ""),
        ("SELECT a, b, count(*) FROM t GROUP BY GROUPING SETS ((a, b), (a), ()) HAVING count(*) > 1", "duckdb", ""),
        (
            "SELECT a, b, count(*) FROM t GROUP BY a, b WITH CUBE",
            "spark",
            "SELECT a, b, count(*) FROM t GROUP BY CUBE (a, b)",
        ),
        ("SELECT id, x FROM lists LATERAL VIEW explode(xs) e AS x", "spark", "SELECT id, unnest(xs) FROM lists"),
        ("SELECT id, explode(xs) AS x FROM lists", "spark", "SELECT id, unnest(xs) FROM lists"),
        ("SELECT id, x FROM lists, UNNEST(xs) AS v(x)", "duckdb", ""),
        (r"SELECT '\\a' AS x, 'it\'s' AS y", "spark", r"SELECT '\a', 'it''s'"),
        (r"SELECT 'C:\new' AS x", "duckdb", ""),
        ("SELECT a / b FROM t", "duckdb", ""),
        ("SELECT a // 2 FROM t", "duckdb", ""),
        ("SELECT A, `B` FROM T", "spark", ""),
    ],
)
def test_a_query_gives_the_rows_that_duckdb_gives(text: str, dialect: str, same: str, rows: Any) -> None:
    """Forms of SQL one by one; where DuckDB has not the form, its own query says what it means."""
    expected = answer(rows, same or (text if dialect == "duckdb" else translate_from(text, dialect)))
    assert answer(rows, translate_to_duckdb(write_sql(read(text, dialect)))) == expected


def translate_from(text: str, dialect: str) -> str:
    """Return SQL of a dialect in that of DuckDB."""
    import sqlglot  # noqa: PLC0415 - for this test alone

    return sqlglot.transpile(text, read=dialect, write="duckdb")[0]


def test_clauses_become_nodes_in_the_order_in_which_they_take_effect() -> None:
    """WHERE lies below GROUP BY, HAVING above it, and the limit above the order."""
    text = "SELECT a, max(b) AS m FROM t WHERE b > 0 GROUP BY a HAVING count(*) > 1 ORDER BY m LIMIT 3 OFFSET 1"
    assert list_kinds(text) == [LimitNode, SortNode, ProjectNode, FilterNode, AggregateNode, FilterNode, ScanNode]


def test_windows_lie_below_qualify() -> None:
    """QUALIFY selects rows by the values of windows."""
    text = "SELECT a FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1"
    assert list_kinds(text) == [ProjectNode, FilterNode, WindowNode, ScanNode]


def test_joins_set_operations_and_arrays_have_nodes_of_their_own() -> None:
    """Each relational operation is one kind of node."""
    assert list_kinds("SELECT t.a FROM t LEFT SEMI JOIN u ON t.a = u.a")[1] is JoinNode
    assert list_kinds("SELECT DISTINCT a FROM t")[0] is DistinctNode
    assert list_kinds("SELECT a FROM t EXCEPT SELECT a FROM u")[0] is SetOperationNode
    assert list_kinds("SELECT id, x FROM lists LATERAL VIEW OUTER posexplode(xs) e AS i, x")[1] is ExplodeNode
    assert list_kinds("SELECT 1 AS x") == [ProjectNode, ValuesNode]


def test_every_column_has_a_number_of_its_own() -> None:
    """A query of WITH that is used twice is copied with other numbers."""
    node = read("WITH q AS (SELECT a + 1 AS x FROM t) SELECT * FROM q AS l JOIN q AS r ON l.x = r.x")
    numbers = [column.number for part in walk_tree(node) if isinstance(part, ScanNode) for column in part.columns]
    assert len(numbers) == len(set(numbers)) == 4
    assert not find_free_numbers(node)


def test_a_subquery_names_columns_of_the_enclosing_query() -> None:
    """A correlated subquery is a call, and its nodes name numbers of the enclosing query."""
    node = read("SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.b)")
    assert isinstance(node, ProjectNode)
    assert isinstance(node.input, FilterNode)
    (subquery,) = node.input.subqueries
    assert node.input.condition.sql("spark") == "EXISTS_SUBQUERY(0)"
    assert find_free_numbers(subquery) == {node.input.columns[1].number}


def test_the_names_of_the_result_are_those_of_the_query() -> None:
    """Aliases, columns and fields give names; their case is kept."""
    node = read("SELECT a AS Total, B, xs.part FROM t JOIN lists ON t.a = lists.id")
    assert [column.name for column in node.columns] == ["Total", "B", "part"]


def test_grouping_sets_are_text_over_the_tables() -> None:
    """What no node expresses keeps its text, its tables and a reason."""
    (unread,) = (node for node in walk_tree(read("SELECT a FROM t GROUP BY CUBE (a)")) if isinstance(node, UnreadNode))
    assert [scan.table for scan in unread.scans] == ["t"]
    assert "input_1" in unread.text
    assert "CUBE" in unread.text
    assert "GROUPING SETS" in unread.reason


def test_functions_of_spark_are_kept_as_they_are_written() -> None:
    """Sqlglot would write some functions with another meaning than it read them."""
    node = read("SELECT datediff(a, b), date_add(a, 1), nvl(a, b) FROM t")
    assert isinstance(node, ProjectNode)
    assert [tree.sql("spark") for _, tree in node.computed] == ["DATEDIFF(c1, c2)", "DATE_ADD(c1, 1)", "NVL(c1, c2)"]
    assert all(isinstance(tree, exp.Anonymous) for _, tree in node.computed)


@pytest.mark.parametrize(
    ("text", "dialect", "problem"),
    [
        ("SELECT a / b FROM t", "postgres", "drops the fraction"),
        ("SELECT a + b FROM t", "tsql", "joins texts"),
        (r"SELECT a FROM t WHERE a LIKE 'x\_y'", "duckdb", "LIKE"),
        ("SELECT greatest(a, b) FROM t", "bigquery", "NULL if any"),
        ("SELECT xs[-1] FROM lists", "duckdb", "index"),
        ("SELECT my_function(a) FROM t", "snowflake", "not known to mean the same"),
    ],
)
def test_what_means_something_else_in_spark_is_refused(text: str, dialect: str, problem: str) -> None:
    """A dialect whose meaning is known to differ is not guessed at."""
    with pytest.raises(QueryError, match=problem):
        read(text, dialect)
