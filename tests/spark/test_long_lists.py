"""Long lists of values and of ranges on Spark: it copes with them, and finds what an independent evaluation finds."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from provenn.criteria import Attribute, parse_criterion, parse_type, render, writing
from tests.criteria.oracle import constants, criteria, rows
from tests.repetitions import repeat_a_few
from tests.strategies import drawn

FILE_TYPES = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "decimal(5,2)": pa.decimal128(5, 2),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", "UTC"),
}
SAME_CODE = ("smallint", "int")
"""Types whose ranges are searched as those of "tinyint" and "bigint" are."""


@pytest.mark.parametrize(
    "kind",
    repeat_a_few(
        ["tinyint", "bigint", "float", "double", "decimal(5,2)", "string", "date", "timestamp", *SAME_CODE], 8
    ),
)
def test_a_search_among_ranges_finds_what_each_of_them_says(engine, tmp_path, monkeypatch, kind):
    """Every range is searched for, of files to which Spark pushes the outermost ends."""
    monkeypatch.setattr(writing, "_MOST_INTERVALS", 0)
    trees = drawn(criteria(("x", kind)), 60, 5)
    table = list(
        {repr(row): row for tree in trees for row in rows({"x": kind}, constants(tree), nullable=True)}.values()
    )
    column = pa.array([row["x"] for row in table], FILE_TYPES[kind])
    parquet.write_table(pa.table({"n": range(len(table)), "x": column}), tmp_path / "x.parquet", row_group_size=7)
    frame = engine.session.read.parquet(f"file://{tmp_path}/x.parquet")
    schema = {"x": Attribute("x", parse_type(kind))}
    texts = [render(parse_criterion(tree.sql(), schema), {"x": "x"}) for tree in trees]
    assert sum("aggregate(" in text for text in texts) > 5
    found = sorted(frame.selectExpr("n", *(f"{text} AS c{place}" for place, text in enumerate(texts))).collect())
    for place, tree in enumerate(trees):
        truth = [tree.truth(row) for row in table]
        assert [row[place + 1] for row in found] == truth, tree
    chosen = [place for place, text in enumerate(texts) if "aggregate(" in text][:2]
    for place in chosen:
        kept = {row.n for row in frame.where(texts[place]).select("n").collect()}
        assert kept == {n for n, row in enumerate(table) if trees[place].truth(row)}, trees[place]


def test_spark_takes_lists_and_unions_of_thousands(engine):
    schema = {"id": Attribute("id", parse_type("bigint"), nullable=False)}
    frame = engine.session.range(100_000)
    listed = parse_criterion(f"id IN ({', '.join(str(7 * one) for one in range(20_000))})", schema)
    between = parse_criterion(" OR ".join(f"id BETWEEN {20 * one} AND {20 * one + 4}" for one in range(5_000)), schema)
    assert frame.where(render(listed, {"id": "id"})).count() == 14_286
    assert frame.where(render(between, {"id": "id"})).count() == 25_000
    assert frame.where(f"NOT ({render(between, {'id': 'id'})})").count() == 75_000
