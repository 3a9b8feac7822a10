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
    restore,
)
from provenn.errors import CalculatorError, CriterionError
from tests.catalogs.calculators.example import photo_z
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
    made = derived(MAS, far="plx - 10 mas", dist="1 / plx")
    assert made.on([ARCSEC]) == derived(ARCSEC, far="plx - 0.01", dist="1 / plx")
    assert [made.on([ARCSEC]).schema[name].unit for name in ("far", "dist")] == ["arcsec", "arcsec-1"]
    with pytest.raises(CriterionError, match="no unit is known"):
        SelectSources.of(MAS, "plx > 10 mas").on([BARE])


def test_units_are_no_identity():
    with_units, without = (derived(one, d="1000 / plx", two="2 * plx") for one in (MAS, BARE))
    assert with_units == without
    assert with_units.parameters() == without.parameters()
    assert (with_units.schema["d"].unit, without.schema["d"].unit) == ("mas-1", "")
    assert with_units.notes()["units"] == {"d": "mas-1", "two": "mas"}
    assert "units" not in without.notes()


def test_units_are_read_from_notes_and_older_notes_have_none():
    made = derived(MAS, d="1000 / plx", v="vmag")
    again = restore(made.kind, stored(made.parameters()), stored(made.notes()), [MAS])
    assert [one.unit for one in again.schema.attributes] == ["", "mag", "mas", "mas-1", "mag"]
    assert again.notes() == made.notes()
    older = restore(made.kind, made.parameters(), {"texts": made.notes()["texts"]}, [MAS])
    assert older == made
    assert older.schema["d"].unit == ""


def test_units_go_through_every_class():
    made = derived(MAS, d="1000 / plx")
    near = SelectSources.of(made, "d < 0.05 `1/uas`")
    assert near == SelectSources.of(made, "d < 50")
    again: list[Catalog] = [
        near,
        KeepAttributes.of(made, ["d"]),
        RestrictSources(made, near),
        ExcludeSources(made, near),
        SampleSources.of(made, 0.5, 1),
        CombineAttributes.of(MAS, KeepAttributes.of(made, ["d"])),
        ConcatSources.of(near, made),
        derived(RenameAttributes.of(made, {"plx": "parallax"}), twice="2 * parallax"),
    ]
    assert {one.schema["d"].unit for one in again} == {"mas-1"}
    assert RenameAttributes.of(made, {"d": "dist"}).schema["dist"].unit == "mas-1"
    assert again[-1].schema["twice"].unit == "mas"


def test_a_concatenation_has_the_unit_that_all_members_have():
    one, other = (base(tag, units={"plx": "mas"}) for tag in "ab")
    assert ConcatSources.of(one, other, overlap="first").schema["plx"].unit == "mas"
    for members in ((one, BARE), (BARE, one)):
        sky = ConcatSources.of(*members, overlap="first")
        assert sky.schema["plx"].unit == ""
        with pytest.raises(CriterionError, match="no unit is known"):
            SelectSources.of(sky, "plx > 10 mas")


def test_a_calculator_says_its_units():
    options = {"inputs": ["plx"], "outputs": {"dist": "double", "flag": "int"}}
    plain = PythonCalculator.of(photo_z, **options)
    told = PythonCalculator.of(photo_z, **options, units={"dist": "pc"})
    made = DeriveAttributes.of(MAS, told)
    assert [made.schema[name].unit for name in ("dist", "flag")] == ["pc", ""]
    assert SelectSources.of(made, "dist < 0.1 kpc") == SelectSources.of(made, "dist < 100")
    assert "units" not in plain.definition()
    assert plain.digest != told.digest  # what says pc is another one than what says nothing
    assert PythonCalculator.from_definition(stored(told.definition())) == told
    assert restore(made.kind, stored(made.parameters()), made.notes(), [MAS]).schema["dist"].unit == "pc"
    for wrong in ({"z": "pc"}, {"dist": 5}):
        with pytest.raises(CalculatorError, match="units are given to outputs"):
            PythonCalculator.of(photo_z, **options, units=wrong)


def test_definitions_are_restored_without_astropy():
    made = derived(SelectSources.of(MAS, "plx > 10 mas"), d="1000 / plx", far="plx - 5 mas")
    code = f"""
import json, sys
from provenn.catalogs import DeriveAttributes, SelectSources
from tests.catalogs.samples import base
stars = base(units={{"plx": "mas"}})
parent = SelectSources.restored(*json.loads({json.dumps([made.parent.parameters(), made.parent.notes()])!r}), [stars])
again = DeriveAttributes.restored(*json.loads({json.dumps([made.parameters(), made.notes()])!r}), [parent])
print(again.digest, again.schema["d"].unit, "astropy" in sys.modules)
again.calculation.parsed(parent.schema), parent.criterion
print("astropy" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [made.digest, "mas-1", "False", "False"]
