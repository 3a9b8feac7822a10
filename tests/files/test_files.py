"""Base files: what is read of them without reading their data, and whether they are still the same."""

import gzip
import os
import shutil
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from provenn.catalogs import Files
from provenn.errors import BaseFilesError, FilesChangedError, FilesMissingError, TypeNameError

STARS = {"hip": [1, 2, 3], "vmag": [1.5, None, 6.0], "name": ["a", "b", None]}


def write(path: Path, columns: dict | pa.Table = STARS, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    parquet.write_table(table, path, **options)
    return path


def shape(files: Files) -> dict[str, str]:
    return {column.name: str(column.type) for column in files.columns}


# --- Parquet ---


def test_a_parquet_file_tells_its_columns_and_rows(tmp_path: Path):
    files = Files.at(write(tmp_path / "stars.parquet"))
    assert shape(files) == {"hip": "bigint", "vmag": "double", "name": "string"}
    assert (files.format, files.options, files.row_count, files.partitions) == ("parquet", (), 3, ())
    assert files.location == str(tmp_path / "stars.parquet")
    files.check()


def test_types_are_those_that_spark_reads(tmp_path: Path):
    """What Spark does not have, or provenn cannot compare, is kept by its name."""
    kinds = {
        "boolean": pa.bool_(),
        "tinyint": pa.int8(),
        "smallint": pa.uint8(),
        "int": pa.uint16(),
        "bigint": pa.uint32(),
        "decimal(20,0)": pa.uint64(),
        "float": pa.float32(),
        "string": pa.dictionary(pa.int32(), pa.string()),
        "date": pa.date32(),
        "timestamp": pa.timestamp("us", "Europe/Rome"),
        "timestamp_ntz": pa.timestamp("ms"),
        "decimal(10,2)": pa.decimal128(10, 2),
        "binary": pa.binary(4),
        "array<double>": pa.list_(pa.float64()),
        "map<string,int>": pa.map_(pa.string(), pa.int32()),
        "struct<RA:double,Dec:array<float>>": pa.struct([("RA", pa.float64()), ("Dec", pa.list_(pa.float32()))]),
        "halffloat": pa.float16(),
        "time64[us]": pa.time64("us"),
        "array<timestamp[ns]>": pa.list_(pa.timestamp("ns")),
        "struct<`a b`:int>": pa.struct([("a b", pa.int32())]),
    }
    table = pa.table([pa.nulls(1, kind) for kind in kinds.values()], names=list(kinds))
    files = Files.at(write(tmp_path / "types.parquet", table))
    assert list(shape(files)) == list(shape(files).values())
    assert [column.name for column in files.columns if column.type.scalar] == [*list(kinds)[:11], "decimal(10,2)"]


def test_units_descriptions_and_nullability_come_from_the_fields(tmp_path: Path):
    fields = [
        pa.field("hip", pa.int64(), nullable=False),
        pa.field("vmag", pa.float64(), metadata={"unit": "mag", "description": "V magnitude", "ucd": "phot.mag"}),
        pa.field("ra", pa.float64(), metadata={"units": "deg", "comment": "J2000"}),
    ]
    table = pa.table({"hip": [1], "vmag": [1.0], "ra": [2.0]}, schema=pa.schema(fields))
    hip, vmag, ra = Files.at(write(tmp_path / "a.parquet", table)).columns
    assert (hip.nullable, vmag.nullable) == (False, True)
    assert (vmag.unit, vmag.description, ra.unit, ra.description) == ("mag", "V magnitude", "deg", "J2000")
    assert (vmag.ucd, ra.ucd) == ("phot.mag", "")


def test_a_folder_and_a_glob_are_all_their_files(tmp_path: Path):
    write(tmp_path / "sky" / "a.parquet")
    write(tmp_path / "sky" / "deep" / "b.parquet", {**STARS, "hip": [4, 5, 6]})
    (tmp_path / "sky" / "_SUCCESS").touch()
    (tmp_path / "sky" / ".a.crc").touch()
    write(tmp_path / "other" / "a.parquet", {"x": [1]})
    folder = Files.at(tmp_path / "sky")
    assert folder.row_count == 6
    assert [name for name, _ in folder.fingerprints] == ["a.parquet", "deep/b.parquet"]
    for pattern in ("sky/**/*.parquet", "s?y", "[rs]ky/**", "sk[!x]"):
        assert Files.at(tmp_path / pattern).digest == folder.digest
    assert Files.at(tmp_path / "sky" / "*.parquet").row_count == 3


@pytest.mark.parametrize("name", ["stars[1].parquet", "a b#c%20d?e.parquet", "é*.parquet"])
def test_an_odd_name_that_is_there_is_no_glob(tmp_path: Path, name: str):
    assert Files.at(write(tmp_path / name)).row_count == 3


def test_a_glob_that_is_none_is_refused(tmp_path: Path):
    with pytest.raises(BaseFilesError, match="cannot be listed"):
        Files.at(tmp_path / "[z-a].parquet")


def test_a_uri_is_as_good_as_a_path(tmp_path: Path):
    path = write(tmp_path / "stars.parquet")
    assert Files.at(path.as_uri()).digest == Files.at(path).digest
    with pytest.raises(BaseFilesError, match="cannot be listed"):
        Files.at("gopher://example.org/stars.parquet")


def test_relative_paths_are_remembered_as_absolute_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    write(tmp_path / "stars.parquet")
    monkeypatch.chdir(tmp_path)
    files = Files.at("stars.parquet")
    monkeypatch.chdir("/")
    files.check()


def test_folders_named_after_values_give_columns(tmp_path: Path):
    for year in (2025, 2026):
        write(tmp_path / f"year={year}" / "band=g%2Fr" / "a.parquet", {"hip": [year]})
    write(tmp_path / "year=__HIVE_DEFAULT_PARTITION__" / "band=r" / "a.parquet", {"hip": [3]})
    files = Files.at(tmp_path)
    assert shape(files) == {"hip": "bigint", "year": "bigint", "band": "string"}
    assert files.partitions == ("year", "band")
    moved = tmp_path / "year=2027"
    (tmp_path / "year=2025").rename(moved)
    with pytest.raises(FilesChangedError):
        files.check()


def test_folders_with_different_values_give_different_fingerprints(tmp_path: Path):
    """Spark reads another value from each of these names, so a file that moved from one to the other has changed."""
    digests = set()
    for name in ("%C3%BC", "ü", "%80", "%81", "%EF%BF%BD", "\ufffd"):
        write(tmp_path / name / f"band={name}" / "a.parquet")
        digests.add(Files.at(tmp_path / name).digest)
    assert len(digests) == 6


@pytest.mark.parametrize("folder", ["band=", "=g", "year=2026/band="])
def test_folders_that_spark_cannot_read_are_refused(tmp_path: Path, folder: str):
    write(tmp_path / folder / "a.parquet")
    with pytest.raises(BaseFilesError, match="without the name or the value of a column"):
        Files.at(tmp_path)


def test_values_above_a_plain_folder_are_refused(tmp_path: Path):
    """Spark would read NULL for the year."""
    write(tmp_path / "year=2026" / "raw" / "band=g" / "a.parquet")
    with pytest.raises(BaseFilesError, match="in the folder year=2026, whose value Spark does not read"):
        Files.at(tmp_path)
    assert Files.at(f"{tmp_path}/*/raw/*/*.parquet").partitions == ()


def test_a_column_in_the_files_counts_more_than_the_name_of_a_folder(tmp_path: Path):
    write(tmp_path / "Norder=1" / "a.parquet", {"hip": [1], "Norder": [1]})
    assert Files.at(tmp_path).partitions == ()


def test_folders_for_different_columns_do_not_fit_together(tmp_path: Path):
    write(tmp_path / "year=2025" / "a.parquet")
    write(tmp_path / "night=5" / "b.parquet")
    with pytest.raises(BaseFilesError, match="are in folders for different columns"):
        Files.at(tmp_path)


@pytest.mark.parametrize(
    "other", [{"hip": [1], "vmag": [1], "name": ["x"]}, {"hip": [1]}, {**STARS, "more": [1, 2, 3]}]
)
def test_files_with_other_columns_do_not_fit_together(tmp_path: Path, other: dict):
    write(tmp_path / "a.parquet")
    write(tmp_path / "b.parquet", other)
    with pytest.raises(BaseFilesError, match="differ"):
        Files.at(tmp_path)


def test_the_order_of_columns_does_not_depend_on_names_of_files(tmp_path: Path):
    turned = dict(reversed(STARS.items()))
    for folder, names in (("one", "ab"), ("two", "ba")):
        for name, columns in zip(names, (STARS, turned), strict=True):
            write(tmp_path / folder / f"{name}.parquet", columns)
    assert Files.at(tmp_path / "one").columns == Files.at(tmp_path / "two").columns


# --- identity, and noticing changes ---


def test_a_moved_renamed_or_copied_parquet_file_is_the_same(tmp_path: Path):
    path = write(tmp_path / "stars.parquet")
    files = Files.at(path)
    copy = tmp_path / "elsewhere" / "hip.pq"
    copy.parent.mkdir()
    shutil.copyfile(path, copy)
    path.unlink()
    with pytest.raises(FilesMissingError, match=r"nothing exists at .*stars\.parquet") as caught:
        files.check()
    assert "give its new place" in caught.value.hint
    moved = files.moved(copy)
    moved.check()
    assert (moved.digest, moved.location) == (files.digest, str(copy))
    assert moved.fingerprints[0][0] == "hip.pq"


def test_a_changed_parquet_file_is_noticed(tmp_path: Path):
    path = write(tmp_path / "stars.parquet")
    files = Files.at(path)
    write(path, {**STARS, "vmag": [1.5, None, 6.5]})
    with pytest.raises(FilesChangedError, match=r"/stars\.parquet changed since it was ingested") as caught:
        files.check()
    assert "ingest the new files" in caught.value.hint
    path.write_bytes(b"not Parquet any more")
    with pytest.raises(FilesChangedError):
        files.check()
    with pytest.raises(FilesChangedError):
        files.moved(path)


def test_files_that_come_or_go_are_noticed_by_name(tmp_path: Path):
    for name in "abc":
        write(tmp_path / f"{name}.parquet", {"hip": [ord(name)]})
    files = Files.at(tmp_path)
    (tmp_path / "a.parquet").rename(tmp_path / "z.parquet")
    files.check()
    (tmp_path / "b.parquet").unlink()
    (tmp_path / "c.parquet").unlink()
    with pytest.raises(FilesMissingError, match=r"b\.parquet and 1 more are missing"):
        files.check()
    write(tmp_path / "new.parquet", {"hip": [0]})
    with pytest.raises(FilesChangedError, match=r"new\.parquet"):
        files.check()


def test_a_file_whose_time_alone_changed_is_the_same(tmp_path: Path):
    path = tmp_path / "stars.csv"
    path.write_text("hip,vmag\n1,2\n")
    files = Files.at(path)
    path.rename(tmp_path / "moved.csv")
    moved = files.moved(tmp_path / "moved.csv")
    os.utime(moved.location, ns=(1, 1))
    moved.check()
    assert moved.digest == files.digest


def test_a_csv_file_whose_metadata_are_trusted_is_known_by_size_time_and_edges(tmp_path: Path):
    path = tmp_path / "stars.csv"
    middle = "1,2\n" * 100_000
    path.write_text(f"hip,vmag\n{middle}")
    files = Files.at(path, trust="metadata")
    assert (files.basis, Files.at(path).basis) == ("metadata", "content")
    time = path.stat().st_mtime_ns
    path.rename(tmp_path / "moved.csv")
    moved = files.moved(tmp_path / "moved.csv")
    os.utime(moved.location, ns=(time, time + 1))
    with pytest.raises(FilesChangedError):
        moved.check()
    os.utime(moved.location, ns=(time, time))
    moved.check()
    Path(moved.location).write_text(f"hip,vmag\n{middle[:-4]}1,3\n")
    os.utime(moved.location, ns=(time, time))
    with pytest.raises(FilesChangedError):
        moved.check()


def test_of_files_with_the_same_content_the_one_that_went_is_named(tmp_path: Path):
    for name in "ab":
        write(tmp_path / f"{name}.parquet")
    files = Files.at(tmp_path)
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(FilesMissingError, match=r"missing from"):
        files.check()


# --- CSV ---


def csv(tmp_path: Path, text: str, **options) -> Files:
    path = tmp_path / "stars.csv"
    path.write_text(text)
    return Files.at(path, **options)


def test_types_of_csv_columns_are_seen_in_the_first_lines(tmp_path: Path):
    files = csv(
        tmp_path,
        "hip,vmag,name,day,time,good,void,mixed\n"
        "1,6.5,a,2026-01-31,2026-01-31 01:02:03,true,,1\n"
        "2,,b,2026-02-01,2026-01-31T01:02:03,false,,x\n",
    )
    assert shape(files) == {
        "hip": "bigint",
        "vmag": "double",
        "name": "string",
        "day": "date",
        "time": "timestamp",
        "good": "boolean",
        "void": "string",
        "mixed": "string",
    }
    assert (files.format, files.row_count, files.options) == (
        "csv",
        None,
        (("escape", '"'), ("header", "true")),
    )
    assert all(column.nullable for column in files.columns)


def test_an_explicit_schema_tells_the_types_of_the_columns_it_names(tmp_path: Path):
    schema = {"vmag": "decimal(4, 2)", "hip": "int"}
    assert shape(csv(tmp_path, "hip,vmag,n\n1,2,3\n", schema=schema)) == {
        "hip": "int",
        "vmag": "decimal(4,2)",
        "n": "bigint",
    }


def test_without_a_header_the_schema_names_the_columns(tmp_path: Path):
    files = csv(tmp_path, "1;2\n", schema={"hip": "bigint", "v": "double"}, options={"header": False, "Sep": ";"})
    assert shape(files) == {"hip": "bigint", "v": "double"}
    assert files.options == (("escape", '"'), ("header", "false"), ("sep", ";"))
    with pytest.raises(BaseFilesError, match="has no header"):
        csv(tmp_path, "1,2\n", options={"header": "FALSE"})
    with pytest.raises(BaseFilesError, match="has 2 columns, the schema names 1"):
        csv(tmp_path, "1,2\n", schema={"hip": "bigint"}, options={"header": False})


@pytest.mark.parametrize("text", ["12345678901234567891\n1\n", "+9007199254740993\nnan\n", "-99999999999999999999\n"])
def test_whole_numbers_that_a_double_would_round_are_not_taken_for_doubles_unasked(tmp_path: Path, text: str):
    """Two identifiers would become one."""
    with pytest.raises(BaseFilesError, match="more digits than a double keeps"):
        csv(tmp_path, f"hip\n{text}")
    for kind in ("decimal(20,0)", "string", "double"):
        if "nan" not in text or kind != "decimal(20,0)":
            assert shape(csv(tmp_path, f"hip\n{text}", schema={"hip": kind})) == {"hip": kind}
    assert shape(csv(tmp_path, f"hip\n{text}0.5\n")) == {"hip": "double"}  # what is measured is rounded anyway


def test_compressed_csv_is_csv(tmp_path: Path):
    with pa.output_stream(str(tmp_path / "stars.csv.gz")) as stream:
        stream.write(b"hip,vmag\n1,2.5\n")
    assert shape(Files.at(tmp_path / "stars.csv.gz")) == {"hip": "bigint", "vmag": "double"}


@pytest.mark.parametrize("length", [5, 200, 2000])
def test_csv_whose_compressed_data_end_early_is_told(tmp_path, length):
    lines = "".join(f"{number},{number % 20}.5\n" for number in range(100_000))
    packed = gzip.compress(f"hip,vmag\n{lines}".encode())
    (tmp_path / "stars.csv.gz").write_bytes(packed[:length])
    with pytest.raises(BaseFilesError, match=r"stars\.csv\.gz cannot be read"):
        Files.at(tmp_path / "stars.csv.gz")


@pytest.mark.parametrize(
    ("text", "arguments", "error", "problem"),
    [
        ("", {}, BaseFilesError, "cannot be read as CSV"),
        ("hip,hip\n1,2\n", {}, BaseFilesError, "has two columns hip"),
        ("hip,\n1,2\n", {}, BaseFilesError, "a column named ''"),
        ("hip,vmag\n1\n", {}, BaseFilesError, "cannot be read as CSV"),
        ("hip,vmag\n1,2\n", {"schema": {"vmga": "int"}}, BaseFilesError, "did you mean vmag"),
        ("hip,vmag\n1,2\n", {"schema": {"vmag": "duoble"}}, TypeNameError, "did you mean double"),
        ("hip,vmag\n1,2\n", {"schema": {"vmag": "array<int>"}}, TypeNameError, "array<int>"),
        ("hip,vmag\n1,2\n", {"options": {"sep": "||"}}, BaseFilesError, "cannot be read as CSV"),
        ("hip,vmag\n1,2\n", {"options": {"encoding": "martian"}}, BaseFilesError, "uses encoding='martian'"),
    ],
)
def test_csv_that_makes_no_sense_is_refused(tmp_path: Path, text: str, arguments: dict, error: type, problem: str):
    with pytest.raises(error, match=problem):
        csv(tmp_path, text, **arguments)


def test_csv_files_of_different_types_do_not_fit_together_unless_a_schema_tells(tmp_path: Path):
    (tmp_path / "a.csv").write_text("hip,x\n1,2\n")
    (tmp_path / "b.csv").write_text("hip,x\n1,2.5\n")
    with pytest.raises(BaseFilesError, match="x is a"):
        Files.at(tmp_path)
    assert shape(Files.at(tmp_path, schema={"x": "double"})) == {"hip": "bigint", "x": "double"}


# --- other formats, and what is refused ---


def test_any_other_format_is_taken_by_sparks_name_with_a_schema(tmp_path: Path):
    (tmp_path / "a.json").write_text('{"hip": 1, "spectrum": [1.0]}\n')
    files = Files.at(tmp_path / "a.json", format="JSON", schema={"hip": "long", "spectrum": "array<double>"})
    assert (files.format, files.row_count, shape(files)) == (
        "json",
        None,
        {"hip": "bigint", "spectrum": "array<double>"},
    )
    files.check()
    with pytest.raises(BaseFilesError, match="not known without a schema"):
        Files.at(tmp_path / "a.json", format="json")
    with pytest.raises(BaseFilesError, match=r"a\.json cannot be told from its name"):
        Files.at(tmp_path / "a.json")


def test_what_is_not_there_is_told_with_what_may_have_been_meant(tmp_path: Path):
    write(tmp_path / "stars.parquet")
    with pytest.raises(FileNotFoundError, match=r"did you mean stars\.parquet"):
        Files.at(tmp_path / "star.parquet")
    with pytest.raises(FilesMissingError, match="no files at"):
        Files.at(tmp_path / "*.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FilesMissingError, match="no files at"):
        Files.at(tmp_path / "empty")


def test_what_is_not_parquet_or_not_only_is_refused(tmp_path: Path):
    (tmp_path / "a.parquet").write_text("hip,vmag\n")
    with pytest.raises(BaseFilesError, match=r"a\.parquet cannot be read as Parquet"):
        Files.at(tmp_path / "a.parquet")
    with pytest.raises(BaseFilesError, match=r"a\.parquet is not a Parquet file"):
        Files.at(tmp_path / "a.parquet", trust="metadata")
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + b"\0" * 20 + b"\x10\0\0\0PAR1")
    with pytest.raises(BaseFilesError, match="cannot be read as Parquet"):
        Files.at(tmp_path / "a.parquet")
    write(tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("hip\n1\n")
    with pytest.raises(BaseFilesError, match="several formats: csv, parquet"):
        Files.at(tmp_path)
    with pytest.raises(BaseFilesError, match="already have a schema"):
        Files.at(tmp_path / "a.parquet", schema={"hip": "int"})


def test_a_table_without_columns_is_refused(tmp_path: Path):
    with pytest.raises(BaseFilesError, match="has no columns"):
        Files.at(write(tmp_path / "a.parquet", pa.table({})))


def test_a_decimal_column_keeps_its_digits(tmp_path: Path):
    table = pa.table({"x": pa.array([Decimal("1.25")], pa.decimal128(5, 2))})
    assert shape(Files.at(write(tmp_path / "a.parquet", table))) == {"x": "decimal(5,2)"}


# --- NULL as writers of text spell it ---


@pytest.mark.parametrize("spelling", ["null", "NULL", "NA", "N/A", "--", "\\N", "None"])
@pytest.mark.parametrize("values", ["1.5", "7", "2026-01-31", "true"])
def test_a_word_for_null_that_alone_makes_a_column_text_is_told(tmp_path: Path, spelling: str, values: str):
    """The column would be text, and `vmag < 6` would compare texts; nothing is assumed."""
    (tmp_path / "a.csv").write_text(f"hip,vmag\n1,{values}\n2,{spelling}\n")
    with pytest.raises(BaseFilesError) as raised:
        Files.at(tmp_path / "a.csv")
    assert f"the column vmag would be text because of {spelling!r}" in str(raised.value)
    assert f"null={spelling!r}" in raised.value.hint
    assert f"--null={spelling}" in raised.value.hint.command
    assert "string" not in shape(Files.at(tmp_path / "a.csv", null=spelling)).values()
    assert shape(Files.at(tmp_path / "a.csv", schema={"vmag": "string"}))["vmag"] == "string"


@pytest.mark.parametrize("text", ["a\n2,NA", "NA\n2,NA", "--\n2,x"])
def test_a_word_for_null_among_texts_is_a_text(tmp_path: Path, text: str):
    (tmp_path / "a.csv").write_text(f"hip,name\n1,{text}\n")
    assert shape(Files.at(tmp_path / "a.csv")) == {"hip": "bigint", "name": "string"}


def test_a_column_of_nothing_but_null_is_told(tmp_path: Path):
    """Whether it holds numbers further on cannot be seen."""
    (tmp_path / "a.csv").write_text("hip,vmag\n1,null\n2,null\n")
    with pytest.raises(BaseFilesError, match="it holds nothing else"):
        Files.at(tmp_path / "a.csv")


def test_null_is_said_once_and_only_of_text(tmp_path: Path):
    (tmp_path / "a.csv").write_text("hip,vmag\n1,NA\n2,1.5\n")
    with pytest.raises(BaseFilesError, match="the option nullValue repeats"):
        Files.at(tmp_path / "a.csv", null="NA", options={"nullValue": "NA"})
    with pytest.raises(BaseFilesError, match="parquet files already mark NULL values"):
        Files.at(write(tmp_path / "a.parquet"), null="NA")


# --- tabs and comments ---


def test_tab_separated_values_are_csv_with_tabs(tmp_path: Path):
    (tmp_path / "a.tsv").write_text("hip\tname\n1\ta,b\n")
    files = Files.at(tmp_path / "a.tsv")
    assert (files.format, dict(files.options)["sep"], shape(files)) == (
        "csv",
        "\t",
        {"hip": "bigint", "name": "string"},
    )
    (tmp_path / "b.txt").write_text("hip\tname\n1\ta,b\n")
    assert Files.at(tmp_path / "b.txt", format="tsv").options == files.options
    with gzip.open(tmp_path / "c.tsv.gz", "wt") as packed:
        packed.write("hip\tname\n1\ta,b\n")
    assert shape(Files.at(tmp_path / "c.tsv.gz")) == shape(files)


def test_units_and_dashes_below_a_header_are_no_rows(tmp_path: Path):
    """VizieR writes them into tab-separated values."""
    (tmp_path / "a.tsv").write_text("#RESOURCE\nhip\tvmag\n\tmag\n------\t----\n1\t1.5\n")
    with pytest.raises(BaseFilesError, match=r"a line of dashes") as raised:
        Files.at(tmp_path / "a.tsv", options={"comment": "#"})
    assert "VOTable" in raised.value.hint


def test_lines_of_comments_can_be_left_out(tmp_path: Path):
    (tmp_path / "a.csv").write_text("# made today\nhip,vmag\n1,1.5\n# more, of, it\n2,2.5\n")
    with pytest.raises(BaseFilesError) as raised:
        Files.at(tmp_path / "a.csv")
    assert 'options={"comment": "#"}' in raised.value.hint
    assert shape(Files.at(tmp_path / "a.csv", options={"comment": "#"})) == {"hip": "bigint", "vmag": "double"}


def test_files_that_come_later_belong_to_no_version_yet(tmp_path: Path):
    """A version is a set of files: it is read as it was, while each of its files is unchanged."""
    for name in ("year=2025/a.parquet", "year=2026/b.parquet"):
        (tmp_path / name).parent.mkdir()
        write(tmp_path / name, {"hip": [ord(name[-9])]})
    files = Files.at(tmp_path)
    write(tmp_path / "year=2026" / "c.parquet", {"hip": [0]})
    assert files.check() == dict(files.fingerprints)
    assert [file.name for file in files.list_own_files()] == ["year=2025/a.parquet", "year=2026/b.parquet"]
    assert Files.at(tmp_path).digest != files.digest, "a new version has the file"
    write(tmp_path / "year=2026" / "b.parquet", {"hip": [5]})
    with pytest.raises(FilesChangedError, match=r"b\.parquet"):
        files.check()
    (tmp_path / "year=2026" / "b.parquet").unlink()
    with pytest.raises((FilesMissingError, FilesChangedError)):
        files.check()
