"""The page of a catalog's sources on the sky, and the data on the page of a catalog."""

import re
from html import unescape

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from provenn.archive import sky_cells
from provenn.archive.spark_place import SparkPlace
from provenn.sky.cell_numbers import find_cell_numbers
from tests.web.reading import read
from tests.web.survey import ODD


@pytest.fixture
def placed(archive, tmp_path, monkeypatch):
    """Catalogs with positions, in an archive that must not start Spark."""
    monkeypatch.setattr(SparkPlace, "pipeline", lambda _: pytest.fail("Spark was started"))
    columns = {
        "id": list(range(12)),
        "ra": [30.0 * place for place in range(12)],
        "dec": [5.0 * place for place in range(12)],
    }
    pq.write_table(pa.table(columns), tmp_path / "placed.parquet")
    catalog = archive.ingest("placed", tmp_path / "placed.parquet", key="id", population="placed")
    catalog.select("dec > 20", name=f"northern {ODD[0]}")
    return catalog


@pytest.mark.usefixtures("placed")
def test_the_page_of_a_catalog_shows_its_size_rows_and_histograms(client):
    page = read(client.get("/catalogs/placed").text)
    assert "12 sources counted" in " ".join(page.text.split())
    assert "Histogram of dec" in page.text
    assert page.named("img")[0]["src"] == "/catalogs/placed/sky.svg"
    data = client.get("/api/catalogs/placed").json()["data"]
    assert data["size"] == {"low": 12, "high": 12, "estimate": 12}
    assert len(data["values"]["rows"]) == 10
    assert data["sky"] == {"placed": 12, "unplaced": 0, "order": 4, "cells": 12}


def test_a_catalog_of_every_class_shows_what_can_be_read_without_spark(client, monkeypatch):
    monkeypatch.setattr(SparkPlace, "pipeline", lambda _: pytest.fail("Spark was started"))
    seen = {name: client.get(f"/api/catalogs/{name}").json()["data"] for name in ("stars", "bright", "far", "tenth")}
    assert seen["stars"]["values"]["rows"][0] == ["1", "1.5", "100", "A0"]
    assert seen["bright"]["size_says"] == "counted"
    assert seen["far"]["values"]["left_out"] == ["dist_pc"]
    assert seen["tenth"]["values"] is None
    page = read(client.get("/catalogs/tenth").text)
    assert page.links["Compute and keep them"].startswith("/target?sources=tenth&attributes=hip")


@pytest.mark.usefixtures("placed")
def test_the_map_has_a_link_for_each_cell_and_lists_its_sources(client):
    page = read(client.get("/catalogs/placed/sky").text)
    cells = [found["href"] for found in page.named("a") if "cell=" in found.get("href", "")]
    assert len(set(cells)) >= 10
    part = client.get("/api" + cells[0]).json()["part"]
    assert part["sources"] == len(part["listed"]["rows"]) == 1
    assert part["criterion"].startswith("in_moc(ra, dec, '")
    assert client.get("/catalogs/placed/sky", params={"cell": "0/8"}).status_code == 200, "a cell without sources"


@pytest.mark.usefixtures("placed")
def test_a_catalog_with_an_odd_name_is_drawn_over_another(client):
    answer = client.get("/catalogs/placed/sky", params={"also": f"northern {ODD[0]}"})
    assert "<img src=x" not in answer.text
    others = client.get("/api/catalogs/placed/sky", params={"also": f"northern {ODD[0]}"}).json()["others"]
    assert [other["name"] for other in others] == [f"northern {ODD[0]}"]
    read(answer.text)


@pytest.mark.usefixtures("placed")
def test_the_map_is_a_picture_with_a_policy_of_its_own(client):
    answer = client.get("/catalogs/placed/sky.svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert "default-src 'none'; style-src 'sha256-" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/catalogs/stars/sky", 400),
        ("/catalogs/stars/sky.svg", 400),
        ("/catalogs/nobody/sky", 404),
        ("/catalogs/placed/sky?cell=13/1", 400),
        ("/catalogs/placed/sky?cell=0/12", 400),
        ("/catalogs/placed/sky?cell=x", 400),
        ("/catalogs/placed/sky?cell=9/x", 400),
        ("/catalogs/placed/sky?cell=%D9%A1/1", 400),
        ("/catalogs/placed/sky?also=nobody", 404),
    ],
)
@pytest.mark.usefixtures("placed")
def test_a_map_that_cannot_be_shown_says_why(client, path, status):
    answer = client.get(path)
    assert answer.status_code == status
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("path", "values"), [("/catalogs/{which}/sky.svg", {"which": "nobody"}), ("/compare/sky.svg", {})]
)
def test_the_error_of_a_picture_is_the_page_that_the_description_promises(client, path, values):
    promised = client.get("/api/openapi.json").json()["paths"][path]["get"]["responses"]["4XX"]["content"]
    answer = client.get(path.format(**values), params={"a": "nobody", "b": "stars"})
    assert answer.status_code == 404
    assert [answer.headers["content-type"].partition(";")[0]] == [*promised]


@pytest.mark.usefixtures("placed")
def test_a_look_at_two_catalogs_counts_their_regions_and_proves_the_relation(client, archive):
    archive["placed"].select("ra > 100", name="west")
    archive["placed"].select("dec > 20", name="north")
    compared = client.get("/api/compare?a=west&b=north").json()["compared"]
    assert (compared["pairs"][0]["summary"], compared["is_open"], compared["has_sky"]) == ("unknown", True, True)
    assert "Look" in read(client.get("/compare?a=west&b=north").text).text
    answer = client.post("/compare/look", data={"a": "west", "b": "north"}, headers={"Origin": "http://127.0.0.1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/compare?a=west&b=north")
    seen = client.get("/api/compare?a=west&b=north").json()["compared"]
    assert seen["pairs"][0]["summary"] == "superset"
    assert [region["sources"] and region["sources"]["low"] for region in seen["regions"]] == [None, 0, 1, 7]
    assert any(fact["origin"] == "observed" for fact in client.get("/api/knowledge").json()["facts"])
    drawn = client.get("/compare/sky.svg?a=west&b=north")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert "Sky map of west - north, north - west, west &amp; north" in drawn.text, (
        "sources in both lie above the others"
    )


@pytest.mark.usefixtures("placed")
def test_what_a_look_would_count_is_not_drawn_before(client, archive):
    """The page does not call unknown what a picture on it shows."""
    archive["placed"].select("ra > 100", name="west")
    archive["placed"].select("dec > 20", name="north")
    assert "/compare/sky.svg" not in client.get("/compare?a=west&b=north").text
    client.post("/compare/look", data={"a": "west", "b": "north"}, headers={"Origin": "http://127.0.0.1"})
    assert "/compare/sky.svg" in client.get("/compare?a=west&b=north").text


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("query", ["a=placed&b=placed", "a=placed&b=placed&c=placed", "b=placed&c=placed"])
def test_a_catalog_with_positions_is_compared_with_itself(client, query):
    page = client.get(f"/compare?{query}")
    assert page.status_code == 200
    assert "placed has the same sources as placed" in read(page.text).text


@pytest.mark.usefixtures("placed")
def test_a_look_is_taken_wherever_the_two_names_stand_and_keeps_the_question(client, archive):
    archive["placed"].select("ra > 100", name="west")
    archive["placed"].select("dec > 20", name="north")
    page = client.get("/compare?a=west&c=north&ask=west+%3C%3D+north").text
    (form,) = re.findall(r'<form action="/compare/look".*?</form>', page, re.DOTALL)
    brought = {name: unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
    answer = client.post("/compare/look", data=brought, headers={"Origin": "http://127.0.0.1"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/compare?a=west&b=north&ask=west+%3C%3D+north")


@pytest.mark.usefixtures("placed")
def test_three_catalogs_have_a_map_of_each_region_that_may_hold_something(client, archive):
    """Each map shows the sources of its region, as a loop over the rows counts them; proved emptiness has no map."""
    rows = [(30.0 * place, 5.0 * place) for place in range(12)]
    tests = {
        "west": ("ra > 100", lambda row: row[0] > 100),
        "north": ("dec > 20", lambda row: row[1] > 20),
        "band": ("dec BETWEEN 10 AND 40", lambda row: 10 <= row[1] <= 40),
    }
    for name, (criterion, _) in tests.items():
        archive["placed"].select(criterion, name=name)
    path = "/compare?a=west&b=north&c=band"
    compared = client.get(f"/api{path}").json()["compared"]
    assert compared["has_sky"]
    drawn = {image["src"].rpartition("inside=")[2]: image["src"] for image in read(client.get(path).text).named("img")}
    states = {region["inside"]: region["state"] for region in compared["regions"]}
    assert set(drawn) == {inside for inside, state in states.items() if "1" in inside and state != "empty"}
    assert set(drawn) >= {"111", "110", "001"}
    for inside, address in drawn.items():
        flags = tuple(digit == "1" for digit in inside)
        number = sum(tuple(holds(row) for _, holds in tests.values()) == flags for row in rows)
        assert f"{number:,} sources in" in client.get(address).text
    assert client.get("/compare/sky.svg?a=west&b=north&c=band&inside=000").status_code == 422


@pytest.mark.usefixtures("placed")
def test_a_region_that_only_spark_can_count_has_a_picture_that_says_so(client, archive):
    """The page has no broken image: the picture says why there is no map."""
    sample = archive["placed"].sample(0.5, name="half")
    assert sample.population == "placed"
    for address in ("/compare/sky.svg?a=placed&b=half", "/compare/sky.svg?a=placed&b=half&c=placed&inside=101"):
        answer = client.get(address)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
        assert "No map is shown" in answer.text
        assert "sample" in answer.text


def test_a_look_that_needs_spark_says_how_to_take_it(client, archive):
    archive["stars"].select("2 * vmag < 6", name="twice")
    answer = client.post("/compare/look", data={"a": "twice", "b": "tenth"}, headers={"Origin": "http://127.0.0.1"})
    assert answer.status_code == 400
    assert "provenn relate twice tenth --look" in answer.text


@pytest.mark.usefixtures("placed")
def test_several_catalogs_are_drawn_over_the_map_one_after_the_other(client, archive):
    for least, name in enumerate(("one", "two", "three")):
        archive["placed"].select(f"dec > {10 * least}", name=name)
    page = read(client.get("/catalogs/placed/sky?also=one&also=two&also=").text)
    fields = [found.get("value", "") for found in page.named("input") if found.get("name") == "also"]
    assert fields == ["one", "two", ""]
    full = read(client.get("/catalogs/placed/sky?also=one&also=two&also=three").text)
    assert [found["value"] for found in full.named("input") if found.get("name") == "also"] == ["one", "two", "three"]


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize(("name", "status", "told"), [("nobody", 404, "nobody"), ("galaxies", 400, "position")])
def test_a_catalog_that_cannot_be_drawn_over_the_map_is_told_beside_its_field(client, archive, name, status, told):
    archive["placed"].select("dec > 10", name="one")
    answer = client.get(f"/catalogs/placed/sky?also=one&also={name}")
    page = read(answer.text)
    assert answer.status_code == status
    assert 'id="problem-also"' in answer.text
    assert told in page.text
    assert "one: 9 sources" in page.text, "the rest is drawn"
    assert client.get(f"/api/catalogs/placed/sky?also={name}").json()["error"]["message"]


SUGGESTING = (
    "/compare",
    "/runs",
    "/knowledge",
    "/define",
    "/target",
    "/catalogs/placed/sky",
    "/catalogs/placed/explore",
)


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("path", SUGGESTING)
def test_every_field_for_a_catalog_is_suggested_names_of_the_whole_archive(client, path):
    page = read(client.get(path).text)
    fields = [found for found in page.named("input") if "list" in found and found.get("name") != "more"]
    assert fields
    assert all(found.get("data-suggest") == "catalogs" for found in fields)
    assert {"src": "/static/define.js", "defer": ""} in page.named("script")


@pytest.mark.usefixtures("placed")
def test_each_open_pair_of_three_catalogs_can_be_looked_at(client, archive):
    for name, criterion in (("west", "ra > 100"), ("north", "dec > 20"), ("band", "dec > 10 AND ra < 150")):
        archive["placed"].select(criterion, name=name)
    page = client.get("/compare?a=west&b=north&c=band").text
    forms = re.findall(r'<form action="/compare/look".*?</form>', page, re.DOTALL)
    assert [re.search(r"<button>(.*?)</button>", form)[1] for form in forms] == [
        "Look at west and north",
        "Look at west and band",
        "Look at north and band",
    ]
    brought = dict(re.findall(r'name="(\w+)" value="([^"]*)"', forms[2]))
    answer = client.post("/compare/look", data=brought, headers={"Origin": "http://127.0.0.1"})
    assert answer.headers["location"] == "/compare?a=north&b=band&c=west"
    assert "Look at north and band" not in client.get(answer.headers["location"]).text


@pytest.mark.filterwarnings("ignore::provenn.errors.ProvennWarning")
def test_a_picture_that_rests_on_a_declared_fact_names_it(client, placed):
    """A mistaken declaration empties a catalog: the empty map and plot say why they are empty."""
    placed.select("ra < 200", name="west"), placed.select("ra < 100", name="far west")
    number = placed.archive.declare('disjoint(west, "far west")').id
    for path in ("sky", "sky?also=west", "plot?x=ra&y=dec"):
        page = " ".join(read(client.get(f"/catalogs/far west/{path}").text).text.split())
        assert f"This rests on a declared fact: fact #{number}" in page, path
    assert "0 sources by a declared fact" in " ".join(read(client.get("/catalogs/far west/sky").text).text.split())
    assert "This rests on" not in client.get("/catalogs/placed/sky").text
    assert [fact.id for fact in placed.archive["far west"].sky().rests_on] == [number]
    assert [fact.id for fact in placed.archive["far west"].plot("ra", "dec").rests_on] == [number]


def test_a_cell_smaller_than_those_that_were_counted_has_the_number_of_its_sources(
    client, archive, tmp_path, monkeypatch
):
    """The list ends after fifty sources; the number does not."""
    monkeypatch.setattr(sky_cells, "_MOST_CELLS", 12)
    near = [10.0 + place / 10_000 for place in range(70)]
    columns = {"id": list(range(82)), "ra": [*near, *range(0, 360, 30)], "dec": [20.0] * 82}
    pq.write_table(pa.table(columns), tmp_path / "crowd.parquet")
    archive.ingest("crowd", tmp_path / "crowd.parquet", key="id", population="crowd")
    (cell,) = {int(number) for number in find_cell_numbers(5, np.array(near), np.full(70, 20.0))}
    found = client.get("/api/catalogs/crowd/sky", params={"cell": f"5/{cell}"}).json()
    assert found["summary"]["order"] < 5
    assert (found["part"]["sources"], len(found["part"]["listed"]["rows"])) == (70, 50)
    page = read(client.get("/catalogs/crowd/sky", params={"cell": f"5/{cell}"}).text)
    assert "and 20 more" in page.text
    assert "dots: 70 sources" in page.text, "all of them are drawn"


def test_a_page_shows_values_that_python_has_no_type_for(client, archive, tmp_path):
    """Years beyond 9999 and the smallest doubles occur in files; the page failed as a whole."""
    columns = {
        "id": pa.array([1, 2]),
        "moment": pa.array([253402300800000000, 0], pa.timestamp("us", "UTC")),
        "day": pa.array([2**31 - 1, 0], pa.date32()),
        "small": pa.array([0.0, 5e-324]),
        "whole": pa.array([2**62 + 1, 2**62]),
    }
    pq.write_table(pa.table(columns), tmp_path / "far_away.parquet")
    archive.ingest("far_away", tmp_path / "far_away.parquet", key="id", population="far away")
    values = client.get("/api/catalogs/far_away").json()["data"]["values"]
    assert values["rows"][0][1:3] == ["10000-01-01 00:00:00.000000+00:00", "5881580-07-11"]
    ends = {tally["name"]: (tally["low"], tally["high"]) for tally in values["tallies"]}
    assert ends["whole"] == (str(2**62), str(2**62 + 1))
    assert ends["moment"] == ("1970-01-01 00:00:00+00:00", "10000-01-01 00:00:00.000000+00:00")
    for x in ("moment", "day", "small", "whole"):
        answer = client.get("/catalogs/far_away/plot", params={"x": x, "y": "small"})
        assert answer.status_code == 200
        assert "Histogram" in client.get("/catalogs/far_away").text
        read(answer.text)
