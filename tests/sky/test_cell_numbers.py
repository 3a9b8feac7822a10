"""Cells that contain positions, and outlines of cells and regions, against cdshealpix and the regions themselves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from provenn.sky import box, cone, moc, polygon
from provenn.sky.cell_numbers import find_cell_numbers, find_places, trace_cells
from provenn.sky.outlines import trace_region


def number_by_cdshealpix(order, ra, dec):
    """Return the numbers of cells as cdshealpix finds them."""
    from astropy import units  # noqa: PLC0415 - these take long to import
    from astropy.coordinates import Latitude, Longitude  # noqa: PLC0415
    from cdshealpix.nested import lonlat_to_healpix  # noqa: PLC0415

    return lonlat_to_healpix(Longitude(ra * units.deg), Latitude(dec * units.deg), order).astype(np.int64)


@pytest.mark.parametrize("order", [0, 1, 2, 5, 9, 12])
def test_every_position_lies_in_the_cell_that_cdshealpix_finds(order):
    random = np.random.default_rng(order)
    ra, dec = random.uniform(0, 360, 20_000), np.degrees(np.arcsin(random.uniform(-1, 1, 20_000)))
    polar = random.uniform(89.9, 90, 1000) * random.choice([-1, 1], 1000)
    ra, dec = np.concatenate([ra, random.uniform(0, 360, 1000)]), np.concatenate([dec, polar])
    assert np.array_equal(find_cell_numbers(order, ra, dec), number_by_cdshealpix(order, ra, dec))


@given(st.integers(0, 12), st.floats(-720, 720), st.floats(-90, 90))
def test_every_position_has_a_cell_and_the_cell_lies_in_that_of_the_next_lower_order(order, ra, dec):
    coordinates = np.array([ra]), np.array([dec])
    (number,) = find_cell_numbers(order, *coordinates)
    assert 0 <= number < 12 * 4**order
    assert find_cell_numbers(max(0, order - 1), *coordinates)[0] == number >> (2 if order else 0)


def test_places_are_finite_and_between_the_poles():
    ra, dec = np.array([1, np.nan, 2, np.inf, 3, 4.0]), np.array([1, 1, 90.1, 1, np.nan, -90.0])
    assert find_places(ra, dec).tolist() == [True, False, False, False, False, True]


@pytest.mark.parametrize("order", [0, 1, 3])
def test_the_corners_of_cells_are_those_of_cdshealpix(order):
    from cdshealpix.nested import vertices  # noqa: PLC0415 - it takes long to import

    numbers = np.arange(12 * 4**order)
    lon, lat = vertices(numbers, order)
    found = trace_cells(order, numbers).vectors.reshape(-1, 4, 3)
    expected = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1).value
    distances = np.linalg.norm(found[:, :, None] - expected[:, None], axis=-1)
    assert distances.min(axis=2).max() < 1e-6


@pytest.mark.parametrize(
    "region",
    [
        cone(56.75, 24.12, 1.5),
        cone(10, 89.5, 20),
        box(350, 10, -5, 5),
        box(20, 300, 30, 60),
        polygon([(10, 10), (30, 12), (20, 40)]),
    ],
    ids=str,
)
def test_the_outline_of_a_region_follows_its_border(region):
    (outline,) = trace_region(region)
    assert region.from_border(outline).max() < 0.02


def test_the_outline_of_a_moc_has_its_cells():
    assert len(trace_region(moc("3/1-4 5/1000"))) == 5
    assert trace_region(cone(0, 0, 180)) == []
    assert len(trace_region(box(0, 360, -30, 90))) == 1
