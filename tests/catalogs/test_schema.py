"""Schemas: how names find attributes, what merges and what does not."""

import pytest

from provenn.catalogs.schema import Attribute, Schema, check_name, merge_attributes
from provenn.criteria import parse_type
from provenn.errors import AttributeConflictError, AttributeNotFoundError
from tests.catalogs.samples import base

DOUBLE = parse_type("double")


def attribute(name: str, identity: str = "") -> Attribute:
    return Attribute(name, identity or f"base:{name}", DOUBLE, nullable=True)


SCHEMA = Schema((attribute("vmag"), attribute("Vmag"), attribute("plx"), attribute("B-V")))


def test_a_name_means_itself_and_otherwise_the_one_that_differs_in_case_alone():
    assert SCHEMA["Vmag"].name == "Vmag"
    assert SCHEMA["PLX"].name == "plx"
    assert "b-v" in SCHEMA
    assert SCHEMA.matching("VMAG") == (SCHEMA["vmag"], SCHEMA["Vmag"])
    with pytest.raises(AttributeNotFoundError, match="VMAG is ambiguous: vmag or Vmag") as caught:
        SCHEMA["VMAG"]
    assert "upper and lower case" in caught.value.hint


def test_an_unknown_name_is_told_what_may_have_been_meant():
    with pytest.raises(AttributeNotFoundError, match="no attribute 'vmagg'") as caught:
        SCHEMA["vmagg"]
    assert "did you mean vmag" in caught.value.hint
    with pytest.raises(KeyError, match="there are vmag, Vmag, plx, B-V"):
        SCHEMA["redshift"]
    with pytest.raises(AttributeNotFoundError):
        SCHEMA[5]  # type: ignore[index]


def test_a_schema_is_a_mapping_in_the_order_of_the_columns():
    assert (list(SCHEMA), len(SCHEMA), SCHEMA.names) == (["vmag", "Vmag", "plx", "B-V"], 4, tuple(SCHEMA))
    assert SCHEMA.get("nothing") is None
    assert Schema(SCHEMA.attributes) == SCHEMA
    assert hash(SCHEMA) == hash(Schema(SCHEMA.attributes))


def test_the_key_is_found_by_identity_in_the_order_of_the_population():
    columns = {"n": "int", "night": "date", "mag": "double"}
    schema = base("visits", columns, key=("night", "n"), population="visit").schema
    assert [item.name for item in schema.key] == ["night", "n"]
    assert [item.identity for item in schema.key] == ["key:visit:0", "key:visit:1"]
    assert schema.names == ("n", "night", "mag")


def test_two_names_for_one_identity_are_two_attributes_of_which_the_first_counts():
    schema = Schema((attribute("a", "i"), attribute("b", "i")))
    assert schema.by_identity == {"i": schema["a"]}


def test_merging_keeps_one_of_each_name_if_the_identity_is_the_same():
    assert merge_attributes([attribute("a"), attribute("b"), attribute("a")]).names == ("a", "b")
    with pytest.raises(AttributeConflictError, match="two different attributes a") as caught:
        merge_attributes([attribute("a"), attribute("a", "other")])
    assert caught.value.hint == 'rename one of them: .rename(a="a_2")'
    with pytest.raises(AttributeConflictError) as caught:
        merge_attributes([attribute("B-V"), attribute("B-V", "other")])
    assert caught.value.hint == "rename one of them: .rename({'B-V': 'B-V 2'})"


def test_two_attributes_of_one_name_make_no_schema():
    with pytest.raises(AttributeConflictError, match="two attributes a"):
        Schema((attribute("a"), attribute("a")))


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\0", "\ud800", 5, None])
def test_what_cannot_be_printed_names_nothing(name: object):
    with pytest.raises(AttributeConflictError, match="cannot name an attribute"):
        check_name(name)
