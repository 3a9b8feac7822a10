"""Pages of catalogs whose neighbours are of other populations."""

import pytest

from tests.web.reading import read


@pytest.fixture
def matched(archive):
    """The stars, matched with the bright ones; which attributes are taken for positions does not matter here."""
    pairs = archive["stars"].crossmatch("bright", 2, on=("vmag", "plx"), name="pairs")
    pairs.matched("left", name="counterparts")
    return archive


@pytest.mark.parametrize("name", ["stars", "bright", "pairs", "counterparts"])
def test_every_page_of_a_match_is_shown(matched, client, name):
    for place in ("", "/lineage", "/sets"):
        assert client.get(f"/catalogs/{name}{place}").status_code == 200
    page = read(client.get(f"/catalogs/{name}").text)
    assert matched.describe(name).is_what in page.text


@pytest.mark.usefixtures("matched")
def test_pairs_are_not_compared_with_the_sources_they_are_made_from(client):
    found = client.get("/api/catalogs/pairs").json()
    assert [(one["name"], one["words"]) for one in found["made_from"]] == [
        ("stars", "has another population than"),
        ("bright", "has another population than"),
    ]
    made = {one["name"]: one["words"] for one in found["made_from_it"]["catalogs"]}
    assert made == {"counterparts": "has another population than"}
    found = client.get("/api/catalogs/counterparts").json()
    assert [(one["name"], one["relation"]) for one in found["made_from"]] == [("stars", "subset"), ("pairs", "")]
    made = {
        one["name"]: one["relation"] for one in client.get("/api/catalogs/stars").json()["made_from_it"]["catalogs"]
    }
    assert (made["pairs"], made["counterparts"]) == ("", "superset")
    assert "/compare?a=pairs&b=stars" not in client.get("/catalogs/pairs").text


@pytest.mark.usefixtures("matched")
def test_the_definition_is_shown(client):
    found = {one["name"]: one["value"] for one in client.get("/api/catalogs/pairs").json()["parameters"]}
    assert found == {"radius": "2 arcsec", "matches": "best", "positions": "vmag, plx with vmag, plx"}
    found = {one["name"]: one["value"] for one in client.get("/api/catalogs/counterparts").json()["parameters"]}
    assert found == {"side": "left"}
