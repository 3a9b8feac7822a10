"""The 22 queries of TPC-H, in verbs and in SQL: the same answers."""

import pytest

from tests.tpch.answers import are_same_rows, read_sql, sort_rows
from tests.tpch.queries import QUERIES

each_query = pytest.mark.parametrize("number", sorted(QUERIES))


def compare(tpch, number):
    """Compare the answers of provenn and DuckDB, in the columns and the order that the SQL states."""
    query = QUERIES[number]
    result = tpch.duckdb.execute(read_sql(number))
    columns = [column[0] for column in result.description]
    expected = result.fetchall()
    if expected == [(None,) * len(columns)]:  # SQL has a row for the sum of nothing, where there is no group
        expected = []
    rows = sort_rows(query, query.define(tpch.tables).to_arrow(), columns)
    assert are_same_rows(rows, expected), (rows[:5], expected[:5])
    return rows


def test_there_are_22_queries():
    assert sorted(QUERIES) == list(range(1, 23))


@each_query
def test_a_query_in_verbs_has_the_answer_of_duckdb(tpch, number):
    rows = compare(tpch, number)
    assert rows or number == 17, "no part of the small scale fulfils query 17"


@pytest.mark.campaign
@each_query
def test_a_query_in_verbs_has_the_answer_of_duckdb_at_a_larger_scale(large_tpch, number):
    assert compare(large_tpch, number)


def test_the_comparison_notices_other_rows():
    assert are_same_rows([(1, "a", 0.5)], [(1, "a", 0.5)])
    for other in ([(1, "a", 0.50001)], [(2, "a", 0.5)], [(1, "b", 0.5)], [(1, None, 0.5)], [(1, "a")], []):
        assert not are_same_rows([(1, "a", 0.5)], other)
