"""Parts of arrays, maps and structs mean the same to Spark, to DuckDB and to Python, from a file to a table."""

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet

import provenn

ROWS = [
    {"k": 1, "l": [1, 2, 3], "s": {"a": 5, "b": "x"}, "m": [("u", 1)], "st": [{"v": 1.5}]},
    {"k": 2, "l": [], "s": {"a": None, "b": ""}, "m": [], "st": []},
    {"k": 3, "l": None, "s": None, "m": None, "st": None},
    {"k": 4, "l": [None, 3], "s": {"a": -1, "b": None}, "m": [("u", None), ("v", 7)], "st": [None, {"v": 2.0}]},
    {"k": 5, "l": [7, None], "s": {"a": 2**31 - 1, "b": "y"}, "m": [("v", 3)], "st": [{"v": float("nan")}]},
    {"k": 6, "l": [None], "s": {"a": 0, "b": "x"}, "m": [("u", 0), ("w", 2)], "st": [{"v": None}]},
]
SCHEMA = pa.schema(
    [
        ("k", pa.int64()),
        ("l", pa.list_(pa.int32())),
        ("s", pa.struct([("a", pa.int32()), ("b", pa.string())])),
        ("m", pa.map_(pa.string(), pa.int32())),
        ("st", pa.list_(pa.struct([("v", pa.float64())]))),
    ]
)


def get(values, index):
    return None if values is None or not 0 <= index < len(values) else values[index]


EXPRESSIONS = {
    "l[0]": lambda row: get(row["l"], 0),
    "l[2]": lambda row: get(row["l"], 2),
    "l[-1]": lambda row: get(row["l"], -1),
    "element_at(l, -1)": lambda row: get(row["l"], len(row["l"] or []) - 1),
    "get(l, size(l) - 1)": lambda row: get(row["l"], len(row["l"] or []) - 1),
    "s.a": lambda row: row["s"] and row["s"]["a"],
    "s['b']": lambda row: row["s"] and row["s"]["b"],
    "m['u']": lambda row: None if row["m"] is None else dict(row["m"]).get("u"),
    "element_at(m, 'v')": lambda row: None if row["m"] is None else dict(row["m"]).get("v"),
    "size(l)": lambda row: None if row["l"] is None else len(row["l"]),
    "size(m)": lambda row: None if row["m"] is None else len(row["m"]),
    "array_contains(l, 3)": lambda row: (
        None if row["l"] is None else True if 3 in row["l"] else None if None in row["l"] else False
    ),
    "st[0].v": lambda row: (get(row["st"], 0) or {}).get("v"),
}


@pytest.fixture(scope="module")
def table(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    parquet.write_table(pa.Table.from_pylist(ROWS, SCHEMA), folder / "parts.parquet")
    with provenn.open(folder / "archive", spark=engine.session.sparkContext.master, progress=False) as archive:
        archive.ingest("parts", folder / "parts.parquet", key="k", population="part")
        numbers = [{"x": x, "n": {"y": -0.0}} for x in (1.0, float("nan"), 2.0)]
        parquet.write_table(pa.table({"k": [1, 2, 3], "s": numbers}), folder / "fields.parquet")
        archive.ingest("fields", folder / "fields.parquet", key="k", population="field")
        yield archive, folder / "parts.parquet"


def test_derived_parts_are_what_python_says(table):
    archive, _ = table
    derived = archive["parts"].derive(**{f"c{n}": text for n, text in enumerate(EXPRESSIONS)})
    found = {row["k"]: row for row in derived.to_arrow().to_pylist()}
    assert len(found) == len(ROWS)
    for row in ROWS:
        expected = {f"c{n}": apply(row) for n, apply in enumerate(EXPRESSIONS.values())}
        assert repr({name: found[row["k"]][name] for name in expected}) == repr(expected)  # NaN is not equal to itself


@pytest.mark.parametrize(
    ("criterion", "duck"),
    [
        ("l[0] > 0", "l[1] > 0"),
        ("element_at(l, -1) IS NULL", "l[-1] IS NULL"),
        ("s.a >= 0", "s.a >= 0"),
        ("s.b = 'x' OR s IS NULL", "s.b = 'x' OR s IS NULL"),
        ("m['u'] IS NULL", "m['u'] IS NULL"),
        ("size(l) < 2", "len(l) < 2"),
        ("array_contains(l, 3)", "list_contains(l, 3)"),
        ("coalesce(l[0], s.a) < 5", "coalesce(l[1], s.a) < 5"),
        ("st[0].v > 1", "st[1].v > 1"),
    ],
)
def test_selections_by_parts_hold_what_duckdb_selects(table, criterion, duck):
    archive, file = table
    selected = archive["parts"].select(criterion)
    expected = duckdb.sql(f"SELECT k FROM '{file}' WHERE {duck} ORDER BY k").fetchall()  # noqa: S608
    assert sorted(row["k"] for row in selected.to_arrow().to_pylist()) == [key for (key,) in expected]
    assert selected.count() == len(expected)


def test_nan_and_negative_zero_in_fields_are_found_although_statistics_of_files_do_not_know_them(table):
    archive, _ = table
    fields = archive["fields"]
    assert sorted(fields.select("s.x > 5").to_arrow()["k"].to_pylist()) == [2]
    assert sorted(fields.select("s.x < 5").to_arrow()["k"].to_pylist()) == [1, 3]
    assert sorted(fields.select("s.n.y = 0").to_arrow()["k"].to_pylist()) == [1, 2, 3]
    assert sorted(fields.select("s.n.y >= 0").to_arrow()["k"].to_pylist()) == [1, 2, 3]


def test_parts_are_compared_related_and_shown(table):
    archive, _ = table
    parts = archive["parts"]
    first = parts.select("l[0] > 3")
    assert archive.relate(first, parts.select("element_at(l, 1) > 2")).summary == "subset"
    assert archive.relate(parts.derive(a="s.a").select("a > 3"), parts.select("s.a > 3")).summary == "equal"
    assert [row["k"] for row in first.head(5).to_dict("records")] == [5]
    target = archive.target(sources=parts, attributes=["k"], where="s['a'] > 3")
    assert sorted(target.to_pandas()["k"]) == [1, 5]
