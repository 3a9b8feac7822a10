"""IPAC and machine-readable tables as base data: what astropy reads of them arrives, or they are refused."""

import gzip
from pathlib import Path

import numpy as np
import pytest
from astropy.table import MaskedColumn, Table
from pyarrow import parquet

from provenn.catalogs import Files
from provenn.errors import BaseFilesError
from provenn.files.data_folder import DataFolder
from provenn.spark.tables import ascii_rows
from provenn.spark.tables.converting import convert_files

IPAC = r"""\EQUINOX = 2000.0
\RADESYS = 'ICRS'
\ made by hand
|   hip |   vmag | name     |
|   int | double | char     |
|       |    mag |          |
|    -9 |   null | null     |
      1     1.50  Sirius
      2     null  a b
     -9     2.25  null
"""
MRT = """\
Title: Bright stars
Authors: Ada
Table: One
================================================================================
Byte-by-byte Description of file: stars.txt
--------------------------------------------------------------------------------
   Bytes Format Units  Label  Explanations
--------------------------------------------------------------------------------
   1-  5 I5     ---    HIP    Number in Hipparcos
   7- 11 F5.2   mag    Vmag   ?=99.99 V magnitude
  13- 14 I2     h      RAh    ? Hour
  16- 21 A6     ---    Name   Name
--------------------------------------------------------------------------------
Note (1): it ends here.
--------------------------------------------------------------------------------
    1  1.50  6 Sirius
    2 99.99    a b
    3 -0.10 23
"""


def rows_of(files: Files, tmp_path: Path) -> dict[str, list]:
    path = convert_files(files, DataFolder.of(tmp_path / "data"))
    return parquet.read_table(path.removeprefix("file://")).to_pydict()


def at(tmp_path: Path, name: str, text: str, **given) -> Files:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return Files.at(path, **given)


@pytest.mark.parametrize("name", ["a.ipac", "a.tbl", "a.tbl.gz"])
def test_an_ipac_table(tmp_path, name):
    files = at(tmp_path, name, IPAC)
    assert [(column.name, str(column.type), column.unit) for column in files.columns] == [
        ("hip", "bigint", ""),
        ("vmag", "double", "mag"),
        ("name", "string", ""),
    ]
    assert rows_of(files, tmp_path) == {
        "hip": [1, 2, None],
        "vmag": [1.5, None, 2.25],
        "name": ["Sirius", "a b", None],
    }


@pytest.mark.parametrize("name", ["a.mrt", "a.mrt.gz"])
def test_a_machine_readable_table(tmp_path, name):
    files = at(tmp_path, name, MRT)
    assert [(column.name, str(column.type), column.unit, column.description) for column in files.columns] == [
        ("HIP", "bigint", "", "Number in Hipparcos"),
        ("Vmag", "double", "mag", "V magnitude"),
        ("RAh", "bigint", "h", "Hour"),
        ("Name", "string", "", "Name"),
    ]
    assert rows_of(files, tmp_path) == {
        "HIP": [1, 2, 3],
        "Vmag": [1.5, None, -0.1],
        "RAh": [6, None, 23],
        "Name": ["Sirius", "a b", None],
    }


@pytest.mark.parametrize("form", ["ipac", "mrt"])
def test_what_astropy_writes_in_many_pieces(tmp_path, form, monkeypatch):
    monkeypatch.setattr(ascii_rows, "_ROWS", 7)
    table = Table({"id": np.arange(30), "x": np.linspace(-5, 5, 30).round(3)})
    table["s"] = MaskedColumn([f"s{number}" for number in range(30)], mask=np.arange(30) % 4 == 0)
    table.write(tmp_path / f"a.{form}", format=f"ascii.{form}")
    wanted = Table.read(tmp_path / f"a.{form}", format=f"ascii.{form}")
    rows = rows_of(Files.at(tmp_path / f"a.{form}"), tmp_path)
    assert rows == {name: wanted[name].tolist() for name in wanted.colnames}
    assert rows["s"][:2] == [None, "s1"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("1|2|3\n", "is not an IPAC table"),
        ("|a|b|\n 1 2\n", "does not state the types"),
        ("|a |b  |\n|int|foo|\n", "cannot be read as IPAC"),
    ],
)
def test_what_is_no_ipac_table_is_refused(tmp_path, text, problem):
    with pytest.raises(BaseFilesError, match=problem):
        at(tmp_path, "a.tbl", text)


def test_what_is_no_machine_readable_table_is_refused(tmp_path):
    with pytest.raises(BaseFilesError, match="no Byte-by-byte Description"):
        at(tmp_path, "a.mrt", "hip vmag\n1 2\n")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.ipac", IPAC + "        7   1.50  x\n", "below a |"),
        ("a.ipac", IPAC + "      7     1.50  x         y\n", "below a |"),
        ("a.ipac", IPAC + "      x     1.50  x\n", "cannot be read as IPAC"),
        ("a.ipac", IPAC + "      7     1.50  é\n", "non-ASCII"),
        ("a.mrt", MRT + "    x  1.50  6 Sirius\n", "cannot be read as MRT"),
    ],
)
def test_a_row_that_does_not_fit_is_refused(tmp_path, name, text, problem):
    """A character that lies below a | is left out by astropy, and what remains is another number."""
    files = at(tmp_path, name, text)
    with pytest.raises(BaseFilesError, match=problem.replace("|", r"\|")):
        rows_of(files, tmp_path)


def test_whole_numbers_beyond_64_bits_are_refused_and_not_rounded(tmp_path):
    text = "|                   id |\n|                  int |\n  99999999999999999999\n"
    with pytest.raises(BaseFilesError, match="cannot be read as IPAC"):
        rows_of(at(tmp_path, "a.ipac", text), tmp_path)


def test_a_table_without_rows(tmp_path):
    assert rows_of(at(tmp_path, "a.ipac", "|  id |\n| int |\n"), tmp_path) == {"id": []}
