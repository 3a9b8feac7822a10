"""Units from a file, through definitions and Spark, into the files that astropy reads."""

import numpy as np
from astropy.table import QTable, Table
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


def test_spark_converts_attributes_as_astropy_does(engine, tmp_path):
    """Sums, choices, comparisons and angles of random values, against quantities of astropy on the same table."""
    random = np.random.default_rng(15)
    units = {"dec": "deg", "shift": "mas", "wide": "arcsec", "angle": "rad", "plx": "mas"}
    columns = {name: random.uniform(-80, 80, 200) for name in ("dec", "wide", "angle", "plx")}
    columns["shift"] = columns["dec"] * 3_600_000 * random.choice([0.5, 1.0, 2.0], 200)
    sky = QTable({"n": np.arange(200), **{name: values * Unit(units[name]) for name, values in columns.items()}})
    spark = engine.session.sparkContext.master
    with provenn.open(tmp_path / "survey", spark=spark, progress=False) as archive:
        spots = archive.ingest("sky", sky, key="n", population="spot")
        made = spots.derive(
            total="dec + shift + wide",
            largest="greatest(shift, dec)",
            cosine="cos(radians(dec))",
            sine="sin(wide / 1 rad)",
            arc="dec - asin(angle / 100)",
            dist=("1000 / plx", "pc"),
        )
        found = made.to_astropy().copy()
        found.sort("n")
        expected = {
            "total": (sky["dec"] + sky["shift"] + sky["wide"]).to("deg"),
            "largest": np.maximum(sky["shift"], sky["dec"]).to("mas"),
            "cosine": np.cos(sky["dec"]),
            "sine": np.sin(sky["wide"]),
            "dist": 1000 / sky["plx"].value * Unit("pc"),
        }
        for name, values in expected.items():
            np.testing.assert_allclose(np.asarray(found[name]), values.value, rtol=1e-13, atol=1e-11)
            assert (found[name].unit or Unit("")) == values.unit
        assert found["arc"].unit == Unit("deg")
        assert made.select("dist < 0.05 kpc").count() == int((1000 / sky["plx"].value < 50).sum())
        for text, rows in (
            ("dec > shift", sky["dec"].value * 3_600_000 > sky["shift"].value),  # astropy rounds where they are equal
            ("shift <= dec", sky["shift"].value <= sky["dec"].value * 3_600_000),
            ("dec = shift", sky["shift"].value == sky["dec"].value * 3_600_000),
            ("wide BETWEEN plx AND dec", (sky["wide"] >= sky["plx"]) & (sky["wide"] <= sky["dec"])),
        ):
            chosen = spots.select(text)
            assert sorted(chosen.to_pandas()["n"]) == np.flatnonzero(rows).tolist(), text
        assert archive.relate(spots.select("dec > shift"), spots.select("shift < dec")).summary == "equal"
        assert archive.relate(spots.select("dec > shift"), spots.select("dec < shift")).summary == "disjoint"
