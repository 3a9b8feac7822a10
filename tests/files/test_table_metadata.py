"""What files say of a table as a whole is kept with the base catalog, and is no part of its identity."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from astropy.io import fits
from astropy.table import Table
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.files.file_records import encode_files, restore_files
from provenn.files.table_metadata import (
    build_frame_elements,
    clean_metadata,
    decode_metadata,
    encode_metadata,
    find_common_metadata,
    read_frame_keywords,
)


def fits_file(path: Path, primary: dict | None = None, **header) -> Path:
    table = fits.BinTableHDU.from_columns([fits.Column("id", "K", array=[1, 2])], name="STARS")
    table.header.update(header)
    first = fits.PrimaryHDU()
    first.header.update(primary or {})
    fits.HDUList([first, table]).writeto(path)
    return path


def metadata_of(path: Path, **arguments) -> dict:
    return Files.at(path, **arguments).table_metadata


def test_keywords_of_fits_are_kept_but_not_those_that_say_how_it_is_stored(tmp_path: Path):
    path = fits_file(
        tmp_path / "a.fits",
        {"TELESCOP": "VST", "EPOCH": 1.0},
        EPOCH=2016.0,
        RADESYS="ICRS",
        MJDREF=55197.0,
        TDISP1="I8",
    )
    with fits.open(path, mode="update", checksum=True) as file:
        file[1].header.add_history("made by hand")
        file[1].header.add_comment("a comment")
    assert metadata_of(path) == {
        "TELESCOP": "VST",
        "EPOCH": 2016.0,
        "RADESYS": "ICRS",
        "MJDREF": 55197.0,
        "EXTNAME": "STARS",
        "HISTORY": ["made by hand"],
        "COMMENT": ["a comment"],
    }


VOTABLE = """<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3">
<INFO name="QUERY_STATUS" value="OK"/>
<RESOURCE><DESCRIPTION>Stars,
  many</DESCRIPTION><COOSYS ID="s" system="ICRS" epoch="J2016.0"/>
<TIMESYS ID="t" timescale="TCB" refposition="BARYCENTER" timeorigin="2455197.5"/>
<PARAM name="limit" datatype="double" value="12.5" unit="mag"/>
<TABLE><FIELD name="other" datatype="int"/><PARAM name="no" datatype="int" value="1"/></TABLE>
<TABLE name="b"><INFO name="who">Ada</INFO><FIELD name="id" datatype="int" ref="s"/>
<DATA><TABLEDATA><TR><TD>1</TD></TR></TABLEDATA></DATA></TABLE>
<INFO name="QUERY_STATUS" value="OVERFLOW"/></RESOURCE></VOTABLE>"""


def test_elements_of_a_votable_become_keywords(tmp_path: Path):
    (tmp_path / "a.vot").write_text(VOTABLE)
    assert metadata_of(tmp_path / "a.vot", options={"table": 1}) == {
        "QUERY_STATUS": "OK",
        "DESCRIPTION": "Stars, many",
        "RADESYS": "ICRS",
        "EPOCH": 2016.0,
        "TIMESYS": "TCB",
        "TREFPOS": "BARYCENTER",
        "JDREF": 2455197.5,
        "limit": {"value": "12.5", "unit": "mag"},
        "who": "Ada",
    }


@pytest.mark.parametrize("suffix", ["ecsv", "parquet"])
def test_metadata_of_an_astropy_table_are_kept(tmp_path: Path, suffix: str):
    table = Table({"id": [1]}, meta={"EPOCH": 2016.0, "comments": ["x", "y"], "deep": {"a": [1, {"b": True}]}})
    table.write(tmp_path / f"a.{suffix}")
    assert metadata_of(tmp_path / f"a.{suffix}") == {
        "EPOCH": 2016.0,
        "comments": ["x", "y"],
        "deep": {"a": [1, {"b": True}]},
    }


def test_a_header_of_voparquet_and_plain_keys_of_parquet(tmp_path: Path):
    keys = {
        "IVOA.VOTable-Parquet.content": VOTABLE.replace("other", "id"),
        "author": "Ada",
        "pandas": "{}",
        "b": b"\xff",
    }
    parquet.write_table(pa.table({"id": [1]}).replace_schema_metadata(keys), tmp_path / "a.parquet")
    result = metadata_of(tmp_path / "a.parquet")
    assert (result["author"], result["RADESYS"], result["EPOCH"]) == ("Ada", "ICRS", 2016.0)
    assert not {"pandas", "ARROW:schema", "b"} & set(result)


def test_metadata_are_no_part_of_the_identity(tmp_path: Path):
    files = Files.at(fits_file(tmp_path / "a.fits", EPOCH=2016.0))
    identity, notes = encode_files(files)
    assert "2016" not in json.dumps(identity)
    assert notes["metadata"] == {"EPOCH": "2016.0", "EXTNAME": '"STARS"'}
    assert restore_files(identity, notes) == files
    del notes["metadata"]
    older = restore_files(identity, notes)
    assert older.table_metadata == {}
    first, other = (Base.of(element, key="id", population="star") for element in (files, older))
    assert first.digest == other.digest


def test_of_several_files_what_all_say_is_kept(tmp_path: Path):
    (tmp_path / "in").mkdir()
    fits_file(tmp_path / "in" / "a.fits", EPOCH=2016.0, RADESYS="ICRS", OBJECT="one")
    fits_file(tmp_path / "in" / "b.fits", EPOCH=2016.0, RADESYS="FK5")
    assert metadata_of(tmp_path / "in") == {"EPOCH": 2016.0, "EXTNAME": "STARS"}
    assert find_common_metadata([]) == {}


def test_too_much_is_left_out_and_takes_no_time():
    """A few lines of YAML can refer to one list from very many places."""
    nested: list = ["x"]
    for _ in range(30):
        nested = [nested] * 30
    assert len(json.dumps(clean_metadata({"a": nested, "b": "y" * 10**6, "c": "z"}))) < 10**6
    assert "c" not in clean_metadata({"b": "y" * 10**6, "c": "z"})
    assert clean_metadata({"x": np.float64(1.5), "y": np.arange(3), "z": b"ab\x00", "n": np.nan, "s": "\ud800"}) == {
        "x": 1.5,
        "y": [0, 1, 2],
        "z": "ab ",
        "n": "nan",
        "s": " ",
    }


@given(st.dictionaries(st.text(max_size=5), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.binary(max_size=3) | st.dates(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3), max_leaves=6,
)))  # fmt: skip
def test_whatever_a_header_holds_can_be_stored_and_read_again(given_metadata):
    once = clean_metadata(given_metadata)
    assert decode_metadata(encode_metadata(given_metadata)) == once == clean_metadata(once)


def test_metadata_that_are_no_json_stay_text():
    """They may come with an archive of somebody else."""
    assert decode_metadata([("a", "{"), ("b", "1"), ("c", "NaN")]) == {"a": "{", "b": 1, "c": "nan"}


SYSTEMS = [
    {"system": "ICRS", "epoch": "J2016.0"},
    {"system": "eq_FK5", "equinox": "J2000.0", "epoch": "J1991.25"},
    {"system": "eq_FK4", "equinox": "B1950.0"},
]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_frame_is_the_same_after_keywords_of_fits(system):
    assert build_frame_elements(read_frame_keywords([system], []))[0] == system


@pytest.mark.parametrize(
    "clock",
    [
        {"timescale": "TCB", "refposition": "BARYCENTER", "timeorigin": "2455197.5"},
        {"timescale": "UTC", "refposition": "TOPOCENTER", "timeorigin": "2400000.5"},
        {"timescale": "TT", "refposition": "UNKNOWN"},
    ],
)
def test_a_clock_is_the_same_after_keywords_of_fits(clock):
    assert build_frame_elements(read_frame_keywords([], [clock]))[1] == clock


def test_what_is_ambiguous_is_kept_as_it_is_and_made_no_frame():
    frame_keywords = read_frame_keywords([SYSTEMS[0], SYSTEMS[1]], [])
    assert frame_keywords == {"COOSYS": [dict(sorted(system.items())) for system in SYSTEMS[:2]]}
    assert read_frame_keywords([{"system": "galactic"}], []) == {"COOSYS": [{"system": "galactic"}]}
    assert build_frame_elements({"EPOCH": 2000.0}) == ({}, {}), "in FITS it may be the equinox"
    assert build_frame_elements({"RADESYS": "odd", "TIMESYS": "UTC"}) == (
        {},
        {"timescale": "UTC", "refposition": "UNKNOWN"},
    )


def test_a_table_from_memory_has_metadata_too():
    from provenn.files.in_memory import convert_to_arrow  # noqa: PLC0415 - it is needed here alone
    from provenn.files.parquet_columns import read_footer_metadata  # noqa: PLC0415

    table = convert_to_arrow(Table({"id": [1]}, meta={"EPOCH": 2016.0}))
    assert read_footer_metadata(table.schema.metadata, "it") == {"EPOCH": 2016.0}
    plain = convert_to_arrow(pa.table({"id": [1]}).replace_schema_metadata({"author": "Ada"}))
    assert read_footer_metadata(plain.schema.metadata, "it") == {"author": "Ada"}
