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

from provenn.catalogs.match_rule import MatchRule
from provenn.spark import crossmatch
from provenn.spark.crossmatch import MatchSide, match_pairs
from tests.programs import program
from tests.waiting import LIMIT

Sky = tuple[np.ndarray, np.ndarray]
"""Right ascensions and declinations in degrees."""


def brute(left_sky: Sky, right_sky: Sky) -> np.ndarray:
    """All separations in arcseconds, by Vincenty's formula, which is exact near and far; NaN without a position."""
    (ra1, dec1), (ra2, dec2) = ([np.radians(angles) for angles in side] for side in (left_sky, right_sky))
    a, d1, d2 = ra2[None, :] - ra1[:, None], dec1[:, None], dec2[None, :]
    with np.errstate(invalid="ignore"):
        across = np.hypot(np.cos(d2) * np.sin(a), np.cos(d1) * np.sin(d2) - np.sin(d1) * np.cos(d2) * np.cos(a))
        along = np.sin(d1) * np.sin(d2) + np.cos(d1) * np.cos(d2) * np.cos(a)
    separations = np.degrees(np.arctan2(across, along)) * 3600
    separations[np.abs(left_sky[1]) > 90, :] = np.nan
    separations[:, np.abs(right_sky[1]) > 90] = np.nan
    return separations


def matched(
    engine,
    left_sky: Sky,
    right_sky: Sky,
    radius: float,
    *,
    best: bool = False,
    rule: MatchRule | None = None,
    spread_left: bool = False,
    unit: str = "deg",
    radii: pa.Array | None = None,
):
    """The pairs that Spark finds: numbers of rows, and separations; in the order of these numbers."""
    rule = rule or MatchRule(radius, "best" if best else "all")

    def side(sky: Sky, name: str) -> MatchSide:
        columns = {name: pa.array(np.arange(len(sky[0]))), "ra": pa.array(sky[0]), "dec": pa.array(sky[1])}
        columns |= {"radius": radii} if radii is not None and name == "l" else {}
        frame = engine.session.createDataFrame(pa.table(columns))
        own = rule.radius_column if name == "l" else None
        return MatchSide(frame, [name], ("ra", unit), ("dec", unit), {name: name}, own)

    pairs = match_pairs(side(left_sky, "l"), side(right_sky, "r"), rule, "apart", spread_left=spread_left)
    rows = pairs.orderBy("l", "r").toPandas()
    return rows["l"].to_numpy(), rows["r"].to_numpy(), rows["apart"].to_numpy()


def check(engine, left_sky: Sky, right_sky: Sky, radius: float, *, best: bool, spread_left: bool) -> int:
    """Make sure that pairs are those of brute force; those on the border, as far as rounding goes, may be or not."""
    left, right, apart = matched(engine, left_sky, right_sky, radius, best=best, spread_left=spread_left)
    everything = brute(left_sky, right_sky)
    slack = 1e-8 + radius * 1e-12
    assert len(set(zip(left, right, strict=True))) == len(left), "no pair twice"
    assert np.all(apart <= radius)
    np.testing.assert_allclose(apart, everything[left, right], rtol=1e-12, atol=slack)
    surely, perhaps = (everything <= radius + margin for margin in (-slack, slack))
    if best:
        nearest = np.where(np.isnan(everything), np.inf, everything).min(axis=1, initial=np.inf)
        assert len(set(left)) == len(left)
        assert set(np.flatnonzero(surely.any(axis=1))) <= set(left) <= set(np.flatnonzero(perhaps.any(axis=1)))
        np.testing.assert_allclose(apart, nearest[left], rtol=1e-12, atol=slack)
    else:
        paired = np.zeros_like(surely)
        paired[left, right] = True
        assert np.all(surely <= paired)
        assert np.all(paired <= perhaps)
    return len(left)


def anywhere(random: np.random.Generator, number: int) -> Sky:
    return random.uniform(0, 360, number), np.degrees(np.arcsin(random.uniform(-1, 1, number)))


def clustered(random: np.random.Generator, number: int, radius: float) -> Sky:
    """Groups, a few radii wide: at the poles, around right ascension 0, at the edges of cells, anywhere."""
    centres = [(0.0, 90.0), (120.0, -90.0), (0.0, 0.0), (359.9999999, 45.0), (180.0, 89.9), (77.0, -89.999)]
    centres += list(zip(*anywhere(random, 3), strict=True))
    ra, dec = np.array([centres[place] for place in random.integers(0, len(centres), number)]).T
    wide = np.minimum(3 * radius / 3600, 60)
    # On the tangent plane of each centre; near a pole, right ascension is anything.
    away, turn = wide * np.sqrt(random.uniform(0, 1, number)), random.uniform(0, 2 * np.pi, number)
    positions = SkyCoord(ra * units.deg, dec * units.deg).directional_offset_by(turn * units.rad, away * units.deg)
    ra, dec = positions.ra.deg, positions.dec.deg
    again = random.integers(0, number, number // 4)  # some positions twice
    ra[: len(again)], dec[: len(again)] = ra[again], dec[again]
    return ra, dec


RADII = [0.001, 1.0, 300.0, 3600.0 * 2, 3600.0 * 60, 3600.0 * 170]
CHOSEN = (0.001, 300.0, 3600.0 * 60, 3600.0 * 170)
"""Radii with cells of the least height, of a height of their own, of the greatest; and one beyond a right angle."""


@pytest.mark.parametrize(
    "radius", [radius if radius in CHOSEN else pytest.param(radius, marks=pytest.mark.campaign) for radius in RADII]
)
def test_pairs_are_those_of_brute_force_at_the_poles_around_zero_and_anywhere(engine, radius):
    """From a milliarcsecond to half the sky, whichever side is brought to several cells."""
    random = np.random.default_rng(int(radius * 1000))
    left_sky, right_sky = clustered(random, 120, radius), clustered(random, 90, radius)
    right_sky[0][:20], right_sky[1][:20] = left_sky[0][:20] + 360 * random.integers(-1, 2, 20), left_sky[1][:20]
    for best, spread_left in ((False, False), (True, True)):
        assert check(engine, left_sky, right_sky, radius, best=best, spread_left=spread_left) > 0


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
    left_sky = (np.array([10.0, 10.0, math.nan]), np.array([20.0, 90.0, math.nan]))
    for best in (True, False):
        left, right, apart = matched(engine, left_sky, (ra, dec), 3600, best=best)
        assert (left.tolist(), right.tolist(), apart.tolist()) == ([0], [0], [0.0])
        assert matched(engine, (ra, dec), left_sky, 3600, best=best, spread_left=True)[0].tolist() == [0]


MODES = ((True, False), (False, True), (False, False), (True, True))
"""Whether the best is wanted, and whether the left side is brought to several cells."""


@pytest.mark.parametrize(
    ("radius", "modes"),
    [
        (3600.0, MODES[:2]),
        (500_000.0, MODES[:2]),
        *(pytest.param(radius, MODES[2:], marks=pytest.mark.campaign) for radius in (3600.0, 500_000.0)),
    ],
)
def test_without_a_right_ascension_there_is_no_position_even_at_a_pole_or_where_all_match_all(engine, radius, modes):
    left_sky, right_sky = ([7.0, None, math.nan], [90.0, 90.0, 89.9999]), ([9.0], [89.9999])
    for best, spread_left in modes:
        assert matched(engine, left_sky, right_sky, radius, best=best, spread_left=spread_left)[0].tolist() == [0]
        assert matched(engine, right_sky, left_sky, radius, best=best, spread_left=spread_left)[1].tolist() == [0]


def test_right_ascension_is_taken_modulo_360(engine):
    left_sky = (np.array([0.0, -0.0, 360.0, 720.0, -360.0, -1e-20, 359.99999999]), np.zeros(7))
    left, right, apart = matched(engine, left_sky, (np.array([0.0]), np.array([0.0])), 0.001, best=False)
    assert left.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert right.tolist() == [0] * 7
    assert apart[:6].tolist() == [0.0] * 6


def test_a_separation_of_just_the_radius_is_a_match(engine):
    random = np.random.default_rng(5)
    left_sky, right_sky = anywhere(random, 20), anywhere(random, 20)
    *_, apart = matched(engine, left_sky, right_sky, 648000, best=False)
    assert len(apart) == 400
    for radius in apart[:1]:
        assert np.sum(matched(engine, left_sky, right_sky, float(radius), best=False)[2] == radius) == 1
        assert np.sum(matched(engine, right_sky, left_sky, float(radius), best=False)[2] == radius) == 1, (
            "the same both ways"
        )
        smaller = float(np.nextafter(radius, 0))
        assert np.sum(matched(engine, left_sky, right_sky, smaller, best=False)[2] == radius) == 0


def test_of_several_that_are_equally_near_the_smallest_key_is_the_best(engine):
    right_sky = (np.full(3, 10.0), np.array([1.0, -1.0, -1.0]))
    left, right, _ = matched(engine, (np.full(3, 10.0), np.array([0.0, -1.0, 5.0])), right_sky, 7200, best=True)
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
    single = (np.array([1.0]), np.array([1.0]))
    for left, right in ((none, single), (single, none)):
        assert len(matched(engine, left, right, 648000, best=True)[0]) == 0


def test_positions_in_radians(engine):
    random = np.random.default_rng(6)
    left_sky, right_sky = clustered(random, 50, 100), clustered(random, 50, 100)
    left_sky[1][0], right_sky[1][0] = 90.0, 90.0
    in_degrees = matched(engine, left_sky, right_sky, 100, best=False)
    radians = [tuple(np.radians(column) for column in side) for side in (left_sky, right_sky)]
    pairs = matched(engine, *radians, 100, best=False, unit="rad")
    assert [column.tolist() for column in pairs[:2]] == [column.tolist() for column in in_degrees[:2]]
    np.testing.assert_allclose(pairs[2], in_degrees[2], atol=1e-8)


def test_astropy_finds_the_same(engine):
    random = np.random.default_rng(7)
    left_sky, right_sky = anywhere(random, 2000), anywhere(random, 3000)
    left_sky[0][:500], left_sky[1][:500] = right_sky[0][:500] + random.normal(0, 3e-4, 500), right_sky[1][:500]
    left, right = (SkyCoord(*side, unit="deg") for side in (left_sky, right_sky))
    pairs = matched(engine, left_sky, right_sky, 3600, best=False)
    at, there, apart, _ = search_around_sky(left, right, 3600 * units.arcsec)
    order = np.lexsort((there, at))
    assert (pairs[0].tolist(), pairs[1].tolist()) == (at[order].tolist(), there[order].tolist())
    np.testing.assert_allclose(pairs[2], apart.arcsec[order], rtol=1e-9, atol=1e-8)
    there, apart, _ = match_coordinates_sky(left, right)
    near = np.flatnonzero(apart.arcsec <= 3600)
    pairs = matched(engine, left_sky, right_sky, 3600, best=True)
    assert (pairs[0].tolist(), pairs[1].tolist()) == (near.tolist(), there[near].tolist())


def expected(candidates: np.ndarray, matches: object) -> set[tuple[int, int]]:
    """The pairs that a match keeps, by brute force; what is no candidate is infinitely far."""
    kept = set()
    for left, right in zip(*np.nonzero(np.isfinite(candidates)), strict=True):
        value = candidates[left, right]
        before = np.sum(candidates[left] < value) + np.sum(candidates[left, :right] == value)
        before_it = np.sum(candidates[:, right] < value) + np.sum(candidates[:left, right] == value)
        is_first = before_it == 0 or matches != "mutual"
        if matches == "all" or (is_first and before < (matches if isinstance(matches, int) else 1)):
            kept.add((int(left), int(right)))
    return kept


def pairs_of(columns) -> set[tuple[int, int]]:
    pairs = list(zip(columns[0].tolist(), columns[1].tolist(), strict=True))
    assert len(set(pairs)) == len(pairs), "no pair twice"
    return set(pairs)


@pytest.mark.parametrize("matches", [2, 5, "mutual"])
def test_several_neighbours_and_mutual_ones_are_those_of_brute_force(engine, matches):
    """At the poles, around right ascension 0 and anywhere; the separations themselves are tested above."""
    random = np.random.default_rng(11)
    radius = 300.0
    left_sky, right_sky = clustered(random, 120, radius), clustered(random, 90, radius)
    every = matched(engine, left_sky, right_sky, radius)
    candidates = np.full((120, 90), np.inf)
    candidates[every[0], every[1]] = every[2]
    for spread_left in (False, True):
        rule = MatchRule(radius, matches)
        found = matched(engine, left_sky, right_sky, radius, rule=rule, spread_left=spread_left)
        assert pairs_of(found) == expected(candidates, matches)
        assert np.array_equal(found[2], candidates[found[0], found[1]])


def test_astropy_finds_the_same_third_neighbours(engine):
    random = np.random.default_rng(12)
    left_sky, right_sky = clustered(random, 150, 500), anywhere(random, 400)
    left, right = (SkyCoord(*side, unit="deg") for side in (left_sky, right_sky))
    radius = 3600.0 * 20
    found = matched(engine, left_sky, right_sky, radius, rule=MatchRule(radius, 3))
    expected_pairs = set()
    for neighbour in (1, 2, 3):
        there, apart, _ = match_coordinates_sky(left, right, nthneighbor=neighbour)
        near = np.flatnonzero(apart.arcsec <= radius)
        expected_pairs |= set(zip(near.tolist(), there[near].tolist(), strict=True))
    assert pairs_of(found) == expected_pairs


def test_limits_of_separations(engine):
    """From a smallest separation on, included; within the radius of each source, which may be missing or too large."""
    random = np.random.default_rng(14)
    radius = 300.0
    left_sky, right_sky = clustered(random, 100, radius), clustered(random, 90, radius)
    every = matched(engine, left_sky, right_sky, radius)
    candidates = np.full((100, 90), np.inf)
    candidates[every[0], every[1]] = every[2]
    own = random.uniform(0, 400, 100)
    own[:20] = candidates.min(axis=1)[:20]  # just as far as the nearest source
    own[20:26] = [math.nan, -1, 0, math.inf, -0.0, 1e300]
    radii = pa.array([None, *own[1:]])
    own[0] = np.nan
    smallest = float(np.sort(every[2])[len(every[2]) // 3])
    limited = np.where((candidates >= smallest) & (candidates <= own[:, None]), candidates, np.inf)
    circles = np.where(candidates <= own[:, None], candidates, np.inf)
    for matches, spread_left in (("all", False), ("best", True), (2, False), ("mutual", True)):
        rule = MatchRule(radius, matches, smallest)
        apart = matched(engine, left_sky, right_sky, radius, rule=rule, spread_left=spread_left)
        assert pairs_of(apart) == expected(np.where(candidates >= smallest, candidates, np.inf), matches)
        rule = MatchRule(radius, matches, 0.0, ("radius", "arcsec"))
        apart = matched(engine, left_sky, right_sky, radius, rule=rule, spread_left=spread_left, radii=radii)
        assert pairs_of(apart) == expected(circles, matches)
    rule = MatchRule(radius, "all", smallest, ("radius", "arcsec"))
    assert pairs_of(matched(engine, left_sky, right_sky, radius, rule=rule, radii=radii)) == expected(limited, "all")
    in_degrees = pa.array([None, *(own[1:] / 3600)])
    rule = MatchRule(radius, "all", 0.0, ("radius", "deg"))
    found = pairs_of(matched(engine, left_sky, right_sky, radius, rule=rule, radii=in_degrees))
    unsure = set(zip(*np.nonzero(np.isclose(candidates, own[:, None], rtol=0, atol=1e-9)), strict=True))
    assert found ^ expected(circles, "all") <= unsure


def find_by_stilts(folder: Path, radius: float, find: str) -> Table:
    """The pairs of both skies in a folder by STILTS."""
    command = [program("stilts"), "tmatch2", "matcher=sky", f"params={radius}", f"find={find}", "progress=none"]
    command += [f"in1={folder / 'l.fits'}", f"in2={folder / 'r.fits'}", "values1=ral decl", "values2=rar decr"]
    command += [f"out={folder / 'out.fits'}"]
    subprocess.run(command, check=True, capture_output=True, timeout=LIMIT)
    return Table.read(folder / "out.fits")


def test_mutual_pairs_are_the_best_of_both_sides_by_stilts(engine, tmp_path: Path):
    """They are among STILTS' symmetric best pairs, which also pair those whose nearest is taken."""
    random = np.random.default_rng(13)
    left_sky, right_sky = ((sky[0] + random.uniform(0, 1e-6, 300), sky[1]) for sky in
                           (clustered(random, 300, 20), clustered(random, 300, 20)))  # fmt: skip
    for name, sky in (("l", left_sky), ("r", right_sky)):
        Table({name: np.arange(300), f"ra{name}": sky[0], f"dec{name}": sky[1]}).write(tmp_path / f"{name}.fits")
    found = {find: pairs_of(list(find_by_stilts(tmp_path, 20, find)[["l", "r"]].columns.values()))
             for find in ("best1", "best2", "best")}  # fmt: skip
    mutual = pairs_of(matched(engine, left_sky, right_sky, 20.0, rule=MatchRule(20.0, "mutual")))
    assert mutual == found["best1"] & found["best2"]
    assert mutual < found["best"]


@pytest.mark.parametrize("find", ["all", "best1"])
def test_stilts_finds_the_same(engine, tmp_path: Path, find):
    random = np.random.default_rng(8)
    left_sky, right_sky = clustered(random, 300, 20), clustered(random, 300, 20)
    right_sky[0][:100] = (left_sky[0][:100] + random.normal(0, 1e-3, 100)) % 360
    for name, sky in (("l", left_sky), ("r", right_sky)):
        Table({name: np.arange(300), f"ra{name}": sky[0], f"dec{name}": sky[1]}).write(tmp_path / f"{name}.fits")
    table = find_by_stilts(tmp_path, 20, find)
    pairs = sorted(zip(table["l"].tolist(), table["r"].tolist(), table["Separation"].tolist(), strict=True))
    matches = matched(engine, left_sky, right_sky, 20.0, best=find == "best1")
    assert matches[0].tolist() == [pair[0] for pair in pairs]
    if find == "all":
        assert matches[1].tolist() == [pair[1] for pair in pairs]
    np.testing.assert_allclose(matches[2], [pair[2] for pair in pairs], atol=1e-6)


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
