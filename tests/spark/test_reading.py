# ruff: noqa: DTZ001 - moments without a time zone are what is tested
"""Base data arrive in Spark exactly as the files hold them and as the schema says: names, order, types, values."""

import datetime as dt
import math
import re
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Files, Population
from provenn.criteria import parse_type
from provenn.errors import BaseFilesError, FilesMissingError, FormatError, RunError
from provenn.files.data_folder import DataFolder
from provenn.files.listing import list_files
from provenn.spark.reading import read_base
from provenn.spark.spark_errors import translate_errors


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder.of(tmp_path / "data")


def base_of(files: Files, key: str = "hip", kind: str | None = None) -> Base:
    population = Population("star", (parse_type(kind),)) if kind else "star"
    return Base.of(files, key=key, population=population)


def written(path: Path, table: pa.Table | dict, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table if isinstance(table, pa.Table) else pa.table(table), path, **options)
    return path


def types(frame) -> dict[str, str]:
    return dict(frame.dtypes)


def plan(frame) -> str:
    return frame._jdf.queryExecution().executedPlan().toString()


def same(one, other) -> bool:
    """Equal, NaN and the sign of zero included."""
    if isinstance(one, float) and isinstance(other, float):
        return repr(one) == repr(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


# --- Parquet ---

COLUMNS = {
    "hip": pa.array([1, 2, 3], pa.int64()),
    "long": pa.array([-(2**63), None, 2**63 - 1], pa.int64()),
    "double": pa.array([math.nan, -0.0, None], pa.float64()),
    "float": pa.array([math.inf, -0.0, 1e-45], pa.float32()),
    "byte": pa.array([-128, 127, None], pa.int8()),
    "uint8": pa.array([255, 0, None], pa.uint8()),
    "uint16": pa.array([65535, 0, None], pa.uint16()),
    "uint32": pa.array([2**32 - 1, 0, None], pa.uint32()),
    "uint64": pa.array([2**64 - 1, 0, None], pa.uint64()),
    "decimal": pa.array([Decimal("12345678901234567890.1234567890"), None, Decimal(-1)], pa.decimal128(38, 10)),
    "text": pa.array(["", None, "é 'x' \\ \n"], pa.large_string()),
    "word": pa.array(["a", None, "b"]).dictionary_encode(),
    "date": pa.array([dt.date(1, 1, 1), dt.date(1500, 2, 28), dt.date(9999, 12, 31)], pa.date32()),
    "time": pa.array([dt.datetime(1500, 1, 1), None, dt.datetime(2026, 1, 2, 3, 4, 5, 678901)], pa.timestamp("us")),
    "utc": pa.array([dt.datetime(1582, 10, 4), None, dt.datetime(2026, 1, 2, 3, 4)], pa.timestamp("ms", "UTC")),
    "duration": pa.array([1, None, -5], pa.duration("us")),
    "flag": pa.array([True, None, False]),
    "bytes": pa.array([b"\x00\xff", None, b""]),
    "nothing": pa.nulls(3),
    "list": pa.array([[1.0, math.nan], None, []], pa.list_(pa.float64())),
    "small list": pa.array([[255, None], None, []], pa.list_(pa.uint8())),
    "struct": pa.array([{"RA": 1.0, "a b": [2]}, None, {"RA": None, "a b": None}],
                       pa.struct([("RA", pa.float64()), ("a b", pa.list_(pa.int32()))])),
}  # fmt: skip


def test_every_type_of_parquet_keeps_its_values(engine, folder, tmp_path):
    base = base_of(Files.at(written(tmp_path / "a.parquet", COLUMNS)))
    frame = read_base(engine, base, folder)
    assert frame.columns == list(COLUMNS)
    assert types(frame) == {
        attribute.name: str(attribute.type).replace("`", "") for attribute in base.schema.attributes
    }
    rows = frame.orderBy("hip").collect()
    for name, values in COLUMNS.items():
        expected = values.cast(pa.int64()).to_pylist() if name == "duration" else values.to_pylist()
        expected = [Decimal(one) if name == "uint64" and one is not None else one for one in expected]
        got = [row[name].asDict() if name == "struct" and row[name] else row[name] for row in rows]
        got = [bytes(one) if isinstance(one, bytearray) else one for one in got]
        if name == "utc":  # Spark gives moments in the time zone of this process
            expected = [one and one.replace(tzinfo=None) for one in expected]
            got = [row.t for row in frame.selectExpr("CAST(utc AS timestamp_ntz) AS t", "hip").orderBy("hip").collect()]
        assert all(map(same, got, expected)), (name, got, expected)


def test_moments_in_nanoseconds_are_cut_to_microseconds(engine, folder, tmp_path):
    """Also before 1970, where cutting towards zero would move them; and beside files that have microseconds."""
    nanoseconds = pa.array([-1, 1_999, None], pa.timestamp("ns"))
    written(tmp_path / "in" / "a.parquet", {"hip": [1, 2, 3], "t": nanoseconds})
    written(tmp_path / "in" / "b.parquet", {"hip": [4], "t": pa.array([7], pa.timestamp("us"))})
    frame = read_base(engine, base_of(Files.at(tmp_path / "in")), folder)
    assert types(frame)["t"] == "timestamp_ntz"
    micros = frame.selectExpr("hip", "unix_micros(CAST(t AS timestamp)) AS t").orderBy("hip").collect()
    assert [row.t for row in micros] == [-1, 1, None, 7]


def test_moments_as_they_were_written_once_are_read(engine, folder, tmp_path):
    moments = pa.array([dt.datetime(2020, 1, 1), None], pa.timestamp("us"))
    path = written(tmp_path / "a.parquet", {"hip": [1, 2], "t": moments}, use_deprecated_int96_timestamps=True)
    frame = read_base(engine, base_of(Files.at(path)), folder)
    assert types(frame)["t"] == "timestamp"
    assert frame.where("t = '2020-01-01'").count() == 1


def test_a_column_that_spark_cannot_read_is_refused_only_where_it_is_used(engine, folder, tmp_path):
    table = pa.table({"hip": [1], "t": pa.array([5], pa.time64("us")), "h": pa.array([1.5], pa.float16())})
    frame = read_base(engine, base_of(Files.at(written(tmp_path / "a.parquet", table))), folder)
    assert frame.columns == ["hip", "t", "h"]
    assert frame.select("hip").collect() == [(1,)]
    assert frame.where("hip > 0").count() == 1
    with (
        pytest.raises(RunError, match=r"the column t has the type time64\[us\], which Spark does not support"),
        translate_errors("it"),
    ):
        frame.collect()


def test_units_and_descriptions_are_metadata_of_columns(engine, folder, tmp_path):
    fields = [pa.field("hip", pa.int32()), pa.field("v", pa.float64(), metadata={"unit": "mag", "description": "V"})]
    path = written(tmp_path / "a.parquet", pa.table([[1], [2.0]], schema=pa.schema(fields)))
    frame = read_base(engine, base_of(Files.at(path), kind="bigint"), folder)
    assert [field.metadata for field in frame.schema] == [{}, {"unit": "mag", "description": "V"}]
    assert frame.where("v > 1").select("v").schema["v"].metadata["unit"] == "mag"


@pytest.mark.parametrize("kind", ["int", "bigint"])
def test_criteria_and_columns_are_pushed_down_to_the_files(engine, folder, tmp_path, kind):
    """Also where the key is brought to the wider type of the population."""
    fields = [pa.field("hip", pa.int32()), pa.field("a.b", pa.float64(), metadata={"unit": "mag"})]
    table = pa.table([pa.array([1, 2], pa.int32()), [2.0, 3.0], ["a", "b"]],
                     schema=pa.schema([*fields, pa.field("x", pa.string())]))  # fmt: skip
    frame = read_base(engine, base_of(Files.at(written(tmp_path / "a.parquet", table)), kind=kind), folder)
    assert types(frame)["hip"] == kind
    wanted = frame.where("`a.b` > 2.5 AND hip < 100").select("hip")
    text = plan(wanted)
    assert re.search(r"PushedFilters: \[.*GreaterThan\(`?a\.b`?,2\.5\), LessThan\(hip,100\)", text), text
    assert "ReadSchema: struct<hip:int,a.b:double>" in text
    assert wanted.collect() == [(2,)]
    assert ("Project" in text.split("FileScan")[0].split("Filter")[-1]) is False, "nothing between filter and scan"


def test_odd_names_of_columns_and_files(engine, folder, tmp_path):
    """Dots, blanks, backquotes, names that differ in case alone; files whose names look like patterns."""
    columns = {"hip": [1], "a.b": [2], "A.B": [3], "c d": [4], "e`f": [5], "µ,;{}()=": [6], "HIP": [7]}
    for name in ("stars[1].parquet", "a b#c%20d?e.parquet", "é*{x}.parquet", "back\\slash.parquet"):
        written(tmp_path / name.replace(".parquet", "") / name, columns)
        files = Files.at(tmp_path / name.replace(".parquet", "") / name)
        assert [tuple(row) for row in read_base(engine, base_of(files), folder).collect()] == [(1, 2, 3, 4, 5, 6, 7)]


def test_folders_globs_and_partitions(engine, folder, tmp_path):
    place = tmp_path / "sky"
    for number, (year, name) in enumerate([("2025", "007"), ("2026", "a b%2Fc"), ("__HIVE_DEFAULT_PARTITION__", "x")]):
        written(place / f"year={year}" / f"name={name}" / "a.parquet", {"hip": [number]})
    (place / "_SUCCESS").touch()
    (place / ".hidden.parquet").write_text("another format")
    base = base_of(Files.at(place))
    frame = read_base(engine, base, folder)
    assert types(frame) == {"hip": "bigint", "year": "bigint", "name": "string"}
    assert sorted(map(tuple, frame.collect())) == [(0, 2025, "007"), (1, 2026, "a b/c"), (2, None, "x")]
    assert "PartitionFilters: [isnotnull(year" in plan(frame.where("year = 2026"))
    for pattern in ("sky/**/*.parquet", "sk?", "[rs]ky/year=202[56]/**"):
        files = Files.at(tmp_path / pattern)
        assert read_base(engine, base_of(files), folder).count() == files.row_count


def test_escapes_in_names_of_folders_mean_what_spark_takes_them_for(engine, folder, tmp_path):
    """The values that provenn takes from names of folders are those that Spark gives: for strings and for integers."""
    spellings = ["%C3%BC", "ü", "%e9", "%80", "a%2Fb", "%25", "%", "%zz", "%4", "%%41z", "a+b", "x%20y", "%0a1", "%31"]
    spellings += ["a=b", " x ", "__HIVE_DEFAULT_PARTITION__", "%5F_HIVE_DEFAULT_PARTITION__", "%41%zz%42", "%-1"]
    for number, spelling in enumerate(spellings):
        written(tmp_path / "sky" / f"b%C3%A9=5/name={spelling}" / "a.parquet", {"hip": [number]})
        written(tmp_path / "escaped" / f"n={number}" / f"code=%3{number % 10}" / "a.parquet", {"hip": [number]})
    files = Files.at(tmp_path / "sky")
    by_name = {file.name: dict(file.partitions) for file in list_files(files.location)}
    frame = read_base(engine, base_of(files), folder)
    assert types(frame) == {"hip": "bigint", "bÃ©": "bigint", "name": "string"}
    values = {row["hip"]: row["name"] for row in frame.collect()}
    assert values == {
        number: by_name[f"b%C3%A9=5/name={spelling}/a.parquet"]["name"] for number, spelling in enumerate(spellings)
    }
    assert (values[0], values[2], values[4], values[7]) == ("Ã¼", "é", "a/b", "%zz")
    frame = read_base(engine, base_of(Files.at(tmp_path / "escaped")), folder)
    assert types(frame) == {"hip": "bigint", "n": "bigint", "code": "string"}, "Spark decodes no escapes of integers"
    assert {(row["hip"], row["n"], row["code"]) for row in frame.collect()} == {
        (number, number, str(number % 10)) for number in range(len(spellings))
    }


def test_a_file_that_appears_later_is_not_read_and_one_that_goes_is_noticed(engine, folder, tmp_path):
    written(tmp_path / "in" / "a.parquet", {"hip": [1]})
    base = base_of(Files.at(tmp_path / "in"))
    other = written(tmp_path / "in" / "b.parquet", {"hip": [2]})
    assert [row["hip"] for row in read_base(engine, base, folder).collect()] == [1]
    other.unlink()
    assert read_base(engine, base, folder).count() == 1
    (tmp_path / "in" / "a.parquet").unlink()
    with pytest.raises(FilesMissingError):
        read_base(engine, base, folder)


SCALARS = {
    "bigint": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "int": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "double": (pa.float64(), st.floats()),
    "float": (pa.float32(), st.floats(width=32)),
    "string": (pa.string(), st.text(st.characters(exclude_categories=["Cs"]), max_size=6)),
    "date": (pa.date32(), st.dates()),
    "timestamp_ntz": (pa.timestamp("us"), st.datetimes()),
    "boolean": (pa.bool_(), st.booleans()),
    "decimal": (pa.decimal128(9, 3), st.decimals(-(10**5), 10**5, places=3)),
}


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_tables_are_what_pyarrow_says(engine, folder, tmp_path, data):
    chosen = data.draw(st.lists(st.sampled_from(list(SCALARS)), min_size=1, max_size=4))
    number = data.draw(st.integers(0, 6))
    columns = {"hip": pa.array(range(number), pa.int64())}
    for place, kind in enumerate(chosen):
        arrow, values = SCALARS[kind]
        columns[f"c{place}"] = pa.array(
            data.draw(st.lists(st.none() | values, min_size=number, max_size=number)), arrow
        )
    path = written(tmp_path / "a.parquet", columns, row_group_size=2)
    frame = read_base(engine, base_of(Files.at(path)), folder)
    rows = frame.orderBy("hip").collect()
    for name, values in columns.items():
        assert all(map(same, [row[name] for row in rows], values.to_pylist()))


# --- CSV and others ---


def csv(tmp_path: Path, text: str, name: str = "stars.csv", **given) -> Files:
    (tmp_path / name).write_bytes(text.encode())
    return Files.at(tmp_path / name, **given)


def rows_of(engine, folder, files: Files) -> list[tuple]:
    return [tuple(row) for row in read_base(engine, base_of(files), folder).collect()]


def test_csv_is_read_in_the_types_that_were_seen(engine, folder, tmp_path):
    text = (
        "hip,v,name,day,time,good,big\n"
        "1,6.5,a,1500-01-31,2026-01-31 01:02:03,true,9223372036854775807\n"
        "2,,,,,,\n"
        "3,-0.0, b ,2026-02-01,2026-01-31T01:02:03.5,FALSE,-9223372036854775808\n"
    )
    files = csv(tmp_path, text)
    frame = read_base(engine, base_of(files), folder)
    assert types(frame) == {column.name: str(column.type) for column in files.columns}
    rows = [
        tuple(row)
        for row in frame.selectExpr("hip", "v", "name", "day", "CAST(time AS string)", "good", "big").collect()
    ]
    assert rows[0] == (1, 6.5, "a", dt.date(1500, 1, 31), "2026-01-31 01:02:03", True, 2**63 - 1)
    assert rows[1] == (2, None, None, None, None, None, None)
    assert rows[2][2:] == (" b ", dt.date(2026, 2, 1), "2026-01-31 01:02:03.5", False, -(2**63))
    assert math.copysign(1, rows[2][1]) == -1


def test_quotes_and_empty_text_in_csv_are_those_of_the_standard(engine, folder, tmp_path):
    files = csv(tmp_path, 'hip,a,"b, c"\n1,"say ""no"", he",\n2,"","\\"\n')
    assert rows_of(engine, folder, files) == [(1, 'say "no", he', None), (2, "", "\\")]
    duck = duckdb.read_csv(str(tmp_path / "stars.csv"), allow_quoted_nulls=False, all_varchar=True).fetchall()
    assert [row[1] for row in duck] == ['say "no", he', ""]


def test_numbers_that_are_none_may_be_spelt_as_numpy_does(engine, folder, tmp_path):
    files = csv(tmp_path, "hip,x,y\n1,nan,inf\n2,1.5,-inf\n3,NaN,Infinity\n")
    assert dict(files.options).items() >= {"nanvalue": "nan", "positiveinf": "inf", "negativeinf": "-inf"}.items()
    rows = rows_of(engine, folder, files)
    assert [math.isnan(row[1]) for row in rows] == [True, False, True]
    assert [row[2] for row in rows] == [math.inf, -math.inf, math.inf]


@pytest.mark.parametrize(
    ("text", "value"), [("hip,x\n1, 2\n", " 2"), ("hip,x\n1,nan\n2,NAN\n", "nan"), ("hip,x\n1,0x1F\n", "0x1F")]
)
def test_numbers_that_spark_cannot_read_are_refused_at_once(tmp_path, text, value):
    with pytest.raises(BaseFilesError, match=f"Spark cannot read '{value}"):
        csv(tmp_path, text)


def test_blanks_around_values_can_be_ignored(engine, folder, tmp_path):
    options = {"ignoreLeadingWhiteSpace": True, "ignoreTrailingWhiteSpace": True}
    files = csv(tmp_path, "hip, x , name\n1, 2 , a b \n", options=options)
    assert [column.name for column in files.columns] == ["hip", "x", "name"]
    assert rows_of(engine, folder, files) == [(1, 2, "a b")]


@pytest.mark.parametrize("line", ["2", "2,3,4", "x,3", "2,3.5"])
def test_a_line_that_does_not_fit_is_an_error_and_no_null(engine, folder, tmp_path, line):
    """The line comes after the block in which types were seen."""
    files = csv(tmp_path, "hip,x\n" + "1,2\n" * 1_100_000 + f"{line}\n")
    frame = read_base(engine, base_of(files), folder)
    with pytest.raises(FormatError, match="a line does not fit the columns"), translate_errors("reading"):
        frame.agg({"hip": "sum", "x": "sum"}).collect()


def test_other_options_and_compression(engine, folder, tmp_path):
    files = csv(tmp_path, "1;'a;b';NA\n", options={"header": False, "sep": ";", "quote": "'", "nullValue": "NA"},
                schema={"hip": "int", "A": "string", "a": "double"})  # fmt: skip
    assert rows_of(engine, folder, files) == [(1, "a;b", None)]
    for suffix in ("gz", "bz2", "zst"):
        with pa.output_stream(
            str(tmp_path / f"a.csv.{suffix}"), compression={"gz": "gzip", "zst": "zstd"}.get(suffix, suffix)
        ) as out:
            out.write(b"hip,x\n1,2.5\n")
        assert rows_of(engine, folder, Files.at(tmp_path / f"a.csv.{suffix}")) == [(1, 2.5)]
    (tmp_path / "bom.csv").write_text("hip,x\n1,2\n", encoding="utf-8-sig")
    assert rows_of(engine, folder, Files.at(tmp_path / "bom.csv")) == [(1, 2)]


def test_csv_files_whose_columns_are_in_another_order_are_refused(tmp_path):
    """Spark would read them by place."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("hip,x\n1,2\n")
    (tmp_path / "in" / "b.csv").write_text("x,hip\n1,2\n")
    with pytest.raises(BaseFilesError, match="differ, or their order"):
        Files.at(tmp_path / "in")


def test_a_header_that_was_exchanged_is_noticed_by_spark(engine, folder, tmp_path, monkeypatch):
    files = csv(tmp_path, "hip,x\n1,2\n")
    monkeypatch.setattr(Files, "check", lambda *_: None)
    (tmp_path / "stars.csv").write_text("x,hip\n1,2\n")
    frame = read_base(engine, base_of(files), folder)
    with pytest.raises((RunError, FormatError)), translate_errors("reading"):
        frame.select("hip").collect()


@pytest.mark.parametrize("form", ["orc", "json"])
def test_other_formats_of_spark_with_a_schema(engine, folder, tmp_path, form):
    place = tmp_path / f"out.{form}"
    engine.session.sql("SELECT 1L AS hip, array(1.5D, NULL) AS a, CAST(NULL AS string) AS s").write.format(form).save(
        str(place)
    )
    files = Files.at(place, format=form, schema={"hip": "bigint", "a": "array<double>", "s": "string"})
    assert rows_of(engine, folder, files) == [(1, [1.5, None], None)]


def test_json_that_does_not_fit_is_an_error(engine, folder, tmp_path):
    (tmp_path / "a.json").write_text('{"hip": 1}\n{"hip": "x"\n')
    files = Files.at(tmp_path / "a.json", format="json", schema={"hip": "bigint"})
    with pytest.raises((RunError, FormatError)), translate_errors("reading"):
        read_base(engine, base_of(files), folder).collect()


def test_a_word_for_null_that_was_said_is_null(engine, folder, tmp_path):
    files = csv(tmp_path, "hip,x,name\n1,null,null\n2,1.5,\n3,2.5,a\n", null="null")
    assert rows_of(engine, folder, files) == [(1, None, None), (2, 1.5, None), (3, 2.5, "a")]


def test_comments_and_tabs(engine, folder, tmp_path):
    files = csv(tmp_path, "# made today\nhip\tx\n1\t1.5\n# more\n2\t\n", "a.tsv", options={"comment": "#"})
    assert rows_of(engine, folder, files) == [(1, 1.5), (2, None)]
