"""Regions of the sky in criteria: their text, their meaning as sets, and the facts between them."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from provenn.criteria import Attribute, order_facts, parse_criterion, parse_type, region_facts, without_cells
from provenn.errors import CriterionError
from provenn.logic import Knowledge, disjoint, subset
from tests.sky.oracle import expected, positions
from tests.sky.strategies import regions

SKY = {name: Attribute(f"hip.{name}", parse_type("double")) for name in ("ra", "dec", "l", "b", "vmag")}
SKY["f"] = Attribute("hip.f", parse_type("float"))
SKY["name"] = Attribute("hip.name", parse_type("string"))
PLEIADES = "in_cone(ra, dec, 56.75, 24.12, 1.5)"


def read(text):
    return parse_criterion(text, SKY)


def known(*texts):
    atoms = [atom for text in texts for atom in read(text).atoms]
    return Knowledge([*order_facts(atoms), *region_facts(atoms)])


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (PLEIADES, "in_cone(`hip.ra`, `hip.dec`, 56.75D, 24.12D, 1.5D)"),
        ("IN_CONE(Ra, f, 360, -0.0, 90 arcmin)", "in_cone(`hip.ra`, CAST(`hip.f` AS DOUBLE), 0.0D, 0.0D, 1.5D)"),
        ("in_cone(degrees(l), b * 15, 1, 2, 3 - 1)", "in_cone(degrees(`hip.l`), 15.0D * `hip.b`, 1.0D, 2.0D, 2.0D)"),
        ("in_box(ra, dec, 350, 360, -5, 5)", "in_box(`hip.ra`, `hip.dec`, 350.0D, 0.0D, -5.0D, 5.0D)"),
        (
            "in_polygon(ra, dec, 20, 0, 15, 8, 10, 0)",
            "in_polygon(`hip.ra`, `hip.dec`, 10.0D, 0.0D, 15.0D, 8.0D, 20.0D, 0.0D)",
        ),
        ("in_moc(ra, dec, '3/0-4,5/80')", "in_moc(`hip.ra`, `hip.dec`, '2/0 3/4 5/80')"),
        (f"NOT {PLEIADES} IS TRUE", "in_cone(`hip.ra`, `hip.dec`, 56.75D, 24.12D, 1.5D) IS NOT TRUE"),
    ],
)
def test_the_canonical_text_is_normal_and_is_read_back(text, canonical):
    criterion = read(text)
    assert criterion.canonical == canonical
    by_identity = {attribute.identity: attribute for attribute in SKY.values()}
    assert parse_criterion(canonical, by_identity) == criterion
    assert read(criterion.text) == criterion


def test_for_people_numbers_are_plain():
    assert read("in_cone(ra, dec, 56.750, 24.12, 2)").text == "in_cone(ra, dec, 56.75, 24.12, 2)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("in_cone(ra, dec, 56.75, 24.12)", "takes 5 arguments, not 4"),
        ("in_cone(ra, dec, vmag, 24.12, 1)", "not an expression"),
        ("in_cone(ra, dec, NULL, 24.12, 1)", "not an expression"),
        ("in_cone(ra, dec, '56.75', 24.12, 1)", "not an expression"),
        ("in_cone(ra, dec, 400, 24.12, 1)", "right ascension is 400"),
        ("in_cone(ra, dec, double('NaN'), 24.12, 1)", "is nan"),
        ("in_cone(ra, dec, 56.75, 24.12, 0)", "radius is 0"),
        ("in_cone(ra, dec, 56.75, 24.12, 5 km)", "deg"),
        ("in_cone(name, dec, 56.75, 24.12, 1)", "not a string"),
        ("in_box(ra, dec, 0, 10, 5, -5)", "no height"),
        ("in_polygon(ra, dec, 1, 2, 3, 4, 5)", "at least 8"),
        ("in_polygon(ra, dec, 1, 2, 3, 4, 5, 6, 7)", "pairs"),
        ("in_polygon(ra, dec, 0, 0, 10, 10, 10, 0, 0, 10)", "cross"),
        ("in_moc(ra, dec, 5)", "takes a text"),
        ("in_moc(ra, dec, name)", "takes a text"),
        ("in_moc(ra, dec, '')", "covers nothing"),
        ("in_moc(ra, dec, '/etc/passwd')", "quoted"),
        ("in_moc(ra, dec, '{\"3\": [1]}')", "quoted"),
        ("in_moc(ra, dec, '3/999')", "no cells 3/999-999"),
        ("in_cones(ra, dec, 1, 2, 3)", "not a supported function"),
    ],
)
def test_bad_input_is_refused_with_its_place(text, message):
    with pytest.raises(CriterionError, match=message) as caught:
        read(text)
    assert caught.value.column is not None


def test_regions_exclude_and_contain_each_other_also_inside_larger_criteria():
    core, far = "in_box(ra, dec, 56.5, 57, 24, 24.3)", "in_cone(ra, dec, 200, -20, 3)"
    what = known(f"{PLEIADES} AND vmag < 6", f"{core} AND vmag < 5", f"{far} OR vmag IS NULL")
    bright, brighter = read(f"{PLEIADES} AND vmag < 6"), read(f"{core} AND vmag < 5")
    assert what.entails(subset(brighter.true, bright.true))
    assert what.entails(disjoint(read(PLEIADES).true, read(far).true))
    assert what.entails(subset(read(PLEIADES).true, read(f"NOT {far}").true))
    assert not what.entails(subset(read(f"NOT {far}").true, read(PLEIADES).true))
    assert what.consistent


def test_nothing_is_known_between_regions_of_different_positions():
    assert region_facts([*read(PLEIADES).atoms, *read("in_cone(l, b, 200, 0, 1)").atoms]) == ()
    assert region_facts([*read(PLEIADES).atoms, *read("in_cone(ra, b, 200, 0, 1)").atoms]) == ()
    assert region_facts([*read(PLEIADES).atoms, *read("in_cone(ra, degrees(dec), 200, 0, 1)").atoms]) == ()


def test_what_follows_from_other_facts_is_left_out():
    nested = [read(f"in_cone(ra, dec, 10, 10, {radius})") for radius in (1, 2, 3, 4)]
    far = read("in_cone(ra, dec, 100, 10, 1)")
    facts = region_facts([atom for parsed in (*nested, far) for atom in parsed.atoms])
    assert len(facts) == 3 + 1
    what = Knowledge(facts)
    assert what.entails(subset(nested[0].true, nested[3].true))
    assert what.entails(disjoint(nested[0].true, far.true))


def test_regions_that_are_the_same_set_are_known_to_be():
    box, cone = "in_box(ra, dec, 0, 360, -90, 90)", "in_cone(ra, dec, 5, 5, 180)"
    what = known(box, cone)
    assert what.entails(subset(read(box).true, read(cone).true))
    assert what.entails(subset(read(cone).true, read(box).true))


def called(region):
    constants = (f"'{constant}'" if isinstance(constant, str) else repr(constant) for constant in region.constants)
    return f"{region.function}(ra, dec, {', '.join(constants)})"


@given(st.lists(regions, min_size=2, max_size=6), st.integers(0, 99))
@settings(max_examples=25, deadline=None)
def test_no_position_refutes_what_follows_from_the_facts(some, number):
    random = np.random.default_rng(number)
    criteria = [read(called(item)) for item in some]
    what = Knowledge(region_facts([atom for parsed in criteria for atom in parsed.atoms]))
    assert what.consistent
    points = np.concatenate([positions(item, random) for item in some])
    reports = [expected(item, points[:, 0], points[:, 1]) for item in some]
    for criterion, inside in zip(criteria, reports, strict=True):
        for other, beside in zip(criteria, reports, strict=True):
            pairs = set(zip(inside, beside, strict=True))
            if what.entails(subset(criterion.true, other.true)):
                assert (True, False) not in pairs
            if what.entails(disjoint(criterion.true, other.true)):
                assert (True, True) not in pairs


@given(st.lists(regions, min_size=3, max_size=6))
@settings(max_examples=60, deadline=None)
def test_of_many_regions_the_same_is_known_as_of_few(several):
    """Where there are many, those that are far apart are known to be so by the cells that they lie in."""
    criteria = [read(called(item)) for item in several]
    atoms = [atom for criterion in criteria for atom in criterion.atoms]
    few = Knowledge([*order_facts(atoms), *region_facts(atoms)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("provenn.criteria.regions._PAIRWISE_LIMIT", 0)
        many = Knowledge([*order_facts(atoms), *region_facts(atoms)])
    for true, other in permutations([criterion.true for criterion in criteria], 2):
        assert few.entails(disjoint(true, other)) == many.entails(disjoint(true, other))
        assert few.entails(subset(true, other)) == many.entails(subset(true, other))
        reason = many.explain(disjoint(true, other))
        if reason is not None:
            readable = without_cells(reason.facts)
            assert not any(label.startswith("healpix") for fact in readable for label in fact.labels)
            assert Knowledge(readable).entails(disjoint(true, other))


def test_a_thousand_regions_give_thousands_of_facts_and_not_half_a_million():
    random = np.random.default_rng(1)
    places = zip(random.uniform(0, 360, 1000), random.uniform(-90, 90, 1000), strict=True)
    atoms = [atom for ra, dec in places for atom in read(f"in_cone(ra, dec, {ra}, {dec}, 0.5)").atoms]
    assert len(region_facts(atoms)) < 5000
