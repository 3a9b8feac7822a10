"""Calculators that are registered: by name, by attribute, several of one attribute."""

import importlib
import sys

import pytest

from provenn.errors import AttributeNotFoundError, CalculatorError, CriterionError
from tests.archive.samples import dump

SOURCE = """
def distance(batch, scale=1.0):
    return batch.assign(dist_pc=scale / batch["plx"])[["dist_pc"]]
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that can be imported, and that nobody has seen."""
    (tmp_path / "distances_of_stars.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("distances_of_stars")
    del sys.modules["distances_of_stars"]


def registered(archive, module, name="distance", **options):
    return archive.calculator(name, module.distance, inputs=["plx"], outputs={"dist_pc": "double"}, **options)


def test_a_function_derives_attributes_without_being_called(archive, stars, module):
    made = registered(archive, module, parameters={"scale": 1000})
    near = stars.derive(made, name="near")
    assert near.attributes[-1] == "dist_pc"
    assert str(near.schema["dist_pc"].type) == "double"
    assert archive.relate(near, stars).summary == "equal"
    assert stars.derive("distance") == near, "by the name of the calculator"
    assert stars.derive("dist_pc") == near, "by the name of the attribute"
    assert "calculated by distances_of_stars:distance" in str(near)
    assert archive["near"].schema == near.schema
    assert [calculator.name for calculator in archive.calculators()] == ["distance"]


def test_sql_is_a_calculator_too_and_is_checked_when_it_is_used(archive, stars):
    archive.calculator("abs_mag", sql={"abs_mag": "vmag + 5 * log10(plx / 100)"})
    assert stars.derive("abs_mag") == stars.derive(abs_mag="vmag + 5 * log10(plx / 100)")
    archive.calculator("typo", sql={"x": "vmgg + 1"})
    with pytest.raises(CriterionError, match="did you mean vmag"):
        stars.derive("typo")


def test_parameters_and_versions_make_another_attribute(archive, stars, module):
    made = [
        registered(archive, module),
        registered(archive, module, parameters={"scale": 2}),
        registered(archive, module, version="2"),
        registered(archive, module, scope="catalog"),
    ]
    identities = {stars.derive(one).schema["dist_pc"].identity for one in made}
    assert len(identities) == 4
    bright = stars.select("vmag < 6")
    assert bright.derive(made[0]).schema["dist_pc"] == stars.derive(made[0]).schema["dist_pc"]
    assert bright.derive(made[3]).schema["dist_pc"] != stars.derive(made[3]).schema["dist_pc"]


def test_of_one_name_the_last_counts(archive, module):
    registered(archive, module)
    last = registered(archive, module, version="2")
    assert archive.find_calculator("distance") == last
    assert archive.find_calculator("dist_pc") == last
    assert len(archive.calculators()) == 1


def test_several_for_one_attribute_are_an_error_that_lists_them_unless_one_is_preferred(archive, stars, module):
    registered(archive, module)
    archive.calculator("simple", sql={"dist_pc": "1000 / plx"})
    with pytest.raises(CalculatorError, match="several calculators provide dist_pc: distance, simple") as caught:
        stars.derive("dist_pc")
    assert 'archive.prefer("dist_pc", "distance")' in caught.value.hint
    archive.prefer("dist_pc", "simple")
    assert stars.derive("dist_pc") == stars.derive(dist_pc="1000 / plx")
    archive.prefer("dist_pc", archive.find_calculator("distance"))
    assert stars.derive("dist_pc") == stars.derive("distance")


def test_what_cannot_be_registered_or_found_changes_nothing(archive, stars, module):
    registered(archive, module)
    short = stars.keep("vmag")
    before = dump(archive)
    with pytest.raises(CalculatorError, match="lambda"):
        archive.calculator("l", lambda batch: batch, inputs=["plx"], outputs={"x": "double"})
    with pytest.raises(CalculatorError, match="either a function or SQL"):
        archive.calculator("nothing")
    with pytest.raises(CalculatorError, match="either a function or SQL"):
        registered(archive, module, sql={"x": "1"})
    with pytest.raises(CalculatorError, match="did you mean distance"):
        archive.prefer("dist_pc", "distanec")
    with pytest.raises(CalculatorError, match="does not provide 'dist'"):
        archive.prefer("dist", "distance")
    with pytest.raises(CalculatorError, match="did you mean dist_pc"):
        stars.derive("dist_pcs")
    with pytest.raises(CalculatorError, match="expected a calculator, got 5"):
        stars.derive(5)
    with pytest.raises(AttributeNotFoundError, match="plx"):
        short.derive("distance")
    assert dump(archive) == before
