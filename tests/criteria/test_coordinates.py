"""Regions against ranges of their coordinates, and unions of boxes and MOCs; `tests/spark` compares with rows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.criteria import Attribute, order_facts, parse_criterion, parse_type, region_facts
from provenn.logic import Knowledge, disjoint, equal, subset
from provenn.sky import cone, find_combinations, find_extremes, region_of
from provenn.sky.points import Points
from tests.sky.oracle import positions
from tests.sky.strategies import cones, mocs, polygons, regions

SKY = {name: Attribute(f"hip.{name}", parse_type("double")) for name in ("ra", "dec", "l", "b")}
SKY |= {"f": Attribute("hip.f", parse_type("float")), "i": Attribute("hip.i", parse_type("int"))}
SKY |= {"q": Attribute("hip.q", parse_type("decimal(9,4)"))}
RELATIONS = {
    "equal": equal,
    "subset": subset,
    "superset": lambda item, other: subset(other, item),
    "disjoint": disjoint,
}
CONE = "in_cone(ra, dec, 10, 20, 1)"


def relate(item, other):
    left, right = (parse_criterion(text, SKY) for text in (item, other))
    atoms = [*left.atoms, *right.atoms]
    known = Knowledge([*order_facts(atoms), *region_facts(atoms)])
    assert known.consistent
    return next((name for name, relation in RELATIONS.items() if known.entails(relation(left.true, right.true))), None)


@pytest.mark.parametrize(
    ("item", "other", "answer"),
    [
        (CONE, "dec BETWEEN 19 AND 21", "subset"),
        (CONE, "dec BETWEEN 19 AND 20.9", None),
        (CONE, "dec < 0", "disjoint"),
        (CONE, "dec > 21", "disjoint"),
        (CONE, "dec IS NULL", "disjoint"),
        (CONE, "ra BETWEEN 100 AND 200", "disjoint"),
        (CONE, "ra BETWEEN 8 AND 12", None),
        (f"{CONE} AND ra >= 0 AND ra < 360", "ra BETWEEN 8 AND 12", "subset"),
        (f"{CONE} AND ra BETWEEN 0 AND 360", "ra BETWEEN 8 AND 12", "subset"),
        (f"{CONE} AND ra BETWEEN 0 AND 361", "ra BETWEEN 8 AND 12", None),
        (f"{CONE} AND ra BETWEEN -360 AND 0", "ra BETWEEN -352 AND -348", "subset"),
        ("dec BETWEEN 19.9 AND 20.1 AND ra BETWEEN 9.9 AND 10.1", CONE, "subset"),
        ("dec BETWEEN 19.9 AND 20.1", CONE, None),
        ("dec BETWEEN 20.8 AND 21 AND ra BETWEEN 10.8 AND 12", CONE, "disjoint"),
        ("in_cone(i, f, 10, 20, 1)", "f BETWEEN 19 AND 21 AND i > -400", None),
        ("in_cone(i, f, 10, 20, 1)", "f BETWEEN 19 AND 21", "subset"),
        ("in_cone(ra, q, 10, 20, 1)", "q BETWEEN 19 AND 21", None),
        ("in_cone(l, b, 10, 20, 1)", "dec BETWEEN 19 AND 21", None),
        ("in_cone(ra * 15, dec, 10, 20, 1)", "dec BETWEEN 19 AND 21", "subset"),
        ("in_cone(ra, dec, 14, 5, 5)", "dec >= 0", None),
        ("in_box(ra, dec, 350, 10, -5, 5)", "dec BETWEEN -5 AND 5", "subset"),
        ("in_box(ra, dec, 350, 10, -5, 5)", "dec BETWEEN -5 AND 5 AND ra BETWEEN -10 AND 10", "superset"),
        ("in_box(ra, dec, 0, 360, -5, 5)", "dec BETWEEN -5 AND 5 AND ra BETWEEN 0 AND 360", "superset"),
        ("in_box(ra, dec, 0, 360, -5, 5)", "dec BETWEEN -5 AND 5", "subset"),
        (
            "in_box(ra, dec, 350, 10, -5, 5) AND ra >= 0 AND ra < 360",
            "dec BETWEEN -5 AND 5 AND (ra BETWEEN 0 AND 10 OR ra >= 350 AND ra < 360)",
            "equal",
        ),
        ("in_box(ra, dec, 0, 20, 0, 5)", "in_box(ra, dec, 0, 10, 0, 5) OR in_box(ra, dec, 10, 20, 0, 5)", "equal"),
        ("in_box(ra, dec, 0, 20, 0, 5)", "in_box(ra, dec, 0, 10, 0, 5) OR in_box(ra, dec, 10.1, 20, 0, 5)", "superset"),
        ("in_cone(ra, dec, 14, 5, 4)", "in_box(ra, dec, 0, 14, 0, 20) OR in_box(ra, dec, 14, 30, 0, 20)", "subset"),
        ("in_moc(ra, dec, '3/0-3')", "in_moc(ra, dec, '3/0-1') OR in_moc(ra, dec, '3/2 4/12-15')", "equal"),
        ("in_moc(ra, dec, '3/0-3')", "in_moc(ra, dec, '3/0-1') OR in_moc(ra, dec, '3/2 4/12-14')", "superset"),
        ("in_moc(ra, dec, '1/0')", "dec BETWEEN 10 AND 12 AND ra BETWEEN 44 AND 46", "superset"),
        ("in_moc(ra, dec, '1/0')", "dec BETWEEN -1 AND 42", "subset"),
        ("in_polygon(ra, dec, 10, 60, 80, 60, 45, 80)", "dec >= 60", None),
        ("in_polygon(ra, dec, 10, 0, 20, 0, 15, 8)", "dec BETWEEN -0.1 AND 8.1", "subset"),
    ],
)
def test_forms_that_are_understood_and_forms_that_are_not(item, other, answer):
    assert relate(item, other) == answer


def test_nothing_is_said_without_regions_or_ranges():
    assert region_facts(parse_criterion("dec < 5 AND ra > 5", SKY).atoms) == ()
    assert region_facts(parse_criterion(f"{CONE} AND l < 5", SKY).atoms) == ()


@settings(max_examples=60)
@given(cones() | polygons(), st.integers(0, 99))
def test_extremes_hold_the_positions_of_a_region(region, number):
    """By the geometry of this package, away from borders; Spark decides about the borders elsewhere."""
    points = positions(region, np.random.default_rng(number))
    ra, dec = np.mod(points[:, 0], 360), points[:, 1]
    inside = region.holds(Points.at(ra, dec))
    extremes = find_extremes(region)
    assert (dec[inside] >= extremes.low - 1e-12).all()
    assert (dec[inside] <= extremes.high + 1e-12).all()
    for lon in ra[inside] if extremes.arcs is not None else ():
        assert any(
            start <= lon <= end if start <= end else lon >= start or lon <= end for start, end in extremes.arcs or ()
        )


def test_a_cone_reaches_no_farther_than_rounding():
    assert find_extremes(cone(10, 20, 1)).high == 21
    assert find_extremes(cone(10, 20, 1)).low == 19
    assert find_extremes(cone(0, 0, 60)).high < 60 + 1e-12
    assert find_extremes(cone(0, 80, 100)).low == pytest.approx(-20, abs=1e-8)
    assert find_extremes(cone(0, 80, 20)).arcs is None
    assert find_extremes(cone(0, 0, 1e-150)).high < 1e-8


@settings(max_examples=60, deadline=None)
@given(st.lists(mocs(), min_size=3, max_size=5))
def test_combinations_are_those_of_the_cells(some):
    first, *others = some
    combinations = find_combinations(first, others)
    ends = np.unique(np.concatenate([item.ranges.ravel() for item in some]))

    def holds(region, cell):
        return any(start <= cell < end for start, end in region.ranges.tolist())

    wanted = {tuple(holds(item, cell) for item in others) for cell in ends[:-1].tolist() if holds(first, cell)}
    assert combinations is None or set(combinations) == wanted


def test_a_thousand_regions_are_placed_between_cuts():
    random = np.random.default_rng(1)
    texts = [
        f"in_cone(ra, dec, {ra:.3f}, {dec:.3f}, 0.5)"
        for ra, dec in zip(random.uniform(0, 360, 1000), random.uniform(-80, 80, 1000), strict=True)
    ]
    band = parse_criterion("dec BETWEEN -10 AND 10", SKY)
    criteria = [parse_criterion(text, SKY) for text in texts]
    atoms = [*band.atoms, *(atom for criterion in criteria for atom in criterion.atoms)]
    known = Knowledge([*order_facts(atoms), *region_facts(atoms)])
    for text, criterion in zip(texts[:40], criteria, strict=False):
        dec = float(text.split(", ")[3])
        assert known.entails(subset(criterion.true, band.true)) == (abs(dec) <= 9.5)
        assert known.entails(disjoint(criterion.true, band.true)) == (abs(dec) > 10.5)


@given(regions)
def test_ranges_end_at_numbers(region):
    extremes = find_extremes(region_of(region.function, region.constants))
    assert -90 <= extremes.low <= extremes.high <= 90
    assert all(math.isfinite(end) and 0 <= end <= 360 for arc in extremes.arcs or () for end in arc)
