"""Lookups, groups and their like, out and in again: OpenLineage, PROV, portable files, and their checks."""

import json
from contextlib import suppress
from io import BytesIO, StringIO
from itertools import combinations

import pytest

import provenn
from provenn.errors import ProvennError
from provenn.exchange import export_lineage, import_lineage
from tests.light_curves import define_light_curves


@pytest.fixture
def archive(tmp_path):
    with provenn.open(tmp_path / "survey", who="ada") as opened:
        define_light_curves(opened, tmp_path)
        yield opened


@pytest.fixture
def other(tmp_path):
    with provenn.open(tmp_path / "other", who="ada") as opened:
        yield opened


def export_events(archive: provenn.Archive) -> list[dict]:
    """The events of all catalogs."""
    text = StringIO()
    export_lineage(archive, text)
    return [json.loads(line) for line in text.getvalue().splitlines()]


def relate_all(archive: provenn.Archive) -> dict[tuple[str, str], str]:
    """How all catalogs of the same population are related."""
    names = sorted(archive)
    populations = {name: archive[name].population for name in names}
    return {
        (left, right): archive.relate(left, right).summary
        for left, right in combinations(names, 2)
        if populations[left] == populations[right]
    }


def test_what_is_proved_across_populations_is_the_same_after_a_round_trip(archive, other):
    text = StringIO()
    export_lineage(archive, text)
    import_lineage(other, BytesIO(text.getvalue().encode()))
    assert sorted(other) == sorted(archive)
    assert relate_all(other) == relate_all(archive)
    assert {name: str(other[name].definition.schema.names) for name in other} == {
        name: str(archive[name].definition.schema.names) for name in archive
    }
    assert relate_all(archive)["in_bright", "of_bright"] == "equal", "there is something to lose"


def find_columns(archive: provenn.Archive, name: str) -> dict[str, set[tuple[str, str, str]]]:
    """The columns from which each column of a catalog comes, by name: dataset, field and kind of transformation."""
    for event in export_events(archive):
        for dataset in event.get("outputs", ()):
            if dataset["name"].endswith(name) or dataset["name"] == name:
                fields = dataset["facets"]["columnLineage"]["fields"]
                return {
                    column: {
                        (origin["name"].rpartition("/")[2], origin["field"], step["subtype"])
                        for origin in content["inputFields"]
                        for step in origin["transformations"]
                        if step["type"] == "DIRECT"
                    }
                    for column, content in fields.items()
                }
    raise AssertionError(name)


def test_columns_come_from_the_partner_and_from_the_members(archive):
    assert find_columns(archive, "looked_up")["vmag"] == {("objects", "vmag", "IDENTITY")}
    assert find_columns(archive, "looked_up")["mag"] == {("detections", "mag", "IDENTITY")}
    curves = find_columns(archive, "curves")
    assert curves["objid"] == {("detections", "objid", "IDENTITY")}
    assert curves["curve"] == {("detections", "mag", "AGGREGATION"), ("detections", "mjd", "AGGREGATION")}
    assert find_columns(archive, "points")["curve"] == {("curves", "curve", "TRANSFORMATION")}


@pytest.mark.parametrize("form", ["prov-json", "prov-n", "prov-xml"])
def test_prov_names_both_sides(archive, form):
    text = StringIO()
    export_lineage(archive, text, "looked_up", format=form)
    assert "objects" in text.getvalue()
    assert "detections" in text.getvalue()


@pytest.mark.parametrize(
    ("verb", "change"),
    [
        ("lookup", {"missing": "maybe"}),
        ("lookup", {"on": ["mag"]}),
        ("lookup", {"on": 5}),
        ("lookup", {"attributes": [["vmagg", "v"]]}),
        ("having", {"on": ["nothing"]}),
        ("group", {"aggregates": {"n": "frobnicate(mag)"}}),
        ("group", {"aggregates": 3}),
        ("group", {"by": []}),
        ("first", {"order": "mjdd"}),
        ("first", {"number": -1}),
        ("explode", {"arrays": ["n"]}),
        ("explode", {"population": 7}),
    ],
)
def test_a_definition_that_was_tampered_with_is_no_such_definition(archive, other, verb, change):
    """What cannot be read is an error, or a catalog about which nothing is claimed; never a crash."""
    events = export_events(archive)
    changed = [json.loads(json.dumps(event)) for event in events]
    hits = [options for event in changed for options in find_options(event, verb)]
    assert hits, f"no event has the verb {verb}"
    for options in hits:
        options.update(change)
    content = "\n".join(map(json.dumps, changed)).encode()
    with suppress(ProvennError):
        import_lineage(other, BytesIO(content))
    verbs = {other[name].definition.exchange_form()[0] for name in other}
    assert verb not in verbs, "no catalog has a definition that cannot be read"


def find_options(value: object, verb: str) -> list[dict]:
    """All options of a verb in an event, wherever they are."""
    if isinstance(value, list):
        return [options for item in value for options in find_options(item, verb)]
    if not isinstance(value, dict):
        return []
    own = [value["options"]] if value.get("verb") == verb and isinstance(value.get("options"), dict) else []
    return own + [options for item in value.values() for options in find_options(item, verb)]


def test_a_portable_file_keeps_definitions_and_proofs(archive, other, tmp_path):
    archive.export_definitions(tmp_path / "all.provenn")
    other.import_definitions(tmp_path / "all.provenn")
    assert {name: other[name].digest for name in other} == {name: archive[name].digest for name in archive}
    assert relate_all(other) == relate_all(archive)
    assert str(other["latest"]).splitlines()[0] == str(archive["latest"]).splitlines()[0]
