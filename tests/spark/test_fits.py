"""FITS tables as base data: what astropy wrote and what the standard allows arrives in Spark."""

import gzip
import io
import math
import threading
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from astropy.coordinates import SkyCoord
from astropy.io import fits
from astropy.table import MaskedColumn, Table

from provenn.catalogs import Base, Files
from provenn.errors import BaseFilesError, FilesChangedError, StoreError
from provenn.files.data_folder import CONVERTED, DataFolder
from provenn.files.fits_columns import find_fits_table
from provenn.spark.keys import verify_key
from provenn.spark.reading import read_base
from provenn.spark.tables import fits_rows


@pytest.fixture
def folder(tmp_path: Path) -> DataFolder:
    return DataFolder.of(tmp_path / "data")


def hdu(*columns: fits.Column, **header) -> fits.BinTableHDU:
    made = fits.BinTableHDU.from_columns(columns)
    made.header.update(header)
    return made


def saved(path: Path, *tables) -> Path:
    fits.HDUList([fits.PrimaryHDU(), *tables]).writeto(path, overwrite=True)
    return path


def rows_of(engine, folder, files: Files, key: str = "id") -> list[tuple]:
    frame = read_base(engine, Base.of(files, key=key, population="star"), folder)
    assert [(name, kind) for name, kind in frame.dtypes] == [
        (column.name, str(column.type)) for column in files.columns
    ]
    return [tuple(row) for row in frame.orderBy(key).collect()]


def test_every_kind_of_column(engine, folder, tmp_path):
    columns = [
        fits.Column("id", "K", array=[-(2**63), 0, 2**63 - 1]),
        fits.Column("flag", "L", array=[True, False, True]),
        fits.Column("byte", "B", array=np.array([0, 128, 255], "u1")),
        fits.Column("signed byte", "B", bzero=-128, array=np.array([-128, 0, 127], "i1")),
        fits.Column("short", "I", null=-99, array=np.array([-99, 0, 5], "i2")),
        fits.Column("ushort", "I", bzero=2**15, array=np.array([0, 2**15, 2**16 - 1], "u2")),
        fits.Column("uint", "J", bzero=2**31, array=np.array([0, 2**31, 2**32 - 1], "u4")),
        fits.Column("ulong", "K", bzero=2**63, array=np.array([0, 2**63, 2**64 - 1], "u8")),
        fits.Column("float", "E", unit="mag", array=np.array([1.5, np.nan, -0.0], "f4")),
        fits.Column("double", "D", array=[np.inf, np.nan, 5e-324]),
        fits.Column("text", "5A", array=["ab  ", "", " x"]),
        fits.Column("complex", "M", array=[1 + 2j, 0, -1j]),
        fits.Column("array", "3E", array=np.array([[1, 2, 3], [np.nan, 0, 0], [4, 5, 6]], "f4")),
        fits.Column("matrix", "4J", dim="(2,2)", array=np.arange(12, dtype="i4").reshape(3, 2, 2)),
        fits.Column("texts", "6A", dim="(3,2)", array=np.array([["abc", "d"], ["e", "f"], ["g", "h"]])),
        fits.Column("bits", "10X", array=np.array([[1, 0] * 5, [0] * 10, [1] * 10], bool)),
        fits.Column("list", "PD()", array=np.array([np.array([1.0, 2.0]), np.array([]), np.array([np.nan])], object)),
        fits.Column(
            "numbers", "QJ()", array=np.array([np.array([1], "i4"), np.array([2, 3], "i4"), np.array([], "i4")], object)
        ),
    ]
    files = Files.at(saved(tmp_path / "a.fits", hdu(*columns)))
    assert (files.format, files.row_count) == ("fits", 3)
    assert {
        column.name: str(column.type)
        for column in files.columns
        if "int" in str(column.type) or "dec" in str(column.type)
    } == {
        "id": "bigint",
        "byte": "smallint",
        "signed byte": "tinyint",
        "short": "smallint",
        "ushort": "int",
        "uint": "bigint",
        "ulong": "decimal(20,0)",
        "matrix": "array<array<int>>",
        "numbers": "array<int>",
    }
    assert [column.nullable for column in files.columns][:5] == [False, True, False, False, True]
    one, two, three = rows_of(engine, folder, files)
    assert one == (
        *(-(2**63), True, 0, -128, None, 0, 0, Decimal(0), 1.5, math.inf, "ab", (1.0, 2.0), [1.0, 2.0, 3.0]),
        *([[0, 1], [2, 3]], ["abc", "d"], [True, False] * 5, [1.0, 2.0], [1]),
    )
    assert two[:12] == (0, False, 128, 0, 0, 2**15, 2**31, Decimal(2**63), None, None, None, (0.0, 0.0))
    assert math.isnan(two[12][0])
    assert two[13:] == ([[4, 5], [6, 7]], ["e", "f"], [False] * 10, [], [2, 3])
    assert three[:8] == (2**63 - 1, True, 255, 127, 5, 2**16 - 1, 2**32 - 1, Decimal(2**64 - 1))
    assert three[9:12] == (5e-324, " x", (0.0, -1.0))
    assert math.copysign(1, three[8]) == -1


def test_scaled_numbers_and_undefined_logicals(engine, folder, tmp_path):
    columns = [
        fits.Column("id", "J", array=[1, 2]),
        fits.Column("x", "I", null=7, array=[2, 7]),
        fits.Column("flag", "L", array=[True, False]),
    ]
    path = saved(tmp_path / "a.fits", hdu(*columns, XSCAL2=0.5, XZERO2=10))
    stored = bytearray(path.read_bytes().replace(b"XSCAL2", b"TSCAL2").replace(b"XZERO2", b"TZERO2"))
    start = 2880 * 2
    assert stored[start : start + 7] == b"\0\0\0\1\0\2T"
    stored[start + 6] = 0  # undefined
    path.write_bytes(stored)
    assert rows_of(engine, folder, Files.at(path)) == [(1, 11.0, None), (2, None, False)]


def test_masks_of_astropy_are_null(engine, folder, tmp_path):
    table = Table({"id": [1, 2, 3]})
    table["n"] = MaskedColumn([1, 2, 3], mask=[True, False, False])
    table["x"] = MaskedColumn([1.0, 2.0, 3.0], mask=[False, True, False], unit="mag", description="V")
    table["s"] = MaskedColumn(["a", "b", ""], mask=[False, True, False])
    table.write(tmp_path / "a.fits")
    files = Files.at(tmp_path / "a.fits")
    assert files.columns[2].unit == "mag"
    assert rows_of(engine, folder, files) == [(1, None, 1.0, "a"), (2, 2, None, None), (3, 3, 3.0, None)]


def test_a_table_of_text(engine, folder, tmp_path):
    columns = [
        fits.Column("id", "I5", ascii=True, array=[1, 2]),
        fits.Column("x", "D12.4", ascii=True, array=[1.5, -2.25]),
        fits.Column("name", "A6", ascii=True, array=["ab", "c d"]),
    ]
    files = Files.at(saved(tmp_path / "a.fits", fits.TableHDU.from_columns(columns)))
    assert rows_of(engine, folder, files) == [(1, 1.5, "ab"), (2, -2.25, "c d")]


def test_one_of_several_tables_is_chosen_by_number_or_name(engine, folder, tmp_path):
    one = hdu(fits.Column("id", "J", array=[1]), EXTNAME="FIRST")
    two = hdu(fits.Column("id", "J", array=[2]), fits.Column("y", "D", array=[1.0]), EXTNAME="Second")
    path = saved(tmp_path / "a.fits", one, fits.ImageHDU(np.zeros((50, 60))), two)
    assert rows_of(engine, folder, Files.at(path)) == [(1,)]
    for choice in (3, "second"):
        assert rows_of(engine, folder, Files.at(path, options={"hdu": choice})) == [(2, 1.0)]
    with pytest.raises(BaseFilesError, match=r"part 2 of a\.fits is not a table"):
        Files.at(path, options={"hdu": 2})
    with pytest.raises(BaseFilesError, match=r"no part 'third' in a\.fits\nthere are the tables 1 FIRST, 3 Second"):
        Files.at(path, options={"hdu": "third"})


def test_compressed_files_folders_and_partitions(engine, folder, tmp_path):
    for year in (2025, 2026):
        place = tmp_path / "sky" / f"year={year}"
        place.mkdir(parents=True)
        path = saved(place / "a.fit", hdu(fits.Column("id", "J", array=[year])))
        (place / "a.fits.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    assert rows_of(engine, folder, Files.at(tmp_path / "sky")) == [(2025, 2025), (2026, 2026)]


def test_it_is_converted_once_in_chunks_and_anew_when_it_is_gone(engine, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(fits_rows, "_BYTES", 64)
    files = Files.at(
        saved(
            tmp_path / "a.fits",
            hdu(fits.Column("id", "J", array=np.arange(1000)), fits.Column("s", "3A", array=["abc"] * 1000)),
        )
    )
    base = Base.of(files, key="id", population="star")
    assert verify_key(engine, base, folder) == 1000
    (made,) = folder.files(CONVERTED, files.digest)
    before = Path(folder.at(CONVERTED, files.digest, made.name)).stat().st_mtime_ns
    assert read_base(engine, base, folder).count() == 1000
    assert Path(folder.at(CONVERTED, files.digest, made.name)).stat().st_mtime_ns == before
    folder.remove(CONVERTED, files.digest)
    assert read_base(engine, base, folder).count() == 1000
    assert folder.files("_temporary") == ()


def test_two_who_convert_at_once_do_not_mind_each_other(engine, folder, tmp_path):
    from provenn.spark.tables.converting import convert_files  # noqa: PLC0415

    files = Files.at(saved(tmp_path / "a.fits", hdu(fits.Column("id", "J", array=np.arange(100_000)))))
    failed = []

    def convert():
        try:
            convert_files(files, folder)
        except Exception as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=convert) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    assert len(rows_of(engine, folder, files)) == 100_000
    assert folder.files("_temporary") == ()


def test_files_that_are_cut_off_changed_or_none_are_told(engine, folder, tmp_path):
    path = saved(tmp_path / "a.fits", hdu(fits.Column("id", "J", array=np.arange(10_000))))
    whole = path.read_bytes()
    path.write_bytes(whole[:20_000])
    with pytest.raises(BaseFilesError, match=r"ends in the middle of its table: its header announces 10,000 rows"):
        Files.at(path)
    squeezed = tmp_path / "b.fits.gz"
    squeezed.write_bytes(gzip.compress(whole[:20_000]))
    base = Base.of(Files.at(squeezed), key="id", population="star")
    with pytest.raises(BaseFilesError, match="ends in the middle of its table"):
        read_base(engine, base, folder)
    assert folder.files(CONVERTED) == folder.files("_temporary") == (), "nothing half-written"
    path.write_bytes(whole)
    base = Base.of(Files.at(path), key="id", population="star")
    path.write_bytes(whole + b" " * 2880)
    with pytest.raises(FilesChangedError):
        read_base(engine, base, folder)
    path.write_text("no FITS")
    with pytest.raises(BaseFilesError, match=r"a\.fits .*FITS"):
        Files.at(path)
    fits.PrimaryHDU(np.zeros((3, 3))).writeto(tmp_path / "image.fits")
    with pytest.raises(BaseFilesError, match=r"there is no table in image\.fits"):
        Files.at(tmp_path / "image.fits")


def test_a_store_without_room_is_told_and_nothing_is_left(engine, tmp_path):
    files = Files.at(saved(tmp_path / "a.fits", hdu(fits.Column("id", "J", array=[1]))))
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="a file is in the place of a folder"):
        read_base(engine, Base.of(files, key="id", population="star"), DataFolder.of(tmp_path / "file" / "data"))


def read(stored: bytes) -> list[dict]:
    """Return the rows of the first table, without Spark."""
    table = find_fits_table(io.BytesIO(stored), "a.fits", None)
    return [
        row for batch in fits_rows.read_fits_batches(io.BytesIO(stored), table, "a.fits") for row in batch.to_pylist()
    ]


@pytest.mark.parametrize(
    ("form", "stored", "scaling", "value"),
    [
        ("E", np.float32(1.5), (0.1, 1e9), 1.5 * 0.1 + 1e9),  # what the type of the column is too narrow for
        ("I", 2, (1, 32768.5), 32770.5),  # nearly what says that there is no sign
        ("C", 1 + 2j, (2, 1), {"re": 3, "im": 4}),
        ("M", 1 + 2j, (2, 0), {"re": 2, "im": 4}),
    ],
)
def test_scaled_numbers_are_doubles_whatever_is_stored(tmp_path, form, stored, scaling, value):
    scale, zero = scaling
    path = saved(tmp_path / "a.fits", hdu(fits.Column("x", form, array=[stored]), XSCAL1=scale, XZERO1=zero))
    assert read(path.read_bytes().replace(b"XSCAL1", b"TSCAL1").replace(b"XZERO1", b"TZERO1")) == [{"x": value}]


def test_arrays_of_variable_length_that_take_no_place_are_empty(tmp_path):
    path = saved(tmp_path / "a.fits", hdu(fits.Column("x", "J", array=[1]), fits.Column("y", "0J", array=[[]])))
    assert read(path.read_bytes().replace(b"'0J ", b"'0PJ")) == [{"x": 1, "y": []}]


def test_a_table_of_text_may_write_plus_and_blanks_before_text(tmp_path):
    columns = [fits.Column("n", "A5", ascii=True, array=["   +7"]), fits.Column("s", "A5", ascii=True, array=["  ab"])]
    path = saved(tmp_path / "a.fits", fits.TableHDU.from_columns(columns))
    assert read(path.read_bytes().replace(b"TFORM1  = 'A5", b"TFORM1  = 'I5")) == [{"n": 7, "s": "  ab"}]


def write_with_astropy_header(path: Path, *, mask: str) -> bytes:
    """Write a table whose columns astropy describes in comments of the header; return the file."""
    table = Table({"id": [1, 2], "x": MaskedColumn([1.5, 2.5], mask=[False, True], description="far and wide " * 9)})
    table["at"] = SkyCoord([1, 2], [3, 4], unit="deg")
    table["x"].meta["ucd"] = "pos.distance"
    table["x"].info.serialize_method["fits"] = mask
    table.meta["comments"] = ["a comment of the table"]
    table.write(path)
    return path.read_bytes()


def test_the_header_of_astropy_describes_columns_and_is_no_comment_of_the_table(tmp_path):
    stored = write_with_astropy_header(tmp_path / "a.fits", mask="null_value")
    table = find_fits_table(io.BytesIO(stored), "a.fits", None)
    assert table.metadata["COMMENT"] == ["a comment of the table"]
    notes = {column.name: (column.description, column.ucd) for column in table.columns}
    assert notes == {
        "id": ("", ""), "x": ("far and wide " * 9, "pos.distance"), "at.ra": ("", ""), "at.dec": ("", "")
    }  # fmt: skip
    # a program that copied the comments left out the blanks in which YAML has its meaning
    damaged = find_fits_table(io.BytesIO(stored.replace(b"      dec: ", b"dec:       ")), "a.fits", None)
    assert [column.description for column in damaged.columns] == [""] * 4


def test_a_mask_that_is_another_column_of_fits_is_refused(tmp_path):
    stored = write_with_astropy_header(tmp_path / "a.fits", mask="data_mask")
    with pytest.raises(BaseFilesError, match=r"the column x\.mask of a\.fits is the mask of x"):
        find_fits_table(io.BytesIO(stored), "a.fits", None)
