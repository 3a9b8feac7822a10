"""What registered calculators and preferences must do, on every database."""

from provenn.catalogs import PythonCalculator, SqlCalculator
from provenn.definitions import registered_calculators
from provenn.formats.opening import open_database
from tests.catalogs.samples import base

DISTANCE = SqlCalculator.of({"dist_pc": "1000 / plx"})
OTHER = SqlCalculator.of({"dist_pc": "1 / plx"})
PYTHON = PythonCalculator.of(base, inputs=["g", "r"], outputs={"z": "double"}, parameters={"template": "SWIRE"})


class CalculatorsContract:
    def test_a_calculator_comes_back_as_it_was(self, database):
        with database.writing() as writing:
            registered_calculators.register_calculator(writing, "photo_z", PYTHON)
            registered_calculators.register_calculator(writing, "distance", DISTANCE)
        with database.reading() as reading:
            first, two = registered_calculators.list_registered_calculators(reading)
        assert (first.name, first.calculator) == ("distance", DISTANCE)
        assert (two.name, two.calculator) == ("photo_z", PYTHON)
        assert (first.registered_by, first.registered_at) == ("Ada", writing.when)

    def test_it_is_registered_once_under_each_of_its_names(self, place):
        for who, name in (("Ada", "distance"), ("Grace", "distance"), ("Grace", "parsecs")):
            with open_database(place, who=who) as database, database.writing() as writing:
                registered_calculators.register_calculator(writing, name, DISTANCE)
        with open_database(place) as database, database.reading() as reading:
            results = [
                (calculator.name, calculator.registered_by)
                for calculator in registered_calculators.list_registered_calculators(reading)
            ]
        assert results == [("distance", "Ada"), ("parsecs", "Grace")]

    def test_several_may_have_one_name(self, database):
        with database.writing() as writing:
            registered_calculators.register_calculator(writing, "distance", DISTANCE)
            registered_calculators.register_calculator(writing, "distance", OTHER)
            assert {
                calculator.calculator for calculator in registered_calculators.list_registered_calculators(writing)
            } == {
                DISTANCE,
                OTHER,
            }

    def test_a_preference_is_recorded_changed_and_forgotten(self, database):
        with database.writing() as writing:
            assert registered_calculators.read_preferences(writing) == {}
            registered_calculators.prefer_identity(writing, "dist_pc", "one")
            registered_calculators.prefer_identity(writing, "dist_pc", "two")
            registered_calculators.prefer_identity(writing, "b", "three")
        with database.writing() as later:
            preferences = registered_calculators.read_preferences(later)
            assert preferences == {
                "b": registered_calculators.Preference("b", "three", writing.when, "Ada"),
                "dist_pc": registered_calculators.Preference("dist_pc", "two", writing.when, "Ada"),
            }
            assert registered_calculators.forget_preference(later, "b")
            assert not registered_calculators.forget_preference(later, "b")
            assert list(registered_calculators.read_preferences(later)) == ["dist_pc"]
