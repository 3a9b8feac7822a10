"""Tables of astropy become Arrow and come back as they were: values, masks, shapes, units, descriptions, UCDs."""

import astropy.units as u
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import ICRS, Galactic, SkyCoord
from astropy.table import MaskedColumn, QTable, Table
from astropy.time import Time, TimeDelta
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from provenn.errors import BaseFilesError
from provenn.files.in_memory import convert_to_arrow
from provenn.files.in_memory.to_astropy import convert_to_astropy

KINDS = ["?", "i1", "u1", "i2", "u2", ">i4", "u4", "i8", "u8", "f4", ">f8", "c8", "c16", "U5"]
UNITS = [None, "km / s", "mag", "deg", "mas / yr", "1e-20 erg / (s cm2)", "electron", "%", "mag(AB)"]


@st.composite
def tables(draw) -> Table:
    rows = draw(st.integers(0, 4))
    table = Table()
    for number in range(draw(st.integers(1, 5))):
        shape = (rows, *draw(st.lists(st.integers(1, 3), max_size=2)))
        kind = draw(st.sampled_from(KINDS))
        texts = st.text("ab é", max_size=5).map(lambda item: item.rstrip("\0"))
        values = draw(arrays.arrays(kind, shape, elements=texts if kind == "U5" else None))
        mask = draw(arrays.arrays(bool, shape))
        unit = None if kind in ("?", "U5") else draw(st.sampled_from(UNITS))
        table[f"c{number}"] = MaskedColumn(
            values, mask=mask, unit=unit, description=draw(st.sampled_from([None, "what it is"]))
        )
        table[f"c{number}"].info.meta = draw(st.sampled_from([{}, {"ucd": "phot.mag;em.opt.V"}]))
    return table


def assert_same(result, wanted) -> None:
    assert result.colnames == wanted.colnames
    for name in wanted.colnames:
        first, other = result[name], wanted[name]
        hidden = np.ma.getmaskarray(np.ma.asarray(first))
        if np.ma.getmaskarray(other).all():  # where there is no array, it has no shape
            assert hidden.all()
            continue
        assert hidden.tolist() == np.ma.getmaskarray(other).tolist()
        shown = ~hidden
        np.testing.assert_array_equal(
            np.ma.getdata(np.ma.asarray(first))[shown], np.ma.getdata(other)[shown], err_msg=name
        )
        assert first.unit == other.unit
        assert first.info.description == other.info.description
        assert (first.info.meta or {}).get("ucd") == (other.info.meta or {}).get("ucd")


@settings(deadline=None)
@given(tables())
def test_a_table_comes_back_as_it_was(table):
    if len(table) == 0:
        assert convert_to_astropy(convert_to_arrow(table)).colnames == table.colnames
        return
    assert_same(convert_to_astropy(convert_to_arrow(table)), table)


def test_types_and_notes_are_those_of_the_columns():
    table = QTable({"id": np.array([1, 2], ">i2"), "v": [1.0, np.nan] * u.km / u.s, "s": [b"ab", b"c"]})
    table["v"].info.description = "velocity"
    table["v"].info.meta = {"ucd": "phys.veloc"}
    catalog = convert_to_arrow(table)
    assert catalog.schema.field("id").equals(pa.field("id", pa.int16(), nullable=False))
    assert catalog.schema.field("v").metadata == {
        b"unit": b"km.s**-1",
        b"description": b"velocity",
        b"ucd": b"phys.veloc",
    }
    assert str(catalog["v"].to_pylist()) == "[1.0, nan]", "NaN is a value, and nothing is masked"
    assert catalog["s"].to_pylist() == ["ab", "c"]


def test_quantities_come_back_with_their_units():
    table = Table({"v": [1.5, 2.5], "n": [1, 2]})
    table["v"].unit, table["n"].unit = "km / s", u.Unit("furlong_of_old", parse_strict="silent")
    result = convert_to_astropy(convert_to_arrow(table), quantities=True)
    assert isinstance(result, QTable)
    assert result["v"].to_value("m/s").tolist() == [1500, 2500]
    assert str(result["n"].unit) == "furlong_of_old"
    masked = QTable({"v": MaskedColumn([1.0, 2.0], mask=[True, False], unit="km")})
    back = convert_to_astropy(convert_to_arrow(masked), quantities=True)
    assert back["v"].mask.tolist() == [True, False]
    assert back["v"].unit == u.km


def test_simple_positions_become_ra_and_dec():
    sky = SkyCoord([10.5, 359.75], [-90, 45.5], unit="deg")
    table = convert_to_arrow(Table({"id": [1, 2], "sky": sky}))
    assert table.column_names == ["id", "ra", "dec"]
    assert table["ra"].to_pylist() == [10.5, 359.75]
    assert table["dec"].to_pylist() == [-90, 45.5]
    assert table.schema.field("dec").metadata == {b"unit": b"deg", b"ucd": b"pos.eq.dec;meta.main"}
    assert convert_to_arrow(Table({"sky": sky, "ra": [1, 2]})).column_names == ["sky_ra", "sky_dec", "ra"]
    assert convert_to_arrow(Table({"a": sky, "b": sky})).column_names == ["ra", "dec", "b_ra", "b_dec"]


def test_times_in_utc_are_moments_to_the_microsecond():
    times = Time(["2026-11-16T07:08:09.123456", "1999-10-04T00:00:00"], scale="utc")
    times[1] = np.ma.masked
    table = convert_to_arrow(Table({"t": times}))
    assert table.schema.field("t").type == pa.timestamp("us", "UTC")
    assert table["t"].cast(pa.timestamp("us")).cast(pa.string()).to_pylist() == ["2026-11-16 07:08:09.123456", None]
    (back,) = convert_to_astropy(table).itercols()
    assert back[0].isot == "2026-11-16T07:08:09.123456"
    assert back.mask.tolist() == [False, True]


def test_half_a_complex_number_is_no_number():
    halves = [{"re": 1.0, "im": None}, {"re": 2.0, "im": 3.0}, None]
    result = convert_to_astropy(pa.table({"c": pa.array(halves, pa.struct({"re": pa.float64(), "im": pa.float64()}))}))[
        "c"
    ]
    assert np.isnan(result[0].imag)
    assert result[1] == 2 + 3j
    assert result.mask.tolist() == [False, False, True]


def test_arrays_of_different_lengths_are_kept():
    cells = np.empty(3, object)
    cells[:] = [np.arange(2, dtype="i4"), np.ma.array([5, 6], mask=[True, False]), np.zeros(0, "i4")]
    table = convert_to_arrow(Table({"a": cells}))
    assert table["a"].to_pylist() == [[0, 1], [None, 6], []]
    result = convert_to_astropy(table)["a"]
    assert [np.ma.getdata(item).tolist() for item in result[::2]] == [[0, 1], []]
    assert result[1].tolist() == [None, 6]
    assert not table.schema.field("a").nullable
    some = convert_to_arrow(Table({"s": np.array(["a", None], object), "b": [b"\xe9", b"x"]}))
    assert some.to_pydict() == {"s": ["a", None], "b": ["é", "x"]}
    assert some.schema.field("s").nullable


@pytest.mark.parametrize(
    ("column", "problem"),
    [
        (np.array([{}, 1], object), "the column x holds objects of Python"),
        (np.array([[1, 2], "a"], object), "objects of Python"),
        (np.zeros(2, [("a", "i4"), ("b", "f8")]), "values of the type"),
        (np.array([1, 2], np.longdouble), "values of the type"),
        (np.array([1, 2], "m8[s]"), "values of the type"),
        (SkyCoord([1, 2], [3, 4], unit="deg", frame=Galactic), "other than plain ICRS"),
        (SkyCoord([1, 2], [3, 4], [5, 6], unit=("deg", "deg", "pc"), frame=ICRS), "other than plain ICRS"),
        (Time([2000.5, 2001], format="jyear", scale="tdb"), "times in TDB"),
        (Time(["2016-12-31T23:59:60", "2020-01-01"]), "an invalid time"),
        (TimeDelta([1, 2], format="sec"), "a TimeDelta"),
        (SkyCoord([1, 2], [3, 4], unit="deg").cartesian, "a CartesianRepresentation"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(column, problem):
    table = Table({"id": [1, 2]})
    table["x"] = column
    with pytest.raises(BaseFilesError, match=problem) as raised:
        convert_to_arrow(table)
    assert "column x" in raised.value.message
    assert raised.value.hint
