"""Pairs of queries: equal ones are mostly proved equal, different ones never, and each claim holds for DuckDB's rows."""
# ruff: noqa: E501 - a suite reads best in one line

from pathlib import Path

import pytest

from benchmarks.query_pairs import SuiteWorld, compare_pair
from benchmarks.query_suites import read_suite

PAIRS = read_suite(Path(__file__).with_name("pairs.json"))
UNPROVED = {
    "DISTINCT twice",
    "scalar subquery as join",
    "group by the key",
}
"""Equal pairs that are not proved equal: what is missing is a limit that docs/explanation/queries.md states."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return SuiteWorld(PAIRS[0].tables, tmp_path_factory.mktemp("suite"))


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair.name)
def test_a_pair_is_proved_equal_if_it_is(pair, world):
    result = compare_pair(pair, world)
    assert not result.mistake
    assert result.comparison is not None
    assert result.comparison.is_equal == (pair.is_equal and pair.name not in UNPROVED)


def test_different_pairs_differ_for_some_rows(world):
    """A pair that is called different has different rows in some of the small random tables."""
    alike = [pair.name for pair in PAIRS if not pair.is_equal and world.run(pair.first) == world.run(pair.second)]
    assert not alike


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "a", "q1": "SELECT id FROM t", "q2": "SELECT id FROM t;", "schema": "CREATE TABLE t (id INT PRIMARY KEY, x DECIMAL(9, 2) NOT NULL)"}]',
        '{"schema": {"t": {"columns": [{"name": "id", "type": "INT"}, {"name": "x", "type": "float", "nullable": false}], "key": ["id"]}}, "tests": [{"left": "SELECT id FROM t", "right": "SELECT id FROM t"}]}',
        '[{"query1": "SELECT id FROM t", "query2": "SELECT id FROM t", "schema": {"tables": [{"name": "t", "columns": ["id", "x"], "types": ["int", "double"], "keys": [["id"]]}]}}]',
        '[{"sql1": "SELECT id FROM t", "sql2": "SELECT id FROM t", "schema": {"t": {"columns": {"id": "int", "x": "double"}, "primary_key": "id"}}}]',
    ],
)
def test_a_suite_is_read_in_any_of_the_formats(text, tmp_path):
    path = tmp_path / "suite.json"
    path.write_text(text)
    (pair,) = read_suite(path)
    (table,) = pair.tables
    assert (pair.first, pair.second, pair.is_equal) == ("SELECT id FROM t", "SELECT id FROM t", True)
    assert [(column.name, column.type) for column in table.columns] == [("id", "int"), ("x", "double")]
    assert table.key == ("id",)
    assert compare_pair(pair, SuiteWorld(pair.tables, tmp_path)).comparison.is_equal


def test_a_pair_without_a_text_or_a_schema_is_an_error(tmp_path):
    path = tmp_path / "suite.json"
    path.write_text('[{"name": "a", "q1": "SELECT 1", "schema": []}]')
    with pytest.raises(ValueError, match="a has no q2"):
        read_suite(path)
    path.write_text('[{"name": "a", "q1": "SELECT 1", "q2": "SELECT 1"}]')
    with pytest.raises(ValueError, match="no schema"):
        read_suite(path)
