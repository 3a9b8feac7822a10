"""Regions of the sky on Spark: they hold the positions that others find in them, and nothing is lost at the edges."""

import math

import astropy.units as u
import numpy as np
import pyarrow as pa
import pytest
from astropy.coordinates import Latitude, Longitude
from cdshealpix import lonlat_to_healpix, nested
from hypothesis import given, settings
from pyarrow import parquet

from provenn.criteria import Attribute, parse_criterion, parse_type, render
from provenn.sky import box, cone, moc, polygon
from provenn.sky.cells import LEAST_POLAR, Cells
from provenn.sky.region_conditions import cell_key_sql
from tests.sky.oracle import expected, positions, separations
from tests.sky.strategies import SPECIAL_DEC, SPECIAL_RA, regions
from tests.strategies import drawn

SCHEMA = {name: Attribute(name, parse_type("double")) for name in ("ra", "dec")}
ODD = [
    (None, 10.0, None),
    (10.0, None, None),
    (None, None, None),
    (None, math.nan, None),
    (None, 91.0, None),
    (math.nan, 10.0, False),
    (10.0, math.nan, False),
    (math.inf, 10.0, False),
    (-math.inf, 10.0, False),
    (10.0, math.inf, False),
    (10.0, 90.00000000000001, False),
    (10.0, -1e300, False),
]


def text(region):
    constants = (f"'{constant}'" if isinstance(constant, str) else repr(constant) for constant in region.constants)
    return f"{region.function}(ra, dec, {', '.join(constants)})"


def sql(region):
    return render(parse_criterion(text(region), SCHEMA), {"ra": "ra", "dec": "dec"})


def asked(engine, region, ra, dec):
    frame = engine.session.createDataFrame(pa.table({"n": range(len(ra)), "ra": pa.array(ra), "dec": pa.array(dec)}))
    rows = frame.selectExpr("n", f"{sql(region)} AS inside").collect()
    kept = {row.n for row in frame.where(sql(region)).select("n").collect()}
    found = [row.inside for row in sorted(rows)]
    assert kept == {n for n, one in enumerate(found) if one}
    return found


@pytest.mark.parametrize("number", [0, 1, *(pytest.param(number, marks=pytest.mark.campaign) for number in (2, 3))])
def test_a_region_holds_what_astropy_and_mocpy_find_in_it(engine, number):
    random = np.random.default_rng(number)
    some = drawn(regions, 60, 3)[number::4]
    points = [positions(one, random) for one in some]
    table = {"n": [], "case": [], "ra": [], "dec": []}
    for case, found in enumerate(points):
        table["case"] += [case] * len(found)
        table["ra"] += found[:, 0].tolist()
        table["dec"] += found[:, 1].tolist()
    table["n"] = range(len(table["ra"]))
    frame = engine.session.createDataFrame(pa.table(table))
    chosen = " ".join(f"WHEN case = {case} THEN {sql(one)}" for case, one in enumerate(some))
    rows = sorted(frame.selectExpr("n", f"CASE {chosen} END AS inside").collect())
    answers = iter(row.inside for row in rows)
    for one, found in zip(some, points, strict=True):
        for position, want in zip(found.tolist(), expected(one, found[:, 0], found[:, 1]), strict=True):
            got = next(answers)
            assert want is None or got == want, (one, position, want)


@pytest.mark.parametrize(
    "region",
    [
        cone(10, 10, 5),
        cone(10, 10, 150),
        cone(0, 0, 180),
        box(350, 20, -5, 50),
        box(0, 20, -5, 50),
        box(0, 360, -90, 90),
        polygon([(5, 5), (15, 5), (15, 15), (5, 15)]),
        moc("0/0-11"),
        moc("0/4 3/500"),
    ],
    ids=str,
)
def test_null_is_null_and_what_is_no_position_is_outside(engine, region):
    ra, dec, want = zip(*ODD, strict=True)
    frame = [list(ra), list(dec)]
    assert asked(engine, region, *frame) == list(want)
    assert asked(engine, region, [10.0, 370.0, -350.0, 3610.0], [10.0] * 4) == [True] * 4


def test_ends_poles_and_both_zeros_belong_to_a_box(engine):
    ra = [0.0, -0.0, 360.0, 10.0, 10.000000000000002, 359.99999999999994, 5.0, 5.0, 5.0]
    dec = [0.0, -0.0, 5.0, 90.0, 5.0, 5.0, -0.0, -5e-324, 90.0]
    assert asked(engine, box(0, 10, 0, 90), ra, dec) == [True, True, True, True, False, False, True, False, True]


def test_a_cone_across_ra_0_and_the_pole(engine):
    assert asked(engine, cone(0, 0, 1), [0.5, 359.5, 360.5, -0.5, 1.01], [0.0] * 5) == [True] * 4 + [False]
    assert asked(engine, cone(10, 89.5, 1), [190.0, 190.0, 0.0], [89.6, 89.4, 90.0]) == [True, False, True]


def test_the_whole_sky_holds_every_position(engine):
    random = np.random.default_rng(7)
    ra = [*random.uniform(-720, 720, 3000), *(one for one in SPECIAL_RA for _ in SPECIAL_DEC)]
    dec = [*np.degrees(np.arcsin(random.uniform(-1, 1, 3000))), *(one for _ in SPECIAL_RA for one in SPECIAL_DEC)]
    for whole in (moc("0/0-11"), moc("1/0-47"), cone(0, 0, 180), box(0, 360, -90, 90)):
        assert all(asked(engine, whole, ra, dec))


@pytest.mark.parametrize("order", [0, 4, 29])
def test_cells_are_those_of_cdshealpix(engine, order):
    random = np.random.default_rng(order)
    corners = nested.vertices(np.arange(48), 1)
    edge = [*SPECIAL_RA, 359.99999999999994, 89.99999999999999, 1e-14, *corners[0].deg.ravel()]
    high = [*SPECIAL_DEC, np.nextafter(LEAST_POLAR, 90), 90 - 1e-13, -1e-14, *corners[1].deg.ravel()]
    ra = np.concatenate([random.uniform(0, 360, 20_000), np.repeat(edge, len(high))])
    dec = np.concatenate([np.degrees(np.arcsin(random.uniform(-1, 1, 20_000))), np.tile(high, len(edge))])
    frame = engine.session.createDataFrame(pa.table({"n": range(len(ra)), "ra": ra, "dec": dec}))
    rows = sorted(frame.selectExpr("n", f"{cell_key_sql(order, 'ra', 'dec')} AS key").collect())
    i, j = np.divmod(np.array([row.key for row in rows]), 5 << order)
    assert set(np.unique((i >> order) - (j >> order))) <= {-1, 0, 1}
    cells = Cells(order, i, j)
    found = lonlat_to_healpix(Longitude(ra[:20_000] * u.deg), Latitude(dec[:20_000] * u.deg), order)
    assert (cells.compute_numbers()[:20_000] == found).all()
    # At corners and edges any of the cells that meet there will do.
    assert (separations(cells.centres.ra, cells.centres.dec, ra, dec) <= cells.radius).all()


@pytest.mark.parametrize(
    "region", [cone(56.75, 24.12, 1.5), box(50, 60, 20, 30), polygon([(50, 20), (60, 20), (55, 30)])]
)
def test_bounds_of_both_coordinates_are_pushed_into_files(engine, region, tmp_path, capsys):
    parquet.write_table(pa.table({"ra": [1.0], "dec": [2.0]}), tmp_path / "part.parquet")
    length = "spark.sql.maxMetadataStringLength"
    engine.session.conf.set(length, "10000")
    try:
        engine.session.read.parquet(str(tmp_path)).where(sql(region)).explain("formatted")
    finally:
        engine.session.conf.unset(length)
    (pushed,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("PushedFilters")]
    assert "GreaterThanOrEqual(dec" in pushed
    assert "GreaterThanOrEqual(ra" in pushed


@given(regions)
@settings(max_examples=30, deadline=None)
def test_canonical_text_is_read_back_to_the_same_criterion(region):
    criterion = parse_criterion(text(region), SCHEMA)
    assert parse_criterion(criterion.canonical, SCHEMA) == criterion
    assert parse_criterion(criterion.text, SCHEMA) == criterion
