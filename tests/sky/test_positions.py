"""Which attributes tell where a source is."""

import io
import re
from dataclasses import dataclass

import pytest
from astropy.table import Table

from provenn.errors import AttributeNotFoundError, DefinitionError
from provenn.sky import criterion_on
from provenn.sky.positions import DEGREES, find_position_attributes, read_angle_unit


@dataclass(frozen=True)
class Attribute:
    name: str
    ucd: str = ""
    unit: str = ""


def schema(*attributes: Attribute | str) -> dict[str, Attribute]:
    results = [Attribute(attribute) if isinstance(attribute, str) else attribute for attribute in attributes]
    return {item.name: item for item in results}


def found(*attributes: Attribute | str, on=None) -> list[str]:
    return [attribute.name for attribute in find_position_attributes(schema(*attributes), on)]


MAIN = Attribute("a", "pos.eq.ra;meta.main"), Attribute("d", "pos.eq.dec;meta.main")


def test_ucds_of_the_main_position_come_first():
    assert found("ra", "dec", *MAIN) == ["a", "d"]
    assert found("ra", Attribute("dec", "pos.eq.dec"), Attribute("x", "POS.EQ.RA; META.MAIN"), MAIN[1]) == ["x", "d"]


def test_then_usual_names_in_any_case():
    assert found("hip", "RA", "Dec") == ["RA", "Dec"]
    assert found("RAJ2000", "DEJ2000", "ra", "dec") == ["ra", "dec"]
    assert found("RArad", "DErad") == ["RArad", "DErad"]
    assert found("ra", "dec", *MAIN, Attribute("b", "pos.eq.ra;meta.main")) == ["ra", "dec"]


def test_then_the_only_ones_with_a_ucd():
    assert found(Attribute("x", "pos.eq.ra"), Attribute("y", "pos.eq.dec"), "z") == ["x", "y"]


def test_names_that_are_given_are_meant():
    assert found("ra", "dec", "l", "b", on=("l", "B")) == ["l", "b"]
    with pytest.raises(AttributeNotFoundError, match="decl"):
        found("ra", "dec", on=("ra", "decl"))
    for on in ("ra", (), ("ra",), ("ra", "ra"), ("ra", "dec", "x")):
        with pytest.raises(DefinitionError, match="two attributes"):
            found("ra", "dec", on=on)


@pytest.mark.parametrize(
    "attributes",
    [("hip", "vmag"), ("ra",), ("ra", "RA", "dec"), (Attribute("x", "pos.eq.ra"), Attribute("y", "pos.eq.ra"), "z")],
)
def test_where_it_is_not_known_or_not_clear_nothing_is_guessed(attributes):
    with pytest.raises(DefinitionError, match="position on the sky") as failed:
        found(*attributes)
    assert "on=" in failed.value.hint


def test_units_of_angles():
    units = {
        "": "deg",
        "deg": "deg",
        "Degrees": "deg",
        "rad": "rad",
        "h": "hourangle",
        "mas": "mas",
        "arcsec": "arcsec",
    }
    assert {unit: read_angle_unit(Attribute("ra", unit=unit)) for unit in units} == units
    assert DEGREES["rad"] == 180 / 3.141592653589793
    with pytest.raises(DefinitionError, match="mag"):
        read_angle_unit(Attribute("ra", unit="mag"))


def test_hours_as_astropy_writes_them_to_a_votable():
    written = io.BytesIO()
    Table({"ra": [1.0]}, units={"ra": "hourangle"}).write(written, format="votable")
    (unit,) = re.findall(rb'unit="([^"]*)"', written.getvalue())
    assert read_angle_unit(Attribute("ra", unit=unit.decode())) == "hourangle"


def test_who_gives_another_unit_is_told_all_that_are_understood():
    with pytest.raises(DefinitionError) as failed:
        read_angle_unit(Attribute("ra", unit="mag"))
    assert all(word in failed.value.hint for word in ("degrees", "radians", "hours", "arcmin", "arcsec", "mas"))


@pytest.mark.parametrize("what", [None, 3, ("ra", 1)])
def test_what_is_neither_text_nor_region_is_refused(what):
    with pytest.raises(DefinitionError, match="expected a criterion") as failed:
        criterion_on(what, schema("ra", "dec"))
    assert "provenn.sky" in failed.value.hint
