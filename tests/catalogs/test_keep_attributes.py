"""Keeping attributes."""

import pytest

from provenn.catalogs import DeriveAttributes, KeepAttributes, SqlCalculator
from provenn.errors import AttributeConflictError, AttributeNotFoundError
from tests.catalogs.samples import base, derived

A = base()


def test_attributes_are_kept_in_the_given_order_and_the_key_first_if_it_is_not_named():
    assert KeepAttributes.of(A, ["plx", "vmag"]).schema.names == ("hip", "plx", "vmag")
    assert KeepAttributes.of(A, ["PLX", "HIP"]).schema.names == ("plx", "hip")
    assert KeepAttributes.of(A, []).schema.names == ("hip",)
    assert KeepAttributes.of(A, ["vmag"]).schema["vmag"] == A.schema["vmag"]


def test_every_part_of_a_key_is_kept():
    visits = base("visits", {"n": "int", "night": "date", "mag": "double"}, key=("night", "n"), population="visit")
    assert KeepAttributes.of(visits, ["mag"]).schema.names == ("night", "n", "mag")
    assert KeepAttributes.of(visits, ["mag", "n"]).schema.names == ("night", "mag", "n")


def test_the_key_by_another_name_is_the_key():
    other = KeepAttributes.of(derived(A, id="hip"), ["id"])
    assert other.schema.names == ("id",)
    assert [attribute.name for attribute in other.schema.key] == ["id"]


def test_unknown_and_repeated_names_are_refused():
    with pytest.raises(AttributeNotFoundError, match="did you mean vmag"):
        KeepAttributes.of(A, ["vmga"])
    with pytest.raises(AttributeConflictError, match="vmag is named twice"):
        KeepAttributes.of(A, ["vmag", "VMAG"])


def test_a_dropped_attribute_is_gone_and_its_name_is_free():
    small = KeepAttributes.of(A, ["plx"])
    again = DeriveAttributes.of(small, SqlCalculator.of({"vmag": "plx + 1"}))
    assert again.schema["vmag"].identity != A.schema["vmag"].identity
