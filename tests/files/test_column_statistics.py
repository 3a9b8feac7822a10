"""Statistics of columns: what is stated never contradicts the data, whatever the data and however they are written."""

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.files.column_statistics import ColumnStatistics, decode_statistics

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DOUBLES = st.one_of(
    st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 5e-324, 1.7976931348623157e308]), st.floats()
)
KINDS = {
    "tiny": (pa.int8(), st.integers(-128, 127)),
    "big": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "unsigned": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "float": (pa.float32(), st.floats(width=32)),
    "double": (pa.float64(), DOUBLES),
    "text": (pa.string(), st.text(max_size=100)),
    "day": (pa.date32(), st.dates(date(1, 1, 1), date(9999, 1, 1))),
    "moment": (pa.timestamp("ms", "UTC"), st.integers(-(10**13), 10**13)),
    "decimal": (pa.decimal128(9, 2), st.decimals(-1000, 1000, places=2)),
    "truth": (pa.bool_(), st.booleans()),
    "list": (pa.list_(pa.int64()), st.lists(st.integers(0, 9), max_size=2)),
    "struct": (pa.struct([("a", pa.int64())]), st.builds(lambda number: {"a": number}, st.none() | st.integers(0, 9))),
}


def number(value: object) -> object:
    """A value as statistics state it: days, microseconds, or the number itself."""
    if isinstance(value, datetime):
        return (value - EPOCH) // (datetime.resolution)
    return value.toordinal() - EPOCH.toordinal() if isinstance(value, date) else value


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("written")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_statistics_never_contradict_the_data(folder, data):
    """Several files of several row groups each, with NULL, NaN, zeros of both signs and columns of NULLs alone."""
    place = Path(mkdtemp(dir=folder))
    tables = []
    for file in range(data.draw(st.integers(1, 3))):
        size = data.draw(st.integers(0, 6))
        columns = {"id": pa.array(range(file * 10, file * 10 + size), pa.int64())}
        for name, (kind, values) in KINDS.items():
            drawn = st.none() if data.draw(st.booleans()) else st.none() | values
            columns[name] = pa.array(data.draw(st.lists(drawn, min_size=size, max_size=size)), kind)
        tables.append(pa.table(columns))
        stated = data.draw(st.sampled_from([True, True, False, ["double", "day"]]))
        options = {"row_group_size": data.draw(st.integers(1, 4)), "write_statistics": stated}
        parquet.write_table(tables[-1], place / f"{file}.parquet", **options)
    table = pa.concat_tables(tables)
    statistics = Files.at(place).column_statistics
    assert not statistics.keys() & {"list", "struct"}
    for name, stated in statistics.items():
        assert stated.rows == table.num_rows
        assert stated.nulls in (None, table[name].null_count)
        values = [number(value) for value in table[name].to_pylist() if value is not None]
        ordered = [value for value in values if not (isinstance(value, float) and math.isnan(value))]
        if stated.low is not None:
            assert name not in ("unsigned", "text", "decimal", "truth"), "their order is not stated plainly"
            assert all(stated.low <= value <= stated.high for value in ordered)
            assert stated.low in ordered
            assert stated.high in ordered


def test_a_column_with_values_that_a_row_group_does_not_state_has_no_ends(tmp_path):
    """Silence is no bound: one group holds NaN alone. A group of NULLs alone has no value to state."""
    columns = {"id": range(4), "x": [1.0, 2.0, math.nan, math.nan], "y": [1.0, 2.0, None, None]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet", row_group_size=2)
    statistics = Files.at(tmp_path / "t.parquet").column_statistics
    assert statistics["x"] == ColumnStatistics(4, 0)
    assert statistics["y"] == ColumnStatistics(4, 2, 1.0, 2.0)


def test_statistics_are_notes_and_no_part_of_the_identity(tmp_path):
    parquet.write_table(pa.table({"id": [1, 2], "x": [1.5, None]}), tmp_path / "t.parquet")
    base = Base.of(Files.at(tmp_path / "t.parquet"), key="id", population="star")
    notes = base.notes()
    assert notes["statistics"] == [["id", "[2,0,1,2]"], ["x", "[2,1,1.5,1.5]"]]
    restored = Base.restored(base.parameters(), notes, ())
    assert restored.files == base.files
    older = Base.restored(base.parameters(), {key: notes[key] for key in notes if key != "statistics"}, ())
    assert (older.digest, older.files.column_statistics) == (base.digest, {})


def test_masked_columns_have_no_statistics(tmp_path):
    """The mask, and not the footer of the column, decides what is NULL."""
    table = pytest.importorskip("astropy.table")
    masked = table.Table({"id": [1, 2, 3], "x": table.MaskedColumn([1.0, 2.0, 99.0], mask=[False, False, True])})
    masked.write(tmp_path / "t.parquet", format="parquet")
    statistics = Files.at(tmp_path / "t.parquet").column_statistics
    assert statistics.get("x", ColumnStatistics(3, 1)).nulls == 1


@pytest.mark.parametrize(
    "text",
    ["", "null", "[1]", "[1,2,0,0]", "[1,-1,0,0]", "[true,0,0,0]", "[2,0,3,2]", "[2,0,null,2]", '[2,0,"a","b"]',
     "[2,0,NaN,1]", "[2,0,0,Infinity]", "[2,0,0,1e999]", f"[2,0,0,{10**400}]", "[" * 100_000],
)  # fmt: skip
def test_foreign_text_is_no_statistics(text):
    assert decode_statistics([("x", text)]) == {}


def test_decimals_stay_silent(tmp_path):
    parquet.write_table(pa.table({"id": [1], "x": [Decimal("1.50")]}), tmp_path / "t.parquet")
    assert Files.at(tmp_path / "t.parquet").column_statistics["x"] == ColumnStatistics(1, 0)


def test_a_part_of_the_files_has_no_statistics(tmp_path):
    for number in range(2):
        parquet.write_table(pa.table({"id": [number], "x": [float(number)]}), tmp_path / f"{number}.parquet")
    files = Files.at(tmp_path)
    assert files.take(dict(files.fingerprints), files.location).column_statistics == files.column_statistics
    assert files.take(dict(files.fingerprints[:1]), files.location).column_statistics == {}
