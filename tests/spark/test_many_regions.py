"""Many regions and large MOCs on Spark: they hold the positions that others find in them, at a bounded cost to plan."""

import re

import astropy.units as u
import numpy as np
import pyarrow as pa
import pytest
from cdshealpix.nested import healpix_to_lonlat
from pyarrow import parquet

from provenn.criteria import Attribute, parse_criterion, parse_type, render
from provenn.sky import box, cone, moc, polygon
from provenn.sky.region_conditions import region_sql
from provenn.sky.united_regions import union_sql
from tests.repetitions import repeat_a_few
from tests.sky.large_mocs import bright_star_mask, survey_rectangle
from tests.sky.oracle import positions
from tests.sky.strategies import SPECIAL_DEC, SPECIAL_RA, regions
from tests.spark.test_regions import ODD
from tests.strategies import drawn

SCHEMA = {name: Attribute(name, parse_type("double")) for name in ("ra", "dec")}


def text(region):
    constants = (f"'{constant}'" if isinstance(constant, str) else repr(constant) for constant in region.constants)
    return f"{region.function}(ra, dec, {', '.join(constants)})"


def sql(criterion):
    return render(parse_criterion(criterion, SCHEMA), {"ra": "ra", "dec": "dec"})


def read(engine, folder, ra, dec):
    """A frame of positions that Spark reads from a file, as it reads catalogs."""
    table = {"n": range(len(ra)), "ra": pa.array(ra, pa.float64()), "dec": pa.array(dec, pa.float64())}
    parquet.write_table(pa.table(table), folder / "x.parquet")
    return engine.session.read.parquet(f"file://{folder}/x.parquet")


def many(kind, number, seed=1):
    random = np.random.default_rng(seed)
    for ra, dec in zip(random.uniform(0, 360, number), random.uniform(-85, 80, number), strict=True):
        match kind:
            case "cone":
                yield cone(ra, dec, 2)
            case "box":
                yield box(ra, (ra + 3) % 360, dec, dec + 2)
            case "polygon":
                yield polygon([(ra, dec), ((ra + 3) % 360, dec), ((ra + 1) % 360, dec + 3)])


@pytest.mark.parametrize("kind", ["cone", "box", "polygon"])
def test_spark_plans_300_regions_as_few_conditions(kind):
    """Spark compares every condition with all others, so that their number decides how long it plans."""
    found = list(many(kind, 300))
    joined = sql(" OR ".join(map(text, found)))
    assert len(re.findall(r"\b(?:AND|OR)\b", joined)) < 30
    apart = sql(" AND ".join(f"NOT {text(one)}" for one in found))
    assert len(re.findall(r"\b(?:AND|OR)\b", apart)) < 30


def test_spark_plans_a_large_moc_as_few_literals():
    """Spark looks at every literal in every step of planning, so that their number decides how long it plans."""
    made = moc(bright_star_mask())
    assert sum(map(len, made.cells.values())) > 100_000
    assert re.sub("'[^']*'", "", sql(text(made))).count(",") < 10_000


def test_few_regions_are_written_as_they_were():
    assert sql(" OR ".join(map(text, many("cone", 3)))).count("exists(") == 0


@pytest.mark.parametrize("kind", ["cone", "box", "polygon"])
def test_a_union_holds_what_its_regions_hold(engine, tmp_path, kind):
    found = list(many(kind, 12, seed=2))
    random = np.random.default_rng(3)
    points = np.concatenate([positions(one, random) for one in found])
    frame = read(engine, tmp_path, points[:, 0], points[:, 1])
    each = [f"{region_sql(one, 'ra', 'dec')} AS c{place}" for place, one in enumerate(found)]
    rows = sorted(frame.selectExpr("n", f"{union_sql(found, 'ra', 'dec')} AS united", *each).collect())
    assert any(row.united for row in rows)
    for row in rows:
        assert row.united == any(row[2:]), points[row.n]


def test_a_union_of_random_regions_holds_what_they_hold(engine, tmp_path):
    """Regions of all kinds and sizes, at the poles and across right ascension 0, in one criterion and each alone."""
    random = np.random.default_rng(5)
    some = drawn(regions, 40, 9)
    points = np.concatenate([positions(one, random)[::6] for one in some])
    frame = read(engine, tmp_path, points[:, 0], points[:, 1])
    united = sql(" OR ".join(map(text, some)))
    none = sql(" AND ".join(f"NOT {text(one)}" for one in some))
    rows = sorted(frame.selectExpr("n", f"{united} AS united", f"{none} AS none").collect())
    held = np.zeros(len(points), bool)
    for start in range(0, len(some), 8):  # in parts that Java compiles well
        alone = [f"{sql(text(region))} AS c{place}" for place, region in enumerate(some[start : start + 8])]
        held |= [any(row[1:]) for row in sorted(frame.selectExpr("n", *alone).collect())]
    assert [row.united for row in rows] == held.tolist()
    assert [row.none for row in rows] == (~held).tolist()


@pytest.mark.parametrize("kind", ["cone", "box", "polygon"])
def test_of_a_union_null_is_null_and_what_is_no_position_is_outside(engine, tmp_path, kind):
    whole = {"cone": cone(10, 10, 80), "box": box(0, 360, -90, 90), "polygon": polygon([(5, 5), (15, 5), (10, 15)])}
    found = [whole[kind], *many(kind, 6)]
    ra, dec, want = zip(*ODD, strict=True)
    frame = read(engine, tmp_path, ra, dec)
    rows = sorted(frame.selectExpr("n", f"{union_sql(found, 'ra', 'dec')} AS inside").collect())
    assert [row.inside for row in rows] == list(want)


@pytest.mark.parametrize("coverage", repeat_a_few(["order 11", "mask", "order 12"], 2))
def test_a_large_moc_holds_what_mocpy_finds_in_it(engine, tmp_path, coverage):
    made = {"order 11": survey_rectangle(11), "order 12": survey_rectangle(12)}.get(coverage) or bright_star_mask()
    random = np.random.default_rng(4)
    order = made.max_order
    near = made.flatten()[:: max(1, len(made.flatten()) // 5000)]
    lon, lat = healpix_to_lonlat(near, order)
    offset = random.uniform(-0.02, 0.02, (2, len(near)))
    ra = np.concatenate(
        [random.uniform(0, 360, 5000), np.mod(lon.deg + offset[0], 360), np.repeat(SPECIAL_RA, len(SPECIAL_DEC))]
    )
    dec = np.concatenate(
        [random.uniform(-90, 90, 5000), np.clip(lat.deg + offset[1], -90, 90), np.tile(SPECIAL_DEC, len(SPECIAL_RA))]
    )
    frame = read(engine, tmp_path, ra, dec)
    criterion = sql(text(moc(made)))
    rows = sorted(frame.selectExpr("n", f"{criterion} AS inside").collect())
    kept = {row.n for row in frame.where(criterion).select("n").collect()}
    want = made.contains_lonlat(np.mod(ra, 360) * u.deg, dec * u.deg)
    special = len(SPECIAL_RA) * len(SPECIAL_DEC)  # on the edges of cells either will do
    assert [row.inside for row in rows][:-special] == want.tolist()[:-special]
    assert 0 < want[:-special].sum() < len(want)
    assert kept == {row.n for row in rows if row.inside}
