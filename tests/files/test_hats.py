"""Folders in HATS as base data: their parts and no more, whole or not at all."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.errors import BaseFilesError, FilesMissingError
from provenn.files.file_records import encode_files, restore_files
from provenn.files.hats_properties import format_properties, parse_properties
from tests.catalogs.skies import write_hats


@pytest.mark.parametrize("several_files", [False, True])
def test_it_is_known_by_its_parts(tmp_path: Path, several_files):
    written = write_hats(tmp_path / "gaia", several_files=several_files)
    files = Files.at(tmp_path / "gaia")
    assert (files.format, files.row_count, files.partitions) == ("parquet", 200, ())
    assert [column.name for column in files.columns] == written.column_names, "Norder is a column only if files have it"
    assert {column.name: column.ucd for column in files.columns if column.ucd} == {
        "ra": "pos.eq.ra;meta.main",
        "dec": "pos.eq.dec;meta.main",
    }
    assert all(name.startswith("Norder=1/Dir=0/Npix=") for name, _ in files.fingerprints)
    files.check()
    assert restore_files(*encode_files(files)) == files
    base = Base.of(files, key="source_id", population="star")
    assert base.schema["ra"].ucd == "pos.eq.ra;meta.main"


def test_it_may_be_moved_and_nothing_of_it_may_be_missing(tmp_path: Path):
    write_hats(tmp_path / "a [1] *")
    files = Files.at(tmp_path / "a [1] *")
    copytree(tmp_path / "a [1] *", tmp_path / "b")
    assert files.moved(tmp_path / "b").digest == Files.at(f"{tmp_path}/b/").digest == files.digest
    parts = sorted((tmp_path / "b").rglob("Npix=*"))
    parts[0].unlink()
    with pytest.raises(BaseFilesError, match=rf"1 of {len(parts)} parts are missing, such as Norder=1, Npix=\d+"):
        Files.at(tmp_path / "b")
    with pytest.raises(FilesMissingError):
        files.moved(tmp_path / "b")
    files.check()


def test_rows_that_are_missing_are_told(tmp_path: Path):
    write_hats(tmp_path / "sky", said_rows=201)
    with pytest.raises(BaseFilesError, match="it should have 201 rows, and its parts have 200") as raised:
        Files.at(tmp_path / "sky")
    assert raised.value.hint == "check that it was copied completely"


def test_a_part_that_nobody_speaks_of_is_told(tmp_path: Path):
    write_hats(tmp_path / "sky")
    path = next((tmp_path / "sky").rglob("Npix=*"))
    other = tmp_path / "sky" / "dataset" / "Norder=8" / "Dir=40000"
    other.mkdir(parents=True)
    (other / "Npix=47000.parquet").write_bytes(path.read_bytes())
    with pytest.raises(
        BaseFilesError, match=r"has parts that partition_info\.csv does not list, such as Norder=8, Npix=47000"
    ):
        Files.at(tmp_path / "sky")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("hats.properties", "title=mine\n", r"no hats\.properties that state dataproduct_type"),
        ("hats.properties", None, r"no hats\.properties that state dataproduct_type"),
        ("hats.properties", "dataproduct_type=object\nhats_nrows=many\n", "state 'many' as the number of rows"),
        ("hats.properties", "dataproduct_type=object\nhats_col_ra=alpha\n", "name alpha as a column of the position"),
        ("hats.properties", "dataproduct_type=object\nhats_col_ra=ra\nhats_col_dec=ra\n", "name ra as both columns"),
        ("partition_info.csv", "a,b\n", "does not list the parts in the columns Norder and Npix"),
        ("partition_info.csv", "Norder,Npix\n1,x\n", "does not list the parts in the columns Norder and Npix"),
    ],
)
def test_properties_and_lists_of_parts_that_are_wrong_are_told(tmp_path: Path, name, text, problem):
    write_hats(tmp_path / "sky")
    if text is None:
        (tmp_path / "sky" / name).unlink()
    else:
        (tmp_path / "sky" / name).write_text(text)
    with pytest.raises(BaseFilesError, match=problem):
        Files.at(tmp_path / "sky")


def test_the_format_of_a_folder_is_not_named(tmp_path: Path):
    write_hats(tmp_path / "sky")
    with pytest.raises(BaseFilesError, match="'hats', which provenn does not read") as raised:
        Files.at(tmp_path / "sky", format="hats")
    assert raised.value.hint == "name the folder alone: HATS is recognised by its properties"


@pytest.mark.parametrize(
    ("text", "ucd"),
    [
        ("dataproduct_type : object\nhats_col_ra : ra\nhats_col_dec : dec\n", "pos.eq.ra;meta.main"),
        (
            "\ufeff! comment\r\ndataproduct_type object\r\nhats_col_ra\tr\\u0061\r\nhats_col_dec=dec\r\n",
            "pos.eq.ra;meta.main",
        ),
        ("dataproduct_type = source\nhats_nrows = 200\n", ""),
    ],
)
def test_properties_are_read_as_java_reads_them(tmp_path: Path, text, ucd):
    write_hats(tmp_path / "sky")
    (tmp_path / "sky" / "hats.properties").write_text(text)
    assert Files.at(tmp_path / "sky").columns[2].ucd == ucd


def test_names_of_columns_come_back_from_properties():
    names = [" ra", "r\\a", "a=b: c#", "\\u0041", "é"]
    assert parse_properties(format_properties(dict.fromkeys("abcde", "")) + "#x=y\n") == dict.fromkeys("abcde", "")
    for name in names:
        assert parse_properties(format_properties({"hats_col_ra": name})) == {"hats_col_ra": name}


@pytest.mark.parametrize("suffix", [".parq", ".pq", ".c000.snappy.parquet"])
def test_parts_may_have_other_suffixes(tmp_path: Path, suffix):
    write_hats(tmp_path / "sky")
    digest = Files.at(tmp_path / "sky").digest
    for part in list((tmp_path / "sky").rglob("Npix=*")):
        part.rename(part.with_name(part.name.replace(".parquet", suffix)))
    assert Files.at(tmp_path / "sky").digest == digest


def test_parts_in_the_place_of_others_are_refused(tmp_path: Path):
    """Regions would not find their sources."""
    write_hats(tmp_path / "sky")
    first, *_, last = sorted((tmp_path / "sky").rglob("Npix=*"))
    first.rename(tmp_path / "part")
    last.rename(first)
    (tmp_path / "part").rename(last)
    with pytest.raises(BaseFilesError, match=r"Norder=1, Npix=\d+ of .* has sources of other pixels, by _healpix_29"):
        Files.at(tmp_path / "sky")


@pytest.mark.parametrize(("order", "pixel"), [(1, 48), (30, 0)])
def test_pixels_that_the_sky_lacks_are_refused(tmp_path: Path, order, pixel):
    write_hats(tmp_path / "sky")
    (tmp_path / "sky" / "partition_info.csv").unlink()
    part = next((tmp_path / "sky").rglob("Npix=*"))
    moved = tmp_path / "sky" / "dataset" / f"Norder={order}" / "Dir=0"
    moved.mkdir(parents=True, exist_ok=True)
    part.rename(moved / f"Npix={pixel}.parquet")
    with pytest.raises(BaseFilesError, match=f"Norder={order}, Npix={pixel}, and the sky has no such pixel"):
        Files.at(tmp_path / "sky")


def test_the_folder_of_the_parts_is_the_catalog(tmp_path: Path):
    write_hats(tmp_path / "sky")
    assert Files.at(tmp_path / "sky" / "dataset").digest == Files.at(tmp_path / "sky").digest


@pytest.mark.parametrize("kind", ["margin", "index", "association", "map"])
def test_what_has_no_sources_of_its_own_is_refused(tmp_path: Path, kind):
    write_hats(tmp_path / "sky", kind=kind)
    with pytest.raises(BaseFilesError, match=f"is a HATS {kind}, which is not a catalog"):
        Files.at(tmp_path / "sky")


def test_the_first_version_is_read_too(tmp_path: Path):
    """Once the data lay beside a file of JSON."""
    write_hats(tmp_path / "new")
    old = tmp_path / "old"
    old.mkdir()
    (tmp_path / "new" / "dataset" / "Norder=1").rename(old / "Norder=1")
    values = {
        "catalog_name": "sky",
        "catalog_type": "object",
        "total_rows": 200,
        "ra_column": "ra",
        "dec_column": "dec",
    }
    (old / "catalog_info.json").write_text(json.dumps(values))
    files = Files.at(old)
    assert (files.row_count, files.columns[2].ucd) == (200, "pos.eq.ra;meta.main")
    (old / "catalog_info.json").write_text("{")
    with pytest.raises(BaseFilesError, match=r"catalog_info\.json cannot be read"):
        Files.at(old)


def test_of_a_collection_the_catalog_is_read(tmp_path: Path):
    write_hats(tmp_path / "all" / "gaia")
    write_hats(tmp_path / "all" / "gaia_margin", kind="margin")
    properties = tmp_path / "all" / "collection.properties"
    properties.write_text("obs_collection=gaia\nhats_primary_table_url=gaia\nall_margins=gaia_margin\n")
    assert Files.at(tmp_path / "all").digest == Files.at(tmp_path / "all" / "gaia").digest
    for bad in ("../elsewhere", "", "http://example.org/x", ".."):
        properties.write_text(f"hats_primary_table_url={bad}\n")
        with pytest.raises(BaseFilesError, match="does not name its main table"):
            Files.at(tmp_path / "all")
    properties.write_text("hats_primary_table_url=gone\n")
    with pytest.raises(BaseFilesError, match="names gone as its main table, which is no folder in HATS"):
        Files.at(tmp_path / "all")


def test_a_folder_that_only_looks_like_it_is_a_folder(tmp_path: Path):
    write_hats(tmp_path / "sky")
    (tmp_path / "sky" / "hats.properties").write_text("title=mine\n")
    (tmp_path / "sky" / "partition_info.csv").unlink()
    (tmp_path / "sky" / "hats.properties").rename(tmp_path / "sky" / "_properties")
    (tmp_path / "sky" / "dataset" / "data_thumbnail.parquet").unlink()
    assert Files.at(tmp_path / "sky").partitions == ("Dir",), "Norder is in the files, Npix names no folder"
    parquet.write_table(
        parquet.read_table(next((tmp_path / "sky").rglob("Npix=*")), partitioning=None), tmp_path / "x.parquet"
    )
    assert Files.at(tmp_path / "x.parquet").partitions == ()
