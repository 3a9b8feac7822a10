"""A query in SQL before it is defined: what is proved of it, errors with their place, and nothing that is changed."""

import re

import pytest

from provenn.archive.spark_place import SparkPlace
from tests.web.reading import read
from tests.web.survey import ODD


@pytest.fixture(autouse=True)
def no_spark(monkeypatch):
    """A preview must not start Spark."""
    monkeypatch.setattr(SparkPlace, "pipeline", lambda _: pytest.fail("Spark was started"))


def preview(client, query, **more):
    page, json = (
        client.get("/define", params={"query": query, **more}),
        client.get("/api/define", params={"query": query, **more}),
    )
    assert page.status_code == json.status_code
    read(page.text)
    return page, json.json()


def test_a_query_is_proved_before_it_is_defined(client, archive):
    """Relations, bounds and attributes of the catalog that the query means; nothing is defined."""
    before = archive.matches()
    page, found = preview(client, "SELECT hip, vmag FROM stars WHERE vmag < 3")
    told = found["query_preview"]
    assert ("lies inside", "bright") in [(one["words"], one["catalog"]["name"]) for one in told["relations"]]
    assert [attribute["name"] for attribute in told["attributes"]] == ["hip", "vmag"]
    assert told["words"].endswith(told["sources"])
    assert re.search(r"\d+ sources?\b", told["sources"])
    assert told["what"] == "stars with hip, vmag"
    assert "lies inside" in page.text
    assert archive.matches() == before


def test_the_form_previews_and_keeps_what_was_typed(client, archive):
    """The button Preview works without a script, and defines nothing."""
    before = archive.matches()
    query = "SELECT * FROM stars WHERE vmag < 6"
    answer = client.post("/define/sql", data={"query": query, "query_name": "again", "preview": "true"})
    page = read(answer.text)
    assert answer.status_code == 200
    assert "has the same sources as" in page.text
    assert "SELECT * FROM stars WHERE vmag &lt; 6" in answer.text
    assert 'value="again"' in answer.text
    assert archive.matches() == before


@pytest.mark.parametrize(
    ("query", "dialect", "told"),
    [
        ("SELECT hip\nFROM stars\nWHERE vmagg < 3", "spark", "line 3, column 7"),
        ("SELECT hip FROM nowhere", "spark", "nowhere"),
        ("SELECT FROM WHERE", "spark", "line 1"),
        ("SELECT TOP x hip FROM stars", "adql", "line 1"),
    ],
)
def test_an_error_stands_beside_the_query_with_its_place(client, query, dialect, told):
    """Page and live answer name the line and the column."""
    page, _ = preview(client, query, dialect=dialect)
    assert page.status_code in (400, 404)
    assert 'id="problem-query"' in page.text
    assert told in page.text
    live = client.get("/api/define/check-query", params={"query": query, "dialect": dialect}).json()
    assert live["valid"] is False
    assert told in live["words"]
    posted = client.post("/define/sql", data={"query": query, "dialect": dialect, "preview": "true"})
    assert posted.status_code == page.status_code


def test_what_is_typed_is_checked_at_once(client):
    """The live answer is the sentence of the preview; an empty field says nothing."""
    ask = "/api/define/check-query"
    assert client.get(ask).json() == {"valid": True, "words": "", "hint": ""}
    answer = client.get(ask, params={"query": "SELECT * FROM stars WHERE vmag < 3 AND vmag > 4"}).json()
    assert answer == {"valid": True, "words": "no sources", "hint": ""}
    assert "lies inside" in client.get(ask, params={"query": "SELECT hip FROM stars WHERE vmag < 3"}).json()["words"]
    assert client.get(ask, params={"query": "x" * 4001}).status_code == 422


def test_what_only_spark_understands_is_said_and_spark_stays_asleep(client):
    """The join becomes an opaque catalog, whose types Spark finds: the preview says that nothing is proved yet."""
    query = "SELECT a.hip, b.vmag FROM stars a JOIN stars b ON a.vmag < b.vmag"
    page, found = preview(client, query)
    assert page.status_code == 200
    assert "nothing is proved before it is defined" in found["query_preview"]["words"]
    assert "nothing is proved before it is defined" in page.text


@pytest.mark.parametrize("name", ODD)
def test_odd_names_in_a_query_are_shown_as_they_are(client, name):
    """Names with markup are texts, in the query and in the preview."""
    page, _ = preview(client, f"SELECT hip FROM `{name}`", query_name=name)  # noqa: S608 - nothing is executed
    assert page.status_code in (200, 400)
