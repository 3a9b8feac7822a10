"""What a file says of itself, whatever that is, leaves the file readable; and ECSV holds what it is given."""

import json
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pytest
from astropy.io import fits, votable
from astropy.table import Table
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from pyarrow import fs, parquet

from provenn.catalogs import Attribute, Files
from provenn.criteria import parse_type
from provenn.errors import FormatError
from provenn.files.data_folder import DataFolder
from provenn.files.export_notes import FileNotes, LineageNote
from provenn.files.table_metadata import clean_metadata
from provenn.spark.tables.converting import convert_files
from provenn.spark.tables.ecsv_file import write_ecsv
from provenn.spark.tables.fits_file import write_fits
from provenn.spark.tables.parquet_file import write_parquet
from provenn.spark.tables.parts import PartFiles
from provenn.spark.tables.votable_file import write_votable
from tests.programs import lint_votable

WRITERS = {"parquet": write_parquet, "fits": write_fits, "vot": write_votable, "ecsv": write_ecsv}
VALUES = st.recursive(
    st.booleans() | st.integers() | st.floats() | st.text(max_size=100),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYWORDS = st.text(max_size=12) | st.sampled_from(
    ["EPOCH", "RADESYS", "TIMESYS", "MJDREF", "HISTORY", "COMMENT", "comments", "TSCAL1", "TNULL1", "ZTABLE", "END"]
)


def saved(table: pa.Table, path: Path, notes: FileNotes, **said: str) -> Path:
    """Write a table as provenn does once Spark has computed it."""
    place = path.parent / "rows.parquet"
    parquet.write_table(table, place)
    parts = PartFiles(fs.LocalFileSystem(), [str(place)], table.schema)
    attributes = [
        Attribute(field.name, f"x:{field.name}", parse_type("string"), nullable=True, **said) for field in table.schema
    ]
    with path.open("wb") as stream:
        assert WRITERS[path.suffix[1:]](parts, attributes, stream, notes) == len(table)
    return path


def rows_of(path: Path) -> dict[str, list]:
    """Return what provenn reads of a file."""
    files = Files.at(path)
    if path.suffix == ".parquet":
        return parquet.read_table(path).to_pydict()
    made = convert_files(files, DataFolder.of(path.parent / "data"))
    return parquet.read_table(made.removeprefix("file://")).to_pydict()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("suffix", WRITERS)
def test_no_metadata_spoil_a_file(suffix):
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @example({"TSCAL1": 2, "TZERO1": 5, "TTYPE2": "x"}, "a")
    @example({"EPOCH": "J2000", "RADESYS": "ICRS", "equinox": "x" * 200}, "µ 'quoted' \"and\" & <more>")
    @example({"OBSERVER": "a\x85b", "lines": "\u2028", "\u2029key\x85": ["\x85", {"\u2028": "x\u2029\n y"}]}, "a")
    @given(st.dictionaries(KEYWORDS, VALUES, max_size=5), st.text(max_size=200))
    def spoiled(metadata, words):
        table = pa.table({"id": pa.array([1, 2], pa.int64()), "x": [1.5, None]})
        clean_words = "".join(one if one.isprintable() else " " for one in words.encode("utf-8", "replace").decode())
        origin = LineageNote("a" * 64, "Base", clean_words, clean_words, (), {"x": clean_words})
        notes = FileNotes("1", "a" * 64, clean_words, clean_words, (origin,), clean_metadata(metadata))
        with TemporaryDirectory() as folder:
            path = saved(table, Path(folder, f"a.{suffix}"), notes)
            assert rows_of(path) == {"id": [1, 2], "x": [1.5, None]}
            _read_by_astropy(path)
            kept = Files.at(path).table_metadata
            if suffix in ("parquet", "ecsv"):
                metadata = {key: value for key, value in notes.metadata.items() if key != "provenn"}
                assert kept == metadata
            if suffix == "fits" and isinstance(epoch := notes.metadata.get("EPOCH"), float):
                assert kept["EPOCH"] == pytest.approx(epoch, rel=1e-14)

    spoiled()


def _read_by_astropy(path: Path) -> None:
    if path.suffix == ".fits":
        with fits.open(path) as file:
            file.verify("exception")
            assert json.loads(file[1].header["PRVJSON"])["digest"] == "a" * 64
    elif path.suffix == ".vot":
        found = votable.parse(path, verify="warn")
        assert {info.name: info.value for info in found.resources[0].infos}["provenn_digest"] == "a" * 64
    elif path.suffix == ".ecsv":
        assert Table.read(path).meta["provenn"]["digest"] == "a" * 64
    else:
        assert json.loads(parquet.read_schema(path).metadata[b"provenn.origin"])["digest"] == "a" * 64


def test_stilts_finds_nothing_wrong_with_a_frame_and_an_origin(tmp_path):
    metadata = {"RADESYS": "ICRS", "EPOCH": 2016.0, "TIMESYS": "TCB", "MJDREF": 55197.0, "OBSERVER": "Ada"}
    notes = FileNotes("1", "a" * 64, "stars", "words", (LineageNote("a" * 64, "Base", "stars", "words"),), metadata)
    saved(pa.table({"ra": [1.0], "dec": [2.0]}), tmp_path / "a.vot", notes, unit="deg")
    assert lint_votable(tmp_path / "a.vot") == ""
    text = (tmp_path / "a.vot").read_text()
    assert text.count('ref="system"') == 2
    assert "<TIMESYS" not in text, "there are no times"
    kept = Files.at(tmp_path / "a.vot").table_metadata
    assert {key: kept[key] for key in metadata} == metadata


@pytest.mark.parametrize("suffix", ["fits", "ecsv", "parquet", "vot"])
def test_the_clock_of_times_survives(tmp_path, suffix):
    metadata = {"TIMESYS": "TCB", "TREFPOS": "BARYCENTER", "JDREF": 2455197.5}
    path = saved(pa.table({"t": [1.0]}), tmp_path / f"a.{suffix}", FileNotes("1", metadata=metadata), ucd="time.epoch")
    assert ("<TIMESYS" in path.read_text()) if suffix == "vot" else True
    kept = Files.at(path).table_metadata
    assert {key: kept[key] for key in metadata} == metadata


# --- ECSV ---

ECSV = {
    "bool": (pa.bool_(), st.booleans()),
    "int8": (pa.int8(), st.integers(-128, 127)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "uint64": (pa.decimal128(20, 0), st.integers(0, 2**64 - 1)),
    "float32": (pa.float32(), st.floats(width=32)),
    "float64": (pa.float64(), st.floats()),
    "string": (pa.string(), st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1).map(str.strip)),
    "list": (pa.list_(pa.float64()), st.lists(st.none() | st.floats(allow_nan=False), max_size=3)),
    "grid": (pa.list_(pa.list_(pa.int32())), st.just([[1, 2], [3, None]])),
}


@st.composite
def tables(draw) -> pa.Table:
    rows = draw(st.integers(1, 4))
    kinds = draw(st.lists(st.sampled_from(list(ECSV)), min_size=1, max_size=5))
    columns = {}
    for place, kind in enumerate(kinds):
        arrow, values = ECSV[kind]
        values = values if kind == "grid" else st.none() | values
        drawn = draw(st.lists(values, min_size=rows, max_size=rows))
        columns[f"c{place}"] = pa.array([one if one != "" else None for one in drawn], arrow)
    return pa.table(columns)


def _whole(rows: dict[str, list]) -> dict[str, list]:
    """Return rows with whole numbers for decimals, which are those of 64 bits without a sign."""
    return {name: [int(one) if isinstance(one, Decimal) else one for one in values] for name, values in rows.items()}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@example(pa.table({"c0": ["#no comment", None, 'a,"b'], "c1": pa.array([1, 2, 3], pa.int8())}))
@given(tables())
@pytest.mark.filterwarnings("ignore")
def test_ecsv_is_read_as_it_was_by_provenn_and_by_astropy(table):
    with TemporaryDirectory() as folder:
        path = saved(table, Path(folder, "a.ecsv"), FileNotes())
        assert repr(_whole(rows_of(path))) == repr(_whole(table.to_pydict()))
        found = Table.read(path)
        assert len(found) == len(table)
        for name in table.column_names:
            if not pa.types.is_list(table[name].type):
                theirs = np.ma.asarray(found[name])
                shown = [None if np.ma.is_masked(their) else their.item() for their in theirs]
                ours = _whole(table.to_pydict())[name]
                assert repr(shown) == repr(ours), name


def test_units_and_ucds_are_in_the_header_of_ecsv(tmp_path):
    path = saved(pa.table({"x": [1.5]}), tmp_path / "a.ecsv", FileNotes(), unit="mag", description="V", ucd="phot.mag")
    found = Table.read(path)
    assert (found["x"].unit, found["x"].description, found["x"].meta) == ("mag", "V", {"ucd": "phot.mag"})
    assert [(column.unit, column.description, column.ucd) for column in Files.at(path).columns] == [
        ("mag", "V", "phot.mag")
    ]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([b"x"]),
        pa.array([{"a": 1}]),
        pa.array([[[1], [2, 3]]], pa.list_(pa.list_(pa.int64()))),
        pa.array([2**64], pa.decimal128(38, 0)),
    ],
)
def test_what_ecsv_cannot_hold_is_refused(tmp_path, values):
    with pytest.raises(FormatError, match="ECSV"):
        saved(pa.table({"x": values}), tmp_path / "a.ecsv", FileNotes())
