"""Queries that a client waits for: metadata without Spark, known counts, limits, and errors as VOTables."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock
from xml.etree import ElementTree as ET

import pytest

import provenn
from provenn.archive.workshop import Workshop
from provenn.tap.known_counts import find_known_count
from provenn.tap.schema_queries import parse_adql
from provenn.web import create_app
from provenn.web.guarding import guard_app
from tests.programs import lint_votable
from tests.tap.conftest import NUMBER, TestClient

VOTABLE = "{http://www.ivoa.net/xml/VOTable/v1.3}"


def ask(client: Any, query: str, **parameters: str) -> Any:
    return client.get("/tap/sync", params={"LANG": "ADQL", "QUERY": query, **parameters})


def rows_of(client: Any, query: str, **parameters: str) -> list[list[Any]]:
    answer = ask(client, query, RESPONSEFORMAT="json", **parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()["rows"]


def error_of(answer: Any) -> str:
    """Return the message of a VOTable that reports an error."""
    assert answer.headers["content-type"].startswith("application/x-votable+xml")
    root = ET.fromstring(answer.content)  # noqa: S314 - of our own server
    (info,) = [element for element in root.iter(f"{VOTABLE}INFO") if element.get("name") == "QUERY_STATUS"]
    assert info.get("value") == "ERROR"
    return info.text or ""


@pytest.fixture
def no_spark():
    """Spark, which must not be needed."""
    with mock.patch.object(Workshop, "pipeline", side_effect=AssertionError("Spark was wanted")) as wanted:
        yield wanted


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT schema_name FROM TAP_SCHEMA.schemas ORDER BY schema_index", [["catalogs"], ["TAP_SCHEMA"]]),
        ("SELECT COUNT(*) FROM tap_schema.TABLES WHERE schema_name = 'TAP_SCHEMA'", [[5]]),
        ('SELECT TOP 1 "size", "column_index" FROM TAP_SCHEMA.columns WHERE column_name = \'hip\'', [[None, 0]]),
        (
            (
                "SELECT c.unit FROM TAP_SCHEMA.columns AS c JOIN TAP_SCHEMA.tables AS t "
                "ON t.table_name = c.table_name WHERE t.table_name = 'stars' AND c.column_name = 'vmag'"
            ),
            [["mag"]],
        ),
        (
            (
                "SELECT key_columns.from_column FROM TAP_SCHEMA.keys JOIN TAP_SCHEMA.key_columns "
                "ON keys.key_id = key_columns.key_id WHERE keys.from_table = 'identified'"
            ),
            [["hip"]],
        ),
        (
            "SELECT DISTINCT datatype FROM TAP_SCHEMA.columns WHERE table_name = 'detections' ORDER BY 1",
            [["double"], ["long"]],
        ),
        ("SELECT UPPER(table_name) || '!' AS x FROM TAP_SCHEMA.tables WHERE table_name = 'stars'", [["STARS!"]]),
        (
            "SELECT table_name FROM TAP_SCHEMA.tables WHERE table_name LIKE '\"%' ORDER BY table_name OFFSET 1",
            [['"order"'], ['"slow stars"']],
        ),
        # What SQLite would answer otherwise: patterns with case, functions, casts that fail.
        ("SELECT table_name FROM TAP_SCHEMA.tables WHERE table_name LIKE 'STARS'", []),
        ("SELECT table_name FROM TAP_SCHEMA.tables WHERE table_name ILIKE 'STARS'", [["stars"]]),
        (
            "SELECT TOP 1 ROUND(LOG(EXP(2)), 9) AS a, LOG(-1) AS b, CEILING(1.2) AS c, MOD(-7, 3) AS d, TRUNCATE(2.78, 1) AS e, ROUND(2.345, 2) AS f FROM TAP_SCHEMA.schemas",  # noqa: E501
            [[2.0, None, 2.0, -1, 2.7, 2.35]],
        ),
        (
            "SELECT TOP 1 CAST('12abc' AS INTEGER) AS a, CAST(-2.9 AS INTEGER) AS b, CAST('abc' AS VARCHAR(2)) AS c, CAST(70000 AS SMALLINT) AS d, 7 / 2 AS e FROM TAP_SCHEMA.schemas",  # noqa: E501
            [[None, -2, "ab", None, 3.5]],
        ),
    ],
)
def test_tap_schema_is_answered_without_spark(client, no_spark, query, expected):
    assert rows_of(client, query) == expected
    no_spark.assert_not_called()


def test_a_count_is_computed_once(client):
    (count,) = rows_of(client, "SELECT COUNT(*) AS n FROM stars WHERE hip <= 123")
    assert count == [123]
    with mock.patch.object(Workshop, "pipeline", side_effect=AssertionError("Spark was wanted")):
        assert rows_of(client, "SELECT COUNT(*) AS n FROM stars WHERE hip <= 123") == [count]
        assert rows_of(client, "SELECT COUNT(*) FROM catalogs.stars WHERE hip < 124 AND hip < 500") == [count]


def test_what_follows_from_other_counts_is_left_to_the_run(client, archive):
    """Proofs may take long, and whoever asks for a known count must not wait for them."""
    rows_of(client, "SELECT COUNT(*) AS n FROM stars WHERE hip <= 200")
    query = "SELECT COUNT(*) AS n FROM stars WHERE NOT (hip <= 200)"
    with mock.patch("provenn.targets.sinks.derive_count", side_effect=AssertionError("a count was derived")):
        assert find_known_count(archive, query, parse_adql(query)) is None
    assert rows_of(client, query) == [[NUMBER - 200]]
    assert find_known_count(archive, query, parse_adql(query)).number == NUMBER - 200


def test_no_rows_are_the_columns_alone(client, no_spark):
    answer = ask(client, "SELECT hip, vmag FROM stars", MAXREC="0", RESPONSEFORMAT="json").json()
    assert (answer["status"], answer["rows"]) == ("OVERFLOW", [])
    assert [column["name"] for column in answer["columns"]] == ["hip", "vmag"]
    no_spark.assert_not_called()


def test_all_rows_come_if_there_is_room(client):
    answer = ask(client, "SELECT hip FROM stars", MAXREC="100000", RESPONSEFORMAT="json").json()
    assert (answer["status"], len(answer["rows"])) == ("OK", NUMBER)


def test_an_odd_name_is_quoted(client):
    assert rows_of(client, 'SELECT COUNT(*) AS n FROM "order"') == rows_of(
        client, "SELECT COUNT(*) AS n FROM stars WHERE vmag < 5"
    )
    assert rows_of(client, 'SELECT TOP 1 hip FROM "bright stars" ORDER BY hip')


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT hip FRM stars", "cannot be parsed here, at line 1, column 16"),
        ("SELECT nope FROM stars", "there is no column nope, at line 1, column 8"),
        ("SELECT hip FROM nowhere", "nowhere"),
        ("SELECT nope FROM TAP_SCHEMA.tables", "there is no column nope, at line 1, column 8"),
        ('SELECT "tabel_name" FROM TAP_SCHEMA.tables', "did you mean table_name?"),
        ("SELECT rowid FROM TAP_SCHEMA.tables", "there is no column rowid"),
        ("SELECT table_name, COUNT(*) AS n FROM TAP_SCHEMA.columns", "neither in GROUP BY"),
        ("SELECT * FROM TAP_SCHEMA.nope", "TAP_SCHEMA has no table nope"),
        ("SELECT * FROM TAP_SCHEMA.tables, stars", "cannot read other tables"),
        ("DROP TABLE stars", "DROP"),
        ("SELECT load_extension('x') FROM TAP_SCHEMA.tables", "LOAD_EXTENSION is not a function"),
        ("SELECT * FROM TAP_UPLOAD.mine", "mine"),
    ],
)
def test_an_invalid_query_is_explained(client, query, message):
    answer = ask(client, query)
    assert answer.status_code in (400, 404)
    assert message in error_of(answer)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"QUERY": "SELECT 1"}, "LANG is missing"),
        ({"LANG": "ADQL"}, "QUERY is missing"),
        ({"LANG": "SQL", "QUERY": "SELECT 1"}, "unknown LANG 'SQL'"),
        ({"LANG": "ADQL", "QUERY": "SELECT 1", "MAXREC": "-1"}, "MAXREC"),
        ({"LANG": "ADQL", "QUERY": "SELECT 1", "RESPONSEFORMAT": "pdf"}, "unknown RESPONSEFORMAT 'pdf'"),
        ({"LANG": "ADQL", "QUERY": "SELECT 1", "REQUEST": "getCapabilities"}, "unknown REQUEST"),
        ({"LANG": "ADQL", "QUERY": "SELECT 1", "UPLOAD": "x"}, "UPLOAD=name,param:part"),
        ({"LANG": "ADQL", "QUERY": "SELECT 1", "UPLOAD": "x y,param:a"}, "cannot be called 'x y'"),
        ({"LANG": "ADQL", "QUERY": "SELECT 1", "UPLOAD": "x,file:///etc/passwd"}, "cannot come from"),
        ({"LANG": "ADQL", "QUERY": "SELECT 1", "UPLOAD": "x,param:a;X,param:b"}, "two uploaded tables"),
    ],
)
def test_an_invalid_parameter_is_explained(client, parameters, message):
    answer = client.post("/tap/sync", data=parameters)
    assert answer.status_code == 400
    assert message in error_of(answer)


def test_names_of_parameters_have_any_case(client):
    answer = client.get(
        "/tap/sync", params={"lang": "ADQL", "Query": "SELECT TOP 1 * FROM TAP_SCHEMA.tables", "responseformat": "csv"}
    )
    assert answer.text.splitlines()[0].startswith("schema_name,table_name")


@pytest.mark.parametrize("name", ["votable", "votable/td"])
@pytest.mark.parametrize(
    "path",
    [
        "/tap/sync?LANG=ADQL&QUERY=SELECT * FROM TAP_SCHEMA.columns",
        "/tap/sync?LANG=ADQL&QUERY=SELECT TOP 30 * FROM stars&MAXREC=20",
        "/tap/sync?LANG=ADQL&QUERY=SELECT nope FROM stars",
        "/scs/stars?RA=10&DEC=20&SR=30",
        "/scs/nope?RA=10&DEC=20&SR=30",
        "/datalink/links?ID=bright&ID=nope",
    ],
)
def test_votlint_finds_nothing_wrong(client, tmp_path: Path, path, name):
    answer = client.get(f"{path}&RESPONSEFORMAT={name}")
    file = tmp_path / "answer.vot"
    file.write_bytes(answer.content)
    report = lint_votable(file)
    assert not [line for line in report.splitlines() if line.startswith(("ERROR", "WARNING"))], report


@pytest.fixture(scope="module")
def placed(tmp_path_factory) -> Iterator[tuple[TestClient, Path]]:
    """A client of a service for a catalog of a file, and the folder of the file."""
    folder = tmp_path_factory.mktemp("ada's files")
    (folder / "nearby.csv").write_text("hip,ra,dec\n1,10.1,20.0\n2,10.4,20.2\n")
    with provenn.open(folder / "survey", progress=False, notify=False) as archive:
        stars = archive.ingest("stars", str(folder / "nearby.csv"), key="hip", population="star")
        stars.select("dec > 20", name="bright")
        with TestClient(guard_app(create_app(archive)), base_url="http://127.0.0.1") as client:
            yield client, folder


@pytest.mark.parametrize(
    "path",
    [
        "/tap/sync?LANG=ADQL&QUERY=SELECT * FROM TAP_SCHEMA.tables",
        "/tap/tables",
        "/tap/examples",
        "/scs/stars/capabilities",
        "/datalink/links?ID=stars",
        *(f"/datalink/provenance?ID=bright&RESPONSEFORMAT={name}" for name in ("PROV-JSON", "PROV-XML", "OPENLINEAGE")),
    ],
)
def test_nobody_learns_where_files_lie(placed, path):
    client, folder = placed
    answer = client.get(f"{path}&RESPONSEFORMAT=csv" if "sync" in path else path)
    assert answer.status_code == 200
    assert str(folder) not in answer.text
    if "links" not in path and "examples" not in path:
        assert "nearby.csv" in answer.text, "the name of the file says what it is"


def test_vosi_for_each_catalog_with_a_position(client):
    assert "ConeSearch" in client.get("/scs/bright stars/capabilities").text
    assert "<avail:available>true" in client.get("/scs/stars/availability").text
    assert client.get("/scs/detections/capabilities").status_code == 404, "it has no position"
    assert client.get("/tap/tables/stars").text.count("<column") == 6
    assert client.get("/tap/tables/catalogs.stars").text == client.get("/tap/tables/stars").text
    assert client.get("/tap/tables/nope").status_code == 404
    assert "<column" not in client.get("/tap/tables?detail=min").text


@pytest.mark.parametrize(
    "query", ["DEC=1&SR=1", "RA=1&SR=1", "RA=1&DEC=1", "RA=x&DEC=1&SR=1", "RA=1&DEC=91&SR=1", "RA=nan&DEC=1&SR=1"]
)
def test_a_cone_needs_a_position_and_a_radius(client, query):
    answer = client.get(f"/scs/stars?{query}")
    assert answer.status_code == 400
    assert "RA" in error_of(answer) or "DEC" in error_of(answer) or "SR" in error_of(answer)
    assert b'name="Error"' in answer.content


def test_a_radius_of_zero_asks_for_the_columns(client):
    answer = client.get("/scs/stars?RA=1&DEC=1&SR=0&RESPONSEFORMAT=json").json()
    assert answer["rows"] == []


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("/datalink/links", {"ID": "bright"}),
        ("/datalink/provenance", {"ID": "bright", "RESPONSEFORMAT": "PROV-N"}),
        ("/scs/stars", {"RA": "10", "DEC": "20", "SR": "15", "RESPONSEFORMAT": "csv"}),
    ],
)
def test_services_take_a_form_as_well_as_an_address(client, path, data):
    """DALI demands both; pyvo posts the identifiers of rows to DataLink."""
    posted, got = client.post(path, data=data), client.get(path, params=data)
    assert posted.status_code == got.status_code == 200
    assert sorted(posted.text.splitlines()) == sorted(got.text.splitlines())
    assert client.post(path, content=b"{}", headers={"Content-Type": "application/json"}).status_code == 400


@pytest.mark.parametrize(
    ("query", "most", "status", "number"),
    [
        ("SELECT TOP 7 hip FROM stars", "20", "OK", 7),
        ("SELECT TOP 7 hip FROM stars", "7", "OK", 7),
        ("SELECT TOP 7 hip FROM stars", "6", "OVERFLOW", 6),
        ("SELECT TOP 7 hip FROM stars ORDER BY hip", "6", "OVERFLOW", 6),
        ("SELECT TOP 0 hip FROM stars", "6", "OK", 0),
        ("SELECT hip FROM stars ORDER BY hip OFFSET 395", "20", "OK", 5),
        ("SELECT hip FROM stars ORDER BY hip OFFSET 395", "3", "OVERFLOW", 3),
        ("SELECT spect FROM stars WHERE spect = 'G4' ORDER BY vmag", "3", "OVERFLOW", 3),
    ],
)
def test_limits_of_the_query_and_of_the_request_meet(client, query, most, status, number):
    answer = ask(client, query, MAXREC=most, RESPONSEFORMAT="json").json()
    assert (answer["status"], len(answer["rows"])) == (status, number)
    if "hip OFFSET" in query:
        assert [row[0] for row in answer["rows"]] == list(range(396, 396 + number))
