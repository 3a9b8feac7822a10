"""Units go where values go: through definitions, into notes, and to other versions of a base; they are no identity."""

import json
import subprocess
import sys

import pytest

from provenn.catalogs import (
    Catalog,
    CombineAttributes,
    ConcatSources,
    DeriveAttributes,
    ExcludeSources,
    KeepAttributes,
    PythonCalculator,
    RenameAttributes,
    RestrictSources,
    SampleSources,
    SelectSources,
    SqlCalculator,
    restore,
)
from provenn.errors import CalculatorError, CriterionError
from tests.catalogs.calculators import example
from tests.catalogs.samples import base, derived

MAS = base(units={"plx": "mas", "vmag": "mag"})
ARCSEC = base("second", units={"plx": "arcsec", "vmag": "mag"})
BARE = base()


def stored(content):
    return json.loads(json.dumps(content))


def test_equal_criteria_are_one_catalog_whatever_the_unit():
    plain = SelectSources.of(MAS, "plx > 10")
    assert SelectSources.of(MAS, "plx > 10 mas") == plain
    assert SelectSources.of(MAS, "plx > 0.01 arcsec") == plain
    assert SelectSources.of(MAS, "plx > 1e-5 karcsec OR plx > 10 mas") == plain
    assert SelectSources.of(MAS, "plx > 10 arcsec") != plain
    assert SelectSources.of(MAS, "plx > 0.01 arcsec").text == "plx > 0.01 arcsec"


def test_on_another_version_a_quantity_is_converted_anew():
    moved = SelectSources.of(MAS, "plx > 10 mas").on([ARCSEC])
    assert moved == SelectSources.of(ARCSEC, "plx > 0.01")
    assert moved.notes() == {"text": "plx > 10 mas"}
    result = derived(MAS, far="plx - 10 mas", dist="1 / plx")
    assert result.on([ARCSEC]) == derived(ARCSEC, far="plx - 0.01", dist="1 / plx")
    assert [result.on([ARCSEC]).schema[name].unit for name in ("far", "dist")] == ["arcsec", "arcsec-1"]
    with pytest.raises(CriterionError, match="unit is unknown"):
        SelectSources.of(MAS, "plx > 10 mas").on([BARE])


def test_units_are_no_identity():
    with_units, without = (derived(item, d="1000 / plx", two="2 * plx") for item in (MAS, BARE))
    assert with_units == without
    assert with_units.parameters() == without.parameters()
    assert (with_units.schema["d"].unit, without.schema["d"].unit) == ("mas-1", "")
    assert with_units.notes()["units"] == {"d": "mas-1", "two": "mas"}
    assert "units" not in without.notes()


def test_units_are_read_from_notes_and_older_notes_have_none():
    catalog = derived(MAS, d="1000 / plx", v="vmag")
    again = restore(catalog.kind, stored(catalog.parameters()), stored(catalog.notes()), [MAS])
    assert [attribute.unit for attribute in again.schema.attributes] == ["", "mag", "mas", "mas-1", "mag"]
    assert again.notes() == catalog.notes()
    older = restore(catalog.kind, catalog.parameters(), {"texts": catalog.notes()["texts"]}, [MAS])
    assert older == catalog
    assert older.schema["d"].unit == ""


def test_units_go_through_every_class():
    result = derived(MAS, d="1000 / plx")
    near = SelectSources.of(result, "d < 0.05 `1/uas`")
    assert near == SelectSources.of(result, "d < 50")
    again: list[Catalog] = [
        near,
        KeepAttributes.of(result, ["d"]),
        RestrictSources(result, near),
        ExcludeSources(result, near),
        SampleSources.of(result, 0.5, 1),
        CombineAttributes.of(MAS, KeepAttributes.of(result, ["d"])),
        ConcatSources.of(near, result),
        derived(RenameAttributes.of(result, {"plx": "parallax"}), twice="2 * parallax"),
    ]
    assert {catalog.schema["d"].unit for catalog in again} == {"mas-1"}
    assert RenameAttributes.of(result, {"d": "dist"}).schema["dist"].unit == "mas-1"
    assert again[-1].schema["twice"].unit == "mas"


def test_a_concatenation_has_the_unit_that_all_members_have():
    first, other = (base(tag, units={"plx": "mas"}) for tag in "ab")
    assert ConcatSources.of(first, other, overlap="first").schema["plx"].unit == "mas"
    for members in ((first, BARE), (BARE, first)):
        sky = ConcatSources.of(*members, overlap="first")
        assert sky.schema["plx"].unit == ""
        with pytest.raises(CriterionError, match="unit is unknown"):
            SelectSources.of(sky, "plx > 10 mas")


def test_a_calculator_says_its_units():
    """The function is looked up in its module: tests that load a calculator execute the module again."""
    options = {"inputs": ["plx"], "outputs": {"dist": "double", "flag": "int"}}
    plain = PythonCalculator.of(example.photo_z, **options)
    measured = PythonCalculator.of(example.photo_z, **options, units={"dist": "pc"})
    catalog = DeriveAttributes.of(MAS, measured)
    assert [catalog.schema[name].unit for name in ("dist", "flag")] == ["pc", ""]
    assert SelectSources.of(catalog, "dist < 0.1 kpc") == SelectSources.of(catalog, "dist < 100")
    assert "units" not in plain.definition()
    assert plain.digest != measured.digest  # a calculator with units is another one than a calculator without
    assert PythonCalculator.from_definition(stored(measured.definition())) == measured
    assert restore(catalog.kind, stored(catalog.parameters()), catalog.notes(), [MAS]).schema["dist"].unit == "pc"
    for wrong in ({"z": "pc"}, {"dist": 5}):
        with pytest.raises(CalculatorError, match="expected the unit of an output as text"):
            PythonCalculator.of(example.photo_z, **options, units=wrong)


def test_definitions_are_restored_without_astropy():
    catalog = derived(SelectSources.of(MAS, "plx > 10 mas"), d="1000 / plx", far="plx - 5 mas")
    parent = catalog.parent
    code = f"""
import json, sys
from provenn.catalogs import DeriveAttributes, SelectSources
from tests.catalogs.samples import base
stars = base(units={{"plx": "mas"}})
parent = SelectSources.restored(*json.loads({json.dumps([parent.parameters(), parent.notes()])!r}), [stars])
again = DeriveAttributes.restored(*json.loads({json.dumps([catalog.parameters(), catalog.notes()])!r}), [parent])
print(again.digest, again.schema["d"].unit, "astropy" in sys.modules)
again.calculation.parse_expressions(parent.schema), parent.criterion
print("astropy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [catalog.digest, "mas-1", "False", "False"]


def test_a_derivation_may_state_its_unit():
    catalog = derived(MAS, dist=("1000 / plx", "pc"), twice="2 * plx")
    assert [catalog.schema[name].unit for name in ("dist", "twice")] == ["pc", "mas"]
    assert SelectSources.of(catalog, "dist < 0.1 kpc") == SelectSources.of(catalog, "dist < 100")
    again = restore(catalog.kind, stored(catalog.parameters()), stored(catalog.notes()), [MAS])
    assert again == catalog
    assert again.schema == catalog.schema
    assert again.parameters() == catalog.parameters()
    assert catalog.on([BARE]).schema["dist"].unit == "pc"


def test_a_stated_unit_is_part_of_the_definition_and_of_the_attribute():
    """Two people who state different units for one expression define two catalogs and two attributes."""
    plain, parsecs, thousands = (
        derived(MAS, dist=value) for value in ("1000 / plx", ("1000 / plx", "pc"), ("1000 / plx", "kpc"))
    )
    assert len({catalog.digest for catalog in (plain, parsecs, thousands)}) == 3
    assert len({catalog.schema["dist"].identity for catalog in (plain, parsecs, thousands)}) == 3
    assert "units" not in plain.parameters()
    assert derived(MAS, v=("2 * plx", "km/s")) == derived(MAS, v=("2 * plx", "km s-1"))


def test_an_attribute_without_a_unit_is_given_one():
    catalog = derived(BARE, parallax=("plx", "mas"))
    assert catalog.schema["parallax"].unit == "mas"
    assert catalog.schema["parallax"].identity != BARE.schema["plx"].identity
    assert SelectSources.of(catalog, "parallax > 0.01 arcsec") == SelectSources.of(catalog, "parallax > 10")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (("plx", "arcsec"), "plx is in mas, not in arcsec"),
        (("plx", "pc"), "plx is in mas, not in pc"),
        (("1000 / plx", "parsecs"), "unknown unit parsecs"),
        (("1000 / plx", ""), "unknown unit"),
    ],
)
def test_a_stated_unit_that_contradicts_or_is_none_is_refused(value, problem):
    with pytest.raises(CriterionError, match=problem):
        derived(MAS, d=value)


@pytest.mark.parametrize(
    ("expressions", "units", "problem"),
    [
        ({"d": ("1000 / plx", 5)}, {}, "expected a unit as text for a new attribute"),
        ({"d": "1000 / plx"}, {"e": "pc"}, "expected a unit as text for a new attribute"),
        ({"d": ("1000 / plx", "pc")}, {"d": "kpc"}, "the unit of d is stated twice"),
        ({"d": ("1000 / plx", "pc", "kpc")}, {}, "expected an SQL expression for"),
    ],
)
def test_a_unit_is_stated_once_as_text_for_a_new_attribute(expressions, units, problem):
    with pytest.raises(CalculatorError, match=problem):
        SqlCalculator.of(expressions, units)


def test_a_calculator_in_sql_states_units():
    plain = SqlCalculator.of({"dist": "1000 / plx"})
    measured = SqlCalculator.of({"dist": "1000 / plx"}, {"dist": "pc"})
    assert plain.definition() == {"kind": "sql", "expressions": [["dist", "1000 / plx"]]}
    assert plain.digest != measured.digest
    assert SqlCalculator.from_definition(stored(measured.definition())) == measured
    catalog = DeriveAttributes.of(MAS, measured)
    assert catalog.schema["dist"].unit == "pc"
    assert catalog.calculation.calculator == measured


def test_what_was_stored_before_attributes_were_converted_keeps_its_digest_and_its_meaning():
    """Neither the restored definition nor what Spark is told is checked or converted again."""
    sky = base("sky", units={"plx": "deg", "vmag": "mas"})
    blind = base("sky")
    assert sky.digest == blind.digest
    earlier = derived(blind, c="cos(plx)", s="plx + vmag")
    bright = SelectSources.of(blind, "plx > vmag AND cos(plx) > 0")
    again = restore(earlier.kind, stored(earlier.parameters()), stored(earlier.notes()), [sky])
    chosen = restore(bright.kind, stored(bright.parameters()), stored(bright.notes()), [sky])
    assert (again.digest, chosen.digest) == (earlier.digest, bright.digest)
    assert again.schema["s"].identity == earlier.schema["s"].identity
    assert chosen.criterion.canonical == bright.criterion.canonical
    for expression, other in zip(
        again.calculation.parse_expressions(sky.schema).values(), ("cos(plx)", "plx + vmag"), strict=True
    ):
        assert (
            expression.canonical == derived(blind, x=other).calculation.parse_expressions(blind.schema)["x"].canonical
        )
    with pytest.raises(CriterionError, match="which takes rad"):
        derived(sky, c="cos(plx)")
    assert derived(sky, s="plx + vmag") != derived(blind, s="plx + vmag")
