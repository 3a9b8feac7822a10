"""Tables of Spark's catalog as base data: what is known of them, and that changes are noticed."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pytest
from pyarrow import parquet

from provenn.catalogs import Base, Files, SelectSources
from provenn.errors import BaseFilesError, CriterionError, FilesChangedError, FilesMissingError, KeyColumnsError
from provenn.files.data_folder import DataFolder
from provenn.files.file_records import encode_files, restore_files
from provenn.spark.keys import verify_key
from provenn.spark.reading import read_base
from provenn.spark.tables.catalog_tables import (
    check_table,
    compute_old_fingerprints,
    inspect_table,
    read_table_contents,
)
from tests.archive.corrections import rewrite_in_place
from tests.spark.plain_plan import compile_catalog


@pytest.fixture
def sql(engine, tmp_path):
    """Runs SQL; the schema `survey` is there, and goes afterwards."""
    engine.session.sql(f"CREATE SCHEMA survey LOCATION '{tmp_path}/warehouse'")
    yield engine.session.sql
    engine.session.sql("DROP SCHEMA survey CASCADE")


@pytest.fixture
def folder(tmp_path) -> DataFolder:
    return DataFolder.of(tmp_path / "data")


def base_of(files: Files) -> Base:
    return Base.of(files, key="hip", population="star")


def test_a_table_is_read_with_its_types_and_comments(engine, sql, folder):
    sql("CREATE TABLE survey.Stars (hip BIGINT, v DOUBLE COMMENT 'V magnitude', m MAP<STRING,INT>) USING parquet")
    sql("INSERT INTO survey.Stars VALUES (1, double('NaN'), map('a', 1)), (2, NULL, NULL)")
    files = inspect_table(engine, "survey.Stars")
    assert (files.format, files.location) == ("table", "`spark_catalog`.`survey`.`Stars`")
    assert [(column.name, str(column.type), column.description) for column in files.columns] == [
        ("hip", "bigint", ""),
        ("v", "double", "V magnitude"),
        ("m", "map<string,int>", ""),
    ]
    assert verify_key(engine, base_of(files), folder) == 2
    assert str([tuple(row) for row in read_base(engine, base_of(files), folder).orderBy("hip").collect()]) == str(
        [(1, float("nan"), {"a": 1}), (2, None, None)]
    )
    assert restore_files(*encode_files(files)) == files


def test_texts_of_fixed_length_compare_with_their_blanks(engine, sql, folder):
    """Criteria that exclude each other by proof select different rows: CHAR(n) is a text that ends in blanks."""
    sql("CREATE TABLE survey.t (hip BIGINT, c CHAR(3), v VARCHAR(3), d CHAR(5)) USING parquet")
    sql("INSERT INTO survey.t VALUES (1, 'a', 'a', 'a'), (2, 'b', 'b ', 'c')")
    base = base_of(inspect_table(engine, "survey.t"))

    def selected(text: str) -> list[int]:
        chosen = SelectSources.of(base, text)
        frame = compile_catalog(chosen, lambda one: read_base(engine, base, folder) if one == base else None)
        return sorted(row.hip for row in frame.collect())

    assert [selected(f"c = '{text}'") for text in ("a", "a ", "a  ", "a   ")] == [[], [], [1], []]
    assert [selected(f"v = '{text}'") for text in ("a", "a ", "b", "b ")] == [[1], [], [], [2]]
    assert selected("c IN ('a', 'b  ')") == [2]
    assert selected("c = d OR c = v") == []
    assert selected("length(c) = 3") == [1, 2]


def test_a_collation_of_a_column_decides_nothing(engine, sql):
    """Strings compare by their bytes; a column that would compare otherwise is no key, and is in no criterion."""
    sql("CREATE TABLE survey.t (hip BIGINT, s STRING COLLATE UTF8_LCASE) USING parquet")
    files = inspect_table(engine, "survey.t")
    with pytest.raises(KeyColumnsError, match="whose values cannot be compared"):
        Base.of(files, key="s", population="word")
    with pytest.raises(CriterionError, match="does not take stringcollateutf8_lcase"):
        SelectSources.of(base_of(files), "s = 'a'")


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_table_that_changes_is_noticed(engine, sql, folder, kind):
    sql("CREATE TABLE survey.t USING parquet AS SELECT id AS hip, map('a', id) AS m FROM range(3)")
    sql("CREATE VIEW survey.v AS SELECT * FROM survey.t")
    files = inspect_table(engine, f"survey.{kind[0]}")
    assert inspect_table(engine, f"survey.{kind[0]}") == files
    base = base_of(files)
    assert read_base(engine, base, folder).count() == 3
    sql("INSERT INTO survey.t SELECT id, map('a', id) FROM range(3, 4)")
    with pytest.raises(FilesChangedError, match="changed since it was ingested"):
        read_base(engine, base, folder)
    assert inspect_table(engine, f"survey.{kind[0]}").digest != files.digest
    sql("DROP VIEW survey.v")
    sql("DROP TABLE survey.t")
    with pytest.raises(FilesMissingError, match="Spark has no table"):
        read_base(engine, base, folder)


def test_a_view_that_holds_the_same_is_the_same(engine, sql):
    """It is known by its rows, in whatever order."""
    sql("CREATE VIEW survey.a AS SELECT id AS hip FROM range(5)")
    sql("CREATE VIEW survey.b AS SELECT id AS hip FROM range(5) ORDER BY id DESC")
    sql("CREATE VIEW survey.c AS SELECT id AS hip FROM range(6)")
    one, other, more = (inspect_table(engine, f"survey.{name}") for name in "abc")
    assert one.digest == other.digest != more.digest


@pytest.mark.usefixtures("sql")
def test_what_is_no_table_is_told(engine):
    with pytest.raises(FilesMissingError, match=r"Spark has no table survey\.stars"):
        inspect_table(engine, "survey.stars")
    engine.session.range(1).createOrReplaceTempView("fleeting")
    with pytest.raises(BaseFilesError, match="temporary view"):
        inspect_table(engine, "fleeting")
    engine.session.catalog.dropTempView("fleeting")


def test_files_alone_cannot_look_at_a_table(engine, sql):
    with pytest.raises(BaseFilesError, match="ingest it into an archive"):
        Files.at("survey.stars", format="table")
    sql("CREATE TABLE survey.t USING parquet AS SELECT 1 AS hip")
    files = inspect_table(engine, "survey.t")
    files.check()
    with pytest.raises(BaseFilesError, match="ingest it again under its new name"):
        files.moved("survey.u")


def only_file(engine, name: str) -> Path:
    (address,) = engine.session.table(name).inputFiles()
    return Path(unquote(urlsplit(address).path))


def test_a_file_of_a_table_that_is_corrected_in_place_is_noticed(engine, sql, folder):
    sql("CREATE TABLE survey.t USING parquet AS SELECT id AS hip, rand(1) AS x FROM range(0, 1000, 1, 1)")
    base = base_of(inspect_table(engine, "survey.t"))
    assert base.files.basis == "content"
    path = only_file(engine, "survey.t")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    rewrite_in_place(path, bytes(content))
    with pytest.raises(FilesChangedError, match="changed since it was ingested"):
        read_base(engine, base, folder)


def test_a_file_that_another_program_adds_to_a_table_is_noticed(engine, sql, folder):
    sql("CREATE TABLE survey.t USING parquet AS SELECT id AS hip FROM range(3)")
    base = base_of(inspect_table(engine, "survey.t"))
    assert read_base(engine, base, folder).count() == 3
    there = Path(unquote(urlsplit(engine.session.table("survey.t").inputFiles()[0]).path)).parent
    parquet.write_table(pa.table({"hip": [9]}), there / "part-9.parquet")
    with pytest.raises(FilesChangedError):
        read_base(engine, base, folder)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5L AS x, CAST(NULL AS BIGINT) AS y", "CAST(NULL AS BIGINT) AS x, 5L AS y"),
        ("array(1, NULL) AS x", "array(NULL, 1) AS x"),
        ("named_struct('a', 1, 'b', NULL) AS x", "named_struct('a', NULL, 'b', 1) AS x"),
        ("timestamp'2026-01-01 00:00:00.000001' AS x", "timestamp'2026-01-01 00:00:00.000002' AS x"),
        ("timestamp_ntz'2026-01-01 00:00:00.000001' AS x", "timestamp_ntz'2026-01-01 00:00:00.000002' AS x"),
        ("map('a', 1, 'b', 2) AS x", "map('a', 2, 'b', 1) AS x"),
        ("CAST(0.1 AS DOUBLE) AS x", "CAST(0.10000000000000002 AS DOUBLE) AS x"),
        ("X'00' AS x", "X'0000' AS x"),
        ("'' AS x", "CAST(NULL AS STRING) AS x"),
    ],
)
def test_views_of_other_rows_are_others_wherever_a_value_or_a_null_is(engine, sql, one, other):
    for name, text in (("a", one), ("b", other)):
        sql(f"CREATE VIEW survey.{name} AS SELECT 1L AS hip, {text}")
    assert inspect_table(engine, "survey.a").digest != inspect_table(engine, "survey.b").digest


def test_a_table_whose_metadata_are_trusted_says_so(engine, sql):
    sql("CREATE TABLE survey.t USING parquet AS SELECT id AS hip FROM range(3)")
    files = inspect_table(engine, "survey.t", "metadata")
    assert files.caveat == "metadata"
    check_table(engine, files)
    sql("INSERT INTO survey.t VALUES (7)")
    with pytest.raises(FilesChangedError):
        check_table(engine, files)


@pytest.mark.parametrize("kind", ["table", "view"])
def test_a_table_of_an_older_archive_is_known_by_what_it_holds_once_it_was_read(engine, sql, kind):
    sql("CREATE TABLE survey.t USING parquet AS SELECT id AS hip FROM range(3)")
    sql("CREATE VIEW survey.v AS SELECT * FROM survey.t")
    name = f"survey.{kind[0]}"
    old = inspect_table(engine, name).in_old_terms(compute_old_fingerprints(engine, name))
    assert old.caveat == "unverified"
    read = read_table_contents(engine, old)
    assert (read.digest, read.caveat, read.content) == (old.digest, "late", inspect_table(engine, name).digest)
    assert restore_files(*encode_files(read)) == read
    check_table(engine, read)
    sql("INSERT INTO survey.t VALUES (7)")
    for files in (old, read):
        with pytest.raises(FilesChangedError):
            check_table(engine, files)
