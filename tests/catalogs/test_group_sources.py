"""Groups and their aggregates: which sources they are, and when two aggregates are one attribute."""

import pytest

from provenn.catalogs import (
    FirstSources,
    GroupSources,
    HavingSources,
    LookupAttributes,
    RenameAttributes,
    SampleSources,
    SelectSources,
)
from provenn.errors import AttributeConflictError, CriterionError, DefinitionError, PopulationError
from tests.catalogs.populations import DETECTIONS, EXPOSURES, OBJECTS


def group(parent=DETECTIONS, by="objid", **aggregates):
    aggregates = aggregates or {"n": "count(*)", "mean": "avg(mag)"}
    return GroupSources.of(parent, by, aggregates, population=OBJECTS.population if by == "objid" else None)


def test_groups_are_sources_of_the_population_whose_key_they_have():
    groups = group()
    assert groups.population == OBJECTS.population
    assert groups.schema["objid"].identity == OBJECTS.schema["hip"].identity
    assert not groups.schema["objid"].nullable
    assert (str(groups.schema["n"].type), str(groups.schema["mean"].type)) == ("bigint", "double")
    assert groups.schema["mean"].unit == "mag"


def test_groups_of_several_attributes_are_a_population_of_their_own():
    groups = GroupSources.of(DETECTIONS, ["night", "objid"])
    assert str(groups.population) == "night, objid (int, bigint)"
    assert (
        GroupSources.of(DETECTIONS, ["night", "ccd"], population=EXPOSURES.population).population
        == EXPOSURES.population
    )


def test_groups_hold_partners_that_no_catalog_holds():
    """References may dangle: the groups are not inside the objects, and the objects not inside the groups."""
    assert OBJECTS.digest not in group().extent.labels
    having = HavingSources.of(OBJECTS, DETECTIONS, on="objid")
    assert having.extent == OBJECTS.extent & group().extent


COMMUTING = {
    "of groups by their key": lambda one: SelectSources.of(one, "objid < 5 AND objid > 1"),
    "of groups by a list": lambda one: SelectSources.of(one, "objid IN (1, 5, 7)"),
    "of partners": lambda one: LookupAttributes.of(
        one, SelectSources.of(OBJECTS, "vmag < 6"), on="objid", missing="drop"
    ),
    "of attributes of partners": lambda one: SelectSources.of(
        LookupAttributes.of(one, OBJECTS, on="objid", missing="drop"), "vmag < 6 OR objid = 3"
    ),
    "without partners": lambda one: SelectSources.of(one, "objid IS NOT NULL"),
}


@pytest.mark.parametrize("name", COMMUTING)
def test_a_selection_of_whole_groups_keeps_the_identity_of_aggregates(name):
    selected = group(COMMUTING[name](DETECTIONS))
    assert {selected.schema[one].identity for one in ("n", "mean")} == {
        group().schema[one].identity for one in ("n", "mean")
    }


CHANGING = {
    "of members": lambda one: SelectSources.of(one, "mag < 6"),
    "of some members by their group or themselves": lambda one: SelectSources.of(one, "objid < 5 OR mag < 6"),
    "of a sample": lambda one: SampleSources.of(one, 0.5, 1),
    "of members that have partners of another kind": lambda one: LookupAttributes.of(
        one, EXPOSURES, on=["night", "ccd"], missing="drop"
    ),
    "of the first": lambda one: FirstSources.of(one, "objid", "mag", 2),
    "by the key of members": lambda one: SelectSources.of(one, "id < 5"),
}


@pytest.mark.parametrize("name", CHANGING)
def test_a_selection_of_members_changes_it(name):
    selected = group(CHANGING[name](DETECTIONS))
    for one in ("n", "mean"):
        assert selected.schema[one].identity != group().schema[one].identity


def test_a_selection_is_of_groups_only_by_what_all_their_members_have():
    """The night of a detection is no attribute of its object, but one of its exposure."""
    dark = SelectSources.of(DETECTIONS, "night = 3")
    assert group(dark).schema["n"].identity != group().schema["n"].identity
    exposures = [GroupSources.of(one, ["night", "ccd"], {"n": "count(*)"}) for one in (DETECTIONS, dark)]
    assert len({one.schema["n"].identity for one in exposures}) == 1


def test_aggregates_are_known_by_what_they_compute_not_by_their_names():
    one, other = group(n="COUNT( * )"), group(size="count(*)")
    assert one.schema["n"].identity == other.schema["size"].identity
    renamed = RenameAttributes.of(DETECTIONS, {"mag": "magnitude"})
    assert group(renamed, m="mean(magnitude)").schema["m"].identity == group().schema["mean"].identity
    by_night = GroupSources.of(DETECTIONS, "night", {"n": "count(*)"})
    assert by_night.schema["n"].identity != one.schema["n"].identity
    as_other = GroupSources.of(DETECTIONS, "objid", {"n": "count(*)"}, population="star")
    assert as_other.schema["n"].identity != one.schema["n"].identity


@pytest.mark.parametrize(
    ("by", "aggregates", "population", "error", "message"),
    [
        ("mag", {}, None, DefinitionError, r"floating-point.*\n.*CAST\(mag AS decimal"),
        ([], {}, None, DefinitionError, "no attribute is named"),
        ("objid", {"objid": "count(*)"}, None, AttributeConflictError, "two attributes objid"),
        ("objid", {"n": 5}, None, DefinitionError, "expected an aggregate in SQL for 'n', got 5"),
        ("objid", {5: "count(*)"}, None, AttributeConflictError, "5 cannot name an attribute"),
        ("objid", ["count(*)"], None, DefinitionError, "expected names and aggregates"),
        ("objid", {"n": "mag"}, None, CriterionError, "a single aggregate is needed"),
        ("objid", {}, EXPOSURES.population, PopulationError, "cannot be the key of the population exposure"),
        (["ccd", "objid"], {}, EXPOSURES.population, PopulationError, "cannot be the key"),
        ("objid", {}, "\n", PopulationError, "cannot name a population"),
    ],
)
def test_bad_input_is_a_clear_error(by, aggregates, population, error, message):
    with pytest.raises(error, match=message):
        GroupSources.of(DETECTIONS, by, aggregates, population=population)
