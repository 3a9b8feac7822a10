"""Units from a file, through definitions and Spark, into the files that astropy reads."""

from astropy.table import Table
from astropy.units import Unit

import provenn
from tests.spark.conftest import engine

__all__ = ["engine"]


def test_units_of_what_is_derived_are_in_the_files_that_are_written(engine, tmp_path):
    columns = {"hip": [1, 2, 3], "plx": [5.0, 20.0, 100.0], "pm": [1.0, 2.0, 3.0]}
    Table(columns, units={"plx": "mas", "pm": "mas/yr"}).write(tmp_path / "stars.fits")
    spark = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=spark, progress=False) as archive:
        stars = archive.ingest("stars", tmp_path / "stars.fits", key="hip", population="star")
        near = stars.select("plx > 0.01 arcsec").derive(dist="1000 / plx", rate="pm / plx", far="plx - 0.005 arcsec")
        near.store()
        units = {"plx": "mas", "dist": "1/mas", "rate": "1/yr", "far": "mas"}
        for name in ("near.fits", "near.vot"):
            near.write(tmp_path / name)
            table = Table.read(tmp_path / name)
            table.sort("hip")
            assert {column: table[column].unit for column in units} == {one: Unit(text) for one, text in units.items()}
            assert table["dist"].tolist() == [50.0, 10.0]
            assert table["far"].tolist() == [15.0, 95.0]
        asked = archive.target("stars", ["rate"], where="plx > 10 mas")
        assert asked.catalog().schema["rate"].unit == "yr-1"
        assert asked.count() == 2
        assert {field.name: field.metadata.get("unit") for field in near.to_spark().schema}["rate"] == "yr-1"
