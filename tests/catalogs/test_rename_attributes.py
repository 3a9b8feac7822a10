"""Renaming attributes."""

import pytest

from provenn.catalogs import RenameAttributes
from provenn.errors import AttributeConflictError, AttributeNotFoundError, DefinitionError
from tests.catalogs.samples import base

A = base()


def test_an_attribute_keeps_its_place_and_all_but_its_name():
    renamed = RenameAttributes.of(A, {"VMAG": "B-V"})
    assert renamed.schema.names == ("hip", "B-V", "plx")
    assert renamed.schema["B-V"] == A.schema["vmag"].renamed("B-V")
    assert renamed.extent == A.extent


def test_names_can_be_exchanged_and_the_key_renamed():
    catalog = RenameAttributes.of(A, {"vmag": "plx", "plx": "vmag", "hip": "id"})
    assert catalog.schema["plx"].identity == A.schema["vmag"].identity
    assert [attribute.name for attribute in catalog.schema.key] == ["id"]
    assert RenameAttributes.of(A, {"vmag": "VMAG"}).schema.names == ("hip", "VMAG", "plx")


@pytest.mark.parametrize(
    ("names", "error", "problem"),
    [
        ({"vmga": "v"}, AttributeNotFoundError, "did you mean vmag"),
        ({"vmag": "plx"}, AttributeConflictError, "two attributes plx"),
        ({"vmag": "v", "plx": "v"}, AttributeConflictError, "two attributes v"),
        ({"vmag": "v", "VMAG": "w"}, AttributeConflictError, "vmag would have two names, v and w"),
        ({"vmag": ""}, AttributeConflictError, "cannot name an attribute"),
        ({"vmag": None}, AttributeConflictError, "cannot name an attribute"),
        ({}, DefinitionError, "nothing to rename"),
        ({"vmag": "vmag"}, DefinitionError, "nothing to rename"),
    ],
)
def test_what_cannot_be_a_renaming_is_refused(names: dict, error: type[Exception], problem: str):
    with pytest.raises(error, match=problem):
        RenameAttributes.of(A, names)
