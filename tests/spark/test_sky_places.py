"""Positions of other frames, epochs and spellings, against astropy."""

import math

import numpy as np
import pyarrow as pa
import pytest
from astropy import units
from astropy.coordinates import Angle, Distance, SkyCoord
from astropy.time import Time

from provenn.catalogs.match_rule import MatchRule
from provenn.catalogs.placements import IN_PLACE, Motion, Placement
from provenn.sky.frames import FRAMES
from provenn.spark.crossmatch import MatchSide, match_pairs
from provenn.spark.sky_places import place_rows

MAS = 1 / 3_600_000


def draw_sky(random, number):
    """Positions anywhere, and at the poles and around zero."""
    ra, dec = random.uniform(0, 360, number), np.degrees(np.arcsin(random.uniform(-1, 1, number)))
    ra[:6], dec[:6] = [0, 359.9999999, 10, 200, 77, 180], [0, 1, 90, -90, 89.99999, -89.9999]
    return ra, dec


def place(engine, columns, placement, coordinates=(("ra", "deg"), ("dec", "deg"))):
    """Right ascensions and declinations by Spark, in degrees, by the column ``id``."""
    number = len(next(iter(columns.values())))
    frame = engine.session.createDataFrame(pa.table({"id": np.arange(number), **columns}))
    rows = place_rows(frame, ["id"], coordinates, placement, ("a", "d")).orderBy("id").toPandas()
    return rows["id"].to_numpy(), rows["a"].to_numpy(), rows["d"].to_numpy()


def measure(ra, dec, expected):
    return SkyCoord(ra, dec, unit="deg").separation(SkyCoord(expected.ra, expected.dec)).deg


@pytest.mark.parametrize("frame", ["fk5", "galactic"])
def test_frames_turn_as_in_astropy(engine, frame):
    ra, dec = draw_sky(np.random.default_rng(1), 500)
    ids, new_ra, new_dec = place(engine, {"ra": ra, "dec": dec}, Placement(frame))
    assert len(ids) == 500
    expected = SkyCoord(ra, dec, unit="deg", frame=frame).icrs
    assert measure(new_ra, new_dec, expected).max() < 1e-6 * MAS


def test_rotations_are_rotations():
    for matrix in FRAMES.values():
        if matrix is not None:
            assert np.allclose(np.array(matrix) @ np.array(matrix).T, np.eye(3), atol=1e-15)
            assert np.isclose(np.linalg.det(np.array(matrix)), 1)


MOTION = (("pmra", "mas/yr"), ("pmdec", "mas/yr"), ("plx", "mas"), ("rv", "km/s"))


def draw_motions(random, number):
    """Proper motions up to 2 arcseconds a year, parallaxes of 5 to 100 mas, velocities up to 200 km/s."""
    return {
        "pmra": random.normal(0, 700, number).clip(-2000, 2000),
        "pmdec": random.normal(0, 700, number).clip(-2000, 2000),
        "plx": random.uniform(5, 100, number),
        "rv": random.normal(0, 70, number).clip(-200, 200),
    }


def move_by_astropy(ra, dec, motions, start, end, *, frame="icrs"):
    names = ("pm_l_cosb", "pm_b") if frame == "galactic" else ("pm_ra_cosdec", "pm_dec")
    speeds = dict(zip(names, (motions[name] * units.mas / units.yr for name in ("pmra", "pmdec")), strict=True))
    sources = SkyCoord(
        ra * units.deg,
        dec * units.deg,
        distance=Distance(parallax=motions["plx"] * units.mas),
        radial_velocity=motions["rv"] * units.km / units.s,
        obstime=Time(start, format="jyear", scale="tcb"),
        frame=frame,
        **speeds,
    )
    return sources.apply_space_motion(Time(end, format="jyear", scale="tcb"))


@pytest.mark.parametrize(("start", "end"), [(1991.25, 2016.0), (2016.0, 1950.0)])
def test_sources_move_as_in_astropy(engine, start, end):
    """Which also takes the travel time of light into account: to a tenth of a milliarcsecond in some decades."""
    random = np.random.default_rng(2)
    ra, dec = draw_sky(random, 400)
    dec = np.clip(dec, -89.9999, 89.9999)  # astropy's own formula fails at a pole
    motions = draw_motions(random, 400)
    placement = Placement("icrs", Motion(MOTION, start, end))
    _, new_ra, new_dec = place(engine, {"ra": ra, "dec": dec, **motions}, placement)
    expected = move_by_astropy(ra, dec, motions, start, end)
    apart = measure(new_ra, new_dec, expected)
    assert apart.max() < 0.1 * MAS
    assert measure(ra, dec, expected).max() > 1000 * MAS
    by_attribute = Placement("icrs", Motion(MOTION, ("from", "yr"), end))
    again = place(engine, {"ra": ra, "dec": dec, "from": np.full(400, start), **motions}, by_attribute)
    assert np.array_equal(again[1], new_ra)
    assert np.array_equal(again[2], new_dec)


def test_the_fastest_stars_move_as_in_astropy(engine):
    """Barnard's star, Groombridge 1830 and Kapteyn's star: what the travel time of light makes of their motion."""
    ra, dec = np.array([269.452, 178.24, 77.9]), np.array([4.693, 37.7, -45.0])
    motions = {
        "pmra": np.array([-801.55, 4002.6, 6491.2]),
        "pmdec": np.array([10362.39, -5817.9, -5709.2]),
        "plx": np.array([546.98, 109.0, 254.2]),
        "rv": np.array([-110.5, -98.4, 245.2]),
    }
    for years, most in ((25, 0.2), (100, 2.5)):
        placement = Placement("icrs", Motion(MOTION, 2000.0, 2000.0 + years))
        _, new_ra, new_dec = place(engine, {"ra": ra, "dec": dec, **motions}, placement)
        apart = measure(new_ra, new_dec, move_by_astropy(ra, dec, motions, 2000.0, 2000.0 + years))
        assert apart.max() < most * MAS


def test_sources_move_as_vectors_do(engine):
    """Without light time the formula is exact: in numbers of 19 digits, across the poles and for a thousand years."""
    random = np.random.default_rng(3)
    ra, dec = draw_sky(random, 300)
    motions = draw_motions(random, 300)
    placement = Placement("icrs", Motion(MOTION, 1500.0, 2500.0))
    _, new_ra, new_dec = place(engine, {"ra": ra, "dec": dec, **motions}, placement)
    degree = np.longdouble("3.14159265358979323846264") / 180

    def direction(longitude, latitude):
        a, d = (np.asarray(angle, np.longdouble) * degree for angle in (longitude, latitude))
        north = np.array([-np.sin(d) * np.cos(a), -np.sin(d) * np.sin(a), np.cos(d)])
        east = np.array([-np.sin(a), np.cos(a), np.zeros_like(a)])
        return np.array([np.cos(d) * np.cos(a), np.cos(d) * np.sin(a), np.sin(d)]), east, north

    away, east, north = direction(ra, dec)
    mas = degree / 3_600_000
    pmra, pmdec, plx = (np.asarray(motions[name], np.longdouble) * mas for name in ("pmra", "pmdec", "plx"))
    radial = plx * np.asarray(motions["rv"], np.longdouble) * 31557600 / np.longdouble("149597870.7")
    moved = away * (1 + radial * 1000) + (east * pmra + north * pmdec) * 1000
    error = moved / np.sqrt((moved**2).sum(axis=0)) - direction(new_ra, new_dec)[0]
    assert np.sqrt((error**2).sum(axis=0)).max() < 1e-15


def test_frame_and_epoch_together(engine):
    """The proper motions belong to the frame of the positions."""
    random = np.random.default_rng(4)
    lon, lat = draw_sky(random, 100)
    lat = np.clip(lat, -89.9999, 89.9999)
    motions = draw_motions(random, 100)
    placement = Placement("galactic", Motion(MOTION, 2000.0, 2016.0))
    _, new_ra, new_dec = place(engine, {"ra": lon, "dec": lat, **motions}, placement)
    expected = move_by_astropy(lon, lat, motions, 2000.0, 2016.0, frame="galactic").icrs
    assert measure(new_ra, new_dec, expected).max() < 0.1 * MAS


def test_what_is_not_known_does_not_move_a_source(engine):
    unknown = [None, math.nan, math.inf, -math.inf]
    ra, dec = [10.0] * 9, [20.0] * 9
    pmra, pmdec = [*unknown, 1000.0, 1000.0, 0.0, 1000.0, 1000.0], [*[1000.0] * 4, None, math.nan, 0.0, 1000.0, 1000.0]
    start = [*[2000.0] * 7, None, math.nan]
    columns = {"ra": ra, "dec": dec, "pmra": pmra, "pmdec": pmdec, "from": start}
    placement = Placement("icrs", Motion(MOTION[:2], ("from", "yr"), 2016.0))
    ids, new_ra, new_dec = place(engine, columns, placement)
    assert (ids.tolist(), set(new_ra), set(new_dec)) == (list(range(9)), {10.0}, {20.0})
    plx, rv = [*unknown, 0.0, -5.0, *[10.0] * 4], [*[100.0] * 6, *unknown]
    columns = {"ra": [*ra, 10.0], "dec": [*dec, 20.0], "pmra": [1e6] * 10, "pmdec": [0.0] * 10, "plx": plx, "rv": rv}
    ids, new_ra, new_dec = place(engine, columns, Placement("icrs", Motion(MOTION, 2000.0, 2016.0)))
    plain = place(engine, columns, Placement("icrs", Motion(MOTION[:2], 2000.0, 2016.0)))
    assert ids.tolist() == list(range(10))
    assert set(new_ra) == set(plain[1])
    assert set(new_dec) == set(plain[2])


def test_sources_without_a_position_stay_without(engine):
    columns = {"ra": [None, 1.0, math.nan, 1.0, math.inf, 370.0], "dec": [1.0, None, 1.0, 90.1, 1.0, 1.0]}
    columns |= {"pmra": [1.0] * 6, "pmdec": [1.0] * 6}
    for placement in (IN_PLACE, Placement("fk5"), Placement("icrs", Motion(MOTION[:2], 2000.0, 2016.0))):
        assert place(engine, columns, placement)[0].tolist() == [5]


READABLE = ["05:35:17.3", "05 35 17.3", "5h35m17.3s", " 05h 35m 17.3s ", "00:00:00", "23:59:59.999", "12:30", "+1:2:3"]
UNREADABLE = ["", "abc", "12", "12.5", "-1:00:00", "1:60:00", "1:00:60", "25:00:00", "1:2:3:4", "1:2:x", "nan", None]


def test_text_is_read_as_by_astropy(engine):
    decs = ["-05:23:28.5", "+05 23 28", "5d23m28s", "-05°23'28.5\"", "-00:00:01", "-0:0:0", "12:30", "-89 59 59.9"]
    columns = {"ra": [*READABLE, *UNREADABLE], "dec": [*decs, *["0:0:0"] * len(UNREADABLE)]}
    ids, ra, dec = place(engine, columns, IN_PLACE, (("ra", "hms"), ("dec", "dms")))
    assert ids.tolist() == list(range(len(READABLE)))
    np.testing.assert_allclose(ra, [Angle(text, units.hourangle).deg for text in READABLE], rtol=0, atol=1e-12)
    np.testing.assert_allclose(dec, [Angle(text, units.deg).deg for text in decs], rtol=0, atol=1e-12)
    unreadable = ["", "x", "90:00:01", "-91:0:0", "1:60:0", "1:0:60", "5", "--5:0:0", None]
    columns = {"ra": ["1:0:0"] * len(unreadable), "dec": unreadable}
    assert place(engine, columns, IN_PLACE, (("ra", "dms"), ("dec", "dms")))[0].tolist() == []


def test_a_match_of_epochs_and_frames(engine):
    """Stars of 1991.25 in FK5 find themselves in galactic coordinates of 2016, which is 25 arcseconds away for some."""
    random = np.random.default_rng(5)
    ra, dec = draw_sky(random, 300)
    dec = np.clip(dec, -89.9999, 89.9999)
    motions = draw_motions(random, 300)
    there = move_by_astropy(ra, dec, motions, 1991.25, 2016.0, frame="fk5").galactic

    def make_side(name, columns, placement):
        frame = engine.session.createDataFrame(pa.table({name: np.arange(300), **columns}))
        return MatchSide(frame, [name], ("ra", "deg"), ("dec", "deg"), {name: name}, None, placement)

    left = make_side("l", {"ra": ra, "dec": dec, **motions}, Placement("fk5", Motion(MOTION, 1991.25, 2016.0)))
    right = make_side("r", {"ra": there.l.deg, "dec": there.b.deg}, Placement("galactic"))
    pairs = match_pairs(left, right, MatchRule(0.001), "apart").toPandas()
    assert (pairs["l"] == pairs["r"]).all()
    assert len(pairs) == 300
    unmoved = make_side("l", {"ra": ra, "dec": dec}, Placement("fk5"))
    assert len(match_pairs(unmoved, right, MatchRule(0.001), "apart").toPandas()) < 20
