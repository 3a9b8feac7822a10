"""The list of catalogs: searched, sorted, paged; and requests that make no sense."""

import pytest

from tests.web.reading import read
from tests.web.survey import ODD


def names(client, **asked):
    """The first name of each catalog that the list shows, and how many there are in all."""
    found = client.get("/api/catalogs", params=asked).json()
    return [one["name"] for one in found["catalogs"]], found["total"]


def test_the_list_shows_every_name_as_a_link_to_its_page(client, archive):
    page = read(client.get("/catalogs").text)
    for name in ("stars", "bright", "galaxies", *ODD):
        answer = client.get(page.links[name])
        assert answer.status_code == 200
        assert archive[name].digest in answer.text


def test_a_link_of_the_list_leads_to_the_catalog_also_where_its_short_digest_is_the_name_of_another(client, archive):
    nameless = archive["stars"].select("plx > 5")
    archive.name("galaxies", nameless.name)
    page = read(client.get("/catalogs", params={"unnamed": True}).text)
    assert f"/catalogs/{nameless.digest}" in [one["href"] for one in page.named("a")]


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"text": "naked"}, ["bright"]),
        ({"text": "VMAG <"}, ["bright"]),
        ({"population": "galaxy"}, ["galaxies"]),
        ({"attribute": "dist_pc"}, ["far"]),
        ({"owner": "nobody"}, []),
        ({"text": "telescope \N{TELESCOPE}"}, ["telescope \N{TELESCOPE}"]),
        ({"text": "'; DROP TABLE catalogs;--"}, []),
        ({"text": "'); DROP"}, ["Robert'); DROP TABLE catalogs;--"]),
        ({"text": "%"}, ["50% of ?x=1#y"]),
        ({"text": "_"}, []),
    ],
)
def test_a_search_finds_what_fits_and_nothing_else(reader, asked, expected):
    found, total = names(reader, **asked)
    assert (found, total) == (expected, len(expected))


def test_names_are_sorted(reader):
    by_name, total = names(reader, sort="name")
    assert by_name == sorted(by_name)
    newest, _ = names(reader, sort="newest")
    oldest, _ = names(reader, sort="oldest")
    assert len(newest) == len(oldest) == total
    assert newest[0] == ODD[-1]
    assert oldest[0] == "stars"


def test_a_long_list_has_pages_that_hold_each_catalog_once(client, archive):
    stars = archive["stars"]
    for number in range(100):
        stars.select(f"plx > {number + 1000}", name=f"n{number}")
    first, total = names(client, sort="name")
    rest = [names(client, sort="name", page=page)[0] for page in (2, 3)]
    every = [*first, *(name for page in rest for name in page)]
    assert len(first) == 50
    assert len(every) == len(set(every)) == total
    page = read(client.get("/catalogs", params={"sort": "name", "page": 2, "text": "n"}).text)
    assert "page 2 of" in page.text
    assert "text=n" in page.links["Previous"]
    beyond = read(client.get("/catalogs", params={"page": 999}).text)
    assert "Page 999 does not exist" in beyond.text


@pytest.mark.parametrize(
    "query",
    [
        "page=0",
        "page=-1",
        "page=x",
        "page=",
        "page=1e3",
        "page=99999999999999999999999",
        "sort=random",
        "unnamed=perhaps",
        "text=" + "x" * 501,
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused_on_a_page_and_as_json(reader, query):
    page, json = reader.get(f"/catalogs?{query}"), reader.get(f"/api/catalogs?{query}")
    assert page.status_code == json.status_code == 422
    assert query.partition("=")[0] in read(page.text).text
    assert json.json()["error"]["message"]


@pytest.mark.parametrize("name", ["text", "attribute", "population", "owner"])
@pytest.mark.parametrize(
    "raw",
    ["%00", "%ff", "%ED%A0%80", "%0A", "%22%3E%3Cscript%3Ealert(1)%3C/script%3E", "%27%20OR%201=1--", "%F0%9F%94%AD"],
)
def test_whatever_is_searched_for_is_text_and_nothing_more(reader, name, raw):
    for path in ("/catalogs", "/api/catalogs"):
        answer = reader.get(f"{path}?{name}={raw}")
        assert answer.status_code == 200
        if path == "/catalogs":
            read(answer.text)
    assert reader.get(f"/api/catalogs?{name}={raw}").json()["total"] in (0, 1)
