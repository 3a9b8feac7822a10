"""All options of a cross-match together with positions in other units, frames and spellings, compared with astropy."""

from __future__ import annotations

from typing import Any

import astropy.units as u
import numpy as np
import pytest
from astropy.coordinates import Angle, SkyCoord
from astropy.table import MaskedColumn, Table
from astropy.time import Time

import provenn
from tests.spark.conftest import engine

__all__ = ["engine"]

NUMBER = 300
RADIUS = 20.0
CLOSEST = 2.0
DRAW = np.random.default_rng(21)

LEFT = SkyCoord(DRAW.uniform(0, 360, NUMBER) * u.deg, np.degrees(np.arcsin(DRAW.uniform(-1, 1, NUMBER))) * u.deg)
_NEAR = DRAW.integers(0, NUMBER, 2 * NUMBER)
RIGHT = LEFT[_NEAR].directional_offset_by(
    DRAW.uniform(0, 360, 2 * NUMBER) * u.deg, DRAW.uniform(0, 30, 2 * NUMBER) * u.arcsec
)
RADII = DRAW.uniform(0, 15, NUMBER)
MOTIONS = DRAW.normal(0, 400, (2, NUMBER))
IS_STILL = np.arange(NUMBER) % 5 == 2


def write_positions(sky: Any, spelling: str) -> dict[str, Any]:
    """Return columns with the positions in a spelling."""
    if spelling == "radians":
        return {"ra": sky.ra.rad * u.rad, "dec": sky.dec.rad * u.rad}
    if spelling == "galactic":
        return {"l": sky.galactic.l.deg * u.deg, "b": sky.galactic.b.deg * u.deg}
    if spelling == "text":
        ra = Angle(sky.ra).to_string(u.hour, sep=":", precision=8, pad=True)
        return {"ra": ra, "dec": Angle(sky.dec).to_string(u.deg, sep=":", precision=7, pad=True, alwayssign=True)}
    return {"ra": sky.ra.deg * u.deg, "dec": sky.dec.deg * u.deg}


def list_pairs(left: Any, right: Any, options: dict[str, Any]) -> set[tuple[int, int]]:
    """Return the pairs that astropy's separations give."""
    between = left[:, None].separation(right[None]).arcsec
    limits = RADII if "max_radius" in options else np.full(NUMBER, RADIUS)
    fits = (between <= limits[:, None]) & (between >= options.get("min_radius", 0.0))
    far = np.where(fits, between, np.inf)
    matches = options.get("matches", "best")
    if matches == "all":
        return set(zip(*(index.tolist() for index in np.nonzero(fits)), strict=True))
    number = matches if isinstance(matches, int) else 1
    best = {
        (row, int(column))
        for row in range(NUMBER)
        for column in np.argsort(far[row])[:number]
        if np.isfinite(far[row, column])
    }
    if matches == "mutual":
        return {(row, column) for row, column in best if far[:, column].argmin() == row}
    return best


@pytest.fixture(scope="module")
def archive(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("options") / "survey"
    master = engine.session.sparkContext.master
    with provenn.open(folder, who="ada", progress=False, notify=False, spark=master) as opened:
        for side, sky in (("left", LEFT), ("right", RIGHT)):
            for spelling in ("degrees", "radians", "galactic", "text"):
                table = Table({f"{side}_id": np.arange(len(sky)), **write_positions(sky, spelling)})
                if side == "left":
                    table["err"] = RADII * u.arcsec
                    for name, motion in zip(("pmra", "pmdec"), MOTIONS, strict=True):
                        table[name] = MaskedColumn(motion, mask=IS_STILL, unit=u.mas / u.yr)
                opened.ingest(f"{side} {spelling}", table, key=f"{side}_id", population=f"{side} source")
        yield opened


OPTIONS = [
    ("degrees", "radians", {}),
    ("radians", "text", {"matches": "all"}),
    ("text", "degrees", {"matches": 3}),
    ("galactic", "degrees", {"matches": "mutual", "frame": ("galactic", "icrs"), "on": (("l", "b"), ("ra", "dec"))}),
    ("text", "radians", {"matches": 2, "min_radius": CLOSEST}),
    ("radians", "degrees", {"matches": "all", "radius": "err", "max_radius": 15}),
    ("degrees", "text", {"matches": "mutual", "min_radius": CLOSEST, "radius": "err", "max_radius": 15}),
    ("text", "degrees", {"matches": "all", "epoch": 2016.0, "epochs": (1991.25, None)}),
    ("galactic", "galactic", {"frame": "galactic", "on": ("l", "b"), "matches": 2}),
]


@pytest.mark.parametrize(
    ("left", "right", "options"), OPTIONS, ids=[f"{one}-{two}-{n}" for n, (one, two, _) in enumerate(OPTIONS)]
)
def test_pairs_and_lonely_sources_are_those_of_astropy(archive, left, right, options):
    """Sources without a proper motion stay where they are; those with one move as astropy moves them."""
    given = {"radius": RADIUS, **options}
    pairs = archive[f"left {left}"].crossmatch(f"right {right}", **given)
    moved = LEFT
    if "epoch" in options:
        still = np.where(IS_STILL, 0, MOTIONS) * (u.mas / u.yr)
        sky = SkyCoord(
            LEFT.ra,
            LEFT.dec,
            pm_ra_cosdec=still[0],
            pm_dec=still[1],
            obstime=Time(1991.25, format="jyear"),
            distance=10 * u.pc,
        )
        there = sky.apply_space_motion(Time(2016.0, format="jyear"))
        moved = SkyCoord(there.ra, there.dec)
    expected = list_pairs(moved, RIGHT, options)
    rows = pairs.to_pandas()
    assert set(zip(rows["left_id"].tolist(), rows["right_id"].tolist(), strict=True)) == expected
    assert len(expected) > 30
    for side, position, number in (("left", 0, len(LEFT)), ("right", 1, len(RIGHT))):
        lonely = pairs.unmatched(side).to_pandas()[f"{side}_id"]
        assert set(lonely.tolist()) == set(range(number)) - {pair[position] for pair in expected}
