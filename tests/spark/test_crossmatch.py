"""Cross-matching as Spark does it, against brute force, astropy and STILTS."""

import math
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from astropy import units
from astropy.coordinates import SkyCoord, match_coordinates_sky, search_around_sky
from astropy.table import Table
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.spark import crossmatch
from provenn.spark.crossmatch import MatchSide, match_pairs
from tests.programs import program
from tests.waiting import LIMIT

Sky = tuple[np.ndarray, np.ndarray]
"""Right ascensions and declinations in degrees."""


def brute(one: Sky, other: Sky) -> np.ndarray:
    """All separations in arcseconds, by Vincenty's formula, which is exact near and far; NaN without a position."""
    (ra1, dec1), (ra2, dec2) = ([np.radians(each) for each in side] for side in (one, other))
    a, d1, d2 = ra2[None, :] - ra1[:, None], dec1[:, None], dec2[None, :]
    with np.errstate(invalid="ignore"):
        across = np.hypot(np.cos(d2) * np.sin(a), np.cos(d1) * np.sin(d2) - np.sin(d1) * np.cos(d2) * np.cos(a))
        along = np.sin(d1) * np.sin(d2) + np.cos(d1) * np.cos(d2) * np.cos(a)
    found = np.degrees(np.arctan2(across, along)) * 3600
    found[np.abs(one[1]) > 90, :] = np.nan
    found[:, np.abs(other[1]) > 90] = np.nan
    return found


def matched(engine, one: Sky, other: Sky, radius: float, *, best: bool, spread_left: bool = False, unit: str = "deg"):
    """The pairs that Spark finds: numbers of rows, and separations; in the order of these numbers."""

    def side(sky: Sky, name: str) -> MatchSide:
        columns = {name: pa.array(np.arange(len(sky[0]))), "ra": pa.array(sky[0]), "dec": pa.array(sky[1])}
        frame = engine.session.createDataFrame(pa.table(columns))
        return MatchSide(frame, [name], ("ra", unit), ("dec", unit), {name: name})

    pairs = match_pairs(side(one, "l"), side(other, "r"), radius, "apart", best=best, spread_left=spread_left)
    found = pairs.orderBy("l", "r").toPandas()
    return found["l"].to_numpy(), found["r"].to_numpy(), found["apart"].to_numpy()


def check(engine, one: Sky, other: Sky, radius: float, *, best: bool, spread_left: bool) -> int:
    """Make sure that pairs are those of brute force; those on the border, as far as rounding goes, may be or not."""
    left, right, apart = matched(engine, one, other, radius, best=best, spread_left=spread_left)
    everything = brute(one, other)
    slack = 1e-8 + radius * 1e-12
    assert len(set(zip(left, right, strict=True))) == len(left), "no pair twice"
    assert np.all(apart <= radius)
    np.testing.assert_allclose(apart, everything[left, right], rtol=1e-12, atol=slack)
    surely, perhaps = (everything <= radius + each for each in (-slack, slack))
    if best:
        nearest = np.where(np.isnan(everything), np.inf, everything).min(axis=1, initial=np.inf)
        assert len(set(left)) == len(left)
        assert set(np.flatnonzero(surely.any(axis=1))) <= set(left) <= set(np.flatnonzero(perhaps.any(axis=1)))
        np.testing.assert_allclose(apart, nearest[left], rtol=1e-12, atol=slack)
    else:
        found = np.zeros_like(surely)
        found[left, right] = True
        assert np.all(surely <= found)
        assert np.all(found <= perhaps)
    return len(left)


def anywhere(random: np.random.Generator, number: int) -> Sky:
    return random.uniform(0, 360, number), np.degrees(np.arcsin(random.uniform(-1, 1, number)))


def clustered(random: np.random.Generator, number: int, radius: float) -> Sky:
    """Groups, a few radii wide: at the poles, around right ascension 0, at the edges of cells, anywhere."""
    centres = [(0.0, 90.0), (120.0, -90.0), (0.0, 0.0), (359.9999999, 45.0), (180.0, 89.9), (77.0, -89.999)]
    centres += list(zip(*anywhere(random, 3), strict=True))
    ra, dec = np.array([centres[one] for one in random.integers(0, len(centres), number)]).T
    wide = np.minimum(3 * radius / 3600, 60)
    # On the tangent plane of each centre; near a pole, right ascension is anything.
    away, turn = wide * np.sqrt(random.uniform(0, 1, number)), random.uniform(0, 2 * np.pi, number)
    made = SkyCoord(ra * units.deg, dec * units.deg).directional_offset_by(turn * units.rad, away * units.deg)
    found_ra, found_dec = made.ra.deg, made.dec.deg
    again = random.integers(0, number, number // 4)  # some positions twice
    found_ra[: len(again)], found_dec[: len(again)] = found_ra[again], found_dec[again]
    return found_ra, found_dec


RADII = [0.001, 1.0, 300.0, 3600.0 * 2, 3600.0 * 60, 3600.0 * 170]
CHOSEN = (0.001, 300.0, 3600.0 * 60, 3600.0 * 170)
"""Radii with cells of the least height, of a height of their own, of the greatest; and one beyond a right angle."""


@pytest.mark.parametrize(
    "radius", [radius if radius in CHOSEN else pytest.param(radius, marks=pytest.mark.campaign) for radius in RADII]
)
def test_pairs_are_those_of_brute_force_at_the_poles_around_zero_and_anywhere(engine, radius):
    """From a milliarcsecond to half the sky, whichever side is brought to several cells."""
    random = np.random.default_rng(int(radius * 1000))
    one, other = clustered(random, 120, radius), clustered(random, 90, radius)
    other[0][:20], other[1][:20] = one[0][:20] + 360 * random.integers(-1, 2, 20), one[1][:20]
    for best, spread_left in ((False, False), (True, True)):
        assert check(engine, one, other, radius, best=best, spread_left=spread_left) > 0


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**32),
    st.floats(-3, math.log10(648000)).map(lambda power: min(10**power, 648000.0)),
    st.booleans(),
    st.booleans(),
)
def test_random_skies(engine, seed, radius, best, spread_left):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 60, 2)
    check(
        engine, clustered(random, sizes[0], radius), clustered(random, sizes[1], radius), radius,
        best=best, spread_left=spread_left,
    )  # fmt: skip


def test_sources_without_a_position_are_in_no_pair(engine):
    """NULL, NaN, an infinity, a declination beyond the poles."""
    ra = [10.0, None, 10.0, math.nan, 10.0, math.inf, 10.0, 10.0, 10.0]
    dec = [20.0, 20.0, None, 20.0, math.nan, 20.0, 90.1, -91.0, math.inf]
    one = (np.array([10.0, 10.0, math.nan]), np.array([20.0, 90.0, math.nan]))
    for best in (True, False):
        left, right, apart = matched(engine, one, (ra, dec), 3600, best=best)
        assert (left.tolist(), right.tolist(), apart.tolist()) == ([0], [0], [0.0])
        assert matched(engine, (ra, dec), one, 3600, best=best, spread_left=True)[0].tolist() == [0]


WAYS = ((True, False), (False, True), (False, False), (True, True))
"""Whether the best is wanted, and whether the left side is brought to several cells."""


@pytest.mark.parametrize(
    ("radius", "ways"),
    [
        (3600.0, WAYS[:2]),
        (500_000.0, WAYS[:2]),
        *(pytest.param(radius, WAYS[2:], marks=pytest.mark.campaign) for radius in (3600.0, 500_000.0)),
    ],
)
def test_without_a_right_ascension_there_is_no_position_even_at_a_pole_or_where_all_match_all(engine, radius, ways):
    one, other = ([7.0, None, math.nan], [90.0, 90.0, 89.9999]), ([9.0], [89.9999])
    for best, spread_left in ways:
        assert matched(engine, one, other, radius, best=best, spread_left=spread_left)[0].tolist() == [0]
        assert matched(engine, other, one, radius, best=best, spread_left=spread_left)[1].tolist() == [0]


def test_right_ascension_is_taken_modulo_360(engine):
    one = (np.array([0.0, -0.0, 360.0, 720.0, -360.0, -1e-20, 359.99999999]), np.zeros(7))
    left, right, apart = matched(engine, one, (np.array([0.0]), np.array([0.0])), 0.001, best=False)
    assert left.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert right.tolist() == [0] * 7
    assert apart[:6].tolist() == [0.0] * 6


def test_a_separation_of_just_the_radius_is_a_match(engine):
    random = np.random.default_rng(5)
    one, other = anywhere(random, 20), anywhere(random, 20)
    *_, apart = matched(engine, one, other, 648000, best=False)
    assert len(apart) == 400
    for radius in apart[:1]:
        assert np.sum(matched(engine, one, other, float(radius), best=False)[2] == radius) == 1
        assert np.sum(matched(engine, other, one, float(radius), best=False)[2] == radius) == 1, "the same both ways"
        smaller = float(np.nextafter(radius, 0))
        assert np.sum(matched(engine, one, other, smaller, best=False)[2] == radius) == 0


def test_of_several_that_are_equally_near_the_smallest_key_is_the_best(engine):
    other = (np.full(3, 10.0), np.array([1.0, -1.0, -1.0]))
    left, right, _ = matched(engine, (np.full(3, 10.0), np.array([0.0, -1.0, 5.0])), other, 7200, best=True)
    assert dict(zip(left.tolist(), right.tolist(), strict=True)) == {0: 0, 1: 1}


AWAY = (0.0, 1e-9, 0.0003, 0.7, 37.0, 89.0, 90.0, 120.3, 179.9, 180.0)


@pytest.mark.parametrize(
    ("pole", "distances"),
    [
        (90.0, AWAY[::4]),
        (-90.0, AWAY[2::5]),
        *(pytest.param(pole, AWAY, marks=pytest.mark.campaign) for pole in (90.0, -90.0)),
    ],
)
def test_at_a_pole_all_sources_of_one_declination_are_equally_near(engine, pole, distances):
    """Whatever their right ascensions, and that of the source at the pole; from either side, near and far."""
    random = np.random.default_rng(7)
    ra = random.permutation(np.concatenate([[0.0, 90.0, 180.0, 359.99999], random.uniform(0, 360, 196)]))
    at_pole = (random.uniform(0, 360, 8), np.full(8, pole))
    for away in distances:
        ring = (ra, np.full(200, pole - math.copysign(away, pole)))
        left, right, apart = matched(engine, at_pole, ring, 648000, best=True)
        assert right.tolist() == [0] * len(left) == [0] * 8, away
        np.testing.assert_allclose(apart, away * 3600, rtol=1e-14, atol=1e-9)
    declinations = np.concatenate([np.full(200, pole - math.copysign(away, pole)) for away in AWAY])
    left, right, _ = matched(engine, (np.tile(ra, len(AWAY)), declinations), at_pole, 648000, best=True)
    assert right.tolist() == [0] * len(left) == [0] * len(declinations)


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32))
def test_of_positions_that_mirror_each_other_the_smallest_key_is_the_best(engine, seed):
    """East and west of a source, anywhere; north and south of one at the equator."""
    random = np.random.default_rng(seed)
    number = 40
    # In steps of 2**-20 degrees, so that mirrored positions are exactly that; each group is far from all others.
    centre = np.round(np.linspace(0, 351, number) * 2**20) / 2**20
    height = np.where(random.integers(0, 2, number), 0.0, np.round(random.uniform(-89, 89, number) * 2**20) / 2**20)
    east, north = (random.integers(0, 2**20, number) / 2**20 for _ in range(2))
    ra, dec = [centre + east, centre - east + 360], [height + north] * 2
    equator = height == 0
    ra, dec = np.concatenate([*ra, centre[equator] - east[equator]]), np.concatenate([*dec, -north[equator]])
    group = np.concatenate([np.arange(number), np.arange(number), np.flatnonzero(equator)])
    order = random.permutation(len(ra))
    left, right, apart = matched(engine, (centre, height), (ra[order], dec[order]), 3600 * 4, best=False)
    own = group[order][right] == left
    for source in range(number):
        assert len(set(apart[own & (left == source)].tolist())) == 1, "mirrored positions are equally far"
    left, right, _ = matched(engine, (centre, height), (ra[order], dec[order]), 3600 * 4, best=True)
    mine = {source: right[left == source][0] for source in left}
    assert all(key == np.flatnonzero(group[order] == group[order][key])[0] for key in mine.values())


def test_nothing_matches_nothing(engine):
    none = (np.array([], dtype=float), np.array([], dtype=float))
    one = (np.array([1.0]), np.array([1.0]))
    for left, right in ((none, one), (one, none)):
        assert len(matched(engine, left, right, 648000, best=True)[0]) == 0


def test_positions_in_radians(engine):
    random = np.random.default_rng(6)
    one, other = clustered(random, 50, 100), clustered(random, 50, 100)
    one[1][0], other[1][0] = 90.0, 90.0
    in_degrees = matched(engine, one, other, 100, best=False)
    radians = [tuple(np.radians(each) for each in side) for side in (one, other)]
    found = matched(engine, *radians, 100, best=False, unit="rad")
    assert [each.tolist() for each in found[:2]] == [each.tolist() for each in in_degrees[:2]]
    np.testing.assert_allclose(found[2], in_degrees[2], atol=1e-8)


def test_astropy_finds_the_same(engine):
    random = np.random.default_rng(7)
    one, other = anywhere(random, 2000), anywhere(random, 3000)
    one[0][:500], one[1][:500] = other[0][:500] + random.normal(0, 3e-4, 500), other[1][:500]
    left, right = (SkyCoord(*side, unit="deg") for side in (one, other))
    found = matched(engine, one, other, 3600, best=False)
    at, there, apart, _ = search_around_sky(left, right, 3600 * units.arcsec)
    order = np.lexsort((there, at))
    assert (found[0].tolist(), found[1].tolist()) == (at[order].tolist(), there[order].tolist())
    np.testing.assert_allclose(found[2], apart.arcsec[order], rtol=1e-9, atol=1e-8)
    there, apart, _ = match_coordinates_sky(left, right)
    near = np.flatnonzero(apart.arcsec <= 3600)
    found = matched(engine, one, other, 3600, best=True)
    assert (found[0].tolist(), found[1].tolist()) == (near.tolist(), there[near].tolist())


@pytest.mark.parametrize("find", ["all", "best1"])
def test_stilts_finds_the_same(engine, tmp_path: Path, find):
    random = np.random.default_rng(8)
    one, other = clustered(random, 300, 20), clustered(random, 300, 20)
    other[0][:100] = (one[0][:100] + random.normal(0, 1e-3, 100)) % 360
    for name, sky in (("l", one), ("r", other)):
        Table({name: np.arange(300), f"ra{name}": sky[0], f"dec{name}": sky[1]}).write(tmp_path / f"{name}.fits")
    command = [program("stilts"), "tmatch2", "matcher=sky", "params=20", f"find={find}", "progress=none"]
    command += [f"in1={tmp_path / 'l.fits'}", f"in2={tmp_path / 'r.fits'}", "values1=ral decl", "values2=rar decr"]
    command += [f"out={tmp_path / 'out.fits'}"]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT)
    said = Table.read(tmp_path / "out.fits")
    pairs = sorted(zip(said["l"].tolist(), said["r"].tolist(), said["Separation"].tolist(), strict=True))
    found = matched(engine, one, other, 20.0, best=find == "best1")
    assert found[0].tolist() == [each[0] for each in pairs]
    if find == "all":
        assert found[1].tolist() == [each[1] for each in pairs]
    np.testing.assert_allclose(found[2], [each[2] for each in pairs], atol=1e-6)


def test_cells_are_counted_alike_from_both_sides(engine):
    """A source lies in one of the cells to which it is brought itself, at any declination and radius."""
    random = np.random.default_rng(9)
    ra, dec = anywhere(random, 400)
    dec[:6] = [90, -90, 89.9999999, -89.9999999, 0, 45]
    ra[:8] = [0, 360, 359.9999999, 0, 180, 0, 0, 360]
    frame = engine.session.createDataFrame(pa.table({"id": np.arange(400), "ra": ra, "dec": dec}))
    located = crossmatch._locate_rows(MatchSide(frame, ["id"], ("ra", "deg"), ("dec", "deg"), {"id": "id"}), "1")
    for radius in (0.001, 4000.0, 400000.0):
        grid = crossmatch._Grid.of(radius)
        placed = {(row[0], row[-1]) for row in grid.place_rows(located, "1").collect()}
        spread = [(row[0], row[-1]) for row in grid.spread_rows(located, "1").collect()]
        assert len(placed) == 400
        assert placed <= set(spread)
        assert len(set(spread)) == len(spread), "to none twice"
