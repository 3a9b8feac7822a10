"""Every fact between regions and ranges of their coordinates holds on rows that Spark evaluates, near all edges."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from provenn.criteria import Attribute, order_facts, parse_criterion, parse_type, region_facts, render
from provenn.criteria.domains import decode_number, encode_double
from provenn.criteria.types import DOUBLE
from provenn.logic import Knowledge
from provenn.sky import find_extremes
from tests.sky.oracle import centre, positions
from tests.sky.strategies import boxes, declinations, mocs, regions, right_ascensions
from tests.strategies import drawn

SCHEMA = {name: Attribute(name, parse_type("double")) for name in ("ra", "dec")}
NAMES = {name: name for name in SCHEMA}
ODD = [
    math.nan,
    math.inf,
    -math.inf,
    None,
    1e300,
    -1e-320,
    5e-324,
    -0.0,
    0.0,
    360.0,
    -360.0,
    720.0,
    -5e-17,
    90.0,
    -90.0,
]
STEPS = [0, 1, -1, 2, -2, 7, -7, 40, -40, 10**6, -(10**6)]


def move(value, steps):
    return float(decode_number(DOUBLE, encode_double(value) + steps))


@st.composite
def cases(draw):
    """A few regions, and cuts of both coordinates at the regions' ends, beside them, and elsewhere."""
    shapes = draw(
        st.lists(regions, min_size=1, max_size=3)
        | st.lists(boxes(), min_size=2, max_size=4)
        | st.lists(mocs(), min_size=2, max_size=5)
    )
    bounds = [find_extremes(one) for one in shapes]
    heights = [end for one in bounds for end in (one.low, one.high)]
    heights += [one.dec + sign * one.radius for one in shapes if one.function == "in_cone" for sign in (-1, 1)]
    widths = [end + turn for one in bounds for arc in one.arcs or () for end in arc for turn in (0, 360, -360)]
    steps = st.sampled_from(STEPS)
    dec = draw(st.lists(st.builds(move, st.sampled_from(heights), steps) | declinations, max_size=4))
    some_ra = right_ascensions | st.floats(-400, 800) | st.sampled_from([0.0, 360.0, -360.0, 180.0, -180.0])
    ra = draw(st.lists((st.builds(move, st.sampled_from(widths), steps) if widths else some_ra) | some_ra, max_size=4))
    return shapes, dec, ra


def read(text, *, canonical=False):
    return parse_criterion(text, SCHEMA, canonical=canonical)


def text(region):
    constants = (f"'{one}'" if isinstance(one, str) else repr(one) for one in region.constants)
    return f"{region.function}(ra, dec, {', '.join(constants)})"


def rows_near(case, random):
    """Positions in and around the regions, on every cut and beside it, and what is no position."""
    shapes, dec, ra = case
    found = [positions(one, random)[random.permutation(300)[:120]] for one in shapes]
    lons, lats = [], []
    for one in shapes:
        lon, lat, _ = centre(one)
        bounds = find_extremes(one)
        lons += [lon % 360, *(end for arc in bounds.arcs or () for end in arc)]
        lats += [lat, bounds.low, bounds.high]
    lons += ra
    lats += dec
    near_lons = [move(one, step) for one in lons for step in (-1, 0, 1)]
    near_lats = [move(one, step) for one in lats for step in (-2, -1, 0, 1, 2)]
    shifted = [one + turn for one in near_lons for turn in (0, 360, -360)]
    grid = [
        *((one, random.choice(near_lats)) for one in shifted for _ in range(2)),
        *((random.choice(shifted), one) for one in near_lats for _ in range(6)),
        *((one, random.choice(near_lats)) for one in ODD),
        *((random.choice(shifted), one) for one in ODD),
        *((one, other) for one in ODD[:5] for other in ODD[:5]),
    ]
    return [*(tuple(one) for part in found for one in part.tolist()), *grid]


def check_facts(engine, some, start):
    """Ask Spark for the truth of every label on every row of its case, and compare each fact with the rows."""
    random = np.random.default_rng(start)
    claims = 0
    for case in some:
        shapes, dec, ra = case
        texts = [*map(text, shapes), *(f"dec < {one!r}D" for one in dec), *(f"ra < {one!r}D" for one in ra)]
        atoms = [atom for one in texts for atom in read(one).atoms]
        facts = region_facts(atoms)
        claims += len(facts)
        assert Knowledge([*order_facts(atoms), *facts]).consistent
        labels = sorted({label for fact in facts for label in fact.labels if not label.startswith("healpix(")})
        if not labels:
            continue
        lons, lats = zip(*rows_near(case, random), strict=True)
        table = pa.table({"ra": pa.array(lons, pa.float64()), "dec": pa.array(lats, pa.float64())})
        asked = [
            f"coalesce({render(read(label, canonical=True), NAMES)}, FALSE) AS c{n}" for n, label in enumerate(labels)
        ]
        answer = engine.session.createDataFrame(table).selectExpr("ra", "dec", *asked).toArrow()
        truth = {label: answer[f"c{n}"].to_numpy() for n, label in enumerate(labels)}
        none = np.zeros(len(answer), bool)
        for fact in facts:
            for region, inhabited in fact.claims():
                wrong = region.evaluate(truth.__getitem__, nothing=none, everything=~none)
                assert not inhabited
                assert not wrong.any(), (str(fact), answer.filter(pa.array(wrong)).slice(0, 1).to_pylist())
    return claims


@pytest.mark.parametrize("number", [0, pytest.param(1, marks=pytest.mark.campaign)])
def test_facts_hold_on_rows_of_spark(engine, number):
    assert check_facts(engine, drawn(cases(), 12, number), number)


@pytest.mark.campaign
@pytest.mark.parametrize("number", range(2, 22))
def test_facts_hold_on_many_rows_of_spark(engine, number):
    assert check_facts(engine, drawn(cases(), 100, number), number)
