"""ECSV as base data: what astropy wrote, and reads again, arrives with its types, masks, units and arrays."""

import bz2
import gzip
import math
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import astropy.units as u
import numpy as np
import pytest
from astropy.coordinates import SkyCoord
from astropy.table import MaskedColumn, QTable, Table
from astropy.time import Time
from pyarrow import parquet

from provenn.catalogs import Base, Files
from provenn.errors import BaseFilesError
from provenn.files.data_folder import DataFolder
from provenn.spark.reading import read_base
from provenn.spark.tables.converting import convert_files

GAIA = """\
# %ECSV 1.0
# ---
# delimiter: ','
# datatype:
# -
#   name: source_id
#   datatype: int64
#   description: Unique source identifier
# -
#   name: parallax
#   datatype: float64
#   unit: mas
#   description: Parallax
#   meta: {ucd: pos.parallax.trig}
# -
#   name: in_qso_candidates
#   datatype: bool
# -
#   name: libname_gspphot
#   datatype: string
# meta:
#   name: GaiaSource
#   epoch: J2016.0
source_id,parallax,in_qso_candidates,libname_gspphot
4295806720,0.35,"True","MARCS"
34361129088,null,"False",null
"""
"""How the Gaia archive writes its bulk files, `GaiaSource_….csv.gz`."""


def rows_of(files: Files, tmp_path: Path) -> dict[str, list]:
    """Return the rows that the conversion makes; Spark reads its Parquet."""
    path = convert_files(files, DataFolder.of(tmp_path / "data"))
    return parquet.read_table(path.removeprefix("file://")).to_pydict()


def types(files: Files) -> dict[str, str]:
    return {column.name: str(column.type) for column in files.columns}


@pytest.mark.parametrize("name", ["gaia.csv", "gaia.csv.gz", "gaia.ecsv", "gaia.ecsv.bz2"])
def test_bulk_files_of_gaia_are_read_once_it_is_said_what_null_is(engine, tmp_path, name):
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(Path(name).suffix, bytes)
    (tmp_path / name).write_bytes(pack(GAIA.encode()))
    with pytest.raises(BaseFilesError, match="the column parallax holds 'null', which is not a float64") as raised:
        Files.at(tmp_path / name)
    assert "null='null'" in raised.value.hint
    files = Files.at(tmp_path / name, null="null")
    assert files.format == "ecsv"
    assert types(files) == {
        "source_id": "bigint",
        "parallax": "double",
        "in_qso_candidates": "boolean",
        "libname_gspphot": "string",
    }
    parallax = files.columns[1]
    assert (parallax.unit, parallax.description, parallax.ucd) == ("mas", "Parallax", "pos.parallax.trig")
    base = Base.of(files, key="source_id", population="star")
    frame = read_base(engine, base, DataFolder.of(tmp_path / "data"))
    assert sorted(map(tuple, frame.collect())) == [
        (4295806720, 0.35, True, "MARCS"),
        (34361129088, None, False, None),
    ]


def every_kind() -> Table:
    table = Table({"id": [1, 2, 3]})
    table["text"] = MaskedColumn(["a b", "", 'x\ny "q", é'], mask=[False, True, False])
    table["x"] = MaskedColumn([1.5, math.nan, 3.0], mask=[True, False, False], unit="km / s", description="speed")
    table["n"] = MaskedColumn(np.array([-128, 5, 127], "i1"), mask=[False, True, False])
    table["big"] = np.array([0, 1, 2**64 - 1], "u8")
    table["half"] = np.array([0.1, -0.0, 65504.0], "f2")
    table["single"] = np.array([0.1, 1e-40, math.inf], "f4")
    table["flag"] = MaskedColumn([True, False, True], mask=[False, False, True])
    table["pair"] = MaskedColumn(np.arange(6.0).reshape(3, 2), mask=[[False, True], [True, True], [False, False]])
    table["grid"] = np.arange(12).reshape(3, 2, 2)
    table["list"] = np.array([np.array([1, 2]), np.array([], int), np.array([3])], dtype=object)
    table["json"] = np.array([{"a": 1}, [1, "x"], None], dtype=object)
    return table


@pytest.mark.parametrize("delimiter", [" ", ","])
def test_every_kind_of_column(tmp_path, delimiter):
    every_kind().write(tmp_path / "a.ecsv", delimiter=delimiter)
    files = Files.at(tmp_path / "a.ecsv")
    assert types(files) == {
        "id": "bigint",
        "text": "string",
        "x": "double",
        "n": "tinyint",
        "big": "decimal(20,0)",
        "half": "float",
        "single": "float",
        "flag": "boolean",
        "pair": "array<double>",
        "grid": "array<array<bigint>>",
        "list": "array<bigint>",
        "json": "string",
    }
    assert (files.columns[2].unit, files.columns[2].description) == ("km.s**-1", "speed")
    rows = rows_of(files, tmp_path)
    assert rows["text"] == ["a b", None, 'x\ny "q", é']
    assert rows["x"][0] is None
    assert math.isnan(rows["x"][1])
    assert rows["n"] == [-128, None, 127]
    assert rows["big"] == [Decimal(0), Decimal(1), Decimal(2**64 - 1)]
    assert rows["half"] == [float(np.float16(0.1)), -0.0, 65504.0]
    assert math.copysign(1, rows["half"][1]) == -1
    assert rows["single"] == [float(np.float32(0.1)), float(np.float32(1e-40)), math.inf]
    assert rows["flag"] == [True, False, None]
    assert rows["pair"] == [[0.0, None], None, [4.0, 5.0]]
    assert rows["grid"] == [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]
    assert rows["list"] == [[1, 2], [], [3]]
    assert rows["json"] == ['{"a":1}', '[1,"x"]', None]


def test_masks_that_are_columns_of_their_own(tmp_path):
    """Then the empty text is a text."""
    table = Table({"id": [1, 2, 3]})
    table["s"] = MaskedColumn(["", "b", "c"], mask=[False, True, False])
    table["x"] = MaskedColumn([1.0, -999.0, 3.0], mask=[False, True, False])
    table.write(tmp_path / "a.ecsv", serialize_method="data_mask")
    files = Files.at(tmp_path / "a.ecsv")
    assert list(types(files)) == ["id", "s", "x"]
    assert rows_of(files, tmp_path) == {"id": [1, 2, 3], "s": ["", None, "c"], "x": [1.0, None, 3.0]}


def test_positions_and_moments_are_those_of_a_table_in_memory(tmp_path):
    """Times in other scales, or as numbers, stay what is in the file."""
    table = QTable({"id": [1, 2]})
    table["when"] = Time(["2020-01-01T12:00:00.5", "1969-12-31"])
    table["when"][1] = np.ma.masked
    table["mjd"] = Time([50000.0, 50001.5], format="mjd")
    table["tt"] = Time(["2020-01-01", "2021-01-01"], scale="tt")
    table["sky"] = SkyCoord([10.0, 20.0] * u.deg, [-5.0, 5.0] * u.deg)
    table.write(tmp_path / "a.ecsv")
    files = Files.at(tmp_path / "a.ecsv")
    assert types(files) == {
        "id": "bigint",
        "when": "timestamp",
        "mjd": "double",
        "tt": "string",
        "ra": "double",
        "dec": "double",
    }
    assert files.columns[4].ucd == "pos.eq.ra;meta.main"
    rows = rows_of(files, tmp_path)
    assert rows["when"] == [datetime(2020, 1, 1, 12, 0, 0, 500000, tzinfo=UTC), None]
    assert (rows["mjd"], rows["tt"][0]) == ([50000.0, 50001.5], "2020-01-01 00:00:00.000")
    assert (rows["ra"], rows["dec"]) == ([10.0, 20.0], [-5.0, 5.0])


def test_several_files_and_a_table_without_rows(tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(3):
        Table({"id": np.arange(number) + 10 * number}).write(tmp_path / "in" / f"{number}.ecsv")
    assert sorted(rows_of(Files.at(tmp_path / "in"), tmp_path)["id"]) == [10, 20, 21]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (("%ECSV", "%CSV"), "is not ECSV"),
        (("datatype:", "datatypes:"), "cannot be read"),
        (("name: parallax", "name: plx"), "names the columns"),
        (("datatype: float64", "datatype: float128"), "has the type float128"),
        (("delimiter: ','", "delimiter: '|'"), "separates values by"),
        (("#   name: source_id", "#   name: [source_id"), "cannot be read"),
    ],
)
def test_a_header_that_is_wrong_is_refused(tmp_path, change, problem):
    (tmp_path / "a.ecsv").write_text(GAIA.replace(*change))
    with pytest.raises(BaseFilesError, match=problem):
        Files.at(tmp_path / "a.ecsv", null="null")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("5,x,True,a", "does not match its header"),
        ("5,1.5,True", "does not match its header"),
        ("5,1.5,True,a,b", "does not match its header"),
        ("99999999999999999999,1.5,True,a", "does not match its header"),
        ("# a comment, of, four, parts", "begins with #"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_and_nothing_is_left(tmp_path, line, problem):
    (tmp_path / "a.ecsv").write_text(GAIA + line + "\n")
    files = Files.at(tmp_path / "a.ecsv", null="null")
    with pytest.raises(BaseFilesError, match=problem):
        rows_of(files, tmp_path)
    assert not list((tmp_path / "data").rglob("*.parquet"))


def test_a_word_for_null_that_comes_late_is_told_as_one(tmp_path):
    """Beyond what is looked at when the file is ingested."""
    many = "".join(f"{number},1.5,True,a\n" for number in range(100_000))
    (tmp_path / "a.ecsv").write_text(GAIA.replace("34361129088,null", "34361129088,2.5") + many + "7,null,True,a\n")
    files = Files.at(tmp_path / "a.ecsv")
    with pytest.raises(BaseFilesError) as raised:
        rows_of(files, tmp_path)
    assert "null='null'" in raised.value.hint


@pytest.mark.parametrize("cell", ['"[1.0]"', '"[1.0,2.0,3.0]"', '"[1.0,[2.0]]"', "x", '"{}"', "3.0", '"[1.0,""x""]"'])
def test_an_array_of_another_shape_is_refused(tmp_path, cell):
    Table({"id": [1], "x": [[1.0, 2.0]]}).write(tmp_path / "a.ecsv", delimiter=",")
    with (tmp_path / "a.ecsv").open("a") as file:
        file.write(f"2,{cell}\n")
    with pytest.raises(BaseFilesError, match=r"the column x of a\.ecsv"):
        rows_of(Files.at(tmp_path / "a.ecsv"), tmp_path)
