"""A match without Spark: the pairs of brute force, and exactly those of Spark, or none where rounding decides."""

import math
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from provenn.catalogs.match_rule import MatchRule
from provenn.look import matching, near_pairs
from provenn.look.located_rows import EVERYWHERE, SkyBox, locate_rows
from provenn.look.matching import MatchedSide, SideFile, count_pairs, read_pairs
from provenn.look.near_pairs import SkyIndex, SkyRows
from provenn.look.refusal import NeedsSpark
from tests.spark.test_crossmatch import Sky, anywhere, brute, clustered, expected, matched

MATCHES = ("best", "all", "mutual", 2, 5)


def make_side(name: str, sky: Sky, rule: MatchRule, files: int, radii=None, *, stated: bool = True) -> MatchedSide:
    """A side whose rows are divided into files by declination, and that are written to no disk."""
    columns = {name: pa.array(np.arange(len(sky[0]))), "ra": pa.array(sky[0]), "dec": pa.array(sky[1])}
    own = rule.radius_column if name == "l" else None
    table = pa.table(columns | ({"radius": radii} if own else {}))
    order = np.argsort(np.nan_to_num(np.array(table["dec"].to_pylist(), dtype=float)))
    parts = []
    for places in np.array_split(order, files):
        rows = partial(locate_rows, table.take(places), (("ra", "deg"), ("dec", "deg")), [name], own)
        box = rows().find_box() if stated else None
        parts.append(SideFile(rows, box or EVERYWHERE, len(places)))
    return MatchedSide(parts, {name: name}, [name])


def look(left_sky: Sky, right_sky: Sky, rule: MatchRule, radii=None, **options) -> set[tuple[int, int]]:
    """The pairs that a look finds; their number is also counted without them."""
    left = make_side("l", left_sky, rule, 4, radii, **options)
    right = make_side("r", right_sky, rule, 5, **options)
    tables = [table for table in read_pairs(left, right, rule) if table.num_rows]
    pairs = [(row["l"], row["r"]) for table in tables for row in table.to_pylist()]
    assert len(set(pairs)) == len(pairs), "no pair twice"
    if not rule.is_mutual:
        assert count_pairs(left, right, rule) == len(pairs)
    return set(pairs)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.integers(0, 2**32),
    st.floats(-3, 5).map(lambda power: 10**power),
    st.sampled_from(MATCHES),
    st.booleans(),
    st.booleans(),
)
def test_pairs_are_those_of_brute_force(seed, radius, matches, stated, banded):
    """At the poles, around right ascension 0, with positions that come twice, and a radius of each source."""
    random = np.random.default_rng(seed)
    left_sky, right_sky = (clustered(random, random.integers(1, 80), radius) for _ in range(2))
    right_sky[0][: len(left_sky[0]) // 3] = left_sky[0][: len(right_sky[0])][: len(left_sky[0]) // 3]
    right_sky[1][: len(left_sky[0]) // 3] = left_sky[1][: len(right_sky[0])][: len(left_sky[0]) // 3]
    radii = random.uniform(0, radius * 1.5, len(left_sky[0])) if random.integers(2) else None
    smallest = radius * random.uniform(0, 0.5) if random.integers(2) else 0.0
    rule = MatchRule(radius, matches, smallest, None if radii is None else ("radius", "arcsec"))
    separations = brute(left_sky, right_sky)
    limits = np.full(len(left_sky[0]), radius) if radii is None else np.minimum(radius, radii)
    is_same = (left_sky[0][:, None] == right_sky[0]) & (left_sky[1][:, None] == right_sky[1])
    separations[is_same] = 0.0
    # Brute force gives positions that come twice the same separation to the last bit.
    separations = separations[find_firsts(left_sky)][:, find_firsts(right_sky)]
    slack = 1e-8 + 1e-12 * radius
    is_near = [np.abs(separations - limits[:, None]) < slack, np.abs(separations - smallest) < slack]
    candidates = np.where((separations <= limits[:, None]) & (separations >= smallest), separations, np.inf)
    gaps = [np.diff(np.sort(np.minimum(candidates, 1e9), axis=axis), axis=axis) for axis in (0, 1)]
    if is_near[0].any() or is_near[1][~is_same].any() or any(((gap > 0) & (gap < slack)).any() for gap in gaps):
        return  # brute force cannot tell
    with pytest.MonkeyPatch.context() as patch:
        if banded:
            patch.setattr(matching, "_MOST_INDEXED", 40)
        patch.setattr(near_pairs, "_NUMBER_AT_ONCE", 50)
        assert look(left_sky, right_sky, rule, radii, stated=stated) == expected(candidates, matches)


def find_firsts(sky: Sky) -> list[int]:
    """For each position, the first place with this position."""
    places: dict[tuple[float, float], int] = {}
    return [places.setdefault(position, place) for place, position in enumerate(zip(*sky, strict=True))]


RADII = (0.47, 3517.0)


@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 2**32), st.sampled_from(MATCHES), st.sampled_from(RADII), st.booleans())
def test_pairs_are_exactly_those_of_spark(engine, seed, matches, radius, has_own):
    """Mirrored and equal positions, poles, NULL, NaN and declinations beyond them: the same pairs, or a refusal."""
    random = np.random.default_rng(seed)
    left_sky, right_sky = (make_hard_sky(random, 60, radius) for _ in range(2))
    radii = pa.array(
        [random.choice([None, math.nan, -1.0, 0.0, math.inf, radius / 3]) for _ in range(60)], pa.float64()
    )
    smallest = float(random.choice([0.0, radius / 7]))
    rule = MatchRule(radius, matches, smallest, ("radius", "arcsec") if has_own else None)
    try:
        found = look(left_sky, right_sky, rule, radii)
    except NeedsSpark:
        return
    left, right, _ = matched(engine, left_sky, right_sky, radius, rule=rule, radii=radii if has_own else None)
    assert found == set(zip(left.tolist(), right.tolist(), strict=True))


def make_hard_sky(random: np.random.Generator, number: int, radius: float) -> Sky:
    """Positions in steps of a power of two, around a few centres: many separations are equal. Some rows have none."""
    step = 2.0 ** math.floor(math.log2(radius / 3600 / 2.3))
    ra = random.choice([0.0, 40.0, 359.0 + 1023 / 1024], number) + step * random.integers(-3, 4, number)
    dec = random.choice([0.0, 60.0, 90.0, -90.0], number) + step * random.integers(-2, 3, number)
    ra += 360 * random.integers(-1, 2, number)
    ra[random.integers(0, number, 2)] = random.choice([math.nan, math.inf, -0.0], 2)
    dec[random.integers(0, number, 2)] = random.choice([math.nan, -math.inf, -0.0], 2)
    return ra, dec


def test_equal_separations_are_decided_by_key_and_near_ones_left_to_spark():
    """The mirror image of a position is as far; one that is nearer by a rounding is Spark's to judge."""
    centre = (np.array([10.0]), np.array([0.0]))
    mirrored = (np.array([10.25, 9.75, 10.0]), np.array([0.0, 0.0, 0.25]))
    assert look(centre, (mirrored[0][:2], mirrored[1][:2]), MatchRule(3600.0)) == {(0, 0)}
    assert look(centre, (mirrored[0][1::-1], mirrored[1][:2]), MatchRule(3600.0)) == {(0, 0)}
    with pytest.raises(NeedsSpark, match="nearer"):
        look(centre, mirrored, MatchRule(3600.0))
    assert look(centre, mirrored, MatchRule(3600.0, 3)) == {(0, 0), (0, 1), (0, 2)}, "all are kept in any order"
    left, right = (make_side(name, sky, MatchRule(3600.0), 1) for name, sky in (("l", centre), ("r", mirrored)))
    assert count_pairs(left, right, MatchRule(3600.0)) == 1, "the number does not depend on the order"


def test_a_separation_of_about_the_radius_is_left_to_spark():
    """Also if it is about the smallest one, or the radius of the source itself."""
    left, right = (np.array([10.0]), np.array([0.0])), (np.array([10.0]), np.array([0.5]))
    own = MatchRule(3600.0, "all", 0.0, ("radius", "arcsec"))
    for rule, radii in ((MatchRule(1800.0), None), (MatchRule(3600.0, "all", 1800.0), None), (own, [1800.0])):
        with pytest.raises(NeedsSpark, match="radius"):
            look(left, right, rule, radii)
    assert look(left, right, MatchRule(1800.0 * (1 + 1e-11))) == {(0, 0)}
    assert look(left, right, MatchRule(1800.0 * (1 - 1e-11))) == set()


def test_positions_nearer_than_numbers_can_tell_are_left_to_spark():
    """Squares of such differences are 0 here, and may be more elsewhere."""
    with pytest.raises(NeedsSpark, match="differ"):
        look((np.array([0.0]), np.array([0.0])), (np.array([1e-200]), np.array([0.0])), MatchRule(1.0))


def test_a_crowd_in_an_empty_sky_has_an_index_of_low_zones():
    """Nearly all sources are in one square degree: few are compared with each of them."""
    random = np.random.default_rng(3)
    ra, dec = anywhere(random, 20_000)
    ra[200:], dec[200:] = random.uniform(100, 101, 19_800), random.uniform(30, 31, 19_800)
    index = SkyIndex.of(SkyRows(ra, dec), 1.0)
    _, first, last = index.find_ranges(SkyRows(ra, dec))
    assert (last - first).mean() < 20


def test_very_many_pairs_are_left_to_spark(monkeypatch):
    """All sources at one position: their pairs would fill the memory."""
    monkeypatch.setattr(near_pairs, "_MOST_COMPARED", 0.001)
    sky = (np.zeros(300), np.zeros(300))
    with pytest.raises(NeedsSpark, match="many"):
        look(sky, sky, MatchRule(1.0, "all"))


def test_files_far_away_are_not_read():
    """A file of the right side is read only if its box is near."""

    def refuse():
        raise AssertionError("read")

    rule = MatchRule(1.0)
    left = make_side("l", (np.array([359.9999]), np.array([45.0])), rule, 1)
    near = make_side("r", (np.array([0.0]), np.array([45.0])), rule, 1)
    far = [SideFile(refuse, SkyBox(10, 20, 46, 50)), SideFile(refuse, SkyBox(0, 360, -90, 44.9))]
    right = MatchedSide([*near.files, *far], near.columns, near.key)
    assert count_pairs(left, right, rule) == 1
