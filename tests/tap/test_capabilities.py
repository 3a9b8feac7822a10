"""What the service declares is what the translator reads: every declared feature runs, every tested one is declared."""

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from pyarrow import parquet

import provenn
from provenn.queries.adql_features import ADQL_FEATURES, AdqlFeature
from provenn.queries.adql_functions import FUNCTIONS, REFUSED
from provenn.web import create_app
from provenn.web.guarding import guard_app
from tests.queries.adql_features import FEATURES
from tests.queries.adql_world import KEYS, make_sky_tables
from tests.tap.conftest import TestClient
from tests.tap.test_sync import ask, error_of

TYPE = "ivo://ivoa.net/std/TAPRegExt#features-"
STANDARD = {
    "adqlgeo": "AREA BOX CENTROID CIRCLE CONTAINS COORD1 COORD2 COORDSYS DISTANCE INTERSECTS POINT POLYGON REGION",
    "adql-string": "ILIKE LOWER UPPER",
    "adql-conditional": "COALESCE",
    "adql-common-table": "WITH",
    "adql-sets": "EXCEPT INTERSECT UNION",
    "adql-type": "CAST",
    "adql-unit": "IN_UNIT",
    "adql-offset": "OFFSET",
}
"""The optional features for which the standard has a form."""

UNDECLARED = {("adql-conditional", "COALESCE")}
"""Features that are read but not declared: Debian's STILTS takes their group for an error."""

CORE = frozenset("avg count max min sum in exists char varchar as on not and using over from select".split())  # noqa: SIM905 - a list of words
"""Words before parentheses that no service declares: aggregates, types and words of the grammar."""


def list_words(query: str) -> set[str]:
    """Return the words of a query in lower case, without its texts."""
    return set(re.findall(r"\w+", re.sub(r"'[^']*'", "''", query).lower()))


def list_calls(query: str) -> set[str]:
    """Return the names before parentheses in a query, in lower case."""
    return set(re.findall(r"(\w+)\s*\(", re.sub(r"'[^']*'", "''", query).lower()))


@pytest.fixture(scope="module")
def sky(engine, tmp_path_factory) -> Iterator[TestClient]:
    """A service for the tables of the tested queries, which states the units that the queries convert."""
    folder: Path = tmp_path_factory.mktemp("capabilities")
    with provenn.open(
        folder / "survey", progress=False, notify=False, spark=engine.session.sparkContext.master
    ) as opened:
        for name, table in make_sky_tables(seed=3).items():
            parquet.write_table(table, folder / f"{name}.parquet")
            opened.ingest(name, folder / f"{name}.parquet", key=KEYS[name], population=name)
        with TestClient(guard_app(create_app(opened)), base_url="http://127.0.0.1") as client:
            yield client


def test_the_capabilities_declare_the_features_of_the_translator(client):
    root = ET.fromstring(client.get("/tap/capabilities").content)  # noqa: S314 - of our own server
    declared = [
        AdqlFeature(
            features.get("type", "").removeprefix(TYPE), feature.findtext("form"), feature.findtext("description") or ""
        )
        for features in root.iter("languageFeatures")
        for feature in features.iter("feature")
    ]
    assert declared == list(ADQL_FEATURES)


@pytest.mark.parametrize("feature", ADQL_FEATURES, ids=[feature.form for feature in ADQL_FEATURES])
def test_each_declared_feature_runs(sky, feature):
    queries = [tested.query for tested in FEATURES if feature.word in list_words(tested.query)]
    if "POINT)" in feature.form:
        queries = ["SELECT hip FROM stars WHERE ivo_healpix_index(3, POINT(ra, dec)) > 4"]
    assert queries, "no tested query uses it"
    answer = ask(sky, min(queries, key=len), RESPONSEFORMAT="json")
    assert answer.status_code == 200, answer.text
    assert answer.json()["rows"]


def test_each_tested_feature_with_a_form_is_declared():
    words = set().union(*(list_words(feature.query) for feature in FEATURES))
    declared = {(feature.group, feature.form) for feature in ADQL_FEATURES if feature.group != "udf"}
    forms = {(group, form) for group, listed in STANDARD.items() for form in listed.split()}
    assert declared | UNDECLARED == {(group, form) for group, form in forms if form.lower() in words}


def test_what_is_refused_is_not_declared():
    assert not {feature.word for feature in ADQL_FEATURES} & REFUSED.keys()


def test_functions_beyond_the_standard_are_declared():
    calls = set().union(*(list_calls(feature.query) for feature in FEATURES))
    standard = {form.lower() for forms in STANDARD.values() for form in forms.split()}
    own = {feature.word for feature in ADQL_FEATURES if feature.group == "udf"}
    assert calls - standard - FUNCTIONS.keys() - CORE - own == set()
    assert own <= calls


@pytest.mark.parametrize("name", ["ivo_hashlist_has", "gavo_to_moc", "ivo_interval_overlaps", "rand"])
def test_no_other_function_is_known(client, name):
    answer = ask(client, f"SELECT TOP 1 {name}(hip) FROM stars")  # noqa: S608 - a constant
    assert answer.status_code == 400
    assert name.upper() in error_of(answer)
