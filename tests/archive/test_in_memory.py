"""Tables from memory become catalogs, are computed with, and come back; what cannot be is refused, and nothing lost."""

import astropy.units as u
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from astropy.coordinates import SkyCoord
from astropy.table import MaskedColumn, QTable, Table
from astropy.time import Time

import provenn
from provenn.errors import BaseFilesError, KeyValuesError, TooLargeError
from tests.catalogs.skies import write_hats
from tests.spark.conftest import engine

__all__ = ["engine"]


@pytest.fixture
def working(engine, tmp_path):
    with provenn.open(tmp_path / "survey", spark=engine.session.sparkContext.master, who="ada") as archive:
        yield archive


def table() -> QTable:
    made = QTable({"hip": [3, 1, 2], "plx": [10.0, 20.0, np.nan] * u.mas, "name": ["Sirius", "", "Vega"]})
    made["plx"].info.description = "parallax"
    made["plx"].info.meta = {"ucd": "pos.parallax.trig"}
    made["n"] = MaskedColumn(np.array([1, 2, 3], "i2"), mask=[True, False, False])
    made["pair"] = MaskedColumn(np.arange(6.0).reshape(3, 2), mask=[[True, True], [False, False], [False, False]])
    made["at"] = Time(["2026-11-16T07:00:00", "2026-01-01T00:00:00.123456", "2000-01-01T12:00:00"])
    made["sky"] = SkyCoord([1, 2, 3], [4, 5, 6], unit="deg")
    return made


def test_a_table_of_astropy_goes_through_spark_and_comes_back(working):
    stars = working.ingest("stars", table(), key="hip", population="star")
    assert stars.schema["plx"].ucd == "pos.parallax.trig"
    near = stars.select("plx > 15 OR hip = 3").derive(dist="1000 / plx")
    found = near.to_astropy()
    found.sort("hip")
    assert found["hip"].tolist() == [1, 2, 3], "NaN is the largest number"
    assert found["plx"].unit == u.mas
    assert (found["plx"].info.description, found["plx"].info.meta) == ("parallax", {"ucd": "pos.parallax.trig"})
    assert found["n"].tolist() == [2, 3, None]
    assert found["pair"].tolist() == [[2.0, 3.0], [4.0, 5.0], [None, None]]
    assert found["at"][0].isot == "2026-01-01T00:00:00.123456"
    assert found["ra"].tolist() == [2.0, 3.0, 1.0]
    assert found["name"].tolist() == ["", "Vega", "Sirius"]
    quantities = working.target(stars, ["plx"]).to_astropy(quantities=True)
    assert isinstance(quantities, QTable)
    assert quantities["plx"].unit == u.mas
    assert working.ingest("again", stars.to_astropy(), key="hip", population="star").count() == 3
    with pytest.raises(TooLargeError):
        stars.to_astropy(limit=10)
    assert stars.to_arrow().schema.field("plx").metadata == {
        b"unit": b"mas",
        b"description": b"parallax",
        b"ucd": b"pos.parallax.trig",
    }
    nothing = stars.select("hip < 0 AND hip > 0").to_astropy()
    assert (len(nothing), nothing["plx"].unit) == (0, u.mas)


def test_pandas_and_arrow_become_catalogs(working):
    frame = pd.DataFrame({"v": [1.5, None]}, index=pd.Index([7, 8], name="hip"))
    stars = working.ingest("stars", frame, key="hip", population="star")
    assert stars.select("v IS NULL").to_pandas()["hip"].tolist() == [8]
    arrow = pa.table({"hip": [7, 9], "w": [1, 2]})
    both = stars.combine(working.ingest("others", arrow, key="hip", population="star"))
    assert both.to_arrow().to_pylist() == [{"hip": 7, "v": 1.5, "w": 1}]


def test_a_folder_in_hats_is_read_by_its_parts(working, tmp_path):
    written = write_hats(tmp_path / "gaia", several_files=True)
    gaia = working.ingest("gaia", tmp_path / "gaia", key="source_id", population="source")
    assert gaia.attributes == tuple(written.column_names)
    assert gaia.to_arrow().sort_by("source_id").to_pydict() == written.sort_by("source_id").to_pydict()
    north = written.filter(pa.compute.greater(written["dec"], 30.0))
    assert gaia.select("dec > 30").count() == len(north)


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        (Table({"hip": MaskedColumn([1, 2], mask=[False, True])}), KeyValuesError, "1 of 2 rows have a NULL key hip"),
        (Table({"hip": [1, 2], "o": np.array([{}, 1], object)}), BaseFilesError, "the column o holds objects"),
        (pd.DataFrame({"hip": [1, None]}), KeyValuesError, "1 of 2 rows have a NULL key hip"),
        ([1, 2], BaseFilesError, "expected a path or a table, got a list"),
    ],
)
def test_what_cannot_be_taken_changes_nothing(stars, tmp_path, given, error, problem):
    archive = stars.archive
    with pytest.raises(error, match=problem) as raised:
        archive.ingest("stars", given, key="hip", population="star", rebuild=True)
    assert raised.value.hint
    assert archive["stars"] == stars
    store = tmp_path / "survey" / "store"
    assert not [one for one in store.rglob("*") if one.is_file()]


def test_types_of_a_table_in_memory_are_its_own(archive):
    with pytest.raises(BaseFilesError, match="already has types"):
        archive.ingest("x", pa.table({"hip": [1]}), key="hip", population="star", schema={"hip": "int"})


def test_keys_that_occur_twice_are_found_when_asked(working):
    with pytest.raises(KeyValuesError):
        working.ingest("x", pa.table({"hip": [1, 1]}), key="hip", population="star", verify=True)
    with pytest.raises(provenn.errors.UnknownCatalogError):
        working["x"]


def test_masks_of_astropy_are_masks_also_in_a_table_that_arrow_read(working, tmp_path):
    """The table has mag and mag.mask then, and says in its metadata that the one is the mask of the other."""
    made = Table({"hip": [1, 2]}, meta={"EPOCH": 2016.0})
    made["mag"] = MaskedColumn([-999.0, 5.0], mask=[True, False], unit="mag")
    made.write(tmp_path / "a.parquet")
    stars = working.ingest("stars", pq.read_table(tmp_path / "a.parquet"), key="hip", population="star")
    assert stars.attributes == ("hip", "mag")
    assert stars.select("mag < 10").to_arrow().to_pydict() == {"hip": [2], "mag": [5.0]}
    assert stars.definition.files.table_metadata == {"EPOCH": 2016.0}


def test_what_is_said_of_a_table_as_a_whole_is_kept_and_makes_no_other_table(working):
    one, other = ({"EPOCH": 2016.0}, {})
    stars = working.ingest("stars", Table({"hip": [1]}, meta=one), key="hip", population="star")
    assert stars.definition.files.table_metadata == one
    assert working.ingest("again", Table({"hip": [1]}, meta=other), key="hip", population="star") == stars


def test_a_frame_of_spark_is_refused_before_any_row_is_collected(working, engine):
    """Spark's frames export Arrow, but collect all their rows for it."""
    frame = engine.session.range(3).selectExpr("id", "assert_true(false) AS never")
    with pytest.raises(BaseFilesError, match="collected into this process") as refused:
        working.ingest("stars", frame, key="id", population="star")
    assert "frame.write.parquet(folder)" in str(refused.value.hint)
    working.ingest("stars", pa.table({"id": [1], "x": [1.0]}), key="id", population="star")
    with pytest.raises(BaseFilesError, match="a Spark DataFrame"):
        working.append("stars", engine.session.range(3))
