"""Timestamps in files of text: what a text says by itself is read as Spark reads it, and the clock adds nothing."""

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.criteria import parse_type
from provenn.errors import BaseFilesError, FormatError
from provenn.files.data_folder import DataFolder
from provenn.spark.reading import read_base
from provenn.spark.spark_errors import translate_errors
from provenn.spark.tables.catalog_tables import inspect_table

FIXED = [
    "2026-01-31T12:30:00Z",
    "2026-01-31T12:30:00+01:00",
    "2026-01-31T12:30:00-0130",
    "2026-01-31T12:30:00+1",
    "2026-01-31T12:30:00",
    "2026-01-31 12:30:00.5",
    "2026-01-31 12:30:00.123456789",
    "2026-01-31 12:30",
    "2026-01-31 12",
    "2026-01-31",
    "2026-1-5",
    "2026-01",
    "2026",
    "+2026-01-31",
    "0001-01-01 00:00:00",
    "1582-10-10 00:00:00",
    "12026-01-31 00:00:00",
    "-0044-03-15 12:00:00",
    "2026-01-31 12:30:00 UTC",
    "2026-01-31 12:30:00 UTC+1",
    "2026-01-31 12:30:00GMT+01:00",
    "2026-01-31T12:30:00 UT-2",
    " 2026-01-31 12:30:00 ",
    "2026-03-29 02:30:00",
    "2026-10-25 02:30:00",
]
"""Texts that say their moment by themselves."""

UNFIXED = [
    "12:30",
    "T12:30",
    "T12",
    " 1:2:3",
    "12:30:00Z",
    "T12:30:00+01:00",
    "now",
    "today",
    "epoch",
    "2026-01-31 12:30:00 PST",
    "2026-01-31 12:30:00 Europe/Berlin",
    "2026-01-31T12:30:00 America/New_York",
    "2026-01-31 25:00:00",
    "junk",
]
"""Texts that the clock or the machine completes, or nothing."""

SHOWN = ("T12:30:00+01:00", "now", "2026-01-31 12:30:00 PST", "junk")
"""One of each kind, whose error is looked at; that all of them are told from others is seen in permissive mode."""


@pytest.fixture
def folder(tmp_path) -> DataFolder:
    return DataFolder.of(tmp_path / "data")


def write(path: Path, texts: list) -> Path:
    """Write a column `t` of texts, beside a key, in the format that the suffix of a path says."""
    if path.suffix == ".json":
        lines = (json.dumps({"hip": place, "t": text}) for place, text in enumerate(texts))
    else:
        separator = {".csv": ",", ".tsv": "\t"}[path.suffix]
        rows = (f'{place}{separator}"{text}"' for place, text in enumerate(texts))
        lines = (f"hip{separator}t", *rows)
    path.write_text("\n".join(lines) + "\n")
    return path


def files_of(path: Path, kind: str = "timestamp", **options: str) -> Files:
    schema = {"hip": "bigint", "t": kind}
    return Files.at(path, format=path.suffix[1:], schema=schema, options=options)


def read(engine, folder, files: Files) -> list[str | None]:
    """Return the texts of the column `t`, as provenn reads it."""
    base = Base.of(files, key="hip", population="star")
    with translate_errors("reading"):
        rows = read_base(engine, base, folder).orderBy("hip").selectExpr("CAST(t AS string) AS t").collect()
    return [row.t for row in rows]


def read_by_spark(engine, path: Path, kind: str = "timestamp", **options: str) -> list[str | None]:
    """Return the same as Spark reads it, without provenn."""
    options = {"header": "true", "sep": "\t" if path.suffix == ".tsv" else ",", "mode": "PERMISSIVE", **options}
    reader = engine.session.read.schema(f"hip bigint, t {kind}").options(**options)
    frame = reader.format("json" if path.suffix == ".json" else "csv").load(str(path))
    return [row.t for row in frame.orderBy("hip").selectExpr("CAST(t AS string) AS t").collect()]


@pytest.mark.parametrize("suffix", ["csv", "tsv", "json"])
def test_texts_that_say_their_moment_are_read_as_before(engine, folder, tmp_path, suffix):
    path = write(tmp_path / f"a.{suffix}", FIXED)
    values = read(engine, folder, files_of(path))
    assert values == read_by_spark(engine, path)
    assert None not in values


@pytest.mark.parametrize("suffix", ["csv", "json"])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "-08:00"])
def test_the_time_zone_that_is_given_holds_for_texts_without_one(engine, folder, tmp_path, suffix, zone):
    path = write(tmp_path / f"a.{suffix}", FIXED)
    values = read(engine, folder, files_of(path, timeZone=zone))
    assert values == read_by_spark(engine, path, timeZone=zone)
    assert len(set(values)) > 5


@pytest.mark.parametrize(
    "text", [text if text in SHOWN else pytest.param(text, marks=pytest.mark.campaign) for text in UNFIXED]
)
@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_a_text_that_the_clock_completes_is_an_error(engine, folder, tmp_path, suffix, text):
    path = write(tmp_path / f"a.{suffix}", ["2026-01-31 12:30:00"])
    files = files_of(path)
    changed = files_of(write(path, ["2026-01-31 12:30:00", text]), "string")
    # Ingestion looks at the first block of a CSV file: the text may come behind it.
    files = replace(files, fingerprints=changed.fingerprints, digest=changed.digest)
    with pytest.raises(FormatError, match=rf"the column 't' of a\.{suffix} holds '{text.replace('+', '.')}'") as error:
        read(engine, folder, files)
    assert "timestampFormat" in str(error.value.hint)


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_in_permissive_mode_such_texts_are_null(engine, folder, tmp_path, suffix):
    path = write(tmp_path / f"a.{suffix}", [*UNFIXED, "2026-01-31 12:30:00"])
    values = read(engine, folder, files_of(path, mode="PERMISSIVE"))
    assert values == [None] * len(UNFIXED) + ["2026-01-31 12:30:00"]


@pytest.mark.parametrize("text", ["12:30", "2026-01-31 12:30:00 PST"])
def test_csv_with_such_a_text_is_refused_when_it_is_looked_at(tmp_path, text):
    path = write(tmp_path / "a.csv", ["2026-01-31 12:30:00", text])
    with pytest.raises(BaseFilesError, match=rf"a\.csv: '{text}' in the column t is not a complete date and time"):
        files_of(path)
    assert str(Files.at(path).columns[1].type) == "string", "it is not taken for a timestamp"


@pytest.mark.parametrize("suffix", ["csv", "json"])
def test_a_format_that_is_given_is_used(engine, folder, tmp_path, suffix):
    path = write(tmp_path / f"a.{suffix}", ["31.01.2026 12-30"])
    files = files_of(path, timestampFormat="dd.MM.yyyy HH-mm")
    assert read(engine, folder, files) == ["2026-01-31 12:30:00"]
    path = write(tmp_path / f"b.{suffix}", ["12:30"])
    assert read(engine, folder, files_of(path, timestampFormat="HH:mm")) == ["1970-01-01 12:30:00"]


@pytest.mark.parametrize("suffix", ["csv", "json"])
@pytest.mark.parametrize("kind", ["date", "timestamp_ntz"])
def test_spark_reads_other_types_without_the_clock(engine, tmp_path, suffix, kind):
    """What is relied on for DATE and TIMESTAMP_NTZ: no text without a day has a value."""
    path = write(tmp_path / f"a.{suffix}", UNFIXED)
    values = read_by_spark(engine, path, kind)
    assert {value for value in values if value and not value.startswith("2026-01-31")} == set()


def test_numbers_and_nulls_of_json_are_what_they_were(engine, folder, tmp_path):
    path = write(tmp_path / "a.json", [1_700_000_000, 2026, "2026", -5, None, 0])
    values = read(engine, folder, files_of(path))
    assert values == read_by_spark(engine, path)
    assert values[1:3] == ["1970-01-01 00:33:46", "2026-01-01 00:00:00"]
    for value in (True, 1.5, {"a": 1}, ""):
        path = write(tmp_path / "b.json", [value])
        with pytest.raises(FormatError):
            read(engine, folder, files_of(path))


def test_empty_fields_of_csv_are_null_and_quoted_ones_are_errors(engine, folder, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("hip,t\n0,\n1,2026-01-31\n")
    assert read(engine, folder, files_of(path)) == [None, "2026-01-31 00:00:00"]
    path.write_text('hip,t\n0,""\n')
    with pytest.raises(FormatError, match="holds ''"):
        read(engine, folder, files_of(path))
    path.write_text("hip,t\n0,NA\n1,2026-01-31\n")
    assert read(engine, folder, files_of(path, nullValue="NA")) == [None, "2026-01-31 00:00:00"]


def test_timestamps_inside_other_values_are_treated_alike(engine, folder, tmp_path):
    kind = "struct<a:array<timestamp>,m:map<string,struct<x:timestamp,y:int>>>"
    whole = {"a": ["2026-01-31", None], "m": {"k": {"x": "2026-01-31T12:30:00Z", "y": 1}, "n": None}}
    path = write(tmp_path / "a.json", [whole, None, {"a": None}])
    base = Base.of(files_of(path, kind), key="hip", population="star")
    frame = read_base(engine, base, folder).orderBy("hip")
    assert frame.schema["t"].dataType.simpleString() == kind
    shown = [row.t for row in frame.selectExpr("to_json(t) AS t").collect()]
    plain = engine.session.read.schema(f"hip bigint, t {kind}").json(str(path)).orderBy("hip")
    assert shown == [row.t for row in plain.selectExpr("to_json(t) AS t").collect()]
    for value in ({"a": ["12:30"]}, {"m": {"k": {"x": "12:30"}}}):
        path = write(tmp_path / "b.json", [value])
        with pytest.raises(FormatError, match=r"the column 't' of b\.json holds '12:30'"), translate_errors("reading"):
            read_base(engine, Base.of(files_of(path, kind), key="hip", population="star"), folder).collect()


def test_rows_that_are_known_by_their_place_are_read_so_too(engine, folder, tmp_path):
    path = write(tmp_path / "a.csv", ["2026-01-31 12:30:00", "2026-02-01"])
    base = Base.of(files_of(path), key=None, population="star")
    moments = sorted(row.t for row in read_base(engine, base, folder).selectExpr("CAST(t AS string) AS t").collect())
    assert moments == ["2026-01-31 12:30:00", "2026-02-01 00:00:00"]


@pytest.mark.parametrize("text", ["12%3A30", "2026-01-31 12%3A30%3A00"])
def test_folders_that_are_called_by_a_time_have_no_clock_either(engine, folder, tmp_path, text):
    """Ingestion takes them for texts; a definition of others may say otherwise."""
    place = tmp_path / "in" / f"t={text}"
    place.mkdir(parents=True)
    parquet.write_table(pa.table({"hip": [1]}), place / "a.parquet")
    files = Files.at(tmp_path / "in")
    columns = tuple(
        replace(column, type=parse_type("timestamp")) if column.name == "t" else column for column in files.columns
    )
    files = replace(files, columns=columns)
    if text.startswith("2026"):
        assert read(engine, folder, files) == ["2026-01-31 12:30:00"]
    else:
        with pytest.raises(FormatError, match=r"the column 't' of a\.parquet holds '12:30'"):
            read(engine, folder, files)


@pytest.mark.parametrize("provider", ["csv", "json"])
def test_tables_of_text_need_a_format_of_timestamps(engine, tmp_path, provider):
    engine.session.sql(f"CREATE SCHEMA moments LOCATION '{tmp_path}/warehouse'")
    try:
        engine.session.sql(f"CREATE TABLE moments.a (hip BIGINT, t TIMESTAMP) USING {provider}")
        with pytest.raises(BaseFilesError, match="its column t has timestamps without a format"):
            inspect_table(engine, "moments.a")
        engine.session.sql(
            f"CREATE TABLE moments.b (hip BIGINT, t TIMESTAMP) USING {provider} OPTIONS (timestampFormat 'yyyy')"
        )
        engine.session.sql(f"CREATE TABLE moments.c (hip BIGINT, t DATE) USING {provider}")
        engine.session.sql("CREATE TABLE moments.d (hip BIGINT, t TIMESTAMP) USING parquet")
        for name in "bcd":
            assert len(inspect_table(engine, f"moments.{name}").columns) == 2
    finally:
        engine.session.sql("DROP SCHEMA moments CASCADE")


def test_days_are_not_those_of_the_clock(engine, tmp_path):
    """What Spark does: if it stops completing times by the clock, most of this is not needed any more."""
    path = write(tmp_path / "a.csv", ["12:30"])
    today = {dt.datetime.now(dt.UTC).date().isoformat()}
    (value,) = read_by_spark(engine, path)
    today.add(dt.datetime.now(dt.UTC).date().isoformat())
    assert value in {f"{day} 12:30:00" for day in today}
