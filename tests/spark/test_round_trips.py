"""FITS and VOTable, in and out, each to each: astropy writes a table, provenn reads and writes it, astropy reads it.

Units, UCDs, descriptions, masks, arrays, texts and numbers of all kinds are as they were. STILTS reads it, too.
"""

import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow as pa
import pytest
from astropy.io import fits, votable
from astropy.table import MaskedColumn, Table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pyarrow import fs, parquet

from provenn.catalogs import Attribute, Base, Files
from provenn.criteria import parse_type
from provenn.files.data_folder import DataFolder
from provenn.spark.tables.converting import convert_files
from provenn.spark.tables.fits_file import write_fits
from provenn.spark.tables.parts import PartFiles
from provenn.spark.tables.votable_file import write_votable
from tests.programs import lint_votable, program
from tests.waiting import LIMIT

SAID = [("", "", ""), ("km.s**-1", "a velocity <&> 'more'", "phys.veloc;pos.heliocentric"), ("mag", "", "phot.mag")]
RANGES = {"u1": (0, 254), "i2": (-(2**15) + 1, 2**15 - 1), "i4": (-(2**31) + 1, 2**31 - 1), "i8": (-(2**53), 2**53)}
UNSIGNED = {"u2": (0, 2**16 - 1), "u4": (0, 2**32 - 1), "u8": (0, 2**63 - 1)}
FLOATS = {"f4": 32, "f8": 64}


@st.composite
def tables(draw, before: str, after: str) -> tuple[Table, dict[str, tuple[str, str, str]]]:
    """Give a table that both forms can hold, and astropy can write, with what is said of its columns."""
    both = before == after == "fits"
    rows = draw(st.integers(1, 4))
    table, descriptions = Table({"id": np.arange(rows)}), {"id": SAID[0]}
    for number in range(draw(st.integers(1, 4))):
        name = f"c{number}"
        kinds = ["?", "S", *RANGES, *FLOATS, "c8", "c16", "list"]
        kinds += [*UNSIGNED] if both else ["U"] if before == after else []
        kind = draw(st.sampled_from(kinds))
        shape = draw(st.sampled_from([(), (), (2,), (3, 2), (1,) if both else ()]))
        if kind == "list":
            cells = np.empty(rows, object)
            lists = st.lists(st.integers(-5, 5), min_size=int(before == "vot"), max_size=3)
            cells[:] = [
                np.ma.array(values, "i4", mask=[False] * len(values))
                for values in draw(st.lists(lists, min_size=rows, max_size=rows))
            ]
            table[name] = cells
        else:
            table[name] = draw(_columns(kind, rows, shape, both=both, from_votable=before == "vot"))
        descriptions[name] = draw(st.sampled_from(SAID))
    return table, descriptions


@st.composite
def _columns(draw, kind: str, rows: int, shape: tuple[int, ...], *, both: bool, from_votable: bool) -> MaskedColumn:
    if kind in ("S", "U"):
        texts = st.text("abc xyz" + ("é" if kind == "U" else ""), max_size=5).map(lambda text: f"{text}!")
        many = shape if both else ()
        values = draw(arrays.arrays("U6", (rows, *many), elements=texts))
        return MaskedColumn(values, mask=draw(arrays.arrays(bool, rows)) if not many else False)
    if kind in FLOATS:
        elements = st.floats(width=FLOATS[kind])
    elif kind in ("c8", "c16"):
        elements = st.complex_numbers(width=64 if kind == "c8" else 128, allow_nan=False)
    elif kind == "?":
        elements = st.booleans()
    else:
        elements = st.integers(*(RANGES | UNSIGNED)[kind])
        if shape:  # whatever the fill value of the array, astropy writes that 999999 stands for NULL in FITS
            elements = elements.filter(lambda value: value != 999_999)
    values = draw(arrays.arrays(kind, (rows, *shape), elements=elements))
    mask = draw(arrays.arrays(bool, (rows, *shape))) if kind in {**RANGES, **FLOATS} else np.zeros((rows, *shape), bool)
    if shape and from_votable and kind in RANGES:
        mask[...] = False  # astropy cannot write others
    column = MaskedColumn(values, mask=mask)
    if kind in RANGES:
        column.fill_value = 255 if kind == "u1" else np.iinfo(kind).min
    return column


def astropy_writes(table: Table, descriptions: dict[str, tuple[str, str, str]], path: Path) -> None:
    if path.suffix == ".fits":
        hdu = fits.table_to_hdu(table)
        for number, name in enumerate(table.colnames, 1):
            for key, text in zip(("TUNIT", "TCOMM", "TUCD"), descriptions[name], strict=True):
                if text:
                    hdu.header[f"{key}{number}"] = text
        fits.HDUList([fits.PrimaryHDU(), hdu]).writeto(path, checksum=True)
        return
    document = votable.from_table(table)
    for field in document.get_first_table().fields:
        unit, description, ucd = descriptions[field.name]
        field.unit, field.description, field.ucd = unit or None, description or None, ucd or None
    document.version = "1.4"
    votable.writeto(document, str(path), tabledata_format="binary2")


def provenn_copies(before: Path, after: Path, folder: Path) -> None:
    files = Files.at(before)
    attributes = Base.of(files, key="id", population="star").schema.attributes
    path = convert_files(files, DataFolder.of(folder))
    parts = PartFiles(fs.LocalFileSystem(), [path], parquet.read_schema(path))
    with after.open("wb") as stream:
        (write_fits if after.suffix == ".fits" else write_votable)(parts, attributes, stream)


def astropy_reads(path: Path, verify: str = "exception") -> tuple[Table, dict[str, tuple[str, str, str]]]:
    if path.suffix == ".fits":
        with fits.open(path) as file:
            file.verify("exception")
            header = file[1].header
        descriptions = {
            header[f"TTYPE{number}"]: tuple(header.get(f"{key}{number}", "") for key in ("TUNIT", "TCOMM", "TUCD"))
            for number in range(1, header["TFIELDS"] + 1)
        }
        return Table.read(path, hdu=1, unit_parse_strict="silent"), descriptions
    parsed = votable.parse_single_table(path, verify=verify)
    descriptions = {
        field.get("name"): (field.get("unit", ""), field.findtext("{*}DESCRIPTION", ""), field.get("ucd", ""))
        for field in ET.parse(path).iter("{http://www.ivoa.net/xml/VOTable/v1.3}FIELD")  # noqa: S314 - ours
    }
    return parsed.to_table(), descriptions


def assert_same(table: Table, wanted: Table) -> None:
    assert table.colnames == wanted.colnames
    for name in wanted.colnames:
        if wanted[name].dtype == object:
            assert [_plain(value) for value in table[name]] == [_plain(value) for value in wanted[name]]
            continue
        column, wanted_column = _shown(table[name]), _shown(wanted[name])
        if wanted[name].ndim > 1 and not any(value is not None for value in np.array(wanted_column, object).ravel()):
            assert not any(value is not None for value in np.array(column, object).ravel())
            continue  # where there is no array at all, there is no shape
        assert column == wanted_column, (name, table[name].dtype, wanted[name].dtype)


def _plain(cell) -> list:
    return np.asarray(cell).tolist() if cell is not None and cell is not np.ma.masked else []


def _shown(column) -> list:
    """Return values as text; what is masked, or NaN, or an empty text, which say the same, as nothing."""
    data, mask = np.ma.getdata(np.ma.asarray(column)), np.ma.getmaskarray(np.ma.asarray(column))
    if data.dtype.kind in "fc":
        mask = mask | np.isnan(data)
        data = np.where(mask, 0, data)
    if data.dtype.kind in "SUO":
        data = np.array([value.decode() if isinstance(value, bytes) else str(value) for value in data.ravel()]).reshape(
            data.shape
        )
        mask = mask | (data == "")
    values = np.where(mask, None, data.astype(object))
    return values.tolist()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("after", ["fits", "vot"])
@pytest.mark.parametrize("before", ["fits", "vot"])
def test_nothing_is_lost_on_the_way(before, after):
    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(tables(before, after))
    def lost(drawn):
        table, descriptions = drawn
        with TemporaryDirectory() as folder:
            first, second = Path(folder, f"before.{before}"), Path(folder, f"after.{after}")
            astropy_writes(table, descriptions, first)
            provenn_copies(first, second, Path(folder, "data"))
            read_table, read_descriptions = astropy_reads(second)
            assert read_descriptions == descriptions
            # astropy turns arrays of arrays round when it writes a VOTable, so what it reads from it is what counts.
            assert_same(read_table, astropy_reads(first, "ignore")[0] if before == "vot" else table)

    lost()


# --- STILTS, which shares no code with astropy ---

ROWS = pa.table(
    {
        "id": pa.array([1, 2, 3], pa.int64()),
        "n": pa.array([5, None, 7], pa.int16()),
        "x": pa.array([1.5, None, -2.5], pa.float32()),
        "s": pa.array(["ab", None, "c d"]),
        "b": pa.array([True, None, False]),
        "tiny": pa.array([-128, None, 127], pa.int8()),
        "pair": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int32())),
        "grid": pa.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]] * 3, pa.list_(pa.list_(pa.float64()))),
        "many": pa.array([[1.5], [], [2.5, 3.5]], pa.list_(pa.float64())),
    }
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("ours", "theirs"), [("fits", "vot"), ("vot", "fits")])
def test_stilts_reads_what_is_written(tmp_path, ours, theirs):
    """It writes it again in the other form, which astropy reads."""
    stilts, path, other = program("stilts"), tmp_path / f"a.{ours}", tmp_path / f"b.{theirs}"
    attributes = [
        Attribute(name, name, parse_type("int"), True, "mag", f"what {name} is", "phot.mag;em.opt")
        for name in ROWS.column_names
    ]
    parquet.write_table(ROWS, tmp_path / "rows.parquet")
    parts = PartFiles(fs.LocalFileSystem(), [str(tmp_path / "rows.parquet")], ROWS.schema)
    with path.open("wb") as stream:
        (write_fits if ours == "fits" else write_votable)(parts, attributes, stream)
    form = "fits-var" if theirs == "fits" else "votable-binary2-inline"
    subprocess.run([stilts, "tpipe", f"in={path}", f"out={other}", f"ofmt={form}"], check=True, timeout=LIMIT)
    table, descriptions = astropy_reads(other, "ignore")
    assert descriptions == {name: ("mag", f"what {name} is", "phot.mag;em.opt") for name in ROWS.column_names}
    for name in ROWS.column_names[:-1]:
        wanted = ROWS[name].to_pylist()
        if name == "b" and theirs == "fits":
            wanted[1] = False  # astropy cannot tell a logical of FITS that is undefined
        assert _shown(table[name]) == wanted, name
    assert [np.asarray(values).tolist() for values in table["many"]] == ROWS["many"].to_pylist()


def test_stilts_finds_nothing_wrong_with_a_votable(tmp_path):
    attributes = [Attribute(name, name, parse_type("int"), True, "mag", "", "") for name in ROWS.column_names]
    parquet.write_table(ROWS, tmp_path / "rows.parquet")
    with (tmp_path / "a.vot").open("wb") as stream:
        parts = PartFiles(fs.LocalFileSystem(), [str(tmp_path / "rows.parquet")], ROWS.schema)
        write_votable(parts, attributes, stream)
    assert lint_votable(tmp_path / "a.vot") == ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["tabledata", "binary-inline", "binary2-inline"])
def test_what_stilts_writes_is_read(tmp_path, form):
    table = Table({"id": [1, 2, 3], "pair": np.arange(6).reshape(3, 2)})
    table["n"] = MaskedColumn(np.array([5, 6, 7], "i2"), mask=[False, True, False], fill_value=-32768)
    table["s"] = ["ab", "c d", "e"]
    table["x"] = MaskedColumn([1.5, 2.5, np.nan], mask=[False, True, False])
    descriptions = dict.fromkeys(table.colnames, SAID[1])
    astropy_writes(table, descriptions, tmp_path / "a.fits")
    paths = [f"in={tmp_path / 'a.fits'}", f"out={tmp_path / 'b.vot'}"]
    subprocess.run([program("stilts"), "tpipe", *paths, f"ofmt=votable-{form}"], check=True, timeout=LIMIT)
    provenn_copies(tmp_path / "b.vot", tmp_path / "c.fits", tmp_path / "data")
    read_table, read_descriptions = astropy_reads(tmp_path / "c.fits")
    assert read_descriptions == descriptions
    assert_same(read_table, table)


@pytest.mark.parametrize("form", ["fits", "vot"])
@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("leaf", [pa.int16(), pa.float64(), pa.bool_(), pa.string()])
def test_columns_in_which_no_array_is_seen_are_written_and_read(tmp_path, form, rows, leaf):
    """Of their lengths nothing is known: there are no rows, or all arrays of arrays are NULL."""
    if form == "vot" and leaf == pa.string():
        pytest.skip("VOTables have no arrays of text")
    table = pa.table({"x": pa.nulls(rows, pa.list_(pa.list_(leaf)))})
    parquet.write_table(table, tmp_path / "a.parquet")
    parts = PartFiles(fs.LocalFileSystem(), [str(tmp_path / "a.parquet")], table.schema)
    attributes = [Attribute("x", "x", parse_type("string"), nullable=True)]
    with (tmp_path / f"a.{form}").open("wb") as stream:
        assert (write_fits if form == "fits" else write_votable)(parts, attributes, stream) == rows
    converted = convert_files(Files.at(tmp_path / f"a.{form}"), DataFolder.of(tmp_path / "data"))
    again = parquet.read_table(converted.removeprefix("file://"))
    assert again.schema.field("x").type == table.schema.field("x").type
    assert again["x"].to_pylist() in ([None] * rows, [[]] * rows)  # FITS cannot tell them apart
