"""Regions as values: normalised, and refused with a reason where there is no such region."""

import json

import astropy.units as u
import numpy as np
import pytest
from astropy.coordinates import SkyCoord
from cdshealpix import nested
from hypothesis import given, settings
from mocpy import MOC

from provenn.errors import FileError, RegionError
from provenn.sky import box, cone, moc, polygon
from provenn.sky.cells import DEEPEST, bound_cell_radius, build_cells
from provenn.sky.points import Points, measure_separation
from tests.sky.strategies import mocs

TRIANGLE = [(10, 0), (20, 0), (15, 8)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: cone(361, 0, 1), "right ascension is 361"),
        (lambda: cone(-1, 0, 1), "right ascension is -1"),
        (lambda: cone(0, 91, 1), "declination is 91"),
        (lambda: cone(0, 0, 0), "radius is 0"),
        (lambda: cone(0, 0, -1), "radius is -1"),
        (lambda: cone(0, 0, 180.1), "radius is 180.1"),
        (lambda: cone(float("nan"), 0, 1), "is nan"),
        (lambda: cone(0, float("inf"), 1), "is inf"),
        (lambda: cone("56h", 0, 1), "expected an angle"),
        (lambda: cone(None, 0, 1), "expected an angle"),
        (lambda: cone(1 * u.m, 0, 1), "expected an angle"),
        (lambda: cone(0, 0, 1, on="ra"), "expected the two attributes of a position"),
        (lambda: cone(0, 0, 1, on=("ra",)), "expected the two attributes of a position"),
        (lambda: box(0, 10, 5, 5), "no height"),
        (lambda: box(0, 10, 5, -5), "no height"),
        (lambda: box(10, 10, -5, 5), "the same right ascension"),
        (lambda: box(0, 400, -5, 5), "is 400"),
        (lambda: polygon([(0, 0), (1, 1)]), "not 2"),
        (lambda: polygon([(0, 0), (1, 1), (1, 1), (0, 0)]), "not 2"),
        (lambda: polygon(5), "no vertices"),
        (lambda: polygon([1, 2, 3]), "not a pair"),
        (lambda: polygon([(0, 0), (1, 95), (2, 0)]), "of vertex 2 is 95"),
        (lambda: polygon([(0, 0), (10, 10), (10, 0), (0, 10)]), "cross"),
        (lambda: polygon([(0, 0), (10, 0), (20, 0)]), "cross"),
        (lambda: polygon([(0, 0), (10, 0), (5, 0), (5, 5)]), "cross"),
        (lambda: polygon([(0, 0), (120, 0), (240, 0)]), "80 degrees"),
        (lambda: polygon([(0, 0), (90, 0), (180, 0), (180, 60), (0, 60)]), "80 degrees"),
        (lambda: polygon([(n / 1000, n % 2) for n in range(1001)]), "not 1001"),
        (lambda: moc(""), "covers nothing"),
        (lambda: moc("3/"), "covers nothing"),
        (lambda: moc("3"), "no meaning"),
        (lambda: moc("3/4-2"), "no cells 3/4-2"),
        (lambda: moc("3/768"), "no cells 3/768"),
        (lambda: moc("30/1"), "no cells 30/1"),
        (lambda: moc("3/1-2-3"), "no meaning"),
        (lambda: moc("{"), "not a MOC in JSON"),
        (lambda: moc('{"3": ["a"]}'), "not the number of a cell"),
        (lambda: moc(5), "expected a MOC"),
        (lambda: moc("29/" + " ".join(str(10**17 + n * 100) for n in range(530_000))), "characters as text"),
    ],
)
def test_what_is_no_region_is_refused_with_a_reason(make, message):
    with pytest.raises(RegionError, match=message) as caught:
        make()
    assert caught.value.hint


def test_degrees_quantities_and_positions_of_astropy_mean_the_same():
    assert cone(56.75 * u.deg, 24.12 * u.deg, 90 * u.arcmin) == cone(56.75, 24.12, 1.5)
    assert cone(12 * u.hourangle, 0, 1).ra == pytest.approx(180)
    vertices = SkyCoord([10, 20, 15] * u.deg, [0, 0, 8] * u.deg)
    assert polygon(vertices) == polygon(TRIANGLE)
    assert polygon(list(vertices)) == polygon(TRIANGLE)


def test_equal_regions_are_the_same_value():
    assert cone(360, 0, 1) == cone(0, 0, 1)
    assert cone(10, 90, 1) == cone(200, 90, 1)
    assert cone(10, 20, 180) == cone(0, 0, 180)
    assert repr(cone(0, -0.0, 1)) == repr(cone(0, 0, 1))
    assert box(360, 10, 0, 1) == box(0, 10, 0, 1)
    assert box(350, 360, 0, 1) == box(350, 0, 0, 1)
    assert (box(0, 360, 0, 1).ra_from, box(0, 360, 0, 1).ra_to) == (0, 360)
    for turned in (TRIANGLE[1:] + TRIANGLE[:1], TRIANGLE[::-1], [*TRIANGLE, TRIANGLE[0]]):
        assert polygon(turned) == polygon(TRIANGLE)
    assert moc("3/0-4 5/80") == moc("5/80, 3/4 2/0") == moc('{"3": [0, 1, 2, 3, 4], "5": [80]}')
    assert moc("1/0-47").text == "0/0-11"


def test_a_polygon_may_be_concave_and_have_sides_on_one_line():
    polygon([(0, 0), (30, 0), (30, 20), (20, 20), (20, 10), (10, 10), (10, 20), (0, 20)])


@given(mocs())
@settings(max_examples=40, deadline=None)
def test_a_moc_has_the_cells_that_mocpy_has(region):
    theirs = MOC.from_str(region.text)
    assert (theirs.to_depth29_ranges == region.ranges).all()
    assert moc(theirs) == region


def test_a_moc_is_read_from_files_of_all_formats(tmp_path):
    region = moc("2/0 3/4 5/80 29/3458764513820540927")
    theirs = MOC.from_str(region.text)
    for kind in ("fits", "json", "ascii"):
        path = tmp_path / f"moc.{kind}"
        theirs.save(str(path), format=kind)
        assert moc(path) == moc(str(path)) == region
    (tmp_path / "own.json").write_text(json.dumps({"3": [4]}))
    assert moc(tmp_path / "own.json").text == "3/4"


def test_a_file_that_is_no_moc_is_refused(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        moc(tmp_path / "missing.fits")
    (tmp_path / "cut.fits").write_bytes(b"SIMPLE  =                    T")
    with pytest.raises(FileError, match="cannot be read as a MOC"):
        moc(tmp_path / "cut.fits")
    (tmp_path / "text").write_text("hello")
    with pytest.raises(RegionError, match="is not a MOC"):
        moc(tmp_path / "text")


@pytest.mark.parametrize("order", [0, 1, 2, 5, 12, DEEPEST])
def test_cells_lie_where_cdshealpix_has_them_and_within_the_largest_radius(order):
    count = 12 << (2 * order)
    numbers = np.arange(count) if count < 5000 else np.random.default_rng(order).integers(0, count, 2000)
    cells = build_cells(order, numbers)
    assert (cells.compute_numbers() == numbers).all()
    ra, dec = nested.vertices(numbers, order, step=4)
    edge = Points.at(ra.deg.ravel(), dec.deg.ravel()).vectors.reshape(len(numbers), -1, 3)
    assert measure_separation(edge, cells.centres.vectors[:, None]).max() < bound_cell_radius(order)
    lon, lat = nested.healpix_to_lonlat(numbers, order)
    assert measure_separation(Points.at(lon.deg, lat.deg).vectors, cells.centres.vectors).max() < 1e-12
    if order < DEEPEST:
        inner = (4 * numbers[:, None] + np.arange(4)).ravel()
        assert sorted(cells.subdivide().compute_numbers()) == sorted(inner)
