"""The page on which a lineage is unfolded."""

import pytest

from tests.web.reading import read
from tests.web.survey import ODD


def names(answer):
    return {node["name"] for node in answer.json()["nodes"]}


def test_a_catalog_begins_with_its_neighbours_from_left_to_right(client):
    page = client.get("/api/catalogs/bright/explore")
    assert {"bright", "stars", "wide", "both", "all"} <= names(page)
    assert "near" not in names(page)
    assert page.json()["selected"]["name"] == "bright"
    sound = read(client.get("/catalogs/bright/explore").text)
    assert "Explore the lineage of bright" in " ".join(sound.text.split())


def test_every_handle_unfolds_what_it_counts_and_folds_again(client):
    page = read(client.get("/catalogs/bright/explore").text)
    handles = {found["aria-label"]: found["href"] for found in page.named("a") if "aria-label" in found}
    before = names(client.get("/api/catalogs/bright/explore"))
    opened = client.get("/api" + handles["Unfold what wide is made from"])
    assert names(opened) == before | {"near"}
    again = read(client.get(handles["Unfold what wide is made from"]).text)
    folds = {found["aria-label"]: found["href"] for found in again.named("a") if "aria-label" in found}
    assert names(client.get("/api" + folds["Fold what wide is made from"])) == before
    assert names(client.get("/api" + folds["Fold what is made from bright"])) < before | {"near"}


def test_only_what_is_shown_can_be_folded(client, archive):
    """A catalog of which nothing is made has no handle for it, although it is unfolded."""
    archive["bright"].select("plx > 400", name="last")
    page = read(client.get("/catalogs/last/explore").text)
    handles = [found["aria-label"] for found in page.named("a") if "aria-label" in found]
    assert "Fold what last is made from" in handles
    assert not any("made from last" in handle for handle in handles)


def test_a_path_leads_by_way_of_what_both_are_made_from(client):
    page = client.get("/api/catalogs/bright/explore?to=near").json()
    assert [step["name"] for step in page["path"]] == ["bright", "stars", "near"]
    assert page["selected"]["name"] == "near"
    assert client.get("/api/catalogs/wide/explore?to=stars").json()["path"][0]["name"] == "wide"
    missing = client.get("/api/catalogs/bright/explore?to=galaxies").json()
    assert "no lineage connects it with galaxies" in missing["problem"]["message"]
    assert "problem" in client.get("/api/catalogs/bright/explore?to=nobody").json()


def test_equalities_that_only_a_proof_shows_are_one_group(client, archive):
    archive["stars"].select("plx > 50", name="near us")
    archive["stars"].select("spect = 'A0'", name="hot")
    archive.declare("'near us' == hot", reason="so it seems")
    groups = client.get("/api/catalogs/stars/explore").json()["equal"]
    assert any({"near us", "hot"} <= set(group) for group in groups)


def test_five_hundred_catalogs_are_usable_by_folding(client, archive):
    for number in range(120):
        archive["stars"].select(f"plx > {number + 100}")
    page = client.get("/api/catalogs/stars/explore").json()
    assert len(page["nodes"]) <= 61
    (focus,) = (node for node in page["nodes"] if node["focus"])
    assert focus["below"] > 60
    assert page["is_compared"] is False


def find_handles(client, address):
    page = read(client.get(address).text)
    return {found["aria-label"]: found["href"] for found in page.named("a") if "aria-label" in found}


def test_handles_lead_to_every_catalog_however_many_there_are(client, archive):
    for number in range(150):
        archive["stars"].select(f"plx > {number + 100}", name=f"far {number}")
    address = "/catalogs/stars/explore"
    shown = names(client.get("/api" + address))
    while more := [
        link
        for label, link in find_handles(client, address).items()
        if label.startswith("Unfold") and label.endswith("more of what is made from stars")
    ]:
        (address,) = more
        assert shown < (shown := names(client.get("/api" + address)))
    assert {f"far {number}" for number in range(150)} < shown
    folded = find_handles(client, address)["Fold what is made from stars"]
    assert names(client.get("/api" + folded)) == {"stars"}


def test_a_full_picture_says_so_and_promises_nothing_more(client, monkeypatch):
    monkeypatch.setattr("provenn.archive.exploring._MOST_SHOWN", 5)
    page = client.get("/catalogs/stars/explore").text
    assert "5 catalogs, the most at a time: fold some to see others" in " ".join(read(page).text.split())
    assert "more of what is made from" not in page


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/catalogs/nobody/explore", 404),
        ("/catalogs/stars/explore?up=0123456789", 404),
        ("/catalogs/stars/explore?at=x", 200),
    ],
)
def test_bad_addresses_are_answered(client, path, status):
    assert client.get(path).status_code == status


def test_odd_names_do_no_harm(client):
    page = client.get("/catalogs/stars/explore", params={"to": ODD[0]})
    read(page.text)
    assert "<img src=x" not in page.text
