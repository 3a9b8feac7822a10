"""Which regions lie in others: what is claimed is so, at borders too, and what is clear is claimed."""

import itertools

import numpy as np
import pytest
from astropy import units as u
from astropy.coordinates import Latitude, Longitude
from hypothesis import given, settings
from hypothesis import strategies as st
from mocpy import MOC

from provenn.sky import apart, box, cone, moc, polygon, within
from tests.sky.oracle import expected, positions
from tests.sky.strategies import around, regions

ARCSEC = 1 / 3600
WHOLE = [cone(12, 3, 180), box(0, 360, -90, 90), moc("0/0-11")]


def square(ra, dec, half):
    return polygon(around(ra, dec, np.full(4, half), np.pi / 4 + np.arange(4) * np.pi / 2))


def discs(ra, dec, size):
    """One region of each kind around a point, of about a size."""
    depth = min(29, max(0, int(np.ceil(np.log2(58 / size)) + 3)))
    high, low = min(90.0, dec + 0.6 * size), max(-90.0, dec - 0.6 * size)
    aside = 0.6 * size / np.cos(np.radians(dec))
    covered = MOC.from_cone(
        lon=Longitude(ra * u.deg), lat=Latitude(dec * u.deg), radius=0.8 * size * u.deg, max_depth=depth
    )
    return [
        cone(ra, dec, size),
        box((ra - aside) % 360, (ra + aside) % 360, low, high),
        square(ra, dec, size),
        moc(covered),
    ]


PLACES = [(56.75, 24.12), (0.0, 0.0), (359.9999, -70.0), (45.0, 41.81), (270.0, 85.0)]


@pytest.mark.parametrize("size", [ARCSEC, 0.1, 3.0])
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_region_in_a_clearly_larger_one_is_found_to_be_inside_for_every_two_kinds(place, size):
    for small, large in itertools.product(discs(*place, size / 4), discs(*place, size)):
        assert within(small, large), (small, large)
        assert not within(large, small)
        assert not apart(small, large)


@pytest.mark.parametrize("size", [ARCSEC, 0.1, 3.0])
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_regions_clearly_beside_each_other_are_found_to_be_apart_for_every_two_kinds(place, size):
    ((ra, dec),) = around(*place, np.array([3 * size]), np.array([0.7]))
    for item, other in itertools.product(discs(*place, size), discs(ra, dec, size)):
        assert apart(item, other), (item, other)
        assert not within(item, other)


@pytest.mark.parametrize("whole", WHOLE, ids=str)
@pytest.mark.parametrize("item", [*discs(56.75, 24.12, 2.0), *WHOLE], ids=lambda element: type(element).__name__)
def test_everything_lies_in_the_whole_sky(item, whole):
    assert within(item, whole)
    assert not apart(item, whole)
    assert within(whole, item) == (item in WHOLE)


def test_an_arcsecond_near_the_border_of_a_wide_region_is_still_found_inside():
    assert within(cone(50.001, 24, ARCSEC), box(50, 60, 20, 30))
    assert within(square(50.001, 24, ARCSEC), box(50, 60, 20, 30))
    assert apart(square(49.999, 24, ARCSEC), polygon([(50, 20), (60, 20), (60, 30), (50, 30)]))


def test_nothing_is_claimed_of_cones_that_touch():
    for gap, claimed in ((-1e-6, False), (0, False), (1e-6, True)):
        assert apart(cone(10, 0, 1), cone(12 + gap, 0, 1)) is claimed
        assert within(cone(10, 0, 1), cone(11 - gap, 0, 2)) is claimed


def test_boxes_are_compared_by_their_numbers():
    item = box(10, 20, 0, 10)
    assert within(item, box(10, 20, 0, 10, on=("a", "b")))
    assert within(item, box(10, 20.000000000000004, 0, 10))
    assert not within(box(10, 20.000000000000004, 0, 10), item)
    assert not apart(item, box(20, 30, 0, 10))  # a corner of both
    assert apart(item, box(20.000000000000004, 30, 0, 10))
    assert within(box(350, 0, 0, 1), box(340, 10, 0, 1))
    assert within(box(355, 5, 0, 1), box(350, 10, 0, 1))
    assert not within(box(10, 350, 0, 1), box(340, 20, 0, 1))  # the long way around
    assert not within(box(340, 20, 0, 1), box(10, 350, 0, 1))
    assert within(box(10, 20, 0, 1), box(0, 360, 0, 1))
    assert not within(box(0, 360, 0, 1), box(10, 9, 0, 1))


def test_mocs_are_compared_cell_by_cell_however_many_they_have():
    cells = [f"9/{number}" for number in range(0, 9000, 3)]
    assert within(moc(" ".join(cells[1:])), moc(" ".join(cells)))
    assert not within(moc(" ".join(cells)), moc(" ".join(cells[1:])))
    assert apart(moc(" ".join(cells[::2])), moc(" ".join(cells[1::2])))
    assert not apart(moc("9/5"), moc("9/4 10/20-21"))
    assert apart(moc("9/5"), moc("9/4 10/24"))


def test_across_ra_0_and_over_the_poles():
    assert within(cone(0, 0, 1), cone(359, 0, 3))
    assert within(cone(0, 0, 1), box(350, 10, -5, 5))
    assert within(box(359.5, 0.5, -0.5, 0.5), cone(0, 0, 1))
    assert within(cone(77, 89, 2), box(0, 360, 80, 90))
    assert within(cone(0, 90, 1), square(0, 90, 5))
    assert apart(cone(0, 90, 5), box(0, 360, -90, 80))
    assert not within(cone(0, 90, 1), box(0, 359, 80, 90))
    assert apart(cone(0, 89, 1.5), cone(180, 87, 1.5))
    assert not apart(cone(0, 89, 1.5), cone(180, 88, 1.6))


@given(regions, regions, st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_no_position_refutes_what_is_claimed(one, other, number):
    random = np.random.default_rng(number)
    points = np.concatenate([positions(one, random), positions(other, random)])
    check(one, other, points)


@given(regions, st.integers(0, 3), st.floats(0, 3), st.floats(0, 6.3), st.sampled_from([0.3, 1.0, 2.0]))
@settings(max_examples=60, deadline=None)
def test_no_position_refutes_what_is_claimed_of_neighbours(one, kind, away, angle, scale):
    random = np.random.default_rng(kind)
    x, y, z = one.cap.centre
    size = min(one.cap.radius, 40.0)
    lon, lat = np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))
    ((ra, dec),) = around(lon, lat, np.array([size * away]), np.array([angle]))
    other = discs(ra, min(89.0, max(-89.0, dec)), min(60.0, max(1e-5, size * scale)))[kind]
    check(one, other, np.concatenate([positions(one, random), positions(other, random)]))


def check(item, other, points):
    reports = [expected(region, points[:, 0], points[:, 1]) for region in (item, other)]
    pairs = set(zip(*reports, strict=True))
    if apart(item, other):
        assert (True, True) not in pairs
        assert not within(item, other)
    if within(item, other):
        assert (True, False) not in pairs
    if within(other, item):
        assert (False, True) not in pairs
    assert apart(item, other) == apart(other, item)
