"""The elements of arrays: their key, their attributes, and how they refer to their sources."""

import pytest

from provenn.catalogs import ExplodeArrays, GroupSources, LookupAttributes, RenameAttributes, SelectSources
from provenn.errors import AttributeConflictError, AttributeNotFoundError, DefinitionError, PopulationError
from tests.catalogs.populations import CURVES, DETECTIONS
from tests.catalogs.samples import base

explode = ExplodeArrays.of


def test_an_element_has_the_key_of_its_source_and_a_position():
    elements = explode(CURVES, ["mags", "times"])
    assert str(elements.population) == "object mags (bigint, int)"
    assert elements.schema.names == ("hip", "position", "mags", "times")
    assert [str(attribute.type) for attribute in elements.schema.attributes] == ["bigint", "int", "double", "int"]
    assert [attribute.nullable for attribute in elements.schema.attributes] == [False, False, True, True]


def test_structs_give_an_attribute_for_each_field():
    assert explode(CURVES, "points").schema.names == ("hip", "position", "u", "v")
    clash = base("c", {"id": "bigint", "a": "array<struct<id:int>>"}, key="id", population="x")
    with pytest.raises(AttributeConflictError, match="two attributes id"):
        explode(clash, "a")


def test_the_name_of_the_position_gives_way():
    renamed = RenameAttributes.of(CURVES, {"mags": "position"})
    assert explode(renamed, "position").schema.names == ("hip", "position_2", "position")


def test_a_selection_of_sources_commutes():
    few = SelectSources.of(CURVES, "hip < 5")
    assert explode(few, "mags").extent == SelectSources.of(explode(CURVES, "mags"), "hip < 5").extent
    assert explode(few, "mags").schema["mags"].identity == explode(CURVES, "mags").schema["mags"].identity
    looked_up = LookupAttributes.of(explode(CURVES, "mags"), few, on="hip", attributes=[], missing="drop")
    assert looked_up.extent == explode(few, "mags").extent


def test_elements_of_more_arrays_may_be_more():
    assert explode(CURVES, "mags").extent != explode(CURVES, ["mags", "times"], population="object mags").extent
    one, other = (explode(CURVES, arrays, population="p") for arrays in (["mags", "times"], ["times", "mags"]))
    assert one.extent == other.extent


def test_collected_arrays_can_be_exploded_again():
    groups = GroupSources.of(DETECTIONS, "objid", {"curve": "collect(mag ORDER BY seen)"}, population="object")
    points = explode(groups, "curve")
    assert points.schema.names == ("objid", "position", "curve")
    assert str(points.schema["curve"].type) == "double"


@pytest.mark.parametrize(
    ("arrays", "population", "error", "message"),
    [
        ("hip", None, DefinitionError, "hip is not an array but has the type bigint"),
        ([], None, DefinitionError, "no array is named"),
        (5, None, DefinitionError, "expected names"),
        ("nope", None, AttributeNotFoundError, "nope"),
        ("mags", "\n", PopulationError, "cannot name a population"),
        ("mags", "object", PopulationError, "cannot be of the population of their sources"),
    ],
)
def test_bad_input_is_a_clear_error(arrays, population, error, message):
    with pytest.raises(error, match=message):
        explode(CURVES, arrays, population=population).population  # noqa: B018 - the population is made when asked for
