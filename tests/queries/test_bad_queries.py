"""Bad queries get a clear answer with a place and a hint, quickly, and nothing is executed."""

# ruff: noqa: S608 - the queries are made here
from __future__ import annotations

import pytest

from provenn.errors import QueryError
from provenn.queries.query_reading import read_query
from provenn.queries.query_writing import write_sql
from provenn.queries.reading_text import LONGEST
from tests.queries.answers import KnownTables

TABLES = KnownTables({"t": ["a", "b"], "u": ["a", "c"], "lists": ["id", "xs"]})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "empty"),
        ("-- nothing", "empty"),
        ("SELECT a FROM t WHERE", "cannot be parsed"),
        ("SELECT 'abc", "not closed"),
        ("SELECT a FROM t; SELECT b FROM t", "more than one statement"),
        ("INSERT INTO t SELECT * FROM t", "INSERT does not begin a query"),
        ("CREATE TABLE z AS SELECT 1", "CREATE"),
        ("SET x = 1", "SET"),
        ("CALL f()", "CALL"),
        ("DROP TABLE t", "DROP"),
        ("EXPLAIN SELECT 1", "EXPLAIN"),
        ("WITH q AS (SELECT 1) INSERT INTO t SELECT * FROM q", "INSERT is not a query"),
        ("SELECT a INTO z FROM t", "SELECT INTO"),
        ("SELECT {{ a }} FROM t", "template"),
        ("{% if x %} SELECT 1", "template"),
        ("SELECT a FROM t WHERE a = :p", "parameters"),
        ("SELECT a FROM t WHERE a = ?", "parameters"),
        ("SELECT rand()", "not deterministic"),
        ("SELECT uuid() FROM t", "not deterministic"),
        ("SELECT current_date", "clock"),
        ("SELECT now()", "clock"),
        ("SELECT timestamp 'now'", "clock"),
        ("SELECT input_file_name() FROM t", "stored"),
        ("SELECT monotonically_increasing_id() FROM t", "stored"),
        ("SELECT java_method('java.lang.System', 'exit')", "runs its own code"),
        ("SELECT reflect('java.lang.System', 'exit')", "runs its own code"),
        ("SELECT * FROM parquet.`/etc/passwd`", "there is no table"),
        ("SELECT * FROM read_files('/etc/passwd')", "not supported in FROM"),
        ("SELECT foo(a) FROM t", "not a known function"),
        ("WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r", "r is recursive"),
        ("SELECT a FROM t, u", "several columns are called a"),
        ("SELECT x.a FROM t AS x, u AS x", "several columns"),
        ("SELECT sum(sum(a)) FROM t", "aggregate of an aggregate"),
        ("SELECT a, b FROM t GROUP BY a", "b is neither in GROUP BY"),
        ("SELECT a FROM t WHERE sum(b) > 1", "not allowed in WHERE"),
        ("SELECT a FROM t HAVING count(*) > 1", "a is neither in GROUP BY"),
        ("SELECT (SELECT a, b FROM t)", "2 columns"),
        ("SELECT a FROM t UNION SELECT a, b FROM t", "1 columns cannot be combined with 2"),
        ("SELECT DISTINCT a FROM t ORDER BY b", "DISTINCT"),
        ("SELECT a FROM t LIMIT a", "whole number"),
        ("SELECT a FROM t GROUP BY 3", "no column 3"),
        ("SELECT * FROM t TABLESAMPLE (10 PERCENT)", "TABLESAMPLE"),
        ("SELECT * FROM t PIVOT (sum(b) FOR a IN (1, 2))", "PIVOT"),
        ("SELECT * FROM t ASOF JOIN u ON t.a >= u.a", "ASOF"),
        ("SELECT a, sum(b) OVER w FROM t", "no window w"),
        ("SELECT transform(xs, c1 -> c1) FROM lists", "numbered column"),
        ("SELECT b FROM t WHERE EXISTS (SELECT sum(t.a) FROM u)", "enclosing query"),
    ],
)
def test_a_bad_query_is_refused_with_its_problem(text: str, problem: str) -> None:
    """The message names what is wrong."""
    with pytest.raises(QueryError, match=problem):
        read_query(text, TABLES)


def test_an_error_says_line_and_column() -> None:
    """The place is that of the offending name."""
    with pytest.raises(QueryError, match=r"there is no column bb, at line 2, column 3\n    bb,\n    \^") as raised:
        read_query("SELECT\n  bb,\n  a\nFROM t", TABLES)
    assert (raised.value.line, raised.value.column) == (2, 3)
    assert raised.value.hint == "did you mean b?"
    with pytest.raises(QueryError) as raised:
        read_query("SELECT a\nFROM\ntt", TABLES)
    assert (raised.value.line, raised.value.column, raised.value.hint) == (3, 1, "did you mean t?")


def test_unknown_dialects_are_refused() -> None:
    """The known ones are listed."""
    with pytest.raises(QueryError, match="'sparc' is not a known dialect") as raised:
        read_query("SELECT 1", TABLES, "sparc")
    assert raised.value.hint == "did you mean spark?"


def _nest(beginning: str, inner: str, end: str, depth: int) -> str:
    return beginning * depth + inner + end * depth


_CHAIN = ", ".join(f"q{i} AS (SELECT x.a FROM q{i - 1} AS x JOIN q{i - 1} AS y ON x.a = y.a)" for i in range(1, 40))


@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + _nest("(", "a", ")", 500) + " FROM t",
        "SELECT " + _nest("abs(", "a", ")", 500) + " FROM t",
        "SELECT " + _nest("int(", "a", ")", 35) + " FROM t",
        "SELECT " + "NOT " * 5_000 + "a FROM t",
        "SELECT " + "- " * 5_000 + "a FROM t",
        "SELECT a" + "[0]" * 5_000 + " FROM t",
        "SELECT a" + ".b" * 5_000 + " FROM t",
        "SELECT a" + "::int" * 5_000 + " FROM t",
        "SELECT " + "a + " * 5_000 + "a FROM t",
        "SELECT " + _nest("CASE WHEN a = 1 THEN ", "1", " END", 500) + " FROM t",
        "SELECT * FROM " + _nest("(SELECT * FROM ", "t", ") AS x", 500),
        "SELECT a FROM t WHERE EXISTS " + _nest("(SELECT 1 FROM t WHERE EXISTS ", "(SELECT 1)", ")", 500),
        " UNION ALL ".join(["SELECT a FROM t"] * 1_000),
        f"WITH q0 AS (SELECT a FROM t), {_CHAIN} SELECT * FROM q39",
        "SELECT a FROM t;\n" * 20_000,
        "SELECT " + "/*" * 100_000,
        "'" + "x" * 100_000,
        "SELECT a FROM t WHERE a IN (" + ", ".join(["1"] * 60_000) + ")",
        "SELECT 1" + " " * LONGEST,
    ],
    ids=lambda text: f"{text[:30]}… ({len(text)})",
)
def test_monstrous_queries_are_refused(text: str) -> None:
    """No text leads to a RecursionError, or takes exponential time."""
    with pytest.raises(QueryError, match=r"nested too deeply|too large|longer than|words|not closed"):
        read_query(text, TABLES)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t WHERE " + " OR ".join(f"a = {number}" for number in range(2_000)),
        "SELECT a FROM t WHERE a IN (" + ", ".join(map(str, range(5_000))) + ")",
        "SELECT " + ", ".join(f"a + {number} AS x{number}" for number in range(1_000)) + " FROM t",
        "SELECT " + "a + " * 90 + "a FROM t",
        "SELECT * FROM " + _nest("(SELECT * FROM ", "t", ") AS x", 20),
        " UNION ALL ".join(["SELECT a FROM t"] * 150),
        "WITH q0 AS (SELECT a FROM t), "
        + ", ".join(f"q{i} AS (SELECT a FROM q{i - 1} WHERE a > {i})" for i in range(1, 90))
        + " SELECT * FROM q89",
    ],
    ids=lambda text: f"{text[:30]}… ({len(text)})",
)
def test_long_queries_are_read_and_written(text: str) -> None:
    """Length alone is no reason to refuse."""
    assert write_sql(read_query(text, TABLES)).startswith("SELECT")
