"""Coverage maps of real size: named by their digest, and what is claimed of them is what mocpy says."""

from functools import cache
from hashlib import sha256

import astropy.units as u
import numpy as np
import pytest
from astropy.coordinates import Latitude, Longitude
from hypothesis import given, settings
from hypothesis import strategies as st
from mocpy import MOC

from provenn.errors import FilesMissingError, RegionError
from provenn.sky import box, cone, moc, moc_library, polygon, relation
from provenn.sky.points import Points
from tests.sky.large_mocs import bright_star_mask, random_coverage, survey_rectangle


def test_a_rectangle_of_420_square_degrees_at_order_11_is_a_region():
    assert 420 < survey_rectangle(11).sky_fraction * 41253 < 440
    result = moc(survey_rectangle(11))
    assert result.text == f"moc:{sha256(result.cells_text.encode()).hexdigest()}"
    assert MOC.from_string(result.cells_text) == survey_rectangle(11)


def test_order_12_and_a_mask_of_100_000_cells_are_regions():
    assert MOC.from_string(moc(survey_rectangle(12)).cells_text) == survey_rectangle(12)
    mask = moc(bright_star_mask())
    assert sum(map(len, mask.cells.values())) > 100_000
    assert MOC.from_string(mask.cells_text) == bright_star_mask()


def test_a_small_moc_stays_in_the_criterion_as_it_was():
    assert moc("3/0-4 5/80").text == moc("3/0-4 5/80").cells_text == "2/0 3/4 5/80"


def test_a_large_moc_is_the_same_from_every_format(tmp_path):
    result = survey_rectangle(11)
    result.save(tmp_path / "a.fits", format="fits")
    result.save(tmp_path / "a.json", format="json")
    result.save(tmp_path / "a.txt", format="ascii")
    expected = moc(result)
    assert [moc(tmp_path / name) for name in ("a.fits", "a.json", "a.txt")] == [expected] * 3
    assert moc(expected.text) == moc(expected.cells_text) == expected


def test_a_digest_that_nobody_knows_is_refused():
    with pytest.raises(FilesMissingError, match="f" * 12):
        moc("moc:" + "f" * 64)
    with pytest.raises(RegionError):
        moc("moc:../../etc/passwd")


def test_a_file_that_holds_something_else_than_its_digest_is_not_used():
    named = "a" * 64
    moc_library.LIBRARY.add_place("elsewhere", lambda digest: "3/1" if digest == named else None)
    try:
        with pytest.raises(FilesMissingError):
            moc(f"moc:{named}")
    finally:
        moc_library.LIBRARY.remove_place("elsewhere")


def test_the_library_forgets_what_was_used_longest_ago():
    library = moc_library.MocLibrary(most_characters=100)
    digests = [library.remember(str(number) * 40) for number in range(3)]
    assert [library.find(digest) is None for digest in digests] == [True, False, False]


@given(st.integers(0, 2**32 - 1))
def test_relations_of_mocs_are_those_of_mocpy(seed):
    random = np.random.default_rng(seed)
    first = random_coverage(random)
    second = random_coverage(random) if random.random() < 0.5 else first.union(random_coverage(random))
    if random.random() < 0.3:
        second = first.complement()
    result = relation(moc(first), moc(second))
    common = first.intersection(second)
    assert result.apart == common.empty()
    assert result.within == (common == first)
    assert result.around == (common == second)


def _regions(random):
    ra, dec, size = random.uniform(0, 350), random.uniform(-80, 75), 10 ** random.uniform(-1.5, 1.3)
    yield cone(ra, dec, size)
    yield box(ra, (ra + size) % 360, dec, min(dec + size, 90))
    small = min(size, 10)
    yield polygon([(ra, dec), (ra + small, dec), (ra + small / 2, dec + small)])


@cache
def _coverages():
    return [(item, moc(item)) for item in (bright_star_mask(), survey_rectangle(11))]


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_what_is_claimed_of_a_large_moc_and_a_region_holds_for_positions(seed):
    """No position in and around the region refutes a claim, whether mocpy finds it in the MOC or not."""
    random = np.random.default_rng(seed)
    mask, large = _coverages()[seed % 2]
    for region in _regions(random):
        result = relation(large, region)
        x, y, z = region.cap.centre
        reach = region.cap.radius * 1.1
        stretch = max(np.hypot(x, y), 0.1)
        ra = np.mod(np.degrees(np.arctan2(y, x)) + random.uniform(-reach, reach, 2000) / stretch, 360)
        dec = np.clip(np.degrees(np.arcsin(z)) + random.uniform(-reach, reach, 2000), -90, 90)
        points = Points.at(ra, dec)
        held, inside = mask.contains_lonlat(ra * u.deg, dec * u.deg), region.holds(points)
        clear = region.from_border(points) > 1e-9
        assert not (result.apart and (held & inside & clear).any())
        assert not (result.within and (held & ~inside & clear).any())
        assert not (result.around and (~held & inside & clear).any())


@pytest.mark.parametrize("order", [11, 12])
def test_how_a_survey_lies_to_cones_boxes_and_polygons_is_proved(order):
    large = moc(survey_rectangle(order))
    assert relation(cone(25, 0.1, 0.8), large).within
    assert relation(box(6, 214, -0.95, 0.95), large).within
    assert relation(polygon([(10, -0.9), (20, -0.9), (20, 0.9), (10, 0.9)]), large).within
    assert relation(large, box(4.9, 215.1, -1.1, 1.1)).within
    assert relation(large, cone(110, 0, 106)).within
    assert relation(large, cone(25, 3.1, 2)).apart
    assert relation(large, box(215.1, 217, -1, 1)).apart
    assert relation(large, polygon([(10, 1.1), (90, 1.1), (90, 5), (10, 5)])).apart
    assert relation(large, moc(survey_rectangle(order).complement())).apart


def test_how_a_mask_lies_to_regions_is_proved():
    mask = moc(bright_star_mask())
    assert relation(mask, moc("0/0-11")).within
    hole = next(
        cone(ra, dec, 0.1)
        for ra, dec in np.random.default_rng(0).uniform([0, -60], [360, 60], (50, 2))
        if relation(mask, cone(ra, dec, 0.1)).apart
    )
    disc = MOC.from_cone(Longitude(hole.ra, u.deg), Latitude(hole.dec, u.deg), radius=0.09 * u.deg, max_depth=15)
    assert disc.intersection(bright_star_mask()).empty()
    some = bright_star_mask().intersection(MOC.from_string("2/17"))
    assert relation(moc(some), mask).within
