"""Combining attributes."""

import pytest

from provenn.catalogs import CombineAttributes, KeepAttributes, RenameAttributes, SelectSources
from provenn.errors import AttributeConflictError, DefinitionError
from tests.catalogs.samples import base, derived

A, B = base("one"), base("two")


def test_attributes_of_one_identity_merge_and_others_follow_in_the_order_of_the_members():
    near = derived(A, dist_pc="1000 / plx")
    bright = SelectSources.of(KeepAttributes.of(A, ["vmag"]), "vmag < 6")
    assert CombineAttributes.of(bright, near).schema.names == ("hip", "vmag", "plx", "dist_pc")
    assert CombineAttributes.of(bright, near).extent == bright.extent


def test_the_same_expression_derived_twice_is_one_attribute():
    first, other = derived(A, d="1000 / plx"), derived(SelectSources.of(A, "vmag < 6"), d="1000/PLX")
    assert CombineAttributes.of(first, other).schema.names == ("hip", "vmag", "plx", "d")


def test_other_attributes_of_the_same_name_are_an_error_that_says_how_to_rename():
    with pytest.raises(AttributeConflictError, match="two different attributes vmag") as caught:
        CombineAttributes.of(A, B)
    assert caught.value.hint == 'rename one of them: .rename(vmag="vmag_2")'
    renamed = RenameAttributes.of(B, {"vmag": "vmag_2", "plx": "plx_2"})
    assert CombineAttributes.of(A, renamed).schema.names == ("hip", "vmag", "plx", "vmag_2", "plx_2")


def test_a_key_under_two_names_stays_one_key():
    both = CombineAttributes.of(A, RenameAttributes.of(KeepAttributes.of(B, []), {"hip": "id"}))
    assert both.schema.names == ("hip", "vmag", "plx", "id")
    assert [attribute.name for attribute in both.schema.key] == ["hip"]


@pytest.mark.parametrize("members", [(), (A,)])
def test_less_than_two_members_are_refused(members: tuple):
    with pytest.raises(DefinitionError, match=f"got {len(members)}"):
        CombineAttributes.of(*members)
