"""Files that are cut off, contradict themselves or lead elsewhere are refused, in words, before anything is defined."""

import io
from pathlib import Path

import numpy as np
import pytest
from astropy.io import fits, votable
from astropy.table import Table

from provenn.catalogs import Files
from provenn.errors import BaseFilesError
from provenn.files.votable_scan import check_votable
from provenn.spark.tables.fits_rows import read_fits_batches
from provenn.spark.tables.votable_rows import read_votable_batches


def fits_bytes(**header) -> bytes:
    lists = np.empty(100, object)
    lists[:] = [np.arange(number % 4, dtype="i4") for number in range(100)]
    columns = [
        fits.Column("id", "K", array=np.arange(1, 101)),
        fits.Column("v", "D", array=np.ones(100)),
        fits.Column("a", "PJ()", array=lists),
    ]
    stream = io.BytesIO()
    fits.HDUList([fits.PrimaryHDU(), fits.BinTableHDU.from_columns(columns)]).writeto(stream)
    stored = stream.getvalue()
    for key, value in header.items():
        start = stored.index(f"{key:8}=".encode())
        card = f"{key:8}= {value:>20}".ljust(80).encode()
        stored = stored[:start] + card + stored[start + 80 :]
    return stored


def votable_bytes() -> bytes:
    stream = io.BytesIO()
    table = Table({"id": np.arange(50), "v": np.ones(50)})
    votable.writeto(votable.from_table(table), stream, tabledata_format="binary2")
    return stream.getvalue()


def refused(path: Path) -> BaseFilesError:
    with pytest.raises(BaseFilesError) as raised:
        Files.at(path)
    assert path.name in raised.value.message
    return raised.value


@pytest.mark.parametrize("part", ["first header", "second header", "rows", "lists", "filling"])
def test_a_fits_file_that_is_cut_off_is_refused(tmp_path: Path, part):
    whole = fits_bytes()
    start, rows = 2 * 2880, 100 * 24
    places = {
        "first header": range(0, 2880, 240),
        "second header": range(2880 + 80, start, 400),
        "rows": range(start, start + rows, 333),
        "lists": range(start + rows, start + rows + 600, 150),
        "filling": [len(whole) - 100],
    }
    path = tmp_path / "stars.fits"
    for place in places[part]:
        path.write_bytes(whole[:place])
        if part == "filling":
            assert Files.at(path).row_count == 100, "nothing that counts is missing"
            continue
        message = refused(path)
        if b"END  " in whole[:2880][:place] and part == "first header":
            assert message.message == "there is no table in stars.fits"  # as many a FITS file
        else:
            assert message.hint == "check that it was copied completely"


@pytest.mark.parametrize(
    ("header", "problem"),
    [
        ({"NAXIS2": 10**9}, "ends in the middle of its table: its header announces 1,000,000,000 rows"),
        ({"NAXIS2": 40, "PCOUNT": 0}, "holds more than the 40 rows"),
        ({"NAXIS2": -1}, "contradicts itself"),
        ({"NAXIS2": "'many'"}, "is not complete|cannot be read"),
        ({"NAXIS1": 23}, "contradicts itself: 100 rows of 23 bytes, in columns of 24"),
        ({"TFIELDS": 4}, "is not complete|has no format"),
        ({"TFIELDS": 2}, "contradicts itself"),
        ({"TFORM2": "'3D'"}, "contradicts itself"),
        ({"TFORM2": "'Z'"}, "unknown format"),
    ],
)
def test_a_fits_header_that_is_wrong_is_refused(tmp_path: Path, header, problem):
    (tmp_path / "stars.fits").write_bytes(fits_bytes(**header))
    with pytest.raises(BaseFilesError, match=problem):
        Files.at(tmp_path / "stars.fits")


def test_a_votable_that_is_cut_off_is_refused(tmp_path: Path):
    whole = votable_bytes()
    path = tmp_path / "stars.vot"
    for place in range(0, len(whole) - 20, 97):
        path.write_bytes(whole[:place])
        assert refused(path).hint == "check that it was copied completely"
        with pytest.raises(BaseFilesError):
            check_votable(io.BytesIO(whole[:place]), "stars.vot")
    check_votable(io.BytesIO(whole), "stars.vot")


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
DOCTYPES = {
    "external entity": '<!DOCTYPE VOTABLE [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    "billion laughs": f'<!DOCTYPE VOTABLE [<!ENTITY l0 "ha">{LAUGHS}]>',
    "external subset": '<!DOCTYPE VOTABLE SYSTEM "http://example.org/VOTable.dtd">',
    "parameter entity": '<!DOCTYPE VOTABLE [<!ENTITY % p SYSTEM "http://example.org/x"> %p;]>',
}
DOCUMENT = """<?xml version="1.0"?>{doctype}
<VOTABLE version="1.4" xmlns="http://www.ivoa.net/xml/VOTable/v1.3"><RESOURCE><TABLE>
<FIELD name="id" datatype="int"/><FIELD name="s" datatype="char" arraysize="{size}"><DESCRIPTION>{said}</DESCRIPTION>
</FIELD><DATA>{data}</DATA></TABLE></RESOURCE></VOTABLE>
"""
PLAIN = "<TABLEDATA><TR><TD>1</TD><TD>a</TD></TR></TABLEDATA>"


@pytest.mark.parametrize("kind", DOCTYPES)
def test_a_votable_that_declares_entities_is_refused(tmp_path: Path, kind):
    for message in ("", "&x;", "&l9;"):
        text = DOCUMENT.format(doctype=DOCTYPES[kind], said=message, data=PLAIN, size="*")
        (tmp_path / "stars.vot").write_text(text)
        assert "declares a document type" in refused(tmp_path / "stars.vot").message
        with pytest.raises(BaseFilesError, match="declares a document type"):
            list(read_votable_batches(io.BytesIO(text.encode()), (), "stars.vot", "0"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_no_encoding_hides_it(tmp_path: Path, encoding):
    text = DOCUMENT.format(doctype=DOCTYPES["external entity"], said="&x;", data=PLAIN, size="*")
    (tmp_path / "stars.vot").write_bytes(text.replace('<?xml version="1.0"?>', "").encode(encoding))
    assert "declares a document type" in refused(tmp_path / "stars.vot").message


@pytest.mark.parametrize(
    "data",
    [
        '<BINARY><STREAM href="file:///etc/passwd"/></BINARY>',
        '<BINARY2><STREAM href="http://169.254.169.254/"/></BINARY2>',
        '<FITS><STREAM href="file:///tmp/x.fits"/></FITS>',
    ],
)
def test_data_that_lie_elsewhere_are_not_followed(data):
    text = DOCUMENT.format(doctype="", said="", data=data, size="*")
    with pytest.raises(BaseFilesError, match="are in another file"):
        list(read_votable_batches(io.BytesIO(text.encode()), (), "stars.vot", "0"))


def test_arrays_that_readers_count_in_two_ways_are_refused():
    data = '<BINARY2><STREAM encoding="base64"></STREAM></BINARY2>'
    text = DOCUMENT.format(doctype="", said="", data=data, size="2x*")
    with pytest.raises(BaseFilesError, match="programs read differently"):
        list(read_votable_batches(io.BytesIO(text.encode()), (), "stars.vot", "0"))


def test_whatever_bytes_are_damaged_the_answer_is_an_error_of_ours_or_rows():
    """Not an exception of a library, whatever byte of the header is another one."""
    from provenn.files.fits_columns import find_fits_table  # noqa: PLC0415

    whole, random = fits_bytes(), np.random.default_rng(5)
    for _ in range(150):
        damaged = bytearray(whole)
        for place in random.integers(2880, 5760, 2):
            damaged[place] = random.integers(32, 127)
        try:
            table = find_fits_table(io.BytesIO(damaged), "stars.fits", None)
            if table.rows < 10_000:
                list(read_fits_batches(io.BytesIO(damaged), table, "stars.fits"))
        except BaseFilesError:
            continue
