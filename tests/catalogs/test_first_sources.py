"""The first sources of each group: a subset whose membership depends on the whole extent."""

import pytest

from provenn.catalogs import FirstSources, GroupSources, HavingSources, SelectSources
from provenn.errors import AttributeNotFoundError, CriterionError, DefinitionError
from tests.catalogs.populations import DETECTIONS, OBJECTS

first = FirstSources.of


def test_a_selection_of_groups_commutes_and_a_selection_of_members_does_not():
    latest = first(DETECTIONS, "objid", "seen DESC")
    assert (
        first(SelectSources.of(DETECTIONS, "objid < 5"), "objid", "seen DESC").extent
        == SelectSources.of(latest, "objid < 5").extent
    )
    faint = SelectSources.of(DETECTIONS, "mag > 5")
    assert first(faint, "objid", "seen DESC").extent != SelectSources.of(latest, "mag > 5").extent


def test_the_order_is_known_by_its_meaning():
    assert first(DETECTIONS, "objid", "seen desc").extent == first(DETECTIONS, "objid", "SEEN  DESC NULLS LAST").extent
    others = ["seen", "seen DESC NULLS FIRST", "seen DESC, mag", "mag"]
    extents = [first(DETECTIONS, "objid", order).extent for order in ("seen DESC", *others)]
    assert len(set(extents)) == len(extents)
    assert first(DETECTIONS, "objid", "seen", 2).extent != first(DETECTIONS, "objid", "seen").extent
    assert first(DETECTIONS, ["objid", "night"], "seen").extent != first(DETECTIONS, "objid", "seen").extent


def test_the_groups_of_first_sources_are_all_groups():
    latest = first(DETECTIONS, "objid", "seen DESC", 3)
    groups = [GroupSources.of(one, "objid", {}, population="object").extent for one in (latest, DETECTIONS)]
    assert groups[0] == groups[1]
    having = [HavingSources.of(OBJECTS, one, on="objid").extent for one in (latest, DETECTIONS)]
    assert having[0] == having[1]
    other = first(DETECTIONS, "night", "seen DESC")
    assert GroupSources.of(other, "objid", {}, population="object").extent != groups[0]


@pytest.mark.parametrize(
    ("by", "order", "number", "error", "message"),
    [
        ("objid", "", 1, DefinitionError, "expected an order"),
        ("objid", 5, 1, DefinitionError, "expected an order, got 5"),
        ("objid", "mag", 0, DefinitionError, "1 or more, got 0"),
        ("objid", "mag", True, DefinitionError, "got True"),
        ("objid", "mag", "2", DefinitionError, "got '2'"),
        ("mag", "id", 1, DefinitionError, "floating-point"),
        ("nope", "id", 1, AttributeNotFoundError, "nope"),
        ("objid", "nope", 1, CriterionError, "no attribute 'nope'"),
        ("objid", "mag LIMIT 3", 1, CriterionError, "not an order"),
        ("objid", "mag) --", 1, CriterionError, "mag"),
        ("objid", "mag; id", 1, CriterionError, "parsed"),
        ("objid", "count(*)", 1, CriterionError, "more than one source"),
        ("objid", "rand()", 1, CriterionError, "not deterministic"),
    ],
)
def test_bad_input_is_a_clear_error(by, order, number, error, message):
    with pytest.raises(error, match=message):
        first(DETECTIONS, by, order, number)
