"""Regions in regions, up to the whole sky, compared with positions sampled in them."""

# ruff: noqa: S608 - no query takes values from outside

from __future__ import annotations

import astropy.units as u
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mocpy import MOC

from provenn.errors import QueryError
from provenn.queries.adql_shapes import Circle, FixedRegion, Point, lie_inside, meet_always
from provenn.queries.sky_expressions import make_number
from provenn.sky import cone, moc, polygon
from provenn.sky.points import Points
from tests.queries.adql_world import make_adql_world

DRAW = np.random.default_rng(21)
RA, DEC = DRAW.uniform(0, 360, 6000), np.degrees(np.arcsin(DRAW.uniform(-1, 1, 6000)))
SKY = Points.at(RA, DEC)
RADII = [0.5, 30.0, 89.0, 90.0, 120.0, 150.0, 179.0, 180.0]
NEAR = 0.5
"""Degrees: the samples do not decide about regions whose borders are nearer to each other."""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return make_adql_world(tmp_path_factory.mktemp("pairs"))


def find_vectors(ra, dec):
    """Return unit vectors of positions in degrees."""
    ra, dec = np.radians(ra), np.radians(dec)
    return np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)], -1)


def find_angles(vectors, centre):
    """Return the degrees between vectors and a vector."""
    across = np.linalg.norm(np.cross(vectors, centre), axis=-1)
    return np.degrees(np.arctan2(across, vectors @ centre))


def sample_circle(ra, dec, radius, towards):
    """Return vectors all over a circle: rings around its centre, many in the direction of a vector and against it."""
    centre = find_vectors(ra, dec)
    ahead = towards - (towards @ centre) * centre
    ahead /= np.linalg.norm(ahead)
    aside = np.cross(centre, ahead)
    rings, turns = np.radians(np.linspace(0, radius, 1500)), np.radians(np.arange(0, 360, 45))
    side = np.cos(turns)[:, None] * ahead + np.sin(turns)[:, None] * aside
    vectors = np.cos(rings)[:, None, None] * centre + np.sin(rings)[:, None, None] * side[None]
    return vectors.reshape(-1, 3)


@pytest.mark.parametrize("second", [30.0, 90.0, 179.0, 180.0])
@pytest.mark.parametrize("first", [0.5, 150.0, 180.0])
@pytest.mark.parametrize("form", ["numbers", "columns"])
def test_circles_in_circles_hold_the_sampled_positions(world, form, first, second):
    """Both with constant radii, and with radii that are computed for each row."""
    ra, dec = 40.0, -35.0
    radii = (first, second) if form == "numbers" else (f"hip * 0 + {first}", f"hip * 0 + {second}")
    pair = f"(CIRCLE(ra, dec, {radii[0]}), CIRCLE({ra}, {dec}, {radii[1]}))"
    query = f"SELECT ra, dec, CONTAINS{pair} AS inside, INTERSECTS{pair} AS meet FROM stars"
    middle = find_vectors(ra, dec)
    for star_ra, star_dec, inside, meet in world.answer(query):
        if star_ra is None or star_dec is None:
            assert (inside, meet) == (None, None)
            continue
        between = find_angles(find_vectors(star_ra, star_dec), middle)
        far = find_angles(sample_circle(star_ra, star_dec, first, middle), middle)
        if second == 180 or abs(between + first - second) > NEAR:
            assert inside == int(bool((far <= second + 1e-9).all())), (star_ra, star_dec)
        if abs(between - first - second) > NEAR:
            assert meet == int(bool((far <= second + NEAR / 2).any())), (star_ra, star_dec)


@pytest.mark.parametrize("second", [30.0, 179.0, 180.0])
def test_constant_circles_are_compared(world, second):
    """Opposite circles: only the whole sky holds the circle on the other side."""
    query = f"SELECT hip, CONTAINS(CIRCLE(10, 20, 30), CIRCLE(190, -20, {second})) AS inside FROM stars"
    assert {inside for _, inside in world.answer(query)} == {int(second == 180)}


def make_circle(ra, dec, radius):
    return Circle(Point(make_number(ra), make_number(dec)), make_number(radius))


CENTRES = st.tuples(st.integers(0, 35).map(lambda step: step * 10), st.integers(-8, 8).map(lambda step: step * 10))
TRIANGLES = st.builds(
    lambda centre, size: polygon(
        [((centre[0] + turn) % 360, max(-89, min(89, centre[1] + up))) for turn, up in ((0, size), (size, -size), (-size, -size))]
    ),
    CENTRES.filter(lambda centre: abs(centre[1]) <= 40),
    st.sampled_from([5, 20, 40]),
)
MOCS = st.sampled_from(["0/0-11", "0/0-10", "1/0-30", "0/4", "2/7 2/100-140"])
CIRCLES = st.tuples(CENTRES, st.sampled_from(RADII)).map(lambda pair: (*pair[0], pair[1]))
SHAPES = st.one_of(
    CIRCLES.map(lambda values: (make_circle(*values), cone(*values).holds(SKY))),
    TRIANGLES.map(lambda region: (FixedRegion(region), region.holds(SKY))),
    MOCS.map(lambda text: (FixedRegion(moc(text)), MOC.from_string(text).contains_lonlat(RA * u.deg, DEC * u.deg))),
)


@settings(max_examples=60, deadline=None)
@given(SHAPES, SHAPES)
def test_claims_about_regions_of_constants_hold_for_sampled_positions(first, second):
    """A claim is refuted by a position; that one is not in the other is shown by a position, too."""
    held, held_by_other = first[1], second[1]
    is_inside, do_meet = lie_inside(first[0], second[0]), meet_always(first[0], second[0])
    if is_inside:
        assert not (held & ~held_by_other).any()
    if is_inside is False and held.sum() > 100:
        assert (held & ~held_by_other).any()
    if do_meet is False:
        assert not (held & held_by_other).any()
    if do_meet and min(held.sum(), held_by_other.sum()) > 100:
        assert (held & held_by_other).any()


def test_undecided_regions_are_refused(world):
    """A polygon that touches a circle is neither inside nor outside."""
    with pytest.raises(QueryError, match="CONTAINS of these regions is not supported"):
        world.translate("SELECT CONTAINS(POLYGON(0, 0, 10, 0, 5, 10), CIRCLE(5, 5, 4)) AS c FROM stars")
