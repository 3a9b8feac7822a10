"""What is written is read back as it was, by independent readers too; and it appears complete or not at all."""

import datetime as dt
import math
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from astropy.io import fits, votable
from astropy.table import Table
from pyarrow import csv, parquet
from pyspark.sql import functions as sql

from provenn.catalogs import Attribute, Base, Files, Schema
from provenn.criteria import parse_type
from provenn.data.leftovers import LEFTOVER
from provenn.errors import FilesChangedError, FormatError, RunError, StoreError
from provenn.files.data_folder import DataFolder
from provenn.files.export_notes import NO_NOTES
from provenn.spark.empty_files import write_empty_file
from provenn.spark.reading import read_base
from provenn.spark.writing import write
from tests.waiting import LIMIT

ROWS = """
  SELECT * FROM VALUES
    (1L, -9223372036854775808L, double('NaN'), float('-0.0'), 'a "quoted", one', true, date'1500-02-28',
     timestamp'1582-10-04 01:02:03.456789Z', 12.34BD, 5Y),
    (2L, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (3L, 9223372036854775807L, double('-Infinity'), float('1e-45'), '', false, date'9999-12-31',
     timestamp'2026-01-31 00:00:00Z', -0.01BD, -128Y),
    (4L, 0L, 5e-324D, float('3.4028235e38'), ' blanks ', false, date'0001-01-01',
     timestamp'1000-01-01 00:00:00Z', 0.00BD, 127Y)
  AS t(id, `long`, `double`, `float`, text, flag, day, moment, amount, byte)
"""
KINDS = ["bigint", "bigint", "double", "float", "string", "boolean", "date", "timestamp", "decimal(4,2)", "tinyint"]


def schema_of(frame, **notes) -> Schema:
    return Schema(
        tuple(
            Attribute(
                name,
                f"key:star:{0}" if name == "id" else f"x:{name}",
                parse_type(kind),
                name != "id",
                **notes.get(name, {}),
            )
            for name, kind in frame.dtypes
        )
    )


@pytest.fixture
def frame(engine):
    rows = engine.session.sql(ROWS).repartition(3, "id")
    assert [kind for _, kind in rows.dtypes] == KINDS
    return rows


def back(engine, path: Path, tmp_path: Path, **options) -> list[tuple]:
    base = Base.of(Files.at(path, **options), key="id", population="star")
    rows = read_base(engine, base, DataFolder.of(tmp_path / "data")).orderBy("id").collect()
    return [tuple(row) for row in rows]


def rows_of(frame) -> list[tuple]:
    return [tuple(row) for row in frame.orderBy("id").collect()]


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(LEFTOVER)]


# --- Parquet ---


def test_one_parquet_file_keeps_values_types_units_and_what_cannot_be_null(engine, frame, tmp_path):
    schema = schema_of(frame, double={"unit": "mag", "description": "V magnitude", "ucd": "phot.mag"})
    path = tmp_path / "out.parquet"
    done = write(engine, frame, schema, path)
    assert (done.path, done.rows, done.size) == (str(path), 4, path.stat().st_size)
    files = Files.at(path)
    assert [str(column.type) for column in files.columns] == KINDS
    assert [column.nullable for column in files.columns] == [False] + [True] * 9
    assert (files.columns[2].unit, files.columns[2].description) == ("mag", "V magnitude")
    assert files.columns[2].ucd == "phot.mag"
    assert repr(back(engine, path, tmp_path)) == repr(rows_of(frame))
    table = parquet.read_table(path).sort_by("id")
    assert table["long"].to_pylist() == [-(2**63), None, 2**63 - 1, 0]
    assert table["amount"].to_pylist() == [Decimal("12.34"), None, Decimal("-0.01"), Decimal("0.00")]
    assert duckdb.sql(f"SELECT moment FROM '{path}' WHERE id = 1").fetchall()[0][0].astimezone(dt.UTC).year == 1582  # noqa: S608
    assert leftovers(tmp_path) == []


def test_a_folder_of_parquet_files_keeps_units_too(engine, frame, tmp_path):
    schema = schema_of(frame, double={"unit": "mag", "description": "V", "ucd": "phot.mag"})
    done = write(engine, frame, schema, tmp_path / "out", format="parquet")
    inside = list((tmp_path / "out").iterdir())
    assert len(inside) > 2
    assert all(path.name.startswith("part-") or path.name == "_common_metadata" for path in inside)
    assert (done.rows, done.size) == (4, sum(path.stat().st_size for path in inside))
    files = Files.at(tmp_path / "out")
    assert (files.columns[2].unit, files.columns[2].description, files.columns[2].ucd) == ("mag", "V", "phot.mag")
    assert repr(back(engine, tmp_path / "out", tmp_path)) == repr(rows_of(frame))


def test_values_become_names_of_folders(engine, frame, tmp_path):
    some = frame.select("id", "text", "byte", "double")
    write(engine, some, schema_of(some), tmp_path / "out.parquet", partition_by=["byte"])
    names = {path.name for path in (tmp_path / "out.parquet").iterdir()}
    assert names - {"_common_metadata"} == {"byte=5", "byte=-128", "byte=127", "byte=__HIVE_DEFAULT_PARTITION__"}
    rows = back(engine, tmp_path / "out.parquet", tmp_path)
    assert [(row[0], row[3]) for row in rows] == [(1, 5), (2, None), (3, -128), (4, 127)]
    with pytest.raises(FormatError, match="cannot be names of folders"):
        write(engine, some, schema_of(some), tmp_path / "o", format="csv", partition_by=["double"])
    with pytest.raises(FormatError, match="one file cannot be in several folders"):
        write(engine, some, schema_of(some), tmp_path / "o.csv", partition_by=["byte"], single=True)


def test_arrays_maps_structs_and_odd_names(engine, tmp_path):
    rows = engine.session.sql(
        "SELECT 1L AS id, array(1.5D, NULL) AS `a.b`, map('k', 1) AS `c d`, named_struct('X y', 1L) AS `e``f`, 2 AS ID"
    )
    write(engine, rows, schema_of(rows), tmp_path / "out.parquet")
    assert back(engine, tmp_path / "out.parquet", tmp_path) == [(1, [1.5, None], {"k": 1}, (1,), 2)]


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.fits", "out.vot", "folder"])
def test_nothing_can_be_written(engine, frame, tmp_path, name):
    """No rows are no problem."""
    none = frame.where("id > 99")
    done = write(
        engine, none, schema_of(none.drop("amount")), tmp_path / name, format=None if "." in name else "parquet"
    )
    assert done.rows == 0
    if name not in ("folder", "out.csv"):
        assert back(engine, tmp_path / name, tmp_path) == []
    if name == "out.fits":
        assert len(Table.read(tmp_path / name)) == 0


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.fits", "out.vot", "out.ecsv"])
def test_nothing_is_written_without_spark_as_with_spark(engine, frame, tmp_path, name):
    """The bytes are the same for every type that the format holds, with units, descriptions and odd names."""
    values = frame if name in ("out.parquet", "out.csv") else frame.drop("amount")
    columns = ["*", "timestamp_ntz'2026-01-01' AS local", "id AS `a, b`", "cast(id AS smallint) AS short"]
    if name != "out.csv":
        columns += ["array(`double`) AS doubles", "array(`long`) AS longs"]
    if name == "out.parquet":
        point = "if(flag, named_struct('mjd', `double`, 'band', text), NULL)"
        columns += [
            "array(text) AS texts",
            "array(if(flag, array(text), NULL)) AS nested",
            f"array({point}) AS curve",
            "cast(text AS binary) AS bytes",
        ]
    rows = values.selectExpr(*columns).where("id > 99")
    schema = schema_of(rows, double={"unit": "mag", "description": "a magnitude", "ucd": "phot.mag"})
    computed = write(engine, rows, schema, tmp_path / name)
    written = write_empty_file(schema, tmp_path / f"empty-{name}", NO_NOTES, lambda _: nullcontext())
    assert (written.rows, written.size) == (0, computed.size)
    assert (tmp_path / f"empty-{name}").read_bytes() == (tmp_path / name).read_bytes()
    assert leftovers(tmp_path) == []


def test_what_only_spark_can_write_without_rows_is_left_to_it(engine, tmp_path):
    rows = engine.session.sql("SELECT 1L AS id, map('a', 1) AS counts")
    assert write_empty_file(schema_of(rows), tmp_path / "out.parquet", NO_NOTES, lambda _: nullcontext()) is None
    assert (
        write_empty_file(
            schema_of(rows.select("id")), tmp_path / "out", NO_NOTES, lambda _: nullcontext(), format="csv"
        )
        is None
    )
    assert [*tmp_path.iterdir()] == []


def test_row_groups_are_joined(engine, tmp_path):
    """Many small part files make one large row group, not many small ones."""
    rows = engine.session.range(0, 5000, 1, 7)
    write(engine, rows, schema_of(rows), tmp_path / "out.parquet")
    metadata = parquet.read_metadata(tmp_path / "out.parquet")
    assert (metadata.num_rows, metadata.num_row_groups) == (5000, 1)


# --- CSV ---


def test_csv_tells_null_from_empty_text_and_from_nan(engine, frame, tmp_path):
    for name in ("out.csv", "parts"):
        done = write(engine, frame, schema_of(frame), tmp_path / name, format="csv")
        assert done.rows == 4
        schema = {"amount": "decimal(4,2)", "byte": "tinyint", "float": "float", "moment": "timestamp"}
        location = tmp_path / name if name == "out.csv" else tmp_path / name / "*.csv"
        if name == "parts":
            schema |= dict(frame.dtypes)  # the first lines of some parts hold NULLs only
        assert repr(back(engine, location, tmp_path, schema=schema)) == repr(rows_of(frame))
    header = (tmp_path / "out.csv").read_text().split("\n")[0]
    assert header == "id,long,double,float,text,flag,day,moment,amount,byte"


def test_other_readers_of_csv_agree(engine, frame, tmp_path):
    some = frame.select("id", "text", "double")
    write(engine, some, schema_of(some), tmp_path / "out.csv")
    texts = {1: 'a "quoted", one', 2: None, 3: "", 4: " blanks "}
    duck = duckdb.read_csv(str(tmp_path / "out.csv"), allow_quoted_nulls=False).fetchall()
    assert {row[0]: row[1] for row in duck} == texts
    numbers = {row[0]: row[2] and repr(float(row[2])) for row in duck}
    assert numbers == {1: "nan", 2: None, 3: "-inf", 4: "5e-324"}
    arrow = csv.read_csv(
        tmp_path / "out.csv",
        convert_options=csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False),
    )
    assert dict(zip(arrow["id"].to_pylist(), arrow["text"].to_pylist(), strict=True)) == texts


def test_odd_text_and_odd_names_in_csv(engine, tmp_path):
    texts = ["line\nbreak", "car\rriage", '"', "\\", '\\"', ",", "#", "NULL", "NaN", "é😀", "'", " ", "\t"]
    rows = engine.session.createDataFrame(list(enumerate(texts)), 'id bigint, `a "b", c` string').repartition(2)
    write(engine, rows, schema_of(rows), tmp_path / "out.csv")
    assert [row[1] for row in back(engine, tmp_path / "out.csv", tmp_path, options={"multiLine": True})] == texts
    arrow = csv.read_csv(tmp_path / "out.csv", parse_options=csv.ParseOptions(newlines_in_values=True),
                         convert_options=csv.ConvertOptions(column_types={'a "b", c': pa.string()}))  # fmt: skip
    assert arrow.sort_by("id")['a "b", c'].to_pylist() == texts


def test_csv_refuses_what_it_cannot_hold(engine, tmp_path):
    rows = engine.session.sql("SELECT 1L AS id, array(1) AS a")
    with pytest.raises(FormatError, match="CSV cannot hold a, a array<int>"):
        write(engine, rows, schema_of(rows), tmp_path / "out.csv")


# --- FITS and VOTable ---

ARRAYS = """
  SELECT id, IF(id = 1, NULL, array(double(id), double('NaN'))) AS a, array(id, id + 1) AS n, array(id > 1, NULL) AS b,
         named_struct('re', double(id), 'im', -0.0D) AS z, CAST(id AS decimal(20,0)) + 18446744073709551612 AS u,
         timestamp_ntz'2026-01-31 01:02:03.5' AS t, date'2026-01-31' AS d, CAST(id AS smallint) AS s
  FROM range(3)
"""


@pytest.mark.filterwarnings("ignore:Column 'flag' contains NULL")  # which astropy itself cannot tell from False
def test_fits_is_read_by_astropy_and_by_us(engine, frame, tmp_path):
    some = frame.drop("amount").withColumn("long", sql.expr("IF(id = 1, 5L, long)"))  # one number stands for NULL
    path = tmp_path / "out.fits"
    done = write(engine, some, schema_of(some, double={"unit": "mag", "description": "V magnitude"}), path)
    assert (done.rows, done.size) == (4, path.stat().st_size)
    with fits.open(path) as file:
        file.verify("exception")
    table = Table.read(path, mask_invalid=False)
    table.sort("id")
    assert table["double"].unit == "mag"
    assert table["long"].tolist() == [5, None, 2**63 - 1, 0]
    assert table["byte"].tolist() == [5, None, -128, 127]
    assert [str(value) for value in table["text"]] == ['a "quoted", one', "", "", " blanks"]
    assert table["moment"][0] == "1582-10-04T01:02:03.456789"
    files = Files.at(path)
    assert (files.columns[2].unit, files.columns[2].description) == ("mag", "V magnitude")
    rows = back(engine, path, tmp_path)
    assert [row[1] for row in rows] == [5, None, 2**63 - 1, 0]
    assert [row[2] for row in rows] == [None, None, -math.inf, 5e-324], "in FITS, NaN says that there is no number"
    assert [row[4] for row in rows] == ['a "quoted", one', None, "", " blanks"], "but for trailing blanks"
    assert [row[5] for row in rows] == [True, None, False, False]
    assert [row[8] for row in rows] == [5, None, -128, 127]


def test_arrays_and_more_in_fits(engine, tmp_path):
    frame_of_arrays = engine.session.sql(ARRAYS).repartition(2)
    write(engine, frame_of_arrays, schema_of(frame_of_arrays), tmp_path / "out.fits")
    rows = back(engine, tmp_path / "out.fits", tmp_path)
    assert str(rows[0]) == str(
        (0, [0.0, math.nan], [0, 1], [False, None], rows[0][4], Decimal(2**64 - 4), *rows[0][6:])
    )
    assert (tuple(rows[2][4]), rows[2][5]) == ((2.0, -0.0), Decimal(2**64 - 2))
    assert rows[0][6:] == ("2026-01-31T01:02:03.500000", "2026-01-31", 0)
    assert all(map(math.isnan, rows[1][1])), "an array that is NULL is one of NaN"
    with fits.open(tmp_path / "out.fits") as file:
        assert file[1].columns["n"].format == "2K"


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("SELECT id, array(sequence(0, id)) AS a FROM range(3)", "all arrays of arrays must have one length"),
        ("SELECT id, transform(sequence(0, id), x -> 'a') AS a FROM range(3)", "all arrays of text must have"),
        ("SELECT id, 'é' AS s FROM range(1)", "the column s holds text that is not printable ASCII"),
        ("SELECT id, id AS `é` FROM range(1)", "FITS does not support the name é"),
        ("SELECT id, id AS ID FROM range(1)", "FITS treats id and ID as the same name"),
        ("SELECT id, 1.5BD AS d FROM range(1)", "FITS cannot hold the column d"),
        ("SELECT id, array(map('a', 1)) AS d FROM range(1)", "FITS cannot hold the column d"),
        ("SELECT id, IF(id = 0, NULL, IF(id = 1, 1L << 63, ~(1L << 63))) AS s FROM range(3)", "uses every number"),
        ("SELECT id, CAST('99999999999999999999' AS decimal(38,0)) AS d FROM range(1)", "more than 64 bits"),
    ],
)  # fmt: skip
def test_fits_refuses_what_it_cannot_hold_and_leaves_nothing(engine, tmp_path, query, problem):
    frame_of_arrays = engine.session.sql(query)
    with pytest.raises(FormatError, match=problem):
        write(engine, frame_of_arrays, schema_of(frame_of_arrays), tmp_path / "out.fits")
    assert list(tmp_path.iterdir()) == []


def test_votable_is_read_by_astropy_and_by_us(engine, frame, tmp_path):
    some = frame.drop("amount")
    path = tmp_path / "out.vot"
    write(engine, some, schema_of(some, double={"unit": "mag", "description": 'V <&> "magnitude"'}), path)
    table = votable.parse_single_table(path, verify="exception").to_table()
    table.sort("id")
    assert table["double"].unit == "mag"
    assert table["long"].tolist() == [-(2**63), None, 2**63 - 1, 0]
    assert table["byte"].tolist() == [5, None, -128, 127]
    assert table["flag"].tolist() == [True, None, False, False]
    assert [value or "" for value in table["text"].tolist()] == ['a "quoted", one', "", "", " blanks "]
    files = Files.at(path)
    assert (files.columns[2].unit, files.columns[2].description, files.row_count) == ("mag", 'V <&> "magnitude"', 4)
    rows = back(engine, path, tmp_path)
    assert [row[1] for row in rows] == [-(2**63), None, 2**63 - 1, 0]
    assert [row[2] for row in rows] == [None, None, -math.inf, 5e-324]
    assert rows[0][4:8] == ('a "quoted", one', True, "1500-02-28", "1582-10-04T01:02:03.456789")
    assert rows[1][4:8] == (None, None, None, None)


def test_arrays_text_and_more_in_votable(engine, tmp_path):
    query = """
      SELECT id, sequence(0, id) AS n, IF(id = 1, NULL, array(1.5F)) AS a, array(id, id) AS f,
             named_struct('re', 1.5D, 'im', double(id)) AS z, concat('é😀', id) AS s, CAST(id AS decimal(5,0)) AS d
      FROM range(3)
    """
    frame_of_arrays = engine.session.sql(query).repartition(2)
    write(engine, frame_of_arrays, schema_of(frame_of_arrays), tmp_path / "out.vot")
    rows = back(engine, tmp_path / "out.vot", tmp_path)
    assert [(row[1], row[2], row[3], tuple(row[4]), row[5], row[6]) for row in rows] == [
        ([0], [1.5], [0, 0], (1.5, 0.0), "é😀0", 0),
        ([0, 1], None, [1, 1], (1.5, 1.0), "é😀1", 1),
        ([0, 1, 2], [1.5], [2, 2], (1.5, 2.0), "é😀2", 2),
    ]
    table = votable.parse_single_table(tmp_path / "out.vot").to_table()
    assert sorted(map(len, table["n"])) == [1, 2, 3]
    assert table["f"].shape == (3, 2)
    for query in ("SELECT id, 1.5BD AS d FROM range(1)", "SELECT id, array(sequence(0, id)) AS d FROM range(2)"):
        odd = engine.session.sql(query)
        with pytest.raises(FormatError, match="VOTable"):
            write(engine, odd, schema_of(odd), tmp_path / "odd.vot")


@pytest.mark.parametrize("name", ["out.fits", "out.vot", "out.parquet", "out.csv"])
def test_many_rows_pass_through_many_batches(engine, tmp_path, name):
    number = 70_000 if name == "out.vot" else 200_000  # astropy takes its time
    query = f"SELECT id, CAST(id AS string) AS s, double(id) / 3 AS x FROM range({number})"  # noqa: S608 - a number
    rows = engine.session.sql(query).repartition(3 if number > 100_000 else 1)
    assert write(engine, rows, schema_of(rows), tmp_path / name).rows == number
    match name:
        case "out.parquet":
            table = parquet.read_table(tmp_path / name)
        case "out.csv":
            table = csv.read_csv(tmp_path / name)
        case "out.fits":
            table = Table.read(tmp_path / name)
        case _:
            table = votable.parse_single_table(tmp_path / name).to_table()
    ids = np.asarray(table["id"])
    assert np.array_equal(np.sort(ids), np.arange(number))
    assert np.array_equal(np.asarray(table["x"]), ids / 3)
    assert np.array_equal(np.asarray(table["s"]).astype(np.int64), ids)


# --- all or nothing ---


def test_formats_must_be_known(engine, frame, tmp_path):
    with pytest.raises(FormatError, match="provenn cannot write the format xlsx"):
        write(engine, frame, schema_of(frame), tmp_path / "a", format="xlsx")
    with pytest.raises(FormatError, match="cannot be told from its name"):
        write(engine, frame, schema_of(frame), tmp_path / "a.txt")
    with pytest.raises(FormatError, match="fits is written as one file"):
        write(engine, frame, schema_of(frame), tmp_path / "a", format="fits", single=False)


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("was_file", [True, False])
def test_what_is_there_is_only_replaced_on_demand(engine, tmp_path, single, was_file):
    rows = engine.session.range(3)
    target = tmp_path / "out.parquet"
    if was_file:
        target.write_text("old")
    else:
        target.mkdir()
        (target / "old").write_text("old")
    with pytest.raises(StoreError, match="already exists"):
        write(engine, rows, schema_of(rows), target, single=single)
    assert target.is_file() == was_file
    write(engine, rows, schema_of(rows), target, single=single, overwrite=True)
    assert target.is_file() == single
    assert back(engine, target, tmp_path) == [(0,), (1,), (2,)]
    assert leftovers(tmp_path) == []


def test_what_appears_meanwhile_is_not_replaced(engine, tmp_path):
    rows = engine.session.range(3)
    with pytest.raises(StoreError, match="already exists"):
        write(
            engine,
            rows,
            schema_of(rows),
            tmp_path / "out.csv",
            check=lambda: (tmp_path / "out.csv").write_text("other"),
        )
    assert (tmp_path / "out.csv").read_text() == "other"


def test_what_is_refused_at_last_does_not_appear(engine, tmp_path):
    rows = engine.session.range(3)

    def changed() -> None:
        assert leftovers(tmp_path), "all is written"
        raise FilesChangedError("meanwhile")

    with pytest.raises(FilesChangedError):
        write(engine, rows, schema_of(rows), tmp_path / "out.parquet", check=changed)
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_fails_leaves_nothing(engine, tmp_path):
    rows = engine.session.sql("SELECT id, IF(id = 99, raise_error('broken'), id) AS x FROM range(100)")
    schema = Schema(
        (Attribute("id", "key:star:0", parse_type("bigint"), False), Attribute("x", "x", parse_type("bigint"), True))
    )
    with pytest.raises(RunError, match="broken"):
        write(engine, rows, schema, tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_are_told(engine, frame, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="is not a folder"):
        write(engine, frame, schema_of(frame), tmp_path / "file" / "out.parquet")
    with pytest.raises(StoreError, match="does not exist"):
        write(engine, frame, schema_of(frame), tmp_path / "nowhere" / "out.parquet")


@contextmanager
def mounted(place: Path, options: str):
    place.mkdir()
    if (
        os.geteuid()
        or subprocess.run(["/bin/mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=False).returncode
    ):
        pytest.skip("only root can mount file systems")
    try:
        yield place
    finally:
        subprocess.run(["/bin/umount", "--lazy", place], check=True)


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.fits", "folder"])
def test_a_disk_that_is_full_is_told_and_left_empty(engine, tmp_path, name):
    rows = engine.session.sql("SELECT id, uuid() AS s FROM range(100000)")
    with mounted(tmp_path / "small", "size=2m") as place:
        with pytest.raises(StoreError, match="full"):
            write(engine, rows, schema_of(rows), place / name, format=None if "." in name else "parquet")
        assert list(place.iterdir()) == []


def test_a_file_system_that_can_only_be_read_is_told(engine, tmp_path):
    rows = engine.session.range(3)
    with mounted(tmp_path / "fixed", "ro") as place, pytest.raises(StoreError, match="is read-only"):
        write(engine, rows, schema_of(rows), place / "out.parquet")


KILLED = """
import sys
from provenn.catalogs import Attribute, Schema
from provenn.criteria import parse_type
from provenn.spark.engine import Engine
from provenn.spark.writing import write
engine = Engine("local[1]")
frame = engine.session.sql("SELECT id FROM range(3000000000L)")
schema = Schema((Attribute("id", "key:star:0", parse_type("bigint"), False),))
print("ready", flush=True)
write(engine, frame, schema, sys.argv[1])
"""


def test_a_process_that_is_killed_leaves_nothing_but_what_can_be_recognised(tmp_path):
    target = tmp_path / "out.parquet"
    process = subprocess.Popen([sys.executable, "-c", KILLED, target], stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout.readline() == b"ready\n"
        until = time.monotonic() + LIMIT
        while not list(tmp_path.rglob("*.parquet")) and time.monotonic() < until:
            time.sleep(0.1)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
    assert not target.exists()
    assert [path.name for path in tmp_path.iterdir()] == leftovers(tmp_path) != []
