"""The sources that others refer to, and the rest."""

import pytest

from provenn.catalogs import HavingSources, LookupAttributes, SelectSources
from provenn.catalogs.extent import nothing
from provenn.errors import AttributeNotFoundError, PopulationError
from provenn.logic import empty
from tests.catalogs.populations import DETECTIONS, EXPOSURES, OBJECTS
from tests.targets.scenes import known


def test_the_sources_that_are_referred_to_and_the_others_make_up_all():
    having = HavingSources.of(OBJECTS, DETECTIONS, on="objid")
    without = HavingSources.without(OBJECTS, DETECTIONS, on="objid")
    assert having.extent == OBJECTS.extent - without.extent
    assert without.extent == OBJECTS.extent - having.extent
    assert having.schema == OBJECTS.schema


def test_a_selection_of_partners_commutes():
    bright = SelectSources.of(OBJECTS, "vmag < 6")
    looked_up = LookupAttributes.of(DETECTIONS, bright, on="objid", missing="drop")
    one = HavingSources.of(OBJECTS, looked_up, on="objid")
    other = SelectSources.of(HavingSources.of(OBJECTS, DETECTIONS, on="objid"), "vmag < 6")
    assert one.extent == other.extent
    by_key = HavingSources.of(OBJECTS, SelectSources.of(DETECTIONS, "objid < 5"), on="objid")
    assert by_key.extent == SelectSources.of(HavingSources.of(OBJECTS, DETECTIONS, on="objid"), "hip < 5").extent


def test_a_selection_of_members_does_not():
    one = HavingSources.of(OBJECTS, SelectSources.of(DETECTIONS, "mag < 6"), on="objid")
    assert one.extent != HavingSources.of(OBJECTS, DETECTIONS, on="objid").extent


def test_members_that_refer_to_nothing_have_no_partners():
    nobody = HavingSources.of(OBJECTS, SelectSources.of(DETECTIONS, "objid IS NULL"), on="objid")
    assert nobody.extent == nothing
    assert known([nobody]).knowledge.entails(empty(nobody.digest))


def test_bad_input_is_a_clear_error():
    with pytest.raises(PopulationError, match="night int cannot refer to objects"):
        HavingSources.of(OBJECTS, DETECTIONS, on="night")
    with pytest.raises(PopulationError, match="whose key is int, int"):
        HavingSources.of(EXPOSURES, DETECTIONS, on="night")
    with pytest.raises(AttributeNotFoundError, match="hip"):
        HavingSources.of(OBJECTS, DETECTIONS, on="hip")
