"""A number with a unit is converted to that of what it meets; what is calculated has the unit that follows."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from astropy import units as astropy_units
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from provenn.criteria import Attribute, order_facts, parse_criterion, parse_expression, parse_type, unit_of
from provenn.errors import CriterionError
from provenn.logic import Knowledge, disjoint, subset
from tests.criteria.oracle import labelled

UNITS = {
    "plx": "mas",
    "wide": "arcsec",
    "dec": "deg",
    "angle": "rad",
    "dist": "pc",
    "v": "km/s",
    "pm": "mas.yr-1",
    "vmag": "mag",
    "odd": "furlongs",
    "x": "",
}
SCHEMA = {name: Attribute(name, parse_type("double"), True, unit) for name, unit in UNITS.items()}
SCHEMA |= {
    "n": Attribute("n", parse_type("int"), True, "s"),
    "hours": Attribute("hours", parse_type("decimal(8,3)"), True, "h"),
    "bands": Attribute("bands", parse_type("float"), True, "nm"),
    "name": Attribute("name", parse_type("string")),
    "since": Attribute("since", parse_type("date")),
}


def canonical(text: str) -> str:
    return parse_criterion(text, SCHEMA).canonical


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("plx > 10 mas", "plx > 10"),
        ("plx > 0.01 arcsec", "plx > 10"),
        ("wide > 10 mas", "wide > 0.01"),
        ("wide > 1e1 mas", "wide > 0.01"),
        ("10 mas < wide", "wide > 0.01"),
        ("plx > -5 mas", "plx > -5"),
        ("plx > .5 arcsec", "plx > 500"),
        ("dec > 36 arcsec", "dec > 0.01"),
        ("dist < 0.1 kpc", "dist < 100"),
        ("v BETWEEN 10 `km/s` AND 20000 `m/s`", "v BETWEEN 10 AND 20"),
        ("v > 10 `km s-1`", "v > 10"),
        ("pm > 5 `mas/yr`", "pm > 5"),
        ("pm > 5 `mas.yr**-1`", "pm > 5"),
        ("wide IN (1 arcsec, 2 mas, 3)", "wide IN (1, 0.002, 3)"),
        ("plx > 2 * 1 arcsec", "plx > 2000"),
        ("plx + 1 arcsec > 0.5 arcsec", "plx + 1000 > 500"),
        ("plx + 1 arcsec > 500", "plx + 1000 > 500"),
        ("plx / 1 arcsec > 3", "plx / 1000 > 3"),
        ("1 arcsec / plx > 3", "1000 / plx > 3"),
        ("plx % 1 arcsec > 3", "plx % 1000 > 3"),
        ("dist * 5 `km/kpc` < 3 km", "dist * 5 < 3000"),
        ("abs(plx) > 3 arcsec", "abs(plx) > 3000"),
        ("plx <=> 1 arcsec", "plx <=> 1000"),
        ("coalesce(plx, 1 arcsec) > 3 mas", "coalesce(plx, 1000) > 3"),
        ("CASE WHEN plx > 5 mas THEN 1 ELSE 2 END = 2", "CASE WHEN plx > 5 THEN 1 ELSE 2 END = 2"),
        ("greatest(plx, 1 arcsec, NULL) > 3", "greatest(plx, 1000, NULL) > 3"),
        ("sin(angle) < sin(30 deg)", "sin(angle) < sin(0.5235987755982988D)"),
        ("sin(radians(dec + 60 arcmin)) > 0", "sin(radians(dec + 1)) > 0"),
        ("in_cone(dec, dec, 120 arcmin, -3 deg, 36 arcsec)", "in_cone(dec, dec, 2, -3, 0.01)"),
        ("exp(1 km / 1 m) > x", "exp(1 / 0.001) > x"),
        ("datediff(since, DATE '2020-01-01') > 1 wk", "datediff(since, DATE '2020-01-01') > 7"),
        ("n > 1 min", "n > 60"),
        ("n > 90 ms", "n > 0.09"),
        ("hours < 30 min", "hours < 0.5"),
        ("bands < 5000 Angstrom", "bands < 500"),
        ("vmag < 6500 mmag", "vmag < 6.5"),
        ("vmag < 6 mag AND NOT plx > 10 mas", "vmag < 6 AND NOT plx > 10"),
    ],
)
def test_a_quantity_means_the_number_one_would_have_written(text, plain):
    assert canonical(text) == canonical(plain)
    assert canonical(canonical(text)) == canonical(text)


def test_the_text_for_people_keeps_the_unit():
    assert parse_expression("plx + 1 arcsec - 5 `deg`", SCHEMA).text == "1 arcsec + plx - 5 deg"
    assert parse_expression("v - 5 `m s-1`", SCHEMA).text == "v - 5 `m s-1`"


KINDS = [
    ["deg", "arcmin", "arcsec", "mas", "uas", "rad", "hourangle"],
    ["m", "cm", "km", "AU", "pc", "kpc", "lyr", "Angstrom"],
    ["s", "ms", "min", "h", "d", "yr", "Myr"],
    ["km/s", "m s-1", "pc/Myr", "AU/yr", "km.h**-1"],
    ["mas/yr", "arcsec.yr-1", "deg/Myr", "rad/s"],
    ["Jy", "mJy", "W m-2 Hz-1", "erg/(s cm2 Hz)"],
]
numbers = st.decimals(-(10**6), 10**6, places=3).map(str) | st.floats(-1e9, 1e9).map(lambda item: f"{item:.12e}")


@given(
    st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.sampled_from(kind), st.sampled_from(kind))),
    numbers,
    st.floats(-1e3, 1e3),
    st.sampled_from(["<", "<=", "=", "<>", ">=", ">"]),
)
@settings(max_examples=300, deadline=None)
@example(("arcsec", "mas"), "10", 0.0, ">")
def test_astropy_agrees_on_any_comparison(pair, number, distance, operator):
    """Values on both sides of the constant, and not so near that astropy's own rounding decides."""
    own, given_unit = pair
    quantity = float(number) * astropy_units.Unit(given_unit)
    at = float(quantity.to_value(own))
    value = at + distance * max(1.0, abs(at))
    assume(abs(value - at) > 1e-9 * max(abs(at), 1e-300))
    schema = {"x": Attribute("x", parse_type("double"), True, own)}
    criterion = parse_criterion(f"x {operator} {number} `{given_unit}`", schema)
    python = {"=": "__eq__", "<>": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
    expected = bool(getattr(value * astropy_units.Unit(own), python[operator])(quantity))
    inside = {atom.label: {0} if labelled(atom.label)({"x": value}) else set() for atom in criterion.atoms}
    assert criterion.true.evaluate(inside.__getitem__, set(), {0}) == ({0} if expected else set())


@given(
    st.integers(-(10**9), 10**9),
    st.sampled_from(["uas", "mas", "arcsec", "arcmin", "deg"]),
    st.sampled_from(["uas", "mas", "arcsec", "arcmin", "deg"]),
)
@settings(max_examples=200, deadline=None)
def test_a_ratio_of_whole_numbers_is_converted_to_the_nearest_double(number, given_unit, own):
    ratios = {"uas": 1, "mas": 10**3, "arcsec": 10**6, "arcmin": 60 * 10**6, "deg": 3600 * 10**6}
    schema = {"x": Attribute("x", parse_type("double"), True, own)}
    nearest = float(Fraction(number * ratios[given_unit], ratios[own]))
    criterion = parse_criterion(f"x < {number} {given_unit}", schema)
    assert criterion.canonical == parse_criterion(f"x < {nearest!r}D", schema).canonical


def test_what_follows_from_quantities():
    near, nearer, far = (
        parse_criterion(text, SCHEMA) for text in ("plx > 0.005 arcsec", "plx > 10 mas", "plx < 0.004 arcsec")
    )
    known = Knowledge(order_facts(atom for parsed in (near, nearer, far) for atom in parsed.atoms))
    assert known.entails(subset(nearer.true, near.true))
    assert not known.entails(subset(near.true, nearer.true))
    assert known.entails(disjoint(far.true, near.true))


@pytest.mark.parametrize(
    ("text", "problem", "hint", "place"),
    [
        ("plx > 10 mass", "unknown unit mass", "did you mean mas", "10"),
        ("plx > 10 MAS", "unknown unit MAS", "did you mean", "10"),
        ("v > 10 `km/secs`", "unknown unit km/secs", "did you mean", "10"),
        ("dist > 10 KPC", "unknown unit KPC", "did you mean kpc", "10"),
        ("x > 10 mas", "10 mas does not fit x, whose unit is unknown", "omit the unit", "x"),
        ("odd > 10 mas", "does not fit odd, whose unit is unknown", "omit the unit", "odd"),
        ("x * 1 mas > 5 mas", "whose unit is unknown", "omit the unit", "x"),
        ("plx > 10 km", "10 km does not fit plx, which is in mas", "km cannot be converted", "plx"),
        ("dist < 10 mas", "10 mas does not fit dist, which is in pc", "mas cannot be converted", "dist"),
        ("plx > 10 deg_C", "does not fit plx", "", "plx"),
        ("vmag > 10 `mag(AB)`", "does not fit vmag, which is in mag", "", "vmag"),
        ("name = 10 mas", "10 mas does not fit name", "omit the unit", "name"),
        (
            "10 mas > 5",
            "10 mas cannot be combined with 5, a number without a unit",
            "give both a unit, or neither",
            "10",
        ),
        ("plx > CASE WHEN x > 1 THEN 3 mas ELSE 5 END", "3 mas cannot be combined with 5", "both", ""),
        ("plx + 1 mas > x", "combined with x, whose unit is unknown", "omit the unit of the number", "plx"),
        (
            "sin(dec + 1 deg) > 0",
            "which is in deg, does not fit sin(), which takes rad",
            "radians(1 deg + dec)",
            "sin",
        ),
        ("sin(angle) > 3 mas", "3 mas does not fit sin(angle), a number without a unit", "mas", "sin"),
        ("exp(3 mas) > x", "3 mas does not fit exp(), which takes a number without a unit", "mas", "exp"),
        ("plx > round(10.4 arcsec)", "cannot be converted to mas", "write it in mas", "plx"),
        ("v > 10 km / s", "there is no attribute 's'", "backquotes: `km/s`", "s"),
        ("v > 10 km s-1", "cannot be parsed", "backquotes", "s-1"),
        ("v > 10 km.s", "cannot be parsed", "backquotes", "."),
        ("plx > 10mas", "there is no attribute '10mas'", "leave a space before it: 10 mas", "10mas"),
        ("plx > 6 vmag", "unknown unit vmag", "is an operator missing before vmag", "6"),
        ("plx < 5 AS mas", "an operator is missing", "", "plx"),
        ("since < DATE '2020-01-01' + INTERVAL 5 DAY", "interval", "date_add", ""),
        ("CAST(x AS DECIMAL(10 mas, 2)) > 1", "is not supported as the type", "", ""),
        ("plx > 1 `1e999 mas`", "unknown unit 1e999 mas", "", "1 "),
        ("plx > 1 `mas**99999999`", "unknown unit", "", "1 "),
        ("plx > 1 `" + "m" * 101 + "`", "too long for a unit", "", "1 "),
        ("dist > 1e308 Mpc", "too large in pc", "", "dist"),
    ],
)
def test_refused_with_reason_hint_and_place(text, problem, hint, place):
    with pytest.raises(CriterionError) as caught:
        parse_criterion(text, SCHEMA)
    assert problem in caught.value.problem
    assert hint in caught.value.hint
    if place:
        assert caught.value.column == text.index(place)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("1000 / plx", "mas-1"),
        ("plx", "mas"),
        ("-plx", "mas"),
        ("plx + 5", "mas"),
        ("plx - 1 arcsec", "mas"),
        ("plx + plx", "mas"),
        ("plx + wide", "mas"),
        ("plx + x", ""),
        ("plx * 2", "mas"),
        ("plx * v", "km.mas.s-1"),
        ("v * v", "km2.s-2"),
        ("v / 2", "km/s"),
        ("pm / plx", "yr-1"),
        ("plx / plx", ""),
        ("plx / 1 mas", ""),
        ("wide / 1 mas", ""),
        ("plx * x", ""),
        ("plx * odd", ""),
        ("sqrt(plx)", "mas**(1/2)"),
        ("sqrt(plx * plx)", "mas"),
        ("pow(plx, 2)", "mas2"),
        ("pow(plx, x)", ""),
        ("cbrt(dist)", "pc**(1/3)"),
        ("hypot(pm, pm)", "mas.yr-1"),
        ("abs(v)", "km/s"),
        ("round(v, 1)", "km/s"),
        ("floor(v)", "km/s"),
        ("CAST(v AS int)", "km/s"),
        ("CAST(v AS string)", ""),
        ("coalesce(plx, 0)", "mas"),
        ("coalesce(plx, wide)", "mas"),
        ("greatest(plx, 3 mas)", "mas"),
        ("if(x > 1, plx, 0)", "mas"),
        ("CASE WHEN x > 1 THEN plx WHEN x > 0 THEN wide END", "mas"),
        ("plx % 2", "mas"),
        ("degrees(x)", "deg"),
        ("radians(dec)", "rad"),
        ("degrees(atan2(plx, plx))", "deg"),
        ("sin(angle)", ""),
        ("log10(plx)", ""),
        ("vmag + 5 * log10(plx)", ""),
        ("plx > 5 mas", ""),
        ("2 + 3", ""),
        ("5 mas", "mas"),
        ("dist * 1 `electron/m`", "electron pc / m"),
    ],
)
def test_the_unit_of_an_expression(text, unit):
    assert unit_of(parse_expression(text, SCHEMA).node) == unit


@given(
    st.lists(st.sampled_from(["plx", "v", "dist", "pm", "n", "vmag"]), min_size=1, max_size=4),
    st.lists(st.sampled_from(["*", "/"]), min_size=4, max_size=4),
)
@settings(max_examples=100, deadline=None)
def test_the_unit_of_a_product_is_what_astropy_says(names, operators):
    """And FITS and VOTable read the text of it."""
    text, unit = names[0], astropy_units.Unit(SCHEMA[names[0]].unit)
    for name, operator in zip(names[1:], operators, strict=False):
        text += f" {operator} {name}"
        other = astropy_units.Unit(SCHEMA[name].unit)
        unit = unit * other if operator == "*" else unit / other
    result = unit_of(parse_expression(text, SCHEMA).node)
    assert astropy_units.Unit(result) == unit
    for form in ("fits", "vounit"):
        assert astropy_units.Unit(result, format=form) == unit


def test_attributes_and_plain_numbers_mean_what_they_always_did():
    bare = {
        name: Attribute(attribute.identity, attribute.type, attribute.nullable) for name, attribute in SCHEMA.items()
    }
    for text in ("plx > 10", "plx > x", "plx + x < 5", "sin(angle) > 0.5", "plx = x"):
        assert canonical(text) == parse_criterion(text, bare).canonical


def test_astropy_is_imported_for_units_alone():
    code = """
import sys, json
from provenn.criteria import Attribute, parse_criterion, parse_expression, parse_type, unit_of
schema = {"x": Attribute("x", parse_type("double"), True, "mas"), "y": Attribute("y", parse_type("double"))}
parse_criterion("x > 10 AND x + y < 5", schema)
unit_of(parse_expression("2 * y", schema).node)
before = "astropy" in sys.modules
parse_criterion("x > 10 mas", schema)
print(json.dumps([before, "astropy" in sys.modules]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [False, True]


def test_an_exponent_is_a_number():
    assert canonical("pow(plx, 200 `%`) > 4") == canonical("pow(plx, 2) > 4")
    assert canonical("pow(2 mas, 200 `%`) < 4 `mas2`") == canonical("pow(2 mas, 2) < 4 `mas2`")
    for text in ("pow(plx, 2 mas) > 4", "pow(10, 0.4 `1/mmag` * vmag) > 4"):
        with pytest.raises(CriterionError, match=r"pow\(\), which takes a number without a unit"):
            canonical(text)
