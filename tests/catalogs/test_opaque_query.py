"""Opaque queries: a fresh set of rows, with a key or as a bag."""

import pytest

from provenn.catalogs import OpaqueQuery, Population, SelectSources
from provenn.catalogs.restoring import new_attributes_of, restore
from provenn.criteria import parse_type
from provenn.errors import (
    AttributeConflictError,
    DefinitionError,
    KeyColumnsError,
    PopulationError,
    ProvennError,
    TypeNameError,
)
from tests.catalogs.populations import DETECTIONS, OBJECTS

TEXT = "SELECT objid, count(*) AS n FROM input_1 GROUP BY objid"
COLUMNS = [("objid", "bigint", True), ("n", parse_type("bigint"), False)]


def test_a_bag_has_rows_and_copies():
    bag = OpaqueQuery.of([DETECTIONS], TEXT, COLUMNS)
    assert bag.population == Population("row of objid, n", (parse_type("string"), parse_type("int")))
    assert bag.schema.names == ("row", "copy", "objid", "n")
    assert [attribute.name for attribute in bag.schema.key] == ["row", "copy"]
    assert bag.extent.labels == (bag.digest,)
    assert (bag.facts(), bag.row_parents) == ((), ())


def test_columns_called_like_the_key_of_a_bag_keep_their_names():
    bag = OpaqueQuery.of(
        [DETECTIONS], "SELECT id AS row, 1 AS copy FROM input_1", [("row", "bigint", True), ("copy", "int", True)]
    )
    assert bag.schema.names == ("row_2", "copy_2", "row", "copy")


def test_a_key_identifies_rows_of_a_population():
    keyed = OpaqueQuery.of([DETECTIONS], TEXT, COLUMNS, key="objid", population=OBJECTS.population)
    assert keyed.population == OBJECTS.population
    assert keyed.schema.names == ("objid", "n")
    assert not keyed.schema["objid"].nullable
    assert keyed.schema["objid"].identity == OBJECTS.schema.key[0].identity
    assert OpaqueQuery.of([DETECTIONS], TEXT, COLUMNS, key=["objid"]).population.name == "objid"


@pytest.mark.parametrize("key", [None, "objid"])
def test_it_is_restored_and_says_why_it_is_not_understood(key):
    query = OpaqueQuery.of(
        [OBJECTS, DETECTIONS], TEXT.replace("input_1", "input_2"), COLUMNS, key=key, reason="no reason"
    )
    assert query.inputs == (DETECTIONS,)
    assert query == OpaqueQuery.of([DETECTIONS], TEXT, COLUMNS, key=key)
    again = restore(query.kind, query.parameters(), query.notes(), query.dependencies)
    again.check_consistency()
    assert (again, again.schema) == (query, query.schema)
    assert ("not understood", "no reason") in again.show_parameters()
    verb, options = query.exchange_form()
    assert OpaqueQuery.from_exchange(verb, options, query.dependencies) == query
    defined = {
        each.identity: (each.type, each.nullable)
        for each in new_attributes_of(query.kind, query.digest, query.parameters())
    }
    assert defined == {each.identity: (each.type, each.nullable) for each in query.schema.attributes}
    assert {origin.attribute for origin in query.trace_selection()} == {"objid"}


def test_a_new_version_of_an_input_is_another_catalog():
    query = OpaqueQuery.of([DETECTIONS], TEXT, COLUMNS)
    newer = query.on([SelectSources.of(DETECTIONS, "mag < 20")])
    assert newer.extent != query.extent
    assert newer.schema["n"].identity != query.schema["n"].identity


FAULTS = [
    ({"columns": []}, DefinitionError, "columns, got 0"),
    ({"columns": [("objid", "bigint")]}, DefinitionError, "expected name, type and nullability"),
    ({"columns": [("objid", "bigint", 1)]}, DefinitionError, "expected true or false"),
    ({"columns": [*COLUMNS, COLUMNS[0]]}, AttributeConflictError, "two attributes objid"),
    ({"columns": [("objid", "whatever", True)]}, TypeNameError, "not a supported type"),
    ({"columns": [("objid", "array<int>) || reflect('x", True)]}, DefinitionError, "cannot have a column of the type"),
    ({"key": "missing"}, KeyColumnsError, "missing is no column"),
    ({"key": ["n", "n"]}, KeyColumnsError, "named twice"),
    ({"key": "a", "columns": [("a", "array<int>", True)]}, KeyColumnsError, "cannot be compared"),
    ({"key": "n", "population": Population("x", (parse_type("string"),))}, KeyColumnsError, "cannot be that of"),
    ({"population": "\n"}, PopulationError, "cannot name"),
    ({"text": "SELECT 1 AS objid, 2 AS n"}, DefinitionError, "reads no catalog"),
]


@pytest.mark.parametrize(("change", "error", "message"), FAULTS)
def test_what_does_not_fit_is_refused(change, error, message):
    arguments = {"text": TEXT, "columns": COLUMNS, **change}
    with pytest.raises(error, match=message):
        OpaqueQuery.of([DETECTIONS], **arguments)


def test_a_forged_definition_is_read_again():
    query = OpaqueQuery.of([DETECTIONS], TEXT, COLUMNS)
    for change in (
        {"text": "SELECT reflect('a', 'b') FROM input_1"},
        {"columns": [["objid", "int) || reflect('x'", True]]},
    ):
        with pytest.raises(ProvennError):
            restore(query.kind, {**query.parameters(), **change}, query.notes(), query.dependencies)
