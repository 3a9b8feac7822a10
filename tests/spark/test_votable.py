"""VOTables as base data."""

import base64
import gzip
import io
import math
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from astropy.io import votable
from astropy.table import MaskedColumn, Table

from provenn.catalogs import Base, Files
from provenn.errors import BaseFilesError
from provenn.files.data_folder import DataFolder
from provenn.files.votable_columns import read_votable_columns
from provenn.spark.reading import read_base
from provenn.spark.tables.converting import convert_files
from provenn.spark.tables.votable_rows import read_votable_batches
from tests.programs import program
from tests.waiting import LIMIT

TEXT = """<?xml version="1.0"?>
<VOTABLE version="1.3" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE>
<TABLE name="empty"><FIELD name="other" datatype="int"/></TABLE>
<TABLE name="stars" ID="t" nrows="3">
<FIELD name="id" datatype="long"/>
<FIELD name="v mag" datatype="float" unit="mag"><DESCRIPTION>V
  magnitude</DESCRIPTION></FIELD>
<FIELD name="n" datatype="short"><VALUES null="-99"/></FIELD>
<FIELD name="b" datatype="boolean"/>
<FIELD name="s" datatype="char" arraysize="*"/>
<FIELD name="u" datatype="unicodeChar" arraysize="8*"/>
<FIELD name="a" datatype="double" arraysize="2"/>
<FIELD name="l" datatype="int" arraysize="*"/>
<FIELD name="y" datatype="unsignedByte"/>
<FIELD name="c" datatype="doubleComplex"/>
<DATA><TABLEDATA>
<TR><TD>1</TD><TD>1.5</TD><TD>-99</TD><TD>T</TD><TD>ab &amp; c</TD><TD>\u00e9</TD>
<TD>1 2</TD><TD>1 2 3</TD><TD>255</TD><TD>1 2</TD></TR>
<TR><TD>2</TD><TD/><TD>7</TD><TD/><TD/><TD>x</TD><TD>NaN 3</TD><TD/><TD>0</TD><TD>0 0</TD></TR>
<TR><TD>9223372036854775807</TD><TD>NaN</TD><TD>0</TD><TD>F</TD><TD> z</TD>
<TD>y</TD><TD>0 -0.0</TD><TD>4</TD><TD/><TD>3 4</TD></TR>
</TABLEDATA></DATA></TABLE></RESOURCE></VOTABLE>
"""


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder.of(tmp_path / "data")


def rows_of(engine, folder, files: Files) -> list[tuple]:
    frame = read_base(engine, Base.of(files, key="id", population="star"), folder)
    assert frame.dtypes == [(column.name, str(column.type)) for column in files.columns]
    return [tuple(row) for row in frame.orderBy("id").collect()]


def test_columns_are_known_from_the_fields_alone(tmp_path):
    """The data could as well not be there."""
    (tmp_path / "a.vot").write_text(
        TEXT.split("<DATA>", maxsplit=1)[0] + "<DATA>" + " " * 100_000 + "no XML <<</VOTABLE>"
    )
    files = Files.at(tmp_path / "a.vot", options={"table": "stars"})
    assert [str(column.type) for column in files.columns] == [
        *("bigint", "float", "smallint", "boolean", "string", "string", "array<double>", "array<int>", "smallint"),
        "struct<re:double,im:double>",
    ]
    assert (files.columns[1].unit, files.columns[1].description, files.row_count) == ("mag", "V magnitude", 3)


@pytest.mark.parametrize("choice", ["stars", "t", 1])
def test_every_kind_of_column(engine, folder, tmp_path, choice):
    (tmp_path / "a.vot").write_text(TEXT)
    one, two, three = rows_of(engine, folder, Files.at(tmp_path / "a.vot", options={"table": choice}))
    assert one == (1, 1.5, None, True, "ab & c", "é", [1.0, 2.0], [1, 2, 3], 255, (1.0, 2.0))
    assert two[:5] == (2, None, 7, None, None)
    assert math.isnan(two[6][0])
    assert two[6][1] == 3
    assert three[:6] == (2**63 - 1, None, 0, False, "z", "y")
    assert three[7:] == ([4], None, (3.0, 4.0))


@pytest.mark.parametrize(
    ("form", "suffix"),
    [("tabledata", ".vot"), ("binary", ".xml"), ("binary2", ".votable"), ("binary2", ".vot.gz")],
)
def test_what_astropy_writes_is_read(engine, folder, tmp_path, form, suffix):
    table = Table({"id": [3, 1, 2], "arr": np.arange(6.0).reshape(3, 2)})
    table["n"] = MaskedColumn(np.array([10, 20, 30], "i4"), mask=[form != "binary", False, False])
    table["x"] = MaskedColumn([1.0, 2.0, 3.0], mask=[False, True, False], unit="mag")
    table["s"] = ["a", "bé", "ccc"]
    path = tmp_path / f"a{suffix}"
    plain = tmp_path / "plain.vot"
    votable.writeto(votable.from_table(table), str(plain), tabledata_format=form)
    path.write_bytes(gzip.compress(plain.read_bytes()) if suffix.endswith("gz") else plain.read_bytes())
    files = Files.at(path)
    assert files.format == "votable"
    assert rows_of(engine, folder, files) == [
        (1, [2.0, 3.0], 20, None, "bé"),
        (2, [4.0, 5.0], 30, 3.0, "ccc"),
        (3, [0.0, 1.0], 10 if form == "binary" else None, 1.0, "a"),  # the oldest form has no place for this NULL
    ]


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        ("no XML", {}, "does not end like a VOTable"),
        ("no XML</VOTABLE>", {}, "cannot be read as VOTable"),
        ("<html><body/></html><!--</VOTABLE>-->", {}, "is not a VOTable"),
        (TEXT.split("<TR><TD>2", maxsplit=1)[0], {"table": 1}, "does not end like a VOTable"),
        ("<VOTABLE><RESOURCE/></VOTABLE>", {}, "a.vot has no table 0"),
        (TEXT, {"table": "galaxies"}, "a.vot has no table galaxies\nthere are the tables empty, stars"),
        (TEXT.replace("long", "quaternion"), {"table": 1}, "unknown type 'quaternion'"),
    ],
)
def test_what_is_no_votable_is_told(tmp_path, text, options, problem):
    (tmp_path / "a.vot").write_text(text)
    with pytest.raises(BaseFilesError, match=problem):
        Files.at(tmp_path / "a.vot", options=options)


def test_data_that_are_damaged_are_told_and_nothing_is_left(engine, folder, tmp_path):
    (tmp_path / "a.vot.gz").write_bytes(gzip.compress(TEXT.split("<TR><TD>2", maxsplit=1)[0].encode()))
    base = Base.of(Files.at(tmp_path / "a.vot.gz", options={"table": 1}), key="id", population="star")
    with pytest.raises(BaseFilesError, match=r"a\.vot\.gz cannot be read as VOTable"):
        read_base(engine, base, folder)
    assert folder.files("converted") == folder.files("_temporary") == ()


def read(text: str, wanted: str = "0") -> list[dict]:
    """Return the rows of a table of a VOTable, without Spark."""
    columns = read_votable_columns(io.BytesIO(text.encode()), "a.vot", {"table": wanted}, len(text)).columns
    (rows,) = read_votable_batches(io.BytesIO(text.encode()), columns, "a.vot", wanted)
    return rows.to_pylist()


def votable_of(tables: str, version: str = "1.4") -> str:
    return f'<VOTABLE version="{version}" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE>{tables}</RESOURCE></VOTABLE>'


def table_of(field: str, *cells: str, called: str = "") -> str:
    rows = "".join(f"<TR><TD>{cell}</TD></TR>" for cell in cells)
    return f"<TABLE {called}><FIELD {field}</FIELD><DATA><TABLEDATA>{rows}</TABLEDATA></DATA></TABLE>"


@pytest.mark.parametrize(
    "tables",
    [
        "<RESOURCE>{}</RESOURCE>{}",  # astropy lists the inner tables last
        "{}{}",
    ],
)
def test_tables_are_counted_as_they_come(tables):
    """Whatever they are called, and in whatever resource: the values are of the table that the columns are of."""
    first = table_of('name="a" datatype="int">', "1")
    second = table_of('name="b" datatype="int">', "2", called='name="0"')
    text = votable_of(tables.format(first, second))
    assert (read(text), read(text, "1")) == ([{"a": 1}], [{"b": 2}])


@pytest.mark.parametrize(
    ("field", "cells", "values"),
    [
        ('datatype="int" arraysize="2"><VALUES null="-9"/>', ["1 -9", "-9 -9", ""], [[1, None], None, None]),
        ('datatype="int" arraysize="*"><VALUES null="-9"/>', ["1 -9"], [[1, None]]),
        ('datatype="int" arraysize="2x2"><VALUES null="-9"/>', ["1 -9 3 4"], [[[1, None], [3, 4]]]),
        ('datatype="double" arraysize="2"><VALUES null="-9"/>', ["1 -9", ""], [[1, None], None]),
        ('datatype="double" arraysize="*"><VALUES null="-9"/>', ["1 -9"], [[1, None]]),
        ('datatype="double" arraysize="2">', ["1 2", ""], [[1, 2], None]),
        ('datatype="boolean" arraysize="2">', ["T ?", ""], [[True, None], None]),
    ],
)
def test_null_in_arrays_is_what_the_table_says(field, cells, values):
    text = votable_of(table_of(f'name="x" {field}', *cells))
    assert [row["x"] for row in read(text)] == values


def test_nan_in_arrays_stays_nan_and_is_not_null():
    text = votable_of(table_of('name="x" datatype="double" arraysize="2x2">', "NaN 1 NaN NaN"))
    ((first, second),) = (row["x"] for row in read(text))
    assert math.isnan(first[0])
    assert first[1] == 1
    assert all(map(math.isnan, second))


@pytest.mark.parametrize("version", ["1.1", "1.2", "1.3", "1.5"])
def test_an_empty_cell_is_null_in_every_version(version):
    """In old ones, astropy takes 0 for a whole number that is not there."""
    text = votable_of(table_of('name="x" datatype="int">', "", "5"), version)
    assert read(text) == [{"x": None}, {"x": 5}]


@pytest.mark.parametrize(
    ("field", "cell"),
    [
        ('datatype="char">', "NGC 224"),
        ('datatype="unicodeChar" arraysize="3">', "NGC 224"),
        ('datatype="short">', "40000"),
        ('datatype="int" arraysize="2">', "1 2 3"),
        ('datatype="int" arraysize="2">', "1"),
    ],
)
def test_values_that_do_not_fit_their_field_are_refused_not_cut(field, cell):
    text = votable_of(table_of(f'name="x" {field}', cell))
    with pytest.raises(BaseFilesError, match=r"a\.vot cannot be read as VOTable"):
        read(text)


@pytest.mark.parametrize("form", ["binary", "binary2"])
@pytest.mark.parametrize("further", [{}, {"flag": [True, False, True], "v": [[1.5, 2]] * 3}])
def test_a_stream_that_ends_within_a_row_is_refused(form, further):
    written = io.BytesIO()
    Table({"x": [1, 2, 3], **further}).write(written, format="votable", tabledata_format=form)
    text = written.getvalue().decode()
    found = re.search(r"(<STREAM[^>]*>)(.*?)(</STREAM>)", text, re.DOTALL)
    assert found is not None
    data = base64.b64decode(found[2])
    for size in range(len(data) + 1):
        for announced in (' nrows="3"', ""):
            cut = found[1] + base64.encodebytes(data[:size]).decode() + found[3]
            shorter = text.replace(found[0], cut).replace("<TABLE", f"<TABLE{announced}")
            rows, rest = divmod(size, len(data) // 3)
            if rest or (announced and rows < 3):
                with pytest.raises(BaseFilesError, match=r"end within a row|announces 3 rows"):
                    read(shorter)
            else:
                assert [row["x"] for row in read(shorter)] == [1, 2, 3][:rows]


def test_an_array_of_texts_and_a_number_that_is_none_are_refused_in_words():
    with pytest.raises(BaseFilesError, match=r"^x of a\.vot is an array of texts"):
        read(votable_of(table_of('name="x" datatype="char" arraysize="3x2">', "abcdef")))
    with pytest.raises(
        BaseFilesError, match=r"^a\.vot cannot be read as VOTable: ValueError: invalid literal .* 'abc'"
    ):
        read(votable_of(table_of('name="x" datatype="int">', "abc")))


# --- a FITS file within a VOTable ---


FIELDS = {
    "id": '<FIELD name="id" datatype="long"/>',
    "x": '<FIELD name="x" datatype="double" unit="mag" ucd="phot.mag"/>',
    "n": '<FIELD name="n" datatype="short"/>',
    "s": '<FIELD name="s" datatype="char" arraysize="*"/>',
    "u": '<FIELD name="u" datatype="int"/>',
    "g": '<FIELD name="g" datatype="int" arraysize="2x3"/>',
}


def fits_bytes() -> bytes:
    table = Table({"id": [1, 2, 3], "x": [1.5, math.nan, 3.0]})
    table["n"] = MaskedColumn(np.array([1, 2, 3], "i2"), mask=[False, True, False])
    table["s"] = ["a", "b c", "d"]
    table["u"] = np.array([1, 2, 65535], "u2")
    table["g"] = np.arange(18, dtype="i4").reshape(3, 3, 2)
    made = io.BytesIO()
    table.write(made, format="fits")
    return made.getvalue()


def inline(data: bytes | str, fields: dict[str, str] = FIELDS, **given: str) -> str:
    text = data if isinstance(data, str) else base64.encodebytes(data).decode()
    encoding = given.get("encoding", 'encoding="base64"')
    return (
        '<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE>'
        '<TABLE><FIELD name="a" datatype="int"/><DATA><FITS><STREAM encoding="base64">AAAA</STREAM></FITS></DATA>'
        "</TABLE>"
        f"<TABLE>{''.join(fields.values())}<DATA><FITS{given.get('extnum', '')}><STREAM {encoding}>{text}</STREAM>"
        "</FITS></DATA></TABLE></RESOURCE></VOTABLE>"
    )


@pytest.mark.parametrize("extnum", ["", ' extnum="1"'])
def test_a_fits_file_within_a_votable_is_read_as_the_fits_file(engine, folder, tmp_path, extnum):
    (tmp_path / "a.vot").write_text(inline(fits_bytes(), extnum=extnum))
    (tmp_path / "a.fits").write_bytes(fits_bytes())
    files = Files.at(tmp_path / "a.vot", options={"table": 1})
    assert (files.columns[1].unit, files.columns[1].ucd) == ("mag", "phot.mag")
    rows = rows_of(engine, folder, files)
    assert rows == rows_of(engine, folder, Files.at(tmp_path / "a.fits"))
    assert rows[1] == (2, None, None, "b c", 2, [[6, 7], [8, 9], [10, 11]])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (inline("not base64!"), "cannot be decoded"),
        (inline("QUJD"), "FITS file in"),
        (inline(fits_bytes()[:4000]), "FITS file in"),
        (inline(fits_bytes(), encoding='encoding="gzip"'), "is not in base64"),
        (inline(fits_bytes(), extnum=' extnum="7"'), "no part '7'"),
        (inline(fits_bytes(), dict(list(FIELDS.items())[:-1])), "do not match the columns"),
        (inline(fits_bytes(), FIELDS | {"x": '<FIELD name="x" datatype="float"/>'}), "do not match the columns"),
        (inline("", encoding='href="file:///tmp/x.fits"'), "are in another file"),
    ],
)
def test_a_fits_file_within_a_votable_that_is_something_else_is_refused(tmp_path, folder, text, problem):
    (tmp_path / "a.vot").write_text(text)
    with pytest.raises(BaseFilesError, match=problem):
        convert_files(Files.at(tmp_path / "a.vot", options={"table": 1}), folder)


def test_what_stilts_writes_with_a_fits_file_within_is_read(engine, folder, tmp_path):
    (tmp_path / "a.fits").write_bytes(fits_bytes())
    paths = [f"in={tmp_path / 'a.fits'}", f"out={tmp_path / 'b.vot'}"]
    subprocess.run([program("stilts"), "tpipe", *paths, "ofmt=votable-fits-inline"], check=True, timeout=LIMIT)
    assert rows_of(engine, folder, Files.at(tmp_path / "b.vot")) == rows_of(
        engine, folder, Files.at(tmp_path / "a.fits")
    )
