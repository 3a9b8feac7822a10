"""SQL calculators: blueprints that are read anew with every catalog's attributes."""

from provenn.catalogs import DeriveAttributes, SqlCalculator
from tests.catalogs.samples import base


def test_one_blueprint_serves_catalogs_with_attributes_of_the_same_names():
    calculator = SqlCalculator.of({"abs_mag": "vmag + 5 * log10(plx / 100)"})
    first, other = (DeriveAttributes.of(base(tag), calculator).schema["abs_mag"] for tag in ("hipparcos", "tycho"))
    assert first.identity != other.identity
    assert (first.name, first.type, first.nullable) == (other.name, other.type, other.nullable)


def test_how_a_calculator_is_written_is_its_identity_but_not_that_of_what_it_derives():
    first, other = SqlCalculator.of({"d": "1000 / plx"}), SqlCalculator.of({"d": "1000/PLX"})
    assert first.digest != other.digest
    assert DeriveAttributes.of(base(), first) == DeriveAttributes.of(base(), other)


def test_the_order_of_outputs_is_the_order_of_columns():
    catalog = DeriveAttributes.of(base(), SqlCalculator.of({"z": "vmag + 1", "a": "vmag + 2"}))
    assert catalog.schema.names[-2:] == ("z", "a")
    assert SqlCalculator.of({"z": "1", "a": "2"}).names == ("z", "a")
