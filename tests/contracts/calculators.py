"""What registered calculators and preferences must do, on every database."""

from provenn.catalogs import PythonCalculator, SqlCalculator
from provenn.store import calculators
from provenn.store.database import open_database
from tests.catalogs.samples import base

DISTANCE = SqlCalculator.of({"dist_pc": "1000 / plx"})
OTHER = SqlCalculator.of({"dist_pc": "1 / plx"})
PYTHON = PythonCalculator.of(base, inputs=["g", "r"], outputs={"z": "double"}, parameters={"template": "SWIRE"})


class CalculatorsContract:
    def test_a_calculator_comes_back_as_it_was(self, database):
        with database.writing() as writing:
            calculators.register(writing, "photo_z", PYTHON)
            calculators.register(writing, "distance", DISTANCE)
        with database.reading() as reading:
            one, two = calculators.registered(reading)
        assert (one.name, one.calculator) == ("distance", DISTANCE)
        assert (two.name, two.calculator) == ("photo_z", PYTHON)
        assert (one.registered_by, one.registered_at) == ("Ada", writing.when)

    def test_it_is_registered_once_under_each_of_its_names(self, place):
        for who, name in (("Ada", "distance"), ("Grace", "distance"), ("Grace", "parsecs")):
            with open_database(place, who=who) as database, database.writing() as writing:
                calculators.register(writing, name, DISTANCE)
        with open_database(place) as database, database.reading() as reading:
            found = [(one.name, one.registered_by) for one in calculators.registered(reading)]
        assert found == [("distance", "Ada"), ("parsecs", "Grace")]

    def test_several_may_have_one_name(self, database):
        with database.writing() as writing:
            calculators.register(writing, "distance", DISTANCE)
            calculators.register(writing, "distance", OTHER)
            assert {one.calculator for one in calculators.registered(writing)} == {DISTANCE, OTHER}

    def test_a_preference_is_recorded_changed_and_forgotten(self, database):
        with database.writing() as writing:
            assert calculators.preferred(writing) == {}
            calculators.prefer(writing, "dist_pc", "one")
            calculators.prefer(writing, "dist_pc", "two")
            calculators.prefer(writing, "b", "three")
        with database.writing() as later:
            found = calculators.preferred(later)
            assert found == {
                "b": calculators.Preference("b", "three", writing.when, "Ada"),
                "dist_pc": calculators.Preference("dist_pc", "two", writing.when, "Ada"),
            }
            assert calculators.forget_preference(later, "b")
            assert not calculators.forget_preference(later, "b")
            assert list(calculators.preferred(later)) == ["dist_pc"]
