"""Attributes of partners: whose they are, which sources have them, and what is refused."""

import pytest

from provenn.catalogs import ConcatSources, LookupAttributes, RenameAttributes, SelectSources
from provenn.errors import AttributeConflictError, AttributeNotFoundError, DefinitionError, PopulationError
from tests.catalogs.populations import CURVES, DETECTIONS, EXPOSURES, GALAXIES, OBJECTS
from tests.catalogs.samples import derived

look_up = LookupAttributes.of


def test_all_attributes_but_the_key_are_looked_up_if_none_is_named():
    assert look_up(DETECTIONS, OBJECTS, on="objid").schema.names == (*DETECTIONS.schema.names, "vmag", "gal", "parent")
    prefixed = look_up(DETECTIONS, OBJECTS, on="OBJID", attributes=["VMAG", "hip"], prefix="o_")
    assert prefixed.schema.names[-2:] == ("o_vmag", "o_hip")


def test_the_sources_are_those_with_a_partner_or_all_of_them():
    bright = SelectSources.of(OBJECTS, "vmag < 6")
    dropped, filled = (look_up(DETECTIONS, bright, on="objid", missing=way) for way in ("drop", "null"))
    assert filled.extent == DETECTIONS.extent
    assert dropped.extent == look_up(DETECTIONS, bright, on="objid", missing="error").extent != DETECTIONS.extent
    assert (filled.population, dropped.population) == (DETECTIONS.population,) * 2
    assert filled.schema["vmag"].nullable


def test_an_attribute_is_the_same_through_the_same_reference_whichever_partners_are_looked_up():
    bright = SelectSources.of(OBJECTS, "vmag < 6")
    one, other = (look_up(DETECTIONS, each, on="objid", missing="drop") for each in (OBJECTS, bright))
    assert one.schema["vmag"].identity == other.schema["vmag"].identity != OBJECTS.schema["vmag"].identity
    again = look_up(one, bright, on="objid", missing="drop")
    assert again.schema.names == one.schema.names, "the same attributes under the same names are there once"


def test_null_depends_on_the_partners_that_there_are():
    bright = SelectSources.of(OBJECTS, "vmag < 6")
    one, other = (look_up(DETECTIONS, each, on="objid", missing="null") for each in (OBJECTS, bright))
    assert one.schema["vmag"].identity != other.schema["vmag"].identity
    with pytest.raises(AttributeConflictError, match="two different attributes"):
        look_up(one, bright, on="objid", missing="null")


def test_the_key_of_a_missing_partner_is_null_and_not_the_reference():
    """A dangling reference names a partner that is not there."""
    filled = look_up(DETECTIONS, OBJECTS, on="objid", attributes=["hip"], missing="null")
    assert filled.schema["hip"].identity != filled.schema["objid"].identity
    assert filled.schema["hip"].nullable
    dropped = look_up(DETECTIONS, OBJECTS, on="objid", attributes=["hip"], missing="drop")
    assert dropped.schema["hip"].identity == dropped.schema["objid"].identity


def test_the_keys_of_missing_partners_differ_by_their_references():
    """Night and detector, or detector and night: the same attributes, other partners."""
    one, other = (
        look_up(EXPOSURES, EXPOSURES, on=on, attributes=["night", "ccd"], missing="null", prefix="p_")
        for on in (["night", "ccd"], ["ccd", "night"])
    )
    identities = [each.schema[name].identity for each in (one, other) for name in ("p_night", "p_ccd")]
    assert len(set(identities)) == 4


def test_paths_are_the_same_whichever_lookup_comes_first():
    hosts = look_up(OBJECTS, GALAXIES, on="gal", missing="drop")
    one = look_up(DETECTIONS, hosts, on="objid", missing="drop")
    other = look_up(look_up(DETECTIONS, OBJECTS, on="objid", missing="drop"), GALAXIES, on="gal", missing="drop")
    assert one.schema["z"].identity == other.schema["z"].identity
    assert one.extent == other.extent


def test_a_selection_commutes_with_a_lookup():
    one = SelectSources.of(look_up(DETECTIONS, OBJECTS, on="objid", missing="drop"), "vmag < 6 AND mag > 3")
    other = look_up(
        SelectSources.of(DETECTIONS, "mag > 3"), SelectSources.of(OBJECTS, "vmag < 6"), on="objid", missing="drop"
    )
    assert one.extent == other.extent


def test_a_renamed_key_is_still_the_key_that_references_name():
    renamed = RenameAttributes.of(OBJECTS, {"hip": "number"})
    one, other = (look_up(DETECTIONS, each, on="objid", missing="drop") for each in (OBJECTS, renamed))
    assert (one.extent, one.schema["vmag"]) == (other.extent, other.schema["vmag"])
    assert "number" not in other.schema


def test_a_composite_reference_names_its_attributes_in_the_order_of_the_key():
    assert look_up(DETECTIONS, EXPOSURES, on=["night", "ccd"]).schema.names[-1] == "seeing"
    with pytest.raises(PopulationError, match="cannot refer to exposures, whose key is int, int"):
        look_up(DETECTIONS, EXPOSURES, on="night")


def test_attributes_of_a_concatenation_are_looked_up_as_attributes_of_their_own():
    other = SelectSources.of(CURVES, "hip > 3")
    both = ConcatSources.of(derived(OBJECTS, n="vmag"), derived(other, n="CAST(hip AS double)"), overlap="first")
    looked_up = look_up(DETECTIONS, both, on="objid", missing="drop")
    alone = look_up(DETECTIONS, derived(OBJECTS, n="vmag"), on="objid", missing="drop")
    assert looked_up.schema["n"].identity != alone.schema["n"].identity


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"on": "night"}, PopulationError, r"night int cannot refer to objects, whose key is bigint\n.*CAST\(night"),
        ({"on": "mag"}, DefinitionError, "floating-point"),
        ({"on": "nope"}, AttributeNotFoundError, "there is no attribute 'nope'"),
        ({"on": ["objid", "id"]}, PopulationError, "in the order of the key"),
        ({"on": ["objid", "objid"]}, DefinitionError, "named twice"),
        ({"on": []}, DefinitionError, "no attribute is named"),
        ({"on": 5}, DefinitionError, "expected names"),
        ({"on": "objid", "attributes": ["nope"]}, AttributeNotFoundError, "nope"),
        ({"on": "objid", "attributes": 5}, DefinitionError, "expected names"),
        ({"on": "objid", "missing": "x"}, DefinitionError, "unknown treatment of missing partners: 'x'"),
        ({"on": "objid", "prefix": 5}, DefinitionError, "expected text as prefix"),
        ({"on": "objid", "prefix": "\n"}, AttributeConflictError, "cannot name an attribute"),
        ({"on": "objid", "attributes": ["hip"], "prefix": "mag "}, None, ""),
    ],
)
def test_bad_input_is_a_clear_error(arguments, error, message):
    if error is None:
        assert look_up(DETECTIONS, OBJECTS, **arguments).schema.names[-1] == "mag hip"
        return
    with pytest.raises(error, match=message):
        look_up(DETECTIONS, OBJECTS, **arguments)


def test_another_attribute_of_the_same_name_is_refused():
    with pytest.raises(AttributeConflictError, match="two different attributes mag"):
        look_up(DETECTIONS, derived(OBJECTS, mag="vmag"), on="objid")
