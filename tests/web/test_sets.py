"""What is proved of a catalog and all others of its population."""

import pytest

from provenn.web.pages import sets
from tests.web.reading import read


def found(client, which, **asked):
    told = client.get(f"/api/catalogs/{which}/sets", params=asked).json()
    return told, {one["kind"]: {each["name"] for each in one["catalogs"]} for one in told["relations"]}


def test_the_lists_are_those_that_the_archive_proves(client, archive):
    told, related = found(client, "bright")
    one = archive["bright"]
    assert told["looked"]
    assert related == {
        "same": {catalog.name for catalog in archive.same_sources(one)},
        "inside": {each.name for each in archive.inside(one)},
        "covering": {each.name for each in archive.covering(one)},
        "apart": {each.name for each in archive.apart_from(one)},
    }
    assert related["apart"] == {"faint", "rest", "tenth", "both"}  # it was declared that tenth is faint
    page = read(client.get("/catalogs/bright/sets").text)
    assert page.links["stars"] == "/catalogs/stars"
    assert told["declared"] == len([fact for fact in archive.facts() if fact.origin == "declared"]) > 0
    assert page.links["declared fact" if told["declared"] == 1 else "declared facts"] == "/knowledge?origin=declared"


def test_a_long_list_is_bounded_and_goes_on_in_pages(client, archive):
    for number in range(130):
        archive["bright"].select(f"plx > {number + 1000}", name=f"n{number}")
    told, related = found(client, "stars")
    (inside,) = (one for one in told["relations"] if one["kind"] == "inside")
    assert len(related["inside"]) == 20
    assert inside["total"] == len(archive.inside("stars"))
    pages = [found(client, "stars", relation="inside", page=page)[1]["inside"] for page in (1, 2)]
    assert len(pages[0] | pages[1]) == inside["total"]
    page = read(client.get("/catalogs/stars/sets?relation=inside&page=2").text)
    assert "page 2 of 2" in page.text
    assert "Page 7 does not exist" in read(client.get("/catalogs/stars/sets?relation=inside&page=7").text).text


def test_many_catalogs_are_only_looked_through_if_that_is_asked_for(client, archive, monkeypatch):
    monkeypatch.setattr(sets, "_QUICK", 5)
    told, related = found(client, "bright")
    assert not told["looked"]
    assert told["looked_through"] == archive.matches(population="star") == 21
    assert related == {"same": set(), "inside": set(), "covering": set(), "apart": set()}
    page = read(client.get("/catalogs/bright/sets").text)
    link = page.links["Search for catalogs that lie inside bright"]
    looked = read(client.get(link).text)
    assert "both" in looked.links
    assert found(client, "bright", look=True)[0]["looked"]
    assert found(client, "galaxies")[0]["looked"]


@pytest.mark.parametrize("query", ["relation=friend", "look=perhaps", "page=0", "page=x"])
def test_a_parameter_that_makes_no_sense_is_refused(reader, query):
    answer = reader.get(f"/catalogs/bright/sets?{query}")
    assert answer.status_code == 422
    read(answer.text)
    assert reader.get(f"/api/catalogs/bright/sets?{query}").json()["error"]["message"]
