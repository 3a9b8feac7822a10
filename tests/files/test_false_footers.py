"""Footers are compared with rows: a false one is found by its column, and an honest one never is."""

import datetime as dt
import random
import shutil
import struct
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.errors import BaseFilesError
from provenn.files.false_footers import find_false_statements
from provenn.files.listing import list_files

PLAIN = {"compression": "none", "use_dictionary": False, "row_group_size": 2}
UTC = dt.UTC


def split_footer(path: Path) -> tuple[bytes, bytes]:
    """Return the data of a Parquet file, and its footer with length and letters."""
    content = path.read_bytes()
    length = 8 + int.from_bytes(content[-8:-4], "little")
    return content[:-length], content[-length:]


def splice(folder: Path, rows: pa.Table, stated: pa.Table, **options: object) -> list[str]:
    """Return the false statements in a file with the rows of one table, and the footer of another of equal layout."""
    settings = PLAIN | options
    for name, table in (("rows", rows), ("stated", stated)):
        pq.write_table(table, folder / f"{name}.parquet", **settings)
    (data, own), (other, footer) = (split_footer(folder / f"{name}.parquet") for name in ("rows", "stated"))
    assert (len(data), len(own)) == (len(other), len(footer)), "the layouts are not equal"
    (folder / "false.parquet").write_bytes(data + footer)
    assert find_statements(folder / "rows.parquet") == [] == find_statements(folder / "stated.parquet")
    assert repr(pq.read_table(folder / "false.parquet").to_pylist()) == repr(rows.to_pylist())
    return find_statements(folder / "false.parquet")


def find_statements(path: Path) -> list[str]:
    """Return the false statements in the footer of a file."""
    (file,) = list_files(str(path))
    return find_false_statements(file)


MOMENT = dt.datetime(2026, 11, 16, 18, 30, tzinfo=UTC)
DAY = dt.date(2026, 11, 16)

PAIRS = {
    "int64": (pa.int64(), [1, 2, 3, 9], [1, 2, 3, 4], "from 3 to 4 in row group 2, but a row has 9"),
    "below": (pa.int64(), [1, 2, 3, 4], [2, 3, 3, 4], "from 2 to 3 in row group 1, but a row has 1"),
    "int8": (pa.int8(), [1, 2, 3, 4], [1, 1, 3, 4], "from 1 to 1 in row group 1, but a row has 2"),
    "uint32": (pa.uint32(), [1, 2**32 - 1, 3, 4], [1, 2, 3, 4], "but a row has 4294967295"),
    "uint64": (pa.uint64(), [1, 2**64 - 1, 3, 4], [1, 2, 3, 4], "but a row has 18446744073709551615"),
    "double": (pa.float64(), [1.0, float("nan"), 7.5, 2.0], [1.0, 1.5, 2.5, 2.0], "but a row has 7.5"),
    "float": (pa.float32(), [1.0, 2.5, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], "but a row has 2.5"),
    "infinite": (pa.float64(), [1.0, float("-inf"), 3.0, 4.0], [1.0, 2.0, 3.0, 4.0], "but a row has -inf"),
    "string": (pa.string(), ["a", "b", "c", "é"], ["a", "b", "c", "dd"], "from c to dd in row group 2, but a row has é"),  # noqa: E501
    "decimal": (
        pa.decimal128(9, 3), [Decimal("1.5"), Decimal("-2.125")] * 2, [Decimal("1.5"), Decimal("-2.000")] * 2,
        "but a row has -2.125",
    ),
    "wide": (pa.decimal128(38, 0), [Decimal(10**37 + 1), 1] * 2, [Decimal(10**37), 1] * 2, f"has {10**37 + 1}"),
    "date": (pa.date32(), [DAY] * 4, [DAY] * 3 + [DAY - dt.timedelta(1)], None),
    "later": (pa.date32(), [DAY, DAY, DAY, dt.date(2027, 1, 1)], [DAY] * 4, "but a row has 2027-01-01"),
    "timestamp": (pa.timestamp("us", "UTC"), [MOMENT] * 3 + [MOMENT.replace(hour=19)], [MOMENT] * 4, "19:30"),
    "millis": (pa.timestamp("ms"), [MOMENT.replace(tzinfo=None, year=2030)] * 4, [MOMENT.replace(tzinfo=None)] * 4, "2030"),  # noqa: E501
    "boolean": (pa.bool_(), [True, True, True, False], [True] * 4, "from True to True in row group 2, but a row has False"),  # noqa: E501
}  # fmt: skip


@pytest.mark.parametrize("name", PAIRS)
def test_a_footer_with_the_bounds_of_other_rows_is_false(tmp_path: Path, name: str):
    kind, rows, stated, wanted = PAIRS[name]
    same = pa.array([1, 2, 3, 4])
    make = lambda values: pa.table({"id": same, "x": pa.array(values, kind)})  # noqa: E731
    problems = splice(tmp_path, make(rows), make(stated))
    if wanted is None:
        assert problems == [], "wider bounds than needed are true"
    else:
        (problem,) = problems
        assert problem.startswith("its footer states that x lies from ")
        assert wanted in problem


def test_a_footer_with_another_count_of_missing_values_is_false(tmp_path: Path):
    """Texts of equal length keep the layout, with as many missing values in another row group."""
    make = lambda values: pa.table({"x": pa.array(values, pa.int64())})  # noqa: E731
    pq.write_table(make([1, 2, 3, 4]), tmp_path / "all.parquet", **PLAIN)
    data, footer = split_footer(tmp_path / "all.parquet")
    # Statistics of a row group end with null_count = 0 (field 3, zigzag), max_value and min_value of 8 bytes.
    before = b"\x16\x00\x28\x08" + struct.pack("<q", 4) + b"\x18\x08" + struct.pack("<q", 3)
    assert footer.count(before) == 1
    (tmp_path / "false.parquet").write_bytes(data + footer.replace(before, b"\x16\x02" + before[2:]))
    assert find_statements(tmp_path / "false.parquet") == [
        "its footer states that 1 values of x are missing in row group 2, but 0 are"
    ]


def test_every_false_column_is_reported_once(tmp_path: Path):
    names = [f"c{number}" for number in range(40)]
    rows = pa.table({name: [5, 6, 7, 8] for name in names})
    stated = pa.table({name: [5, 6, 7, 8] if name != "c17" else [1, 2, 3, 4] for name in names})
    (problem,) = splice(tmp_path, rows, stated)
    assert "c17 lies from 1 to 2 in row group 1, but a row has 5" in problem


HONEST = {
    "i8": (pa.int8(), st.integers(-128, 127)),
    "u16": (pa.uint16(), st.integers(0, 2**16 - 1)),
    "u64": (pa.uint64(), st.integers(0, 2**64 - 1)),
    "i64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "float": (pa.float32(), st.floats(width=32)),
    "double": (pa.float64(), st.floats()),
    "string": (pa.string(), st.text(st.characters(exclude_categories=["Cs"]), max_size=40)),
    "large": (pa.large_string(), st.text("ab\U0010ffff\ud7ff", min_size=10, max_size=80)),
    "view": (pa.string_view(), st.text("abc")),
    "words": (pa.dictionary(pa.int32(), pa.string()), st.sampled_from(["a", "é", "zz"])),
    "binary": (pa.binary(), st.binary(max_size=5)),
    "decimal": (pa.decimal128(9, 3), st.decimals(-(10**5), 10**5, places=3)),
    "wide": (pa.decimal128(38, 10), st.decimals(-(10**27), 10**27, places=10)),
    "date": (pa.date32(), st.dates()),
    "date64": (pa.date64(), st.dates()),
    "second": (pa.timestamp("s"), st.datetimes().map(lambda moment: moment.replace(microsecond=0))),
    "milli": (pa.timestamp("ms", "UTC"), st.datetimes().map(lambda moment: moment.replace(microsecond=0))),
    "micro": (pa.timestamp("us"), st.datetimes()),
    "nano": (pa.timestamp("ns"), st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1))),  # noqa: DTZ001
    "span": (pa.duration("us"), st.timedeltas(dt.timedelta(-1000), dt.timedelta(1000))),
    "time": (pa.time64("us"), st.times()),
    "boolean": (pa.bool_(), st.booleans()),
    "list": (pa.list_(pa.int64()), st.lists(st.integers(0, 9), max_size=3)),
    "none": (pa.null(), st.none()),
}


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_honest_footers_are_true(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject):
    """Any types, NULL, NaN, signed zeros, long texts; with and without dictionaries, INT96, cut statistics."""
    columns = {}
    length = data.draw(st.integers(0, 12))
    for name in data.draw(st.lists(st.sampled_from(list(HONEST)), min_size=1, max_size=6, unique=True)):
        kind, values = HONEST[name]
        drawn = data.draw(st.lists(st.one_of(st.none(), values), min_size=length, max_size=length))
        columns[name] = pa.array(drawn, kind)
    path = tmp_path_factory.mktemp("honest") / "a.parquet"
    pq.write_table(
        pa.table(columns),
        path,
        row_group_size=data.draw(st.integers(1, 5)),
        use_dictionary=data.draw(st.booleans()),
        use_deprecated_int96_timestamps=data.draw(st.booleans()),
        data_page_version=data.draw(st.sampled_from(["1.0", "2.0"])),
        write_statistics=data.draw(st.booleans()),
        store_schema=data.draw(st.booleans()) or "none" in columns,
    )
    assert find_statements(path) == []


def test_zeros_with_signs_texts_without_utf8_and_dotted_names_are_true(tmp_path: Path):
    texts = pa.array([b"\xff\xfe", b"a", None, b"\xc3"], pa.binary()).cast(pa.string(), safe=False)
    columns = {"zero": [-0.0, 0.0, 0.0, -0.0], "a.b": [1, 2, 3, 4], "a": [5, 6, 7, 8], "s": [{"x": 1}] * 4}
    pq.write_table(pa.table({**columns, "text": texts}), tmp_path / "a.parquet", **PLAIN)
    assert find_statements(tmp_path / "a.parquet") == []


def test_footers_of_other_writers_with_texts_cut_off_are_true(tmp_path: Path):
    """Delta's writer and DuckDB; long texts are cut off in the footer, up to the next text for the highest."""
    texts = ["ab" * 100, "é" * 90, "\U0010ffff" * 70, "\uffff" * 80, None, "zz" * 200, "", "a"]
    floats = [float("nan"), -0.0, 0.0, None, float("inf"), 1.5, -1.5, 2.0]
    table = pa.table({"text": texts, "x": floats, "n": pa.array(range(8), pa.int16()), "day": [DAY] * 8})
    write_deltalake(tmp_path / "delta", table)
    for number in range(8):
        write_deltalake(tmp_path / "delta", table.slice(number, 1), mode="append")
    shutil.rmtree(tmp_path / "delta" / "_delta_log")
    with duckdb.connect() as connection:
        connection.register("rows", table)
        connection.execute(f"COPY rows TO '{tmp_path}/duck.parquet' (ROW_GROUP_SIZE 2)")
    paths = [tmp_path / "duck.parquet", *(tmp_path / "delta").glob("*.parquet")]
    assert len(paths) == 10
    assert [find_statements(path) for path in paths] == [[]] * 10
    stated = [pq.read_metadata(path).row_group(0).column(0).statistics for path in paths]
    assert any(len(part.max_raw) == 64 for part in stated if part is not None and part.has_min_max), "cut off"


def test_many_rows_are_read_in_batches(tmp_path: Path):
    values = [random.Random(5).random() for _ in range(10)] * 20_000
    pq.write_table(pa.table({"x": values}), tmp_path / "a.parquet")
    assert find_statements(tmp_path / "a.parquet") == []


def test_rows_that_cannot_be_read_are_an_error_with_the_file(tmp_path: Path):
    pq.write_table(pa.table({"x": [1, 2, 3, 4]}), tmp_path / "a.parquet", **PLAIN)
    data, footer = split_footer(tmp_path / "a.parquet")
    (tmp_path / "a.parquet").write_bytes(data[:4] + b"\xff" * (len(data) - 4) + footer)
    with pytest.raises(BaseFilesError, match=r"a\.parquet"):
        find_statements(tmp_path / "a.parquet")
