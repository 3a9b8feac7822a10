"""Rows of files without a key: each is known by what its file holds and by its place, however Spark reads the file."""

import gzip
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from astropy.table import Table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.errors import BaseFilesError, KeyColumnsError
from provenn.files.data_folder import DataFolder
from provenn.files.row_keys import make_file_keys
from provenn.spark.keys import verify_key
from provenn.spark.reading import read_base

ODD_NAMES = ["a.parquet", "a b#c%20d?e.parquet", "é*[1]{x}.parquet", "a+b&c=d.parquet", "deep/q'uo\"te\\.parquet"]


@pytest.fixture
def small_blocks(engine):
    """Lets Spark read files in blocks of a few bytes, several at once."""
    before = engine.session.conf.get("spark.sql.files.maxPartitionBytes")
    engine.session.conf.set("spark.sql.files.maxPartitionBytes", "64")
    engine.session.conf.set("spark.sql.files.openCostInBytes", "0")
    yield
    engine.session.conf.set("spark.sql.files.maxPartitionBytes", before)
    engine.session.conf.unset("spark.sql.files.openCostInBytes")


def keyless(location: Path, **options) -> Base:
    return Base.of(Files.at(location, **options), key=None, population="row")


def read(engine, base: Base, folder: Path) -> dict[tuple[str, int], tuple]:
    """The rows of a base catalog, by key."""
    rows = [tuple(row) for row in read_base(engine, base, DataFolder.of(folder)).collect()]
    found = {row[-2:]: row[:-2] for row in rows}
    assert len(found) == len(rows), "no two rows have the same key"
    return found


def expected(base: Base, rows: dict[str, list[tuple]]) -> dict[tuple[str, int], tuple]:
    """What the rows of files must be, by key, given those of each file in order."""
    keys = make_file_keys(base.files, base.files.compute_fingerprints())
    return {(keys[name], place): row for name, several in rows.items() for place, row in enumerate(several)}


@pytest.mark.usefixtures("small_blocks")
def test_rows_of_parquet_are_known_by_file_and_place_whatever_the_files_are_called(engine, tmp_path):
    rows = {}
    for number, name in enumerate(ODD_NAMES):
        values = [number * 100 + place for place in range(40)]
        (tmp_path / "in" / name).parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(pa.table({"x": values}), tmp_path / "in" / name, row_group_size=7)
        rows[name] = [(value,) for value in values]
    base = keyless(tmp_path / "in")
    assert read(engine, base, tmp_path / "data") == expected(base, rows)
    assert verify_key(engine, base, DataFolder.of(tmp_path / "data")) == 200
    assert base.key == ("provenn_file", "provenn_row")


def test_places_are_those_in_the_file_though_only_some_rows_are_read(engine, tmp_path):
    parquet.write_table(pa.table({"x": list(range(100))}), tmp_path / "a.parquet", row_group_size=10)
    frame = read_base(engine, keyless(tmp_path / "a.parquet"), DataFolder.of(tmp_path / "data"))
    assert [row.provenn_row for row in frame.where("x >= 55 AND x < 58").orderBy("x").collect()] == [55, 56, 57]


@pytest.mark.usefixtures("small_blocks")
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(st.integers(0, 10**6), min_size=1, max_size=60), min_size=1, max_size=3, unique_by=tuple))
def test_rows_of_csv_are_numbered_as_its_lines_are(engine, tmp_path_factory, files):
    """However many blocks Spark reads a file in; the oracle is the text that was written."""
    folder = tmp_path_factory.mktemp("csv")
    for number, values in enumerate(files):
        (folder / f"{number}.csv").write_text("\n".join(["x", *map(str, values)]) + "\n")
    base = keyless(folder)
    rows = {f"{number}.csv": [(value,) for value in values] for number, values in enumerate(files)}
    assert read(engine, base, tmp_path_factory.mktemp("data")) == expected(base, rows)


def test_fits_votable_and_compressed_files_have_rows_with_places_too(engine, tmp_path):
    table = Table({"x": [5, 6, 7]})
    table.write(tmp_path / "a.fits")
    table.write(tmp_path / "a.vot", format="votable")
    with gzip.open(tmp_path / "a.csv.gz", "wt") as stream:
        stream.write("x\n5\n6\n7\n")
    (tmp_path / "a.json").write_text('{"x": 5}\n{"x": 6}\n{"x": 7}\n')
    for name, options in (
        ("a.fits", {}),
        ("a.vot", {}),
        ("a.csv.gz", {}),
        ("a.json", {"format": "json", "schema": {"x": "int"}}),
    ):
        base = keyless(tmp_path / name, **options)
        assert read(engine, base, tmp_path / "data") == expected(base, {name: [(5,), (6,), (7,)]})


def test_moments_to_the_nanosecond_and_folders_named_after_values_are_read_as_well(engine, tmp_path):
    moment = pa.array([1_000_000_001], pa.timestamp("ns"))
    for year in (2025, 2026):
        (tmp_path / "in" / f"year={year}").mkdir(parents=True)
        parquet.write_table(pa.table({"at": moment}), tmp_path / "in" / f"year={year}" / "a.parquet")
    base = keyless(tmp_path / "in")
    at = datetime(1970, 1, 1, 0, 0, 1)  # noqa: DTZ001 - the file says no time zone
    rows = {f"year={year}/a.parquet": [(at, year)] for year in (2025, 2026)}
    assert read(engine, base, tmp_path / "data") == expected(base, rows)


def test_names_of_key_columns_do_not_collide(engine, tmp_path):
    columns = {"Provenn_Row": [1], "provenn_file": ["a"], "_metadata": [2]}
    parquet.write_table(pa.table(columns), tmp_path / "a.parquet")
    base = keyless(tmp_path / "a.parquet")
    assert base.key == ("provenn_file_", "provenn_row_")
    assert list(read(engine, base, tmp_path / "data").values()) == [(1, "a", 2)]


def test_the_same_file_has_the_same_sources_in_every_catalog_and_a_corrected_one_has_others(engine, tmp_path):
    for folder, values in (("one", [1, 2]), ("two", [1, 2]), ("three", [1, 3])):
        (tmp_path / folder).mkdir()
        parquet.write_table(pa.table({"x": values}), tmp_path / folder / f"{folder}.parquet")
    parquet.write_table(pa.table({"x": [7]}), tmp_path / "two" / "more.parquet")
    one, two, three = (
        set(read(engine, keyless(tmp_path / name), tmp_path / "data")) for name in ("one", "two", "three")
    )
    assert one < two
    assert not one & three


def test_tables_of_one_fits_file_have_different_sources(engine, tmp_path):
    from astropy.io import fits  # noqa: PLC0415 - as above

    both = [fits.BinTableHDU.from_columns([fits.Column("x", "J", array=[1])]) for _ in range(2)]
    fits.HDUList([fits.PrimaryHDU(), *both]).writeto(tmp_path / "a.fits")
    first, second = (keyless(tmp_path / "a.fits", options={"hdu": number}) for number in (1, 2))
    assert not read(engine, first, tmp_path / "data").keys() & read(engine, second, tmp_path / "data").keys()


def test_what_cannot_tell_rows_apart_is_refused(tmp_path):
    for name in "ab":
        parquet.write_table(pa.table({"x": [1]}), tmp_path / f"{name}.parquet")
    with pytest.raises(KeyColumnsError, match=r"a\.parquet and b\.parquet have the same content"):
        keyless(tmp_path)
    with pytest.raises(BaseFilesError, match="only the metadata of the files are known"):
        keyless(tmp_path / "a.parquet", trust="metadata")


def test_a_definition_without_a_key_is_restored_as_it_was(tmp_path):
    parquet.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    base = keyless(tmp_path / "a.parquet")
    again = Base.restored(base.parameters(), base.notes(), ())
    assert (again.digest, again.files) == (base.digest, base.files)
