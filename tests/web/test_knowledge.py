"""The page knowledge: facts, where they come from, what became of them."""

import pytest

from tests.web.reading import read
from tests.web.survey import ODD


def get(client, **query):
    page, json = client.get("/knowledge", params=query), client.get("/api/knowledge", params=query)
    assert page.status_code == json.status_code
    read(page.text)
    assert "Traceback" not in page.text
    return page, json.json()


def test_all_facts_are_listed_the_latest_first_with_who_when_and_why(client):
    page, found = get(client)
    told = [(one["number"], one["statement"]["text"], one["origin"], one["state"]) for one in found["facts"]]
    assert told == [
        (5, "nonempty(faint)", "observed", "held"),
        (4, "empty(faint)", "declared", "suspended"),
        (3, "nonempty(bright)", "declared", "held"),
        (2, "light <= faint", "declared", "retracted"),
        (1, "tenth <= faint", "declared", "held"),
    ]
    assert found["numbers"] == {"declared": 2, "observed": 1, "retracted": 1, "suspended": 1}
    assert "by ada" in page.text
    assert "made &lt;b&gt;so&lt;/b&gt;" in page.text
    assert 'href="/catalogs/tenth"' in page.text


def test_a_conflict_says_what_contradicted_the_declaration(client):
    page, found = get(client, state="suspended")
    (one,) = found["facts"]
    assert one["ended_because"] == "contradicted by observation: 4 sources were counted"
    assert one["ended_because"] in page.text


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ({"catalog": "bright"}, [3]),
        ({"catalog": "faint", "origin": "observed"}, [5]),
        ({"origin": "declared", "state": "held"}, [3, 1]),
        ({"state": "retracted"}, [2]),
        ({"catalog": "stars"}, []),
    ],
)
def test_facts_are_filtered(client, query, numbers):
    assert [one["number"] for one in get(client, **query)[1]["facts"]] == numbers


def test_many_facts_come_in_pages(client, monkeypatch):
    monkeypatch.setattr("provenn.web.pages.knowledge._PER_PAGE", 2)
    pages = [get(client, page=page)[1] for page in (1, 2, 3)]
    assert {(one["total"], one["pages"]) for one in pages} == {(5, 3)}
    assert [fact["number"] for one in pages for fact in one["facts"]] == [5, 4, 3, 2, 1]
    assert "Page 9 does not exist" in get(client, page=9)[0].text


def test_concatenations_that_are_not_proved_any_more_are_shown(client, archive):
    north, south = (archive["stars"].sample(0.5, seed=seed, name=f"part {seed}") for seed in (1, 2))
    fact = archive.declare("disjoint('part 1', 'part 2')")
    joined = north.concat(south.rename(vmag="b").rename(b="vmag"), name="joined")
    assert get(client)[1]["unproved"] == []
    archive.retract(fact.id)
    known = [one.digest for one in archive.unproved()]
    assert [one["digest"] for one in get(client)[1]["unproved"]] == known
    assert joined


def test_many_concatenations_are_looked_through_when_that_is_asked_for(client, monkeypatch):
    monkeypatch.setattr("provenn.web.pages.knowledge._QUICK", 0)
    page, found = get(client)
    assert found["unproved"] is None
    assert "Check them" in page.text
    assert get(client, unproved="true")[1]["unproved"] == []


@pytest.mark.parametrize("name", ODD)
def test_odd_names_do_no_harm(client, archive, name):
    fact = archive.declare("nonempty('" + name.replace("'", "\\'") + "')", reason=name)
    page, found = get(client, catalog=name)
    assert [one["number"] for one in found["facts"]] == [fact.id]
    assert found["facts"][0]["statement"]["parts"][1]["digest"] == archive[name].digest
    assert "<img" not in page.text


@pytest.mark.parametrize(
    ("query", "status"),
    [({"catalog": "nobody"}, 404), ({"state": "new"}, 422), ({"page": 0}, 422), ({"page": "x"}, 422)],
)
def test_bad_input_is_told(client, query, status):
    page, found = get(client, **query)
    assert page.status_code == status
    assert found["error"]["message"]
