"""Bad input of the classes that follow references: each error names the value, and says what to do."""

import pytest

import provenn
from provenn.errors import (
    AttributeConflictError,
    AttributeNotFoundError,
    CriterionError,
    DefinitionError,
    PopulationError,
    ProvennError,
    UnknownCatalogError,
)
from tests.light_curves import ingest_detections


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    with provenn.open(folder / "survey", who="ada") as opened:
        ingest_detections(opened, folder)
        yield opened


LOOKUPS = [
    ({"on": "mag"}, DefinitionError, "mag is a floating-point number", "CAST(mag AS decimal(20,6))"),
    ({"on": "objidd"}, AttributeNotFoundError, "'objidd'", "did you mean objid?"),
    (
        {"on": ["objid", "id"]},
        PopulationError,
        "cannot refer to objects, whose key is bigint",
        "in the order of the key",
    ),
    ({"on": "text"}, PopulationError, "text string cannot refer to objects", "CAST(text AS bigint)"),
    ({"on": 5}, DefinitionError, "expected names of attributes for the reference, got 5", ""),
    ({"on": []}, DefinitionError, "no attribute is named", ""),
    ({"on": ["objid", "objid"]}, DefinitionError, "named twice", ""),
    ({"on": "objid", "attributes": ["vmagg"]}, AttributeNotFoundError, "'vmagg'", "did you mean vmag"),
    ({"on": "objid", "missing": "maybe"}, DefinitionError, "'maybe'", 'missing="error", "null" or "drop"'),
    ({"on": "objid", "prefix": 3}, DefinitionError, "expected text as prefix, got 3", ""),
    ({"on": "objid", "prefix": "", "attributes": ["mag"]}, AttributeConflictError, "mag", "rename"),
]


@pytest.mark.parametrize(("arguments", "kind", "problem", "hint"), LOOKUPS)
def test_a_lookup_that_cannot_be_made(archive, arguments, kind, problem, hint):
    detections = archive["detections"].derive(text="CAST(objid AS string)")
    objects = archive["objects"].derive(mag="vmag + 1")
    with pytest.raises(kind) as raised:
        detections.lookup(objects, **arguments)
    assert problem in str(raised.value)
    assert hint in raised.value.hint


@pytest.mark.parametrize("verb", ["having", "without"])
def test_having_and_without_check_the_reference_of_the_members(archive, verb):
    objects, detections = archive["objects"], archive["detections"]
    with pytest.raises(DefinitionError, match="mjd is a floating-point number"):
        getattr(objects, verb)(detections, on="mjd")
    with pytest.raises(PopulationError, match="cannot refer to detections"):
        getattr(detections, verb)(objects.derive(day="CAST(vmag AS int)"), on="day")
    with pytest.raises(UnknownCatalogError, match="did you mean detections"):
        getattr(objects, verb)("detection", on="objid")


AGGREGATES = [
    ("collect(mag)", "the order of an array must be said", "collect(mag ORDER BY mjd)"),
    ("first(mag)", "first is not an aggregate of a set", "min_by(x, y)"),
    ("collect_set(mag)", "collect_set is not an aggregate of a set", "collect(x ORDER BY y)"),
    ("mode(mag)", "mode is not an aggregate of a set", "take the first"),
    ("frobnicate(mag)", "frobnicate is not a known aggregate", "avg"),
    ("avg(mag) + 1", "a single aggregate is needed", "derive()"),
    ("mag", "a single aggregate is needed", "avg(mag)"),
    ("avg(magg)", "there is no attribute 'magg', at column 5", "did you mean mag?"),
    ("percentile(mag, 3)", "between 0 and 1", "0.5"),
    ("sum(DISTINCT mag)", "DISTINCT goes with count", "group twice"),
    ("sum(count(*))", "count() reads more than one source", "group() first"),
    ("count(*) FILTER (WHERE mag < 3)", "FILTER is not supported", "CASE WHEN"),
    ("sum(name)", "sum takes numbers, not a string", ""),
]


@pytest.mark.parametrize(("text", "problem", "hint"), AGGREGATES)
def test_what_is_no_aggregate_of_a_set(archive, text, problem, hint):
    detections = archive["detections"].derive({"name": "CAST(objid AS string)"})
    with pytest.raises(CriterionError) as raised:
        detections.group("objid", {"x": text}, population="object")
    assert problem in str(raised.value)
    assert hint in raised.value.hint


@pytest.mark.parametrize("text", ["count(*) > 3", "avg(mag) < 2", "max(mag) = 3", "median(mag) > 1"])
def test_an_aggregate_in_a_criterion_is_told_to_group_first(archive, text):
    with pytest.raises(CriterionError, match="reads more than one source") as raised:
        archive["detections"].select(text)
    assert "group() first" in raised.value.hint


def test_groups_that_cannot_be_made(archive):
    detections = archive["detections"]
    with pytest.raises(PopulationError, match="cannot be the key of the population object"):
        detections.derive(text="CAST(objid AS string)").group("text", population="object")
    with pytest.raises(DefinitionError, match="floating-point"):
        detections.group("mag", n="count(*)")
    with pytest.raises(DefinitionError, match="got 5"):
        detections.group("objid", {"n": 5})  # type: ignore[dict-item] # what the error is about
    with pytest.raises(AttributeConflictError):
        detections.group("objid", objid="count(*)")
    with pytest.raises(ProvennError):
        detections.group("objid", n="count(*)", population=" ")


def test_first_sources_that_cannot_be_found(archive):
    detections = archive["detections"]
    with pytest.raises(CriterionError, match="there is no attribute 'mjdd', at column 1\n  mjdd DESC\n  \\^"):
        detections.first("objid", "mjdd DESC")
    with pytest.raises(CriterionError, match="cannot be parsed"):
        detections.first("objid", "mjd DESCENDING")
    with pytest.raises(CriterionError, match="reads more than one source"):
        detections.first("objid", "sum(mjd)")
    with pytest.raises(DefinitionError, match="expected an order, got ''"):
        detections.first("objid", "")
    for number in (0, -1, True, 1.5, "2"):
        with pytest.raises(DefinitionError, match="expected a whole number of sources, 1 or more"):
            detections.first("objid", "mjd", n=number)  # type: ignore[arg-type] # what the error is about


def test_elements_of_what_is_no_array(archive):
    with pytest.raises(DefinitionError, match="mag is not an array but has the type double") as raised:
        archive["detections"].explode("mag")
    assert "group() makes arrays" in raised.value.hint
    with pytest.raises(AttributeNotFoundError, match="did you mean mag"):
        archive["detections"].explode("magg")
    with pytest.raises(DefinitionError, match="no array is named"):
        archive["detections"].explode([])


def test_sets_of_different_populations_are_not_compared(archive):
    with pytest.raises(PopulationError, match="cannot compare"):
        archive.relate("detections", "objects")
    with pytest.raises(PopulationError, match="cannot combine"):
        archive["detections"].combine("objects")
