"""Attributes in different units are converted where they meet, or refused; what is stored keeps its meaning."""

import math
import re

import duckdb
import pytest
from astropy import units as astropy_units
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from provenn.criteria import (
    Attribute,
    check_stated_unit,
    parse_criterion,
    parse_expression,
    parse_type,
    render,
    same_unit,
    unit_of,
)
from provenn.errors import CriterionError

UNITS = {
    "ra": "deg",
    "dec": "deg",
    "shift": "mas",
    "plx": "mas",
    "wide": "arcsec",
    "angle": "rad",
    "turn": "hourangle",
    "dist": "pc",
    "far": "kpc",
    "pm": "mas/yr",
    "vmag": "mag",
    "ab": "mag(AB)",
    "warm": "deg_C",
    "cold": "K",
    "x": "",
}
SCHEMA = {name: Attribute(name, parse_type("double"), True, unit) for name, unit in UNITS.items()}
SCHEMA |= {
    "count": Attribute("count", parse_type("int"), True, "arcmin"),
    "small": Attribute("small", parse_type("float"), True, "arcsec"),
    "exact": Attribute("exact", parse_type("decimal(8,3)"), True, "mas"),
    "name": Attribute("name", parse_type("string")),
}
BARE = {name: Attribute(attribute.identity, attribute.type, attribute.nullable) for name, attribute in SCHEMA.items()}


def canonical(text):
    return parse_criterion(text, SCHEMA).canonical


def expression(text):
    return parse_expression(text, SCHEMA)


# --- angles ---

FUNCTIONS = ["sin", "cos", "tan", "cot", "sec", "csc"]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_angle_in_degrees_is_refused_where_radians_are_meant(function):
    with pytest.raises(CriterionError) as caught:
        canonical(f"{function}(dec) > 0.5")
    assert f"dec, which is in deg, does not fit {function}(), which takes rad" in caught.value.problem
    assert caught.value.hint == f"write {function}(radians(dec))"
    assert canonical(f"{function}(radians(dec)) > 0.5") == f"{function}(radians(`dec`)) > 0.5D"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("cos(plx)", "write cos(plx / 1 rad)"),
        ("cos(ra - dec)", "write cos(radians(ra - dec))"),
        ("cos(plx + plx)", "write cos((plx + plx) / 1 rad)"),
        ("cos(2 * dec)", "dec / 1 rad is in rad without any factor"),
        ("cos(dec * pi() / 180)", "dec / 1 rad is in rad without any factor"),
        ("cos(degrees(x))", "write cos(radians(degrees(x)))"),
        ("degrees(dec)", "write degrees(radians(dec))"),
        ("radians(angle)", "write radians(angle / 1 deg)"),
        ("radians(asin(x))", "write radians(asin(x) / 1 deg)"),
        ("radians(turn)", "write radians(turn / 1 deg)"),
        ("cos(dec / 1 deg)", "divide it by a unit, as in: x / 1 rad"),
    ],
)
def test_every_function_of_angles_refuses_an_angle_in_another_unit(text, hint):
    with pytest.raises(CriterionError) as caught:
        expression(text)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    "text",
    [
        "cos(x)",
        "cos(angle)",
        "cos(2 * angle)",
        "cos(vmag)",
        "cos(plx / plx)",
        "cos(radians(dec))",
        "cos(radians(ra - dec) / 2)",
        "cos(asin(x))",
        "cos(dec / 1 rad)",
        "cos(dec * 0.017453292519943295 `rad/deg`)",
        "degrees(angle)",
        "degrees(asin(x))",
        "radians(x)",
    ],
)
def test_radians_numbers_and_unknown_units_are_taken(text):
    expression(text)


def test_a_position_in_another_unit_than_degrees_is_refused_unless_a_factor_converts_it():
    for text in ("in_cone(angle, dec, 1, 2, 3)", "in_box(ra, plx, 1, 2, 3, 4)", "in_moc(turn, dec, '3/1')"):
        with pytest.raises(CriterionError, match="which takes deg"):
            canonical(text)
    assert "15.0D * `turn`" in canonical("in_cone(turn * 15, dec, 1, 2, 3)")
    assert "degrees(`angle`)" in canonical("in_cone(degrees(angle), dec, 1, 2, 3)")


@given(
    st.sampled_from(["deg", "arcmin", "arcsec", "mas", "uas", "hourangle", "rad"]),
    st.sampled_from(["sin", "cos", "tan"]),
    st.floats(-1e4, 1e4),
)
@settings(max_examples=150, deadline=None)
def test_the_hint_for_an_angle_gives_what_astropy_gives(unit, function, value):
    schema = {"x": Attribute("x", parse_type("double"), True, unit)}
    text = f"{function}(x)"
    try:
        parse_expression(text, schema)
    except CriterionError as error:
        text = error.hint.removeprefix("write ")
    assume(unit != "rad" or text == f"{function}(x)")
    expected = getattr(math, function)(float((value * astropy_units.Unit(unit)).to_value("rad")))
    assert evaluated(text, schema, {"x": value}) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("function", ["asin", "acos", "atan"])
def test_inverse_functions_give_radians(function):
    assert unit_of(expression(f"{function}(x)").node) == "rad"
    assert canonical(f"{function}(x) > 180 deg") == canonical(f"{function}(x) > {math.pi!r}D")
    assert unit_of(expression(f"dec + {function}(x)").node) == "deg"
    assert f"57.29577951308232D * {function}(`x`)" in expression(f"dec + {function}(x)").canonical


# --- conversions ---


@pytest.mark.parametrize(
    ("text", "converted", "unit"),
    [
        ("dec + shift", "dec + shift / 3600000D", "deg"),
        ("dec - shift", "dec - shift / 3600000D", "deg"),
        ("shift + dec", "shift + dec * 3600000D", "mas"),
        ("dec % wide", "dec % (wide / 3600D)", "deg"),
        ("pmod(dec, wide)", "pmod(dec, wide / 3600D)", "deg"),
        ("dec + shift + wide", "dec + shift / 3600000D + wide / 3600D", "deg"),
        ("coalesce(dec, shift, 1)", "coalesce(dec, shift / 3600000D, 1)", "deg"),
        ("greatest(dec, shift)", "greatest(dec, shift / 3600000D)", "deg"),
        ("least(shift, dec)", "least(shift, dec * 3600000D)", "mas"),
        ("if(x > 1, dec, shift)", "if(x > 1, dec, shift / 3600000D)", "deg"),
        (
            "CASE WHEN x > 1 THEN wide WHEN x > 0 THEN plx END",
            "CASE WHEN x > 1 THEN wide WHEN x > 0 THEN plx / 1000D END",
            "arcsec",
        ),
        ("hypot(wide, plx)", "hypot(wide, plx / 1000D)", "arcsec"),
        ("atan2(wide, plx)", "atan2(wide, plx / 1000D)", "rad"),
        ("nanvl(wide, plx)", "nanvl(wide, plx / 1000D)", "arcsec"),
        ("count + small", "count + double(small) / 60D", "arcmin"),
        ("dec + exact", "dec + double(exact) / 3600000D", "deg"),
        ("exact + dec", "exact + dec * 3600000D", "mas"),
        ("abs(dec) - abs(shift)", "abs(dec) - abs(shift) / 3600000D", "deg"),
        ("dec + 1 arcsec + shift", "dec + 0.0002777777777777778D + shift / 3600000D", "deg"),
        ("dec + (shift + 1000)", "dec + (shift + 1000) / 3600000D", "deg"),
        ("pow(dist, 2) + pow(far, 2)", "pow(dist, 2) + pow(far, 2) * 1000000D", "pc2"),
        ("turn - dec", "turn - dec / 15D", "hourangle"),
    ],
)
def test_values_in_units_of_one_dimension_are_converted_to_the_first_ones(text, converted, unit):
    parsed = expression(text)
    assert parsed.canonical == parse_expression(converted, BARE).canonical
    assert same_unit(unit_of(parsed.node), unit)


@pytest.mark.parametrize(
    ("text", "converted"),
    [
        ("dec > shift", "dec * 3600000D > shift"),
        ("shift < dec", "dec * 3600000D > shift"),
        ("dec = shift", "dec * 3600000D = shift"),
        ("dec <> shift", "dec * 3600000D <> shift"),
        ("dec <=> shift", "(dec * 3600000D = shift) IS TRUE OR (dec IS NULL AND shift IS NULL)"),
        ("dec BETWEEN shift AND wide", "dec * 3600000D >= shift AND dec * 3600D <= wide"),
        ("dec IN (wide, 3600 arcsec)", "dec * 3600D = wide OR dec * 3600D = 3600"),
        ("angle > dec", "angle * 57.29577951308232D > dec"),
        ("dist < far", "dist < far * 1000D"),
        ("count >= small", "double(count) * 60D >= double(small)"),
        ("plx > coalesce(wide, 0 mas)", "plx > coalesce(wide, 0) * 1000D"),
    ],
)
def test_a_comparison_is_in_the_finest_unit_from_both_sides(text, converted):
    assert canonical(text) == parse_criterion(converted, BARE).canonical


def test_people_see_the_conversion():
    assert parse_criterion("dec > shift", SCHEMA).text == "3600000 * dec > shift"
    assert expression("dec - shift").text == "dec - shift / 3600000"


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        ("plx > dist", "plx, which is in mas, is combined with dist, which is in pc", "pc cannot be converted to mas"),
        ("plx + pm > 1", "plx, which is in mas, is combined with pm, which is in mas.yr-1", "cannot be converted"),
        ("coalesce(plx, dist) > 1", "is combined with", "dist / 1 pc is a plain number"),
        ("plx * dist > pm", "is combined with", "cannot be converted"),
        ("warm > cold", "is combined with", "cannot be converted"),
        ("vmag < plx", "is combined with", "cannot be converted"),
        ("shift < 3600000 * dec", "a number multiplies 3600000 * dec", "dec / 1 mas, which is a plain number"),
        ("dec + shift / 3600000 > 1", "a number multiplies shift / 3600000", "shift / 1 deg"),
        ("dec - shift / 2 > 1", "a number multiplies shift / 2", "shift / 1 deg"),
        ("2 * dec > shift", "a number multiplies", "dec / 1 mas"),
        ("plx + 1 mas > x", "combined with x, whose unit is unknown", "omit the unit of the number"),
    ],
)
def test_what_cannot_be_converted_for_certain_is_refused(text, problem, hint):
    with pytest.raises(CriterionError) as caught:
        canonical(text)
    assert problem in caught.value.problem
    assert hint in caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "plx > 10",
        "plx > x",
        "plx + x < 5",
        "vmag + 5 * log10(plx / 100) < 3",
        "ab < vmag",
        "abs(pm) < 2 + 0.1 * plx",
        "1000 / plx < dist",
        "dec > sin(x)",
        "plx / 1 mas > dist / 1 pc",
        "shift / dec > 5",
    ],
)
def test_what_no_unit_speaks_against_means_what_it_always_did(text):
    bare = text.replace("1 mas", "1").replace("1 pc", "1")
    assert canonical(text) == parse_criterion(bare, BARE).canonical


@pytest.mark.parametrize(
    "stored",
    [
        "cos(`dec`) > 0.5D",
        "cos(degrees(`x`)) > 0.0D",
        "`dec` > `shift`",
        "`dec` + `shift` > 1.0D",
        "`dist` > `plx`",
        "asin(`x`) < degrees(`x`)",
        "in_cone(`angle`, `dec`, 1.0D, 2.0D, 3.0D)",
    ],
)
def test_what_was_stored_by_earlier_versions_is_read_unchanged(stored):
    criterion = parse_criterion(stored, SCHEMA, canonical=True)
    assert criterion.canonical == stored
    assert criterion.canonical == parse_criterion(stored, BARE, canonical=True).canonical


@pytest.mark.parametrize("text", ["dec > shift", "dec + shift > 1", "asin(x) > dec", "coalesce(wide, plx) < 5 deg"])
def test_canonical_text_with_conversions_is_read_back(text):
    assert parse_criterion(canonical(text), SCHEMA, canonical=True).canonical == canonical(text)


# --- against others ---

KINDS = [
    ["deg", "arcmin", "arcsec", "mas", "uas", "rad", "hourangle"],
    ["m", "cm", "km", "AU", "pc", "kpc", "lyr", "Angstrom"],
    ["s", "ms", "min", "h", "d", "yr", "Myr"],
    ["km/s", "m s-1", "pc/Myr", "AU/yr", "km.h**-1"],
    ["mas/yr", "arcsec.yr-1", "deg/Myr", "rad/s"],
    ["Jy", "mJy", "W m-2 Hz-1", "erg/(s cm2 Hz)"],
]
DATABASE = duckdb.connect()
DATABASE.execute("CREATE MACRO try_divide(a, b) AS CASE WHEN b <> 0 THEN a / b END")
pairs = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.sampled_from(kind), st.sampled_from(kind)))
values = st.floats(-1e6, 1e6, allow_subnormal=False)


def evaluated(text, schema, row):
    """Return what DuckDB makes of an expression that is written for Spark."""
    sql = render(parse_expression(text, schema), {name: name for name in row}).replace("`", '"')
    sql = re.sub(r"(?<=\d)D\b", "", sql)
    columns = ", ".join(f"CAST('{value!r}' AS double) AS {name}" for name, value in row.items())
    return DATABASE.execute(f"SELECT {sql} FROM (SELECT {columns})").fetchone()[0]  # noqa: S608


def schema_in(*units):
    return {name: Attribute(name, parse_type("double"), True, unit) for name, unit in zip("ab", units, strict=True)}


@given(pairs, values, values, st.sampled_from(["+", "-"]))
@settings(max_examples=200, deadline=None)
@example(("deg", "mas"), 1.0, 3600000.0, "+")
def test_astropy_agrees_on_any_sum_of_attributes(units, a, b, operator):
    left, right = (value * astropy_units.Unit(unit) for value, unit in zip((a, b), units, strict=True))
    expected = float((left + right if operator == "+" else left - right).to_value(units[0]))
    size = abs(a) + abs(float(right.to_value(units[0])))
    schema = schema_in(*units)
    assert same_unit(unit_of(parse_expression(f"a {operator} b", schema).node), units[0])
    assert evaluated(f"a {operator} b", schema, {"a": a, "b": b}) == pytest.approx(expected, abs=1e-14 * size + 1e-300)


@given(pairs, values, values, st.sampled_from(["<", "<=", "=", "<>", ">=", ">"]))
@settings(max_examples=200, deadline=None)
def test_astropy_agrees_on_any_comparison_of_attributes(units, a, b, operator):
    """But for values so near that astropy's own rounding decides."""
    left, right = (value * astropy_units.Unit(unit) for value, unit in zip((a, b), units, strict=True))
    other = float(right.to_value(units[0]))
    assume(a == b == 0 or abs(a - other) > 1e-12 * max(abs(a), abs(other)))
    python = {"=": "__eq__", "<>": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
    expected = bool(getattr(left, python[operator])(right))
    assert evaluated(f"a {operator} b", schema_in(*units), {"a": a, "b": b}) is expected
    mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
    schema = schema_in(*units)
    both = [parse_criterion(text, schema).canonical for text in (f"a {operator} b", f"b {mirrored} a")]
    assert both[0] == both[1]


@given(st.integers(-(10**9), 10**9))
@settings(max_examples=50, deadline=None)
def test_equal_angles_in_degrees_and_mas_are_equal(whole):
    row = {"a": float(whole), "b": float(whole) * 3600000}
    assert evaluated("a = b", schema_in("deg", "mas"), row) is True
    assert evaluated("a - b", schema_in("deg", "mas"), row) == 0


# --- stated units ---


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("1000 / plx", "pc"),
        ("x", "mas"),
        ("x * 2", "km/s"),
        ("5 * log10(plx)", "mag"),
        ("plx / 1 arcsec", "arcsec"),
        ("plx", "mas"),
        ("2.5", "d"),
        ("abs(0.5 * plx)", "km"),
    ],
)
def test_a_unit_may_be_stated_where_none_is_certain(text, unit):
    check_stated_unit(expression(text), unit)


@pytest.mark.parametrize(
    ("text", "unit", "problem", "hint"),
    [
        ("plx", "arcsec", "plx is in mas, not in arcsec", "write plx / 1 arcsec to convert it"),
        ("plx + wide", "deg", "is in mas, not in deg", "/ 1 deg"),
        ("plx", "pc", "plx is in mas, not in pc", "leave the unit out"),
        ("pm / plx", "d", "is in yr-1, not in d", "leave the unit out"),
        ("asin(x)", "deg", "is in rad, not in deg", "write asin(x) / 1 deg"),
        ("x", "parsecs", "unknown unit parsecs", "did you mean parsec"),
        ("x", "", "unknown unit", ""),
        ("name", "pc", "name is a string, which has no unit", "numbers"),
    ],
)
def test_a_stated_unit_that_contradicts_is_refused(text, unit, problem, hint):
    with pytest.raises(CriterionError) as caught:
        check_stated_unit(expression(text), unit)
    assert problem in caught.value.problem
    assert hint in caught.value.hint
