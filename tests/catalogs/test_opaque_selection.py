"""Opaque selections: a subset of the parent, by a set of its own."""

import pytest

from provenn.catalogs import OpaqueSelection, RenameAttributes, SelectSources
from provenn.catalogs.restoring import facts_of, restore
from provenn.criteria.platforms import Trait
from provenn.errors import AttributeNotFoundError, DefinitionError
from provenn.logic import Knowledge, subset
from tests.catalogs.populations import DETECTIONS, OBJECTS
from tests.catalogs.samples import base

A = base()
CONDITION = "parent.vmag < (SELECT avg(mag) FROM input_1)"


def test_the_same_condition_on_a_narrower_parent_gives_a_narrower_set():
    whole = OpaqueSelection.of(A, CONDITION, [DETECTIONS])
    bright = SelectSources.of(A, "vmag < 6")
    narrow = OpaqueSelection.of(bright, CONDITION, [DETECTIONS])
    assert narrow.extent == whole.extent & bright.extent
    known = Knowledge([*whole.facts(), *bright.facts(), *narrow.facts()])
    assert known.entails(subset(narrow.digest, whole.digest))
    assert not known.entails(subset(whole.digest, narrow.digest))


def test_names_and_numbers_of_tables_do_not_matter():
    whole = OpaqueSelection.of(A, CONDITION, [DETECTIONS])
    renamed = RenameAttributes.of(A, {"vmag": "v"})
    assert OpaqueSelection.of(renamed, "parent.`v` < (select AVG(mag) from input_1)", [DETECTIONS]).label == whole.label
    other = OpaqueSelection.of(A, CONDITION.replace("input_1", "input_2"), [OBJECTS, DETECTIONS])
    assert (other.digest, other.others) == (whole.digest, (DETECTIONS,))


def test_other_catalogs_and_other_attributes_make_another_set():
    labels = {
        OpaqueSelection.of(A, CONDITION, [DETECTIONS]).label,
        OpaqueSelection.of(A, CONDITION, [SelectSources.of(DETECTIONS, "mag < 20")]).label,
        OpaqueSelection.of(A, CONDITION.replace("vmag", "plx"), [DETECTIONS]).label,
        OpaqueSelection.of(base("other"), CONDITION, [DETECTIONS]).label,
    }
    assert len(labels) == 4


def test_it_is_restored_and_says_why_it_is_not_understood():
    whole = OpaqueSelection.of(A, CONDITION, [DETECTIONS], "a subquery in a comparison")
    again = restore(whole.kind, whole.parameters(), whole.notes(), whole.dependencies)
    again.check_consistency()
    assert (again, again.extent, again.text) == (whole, whole.extent, whole.text)
    assert ("not understood", "a subquery in a comparison") in again.show_parameters()
    assert facts_of(whole.kind, whole.digest, [A.digest, DETECTIONS.digest], whole.parameters())[0] == whole.facts()
    assert (whole.schema, whole.population) == (A.schema, A.population)
    assert whole.find_own_traits() == frozenset(Trait)
    assert whole.on([base("newer"), DETECTIONS]).text == whole.text
    verb, options = whole.exchange_form()
    assert OpaqueSelection.from_exchange(verb, options, whole.dependencies) == whole
    assert {origin.attribute for origin in whole.trace_selection()} == {"vmag", "mag"}


def test_a_false_label_is_of_no_use():
    """The facts follow from the condition, whatever label a definition names."""
    whole = OpaqueSelection.of(A, CONDITION, [DETECTIONS])
    forged = {**whole.parameters(), "set": "x"}
    assert facts_of(whole.kind, whole.digest, [A.digest, DETECTIONS.digest], forged)[0] == whole.facts()


def test_what_does_not_fit_is_refused():
    with pytest.raises(AttributeNotFoundError):
        OpaqueSelection.of(A, "parent.missing > 1")
    with pytest.raises(DefinitionError, match="input_2, but there are 1 inputs"):
        OpaqueSelection.of(A, "EXISTS (SELECT 1 FROM input_2)", [DETECTIONS])
    with pytest.raises(DefinitionError, match="expected a catalog"):
        OpaqueSelection.of(A, CONDITION, ["detections"])
    with pytest.raises(DefinitionError, match="a reason of at most"):
        OpaqueSelection.of(A, CONDITION, [DETECTIONS], "x" * 2000)
