"""Concatenating sources."""

import pytest

from provenn.catalogs import (
    CombineAttributes,
    ConcatSources,
    KeepAttributes,
    RenameAttributes,
    SelectSources,
    differing_attributes,
)
from provenn.errors import AttributeConflictError, DefinitionError
from tests.catalogs.samples import base, derived

NORTH, SOUTH = base("north"), base("south")
BRIGHT, NEAR = SelectSources.of(NORTH, "vmag < 6"), SelectSources.of(NORTH, "plx > 100")


def test_attributes_of_one_identity_stay_what_they_are():
    either = ConcatSources.of(BRIGHT, NEAR)
    assert either.schema == NORTH.schema
    assert either.extent == BRIGHT.extent | NEAR.extent
    assert ConcatSources.of(BRIGHT, NEAR, overlap="first") == either
    assert differing_attributes(BRIGHT, NEAR) == ()


def test_only_attributes_that_all_members_have_survive():
    small = KeepAttributes.of(NEAR, ["plx"])
    assert ConcatSources.of(BRIGHT, small).schema.names == ("hip", "plx")
    assert ConcatSources.of(small, BRIGHT, NEAR).schema.names == ("hip", "plx")


def test_members_that_define_attributes_differently_need_an_order_or_a_proof():
    with pytest.raises(AttributeConflictError, match="several values of vmag, plx") as caught:
        ConcatSources.of(NORTH, SOUTH)
    assert 'order="first"' in caught.value.hint
    assert "declare" in caught.value.hint
    assert differing_attributes(NORTH, SOUTH) == ("vmag", "plx")
    assert ConcatSources.of(NORTH, SOUTH, overlap="first") != ConcatSources.of(NORTH, SOUTH, overlap="disjoint")


def test_an_attribute_in_pieces_is_new_and_is_the_list_of_extents_and_identities():
    sky = ConcatSources.of(NORTH, SOUTH, overlap="first")
    vmag = sky.schema["vmag"]
    assert [(piece.member, piece.identity) for piece in vmag.pieces] == [
        (NORTH.digest, NORTH.schema["vmag"].identity),
        (SOUTH.digest, SOUTH.schema["vmag"].identity),
    ]
    assert vmag.identity == ConcatSources.of(NORTH, SOUTH, overlap="disjoint").schema["vmag"].identity
    turned = ConcatSources.of(SOUTH, NORTH, overlap="first")
    assert vmag.identity != turned.schema["vmag"].identity
    assert turned.extent == sky.extent
    same_extents = ConcatSources.of(KeepAttributes.of(NORTH, ["vmag"]), SOUTH, overlap="first")
    assert same_extents.schema["vmag"].identity == vmag.identity
    fewer = ConcatSources.of(BRIGHT, SOUTH, overlap="first")
    assert fewer.schema["vmag"].identity != vmag.identity


def test_the_key_is_matched_by_identity_and_other_attributes_by_name_whatever_the_case():
    other = RenameAttributes.of(SOUTH, {"hip": "id", "vmag": "VMAG"})
    sky = ConcatSources.of(NORTH, other, overlap="first")
    assert sky.schema.names == ("hip", "vmag", "plx")
    assert sky.schema["hip"] == NORTH.schema["hip"]
    assert sky.schema["vmag"].pieces[1].attribute.name == "VMAG"


def test_every_name_of_the_key_is_matched_by_identity():
    renamed = RenameAttributes.of(NORTH, {"hip": "id"})
    both_names = CombineAttributes.of(NORTH, renamed)
    faint = RenameAttributes.of(SOUTH, {"vmag": "id"})
    sky = ConcatSources.of(both_names, faint, overlap="first")
    assert sky.schema.names == ("hip", "plx", "id")
    assert sky.schema["id"].identity == NORTH.schema["hip"].identity
    assert [origin.attribute for origin in sky.trace_attributes()["id"]] == ["id", "hip"]


def test_an_attribute_is_nullable_if_it_is_in_one_member():
    twice = derived(KeepAttributes.of(NORTH, []), x="CAST(hip AS double)"), derived(SOUTH, x="plx * 1.0D")
    assert [catalog.schema["x"].nullable for catalog in twice] == [False, True]
    assert ConcatSources.of(*twice, overlap="first").schema["x"].nullable


def test_pieces_have_one_type_and_one_unit():
    with pytest.raises(AttributeConflictError, match="vmag has the type double in one member and float in another"):
        ConcatSources.of(NORTH, base("s", {"hip": "bigint", "vmag": "float"}), overlap="first")
    mag, mmag = (base(unit, units={"vmag": unit}) for unit in ("mag", "mmag"))
    with pytest.raises(AttributeConflictError, match="vmag is in mag in one member and in mmag in another"):
        ConcatSources.of(mag, mmag, overlap="first")
    assert ConcatSources.of(mag, NORTH, overlap="first").schema["vmag"].unit == ""


def test_a_unit_may_be_written_in_several_ways():
    first, other = (base(unit, units={"vmag": unit}) for unit in ("km/s", "km.s-1"))
    assert ConcatSources.of(first, other, overlap="first").schema["vmag"].unit == "km/s"
    strange = base("strange", units={"vmag": "furlong"})
    with pytest.raises(AttributeConflictError, match="in km/s in one member and in furlong in another"):
        ConcatSources.of(first, strange, overlap="first")
    assert ConcatSources.of(strange, base("again", units={"vmag": "furlong"}), overlap="first").schema["vmag"].unit


def test_bad_input_is_refused():
    with pytest.raises(DefinitionError, match="got 1"):
        ConcatSources.of(NORTH)
    with pytest.raises(DefinitionError, match="overlap is first, disjoint or files, not 'last'"):
        ConcatSources.of(NORTH, SOUTH, overlap="last")  # type: ignore[arg-type]


def test_pieces_of_pieces_as_deep_as_a_survey_is_long_need_no_recursion():
    """A night is added to all before it, five thousand times."""

    def survey() -> ConcatSources:
        sky = ConcatSources((NORTH, SOUTH), "first")
        for _ in range(2500):
            sky = ConcatSources((sky, SOUTH), "first")
            sky = ConcatSources((sky, NORTH), "first")
        return sky

    first, other = survey(), survey()
    assert first == other
    assert first.schema == other.schema
    assert hash(first.schema) == hash(other.schema)
    assert first.extent == NORTH.extent | SOUTH.extent
